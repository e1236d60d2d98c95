#!/bin/sh
# Installs hippod from its archive, without root. Needs tar, and curl for addresses.
set -eu

VERSION=0.1.0

usage() {
    cat <<TEXT
usage: install.sh [--from URL|DIR] [--prefix DIR]
       install.sh --uninstall [--prefix DIR]

  --from URL|DIR  where the archive and its checksum file are [default: the variable HIPPOD_URL]
  --prefix DIR    the folder for the files [default: ~/.local]
  --uninstall     remove the files that this script installed
TEXT
}

fail() {
    echo "install.sh: $1" >&2
    [ $# -lt 2 ] || echo "hint: $2" >&2
    exit 1
}

from=${HIPPOD_URL:-}
prefix=
uninstall=
while [ $# -gt 0 ]; do
    case $1 in
    --from | --prefix)
        [ $# -gt 1 ] || fail "$1 needs a value"
        if [ "$1" = --from ]; then from=$2; else prefix=$2; fi
        shift
        ;;
    --uninstall) uninstall=yes ;;
    -h | --help)
        usage
        exit 0
        ;;
    *)
        usage >&2
        exit 2
        ;;
    esac
    shift
done
prefix=${prefix:-${HOME:?HOME is not set: give --prefix DIR}/.local}
case $prefix in
/*) ;;
*) prefix=$(pwd)/$prefix ;;
esac
# Each line is `file PATH` or `folder PATH`, relative to the prefix. The prefix itself is an empty path.
list=$prefix/share/hippod/installed-files

# Prints the paths of one kind from a list, if the list exists.
listed() {
    [ ! -f "$2" ] || sed -n "s/^$1 //p" "$2"
}

# Removes the empty folders of a list, the innermost first.
remove_folders() {
    listed folder "$1" | sort -r | while IFS= read -r path; do
        rmdir "$prefix/$path" 2>/dev/null || true
    done
}

if [ -n "$uninstall" ]; then
    [ -f "$list" ] || fail "nothing to remove: no such file: $list" "give the folder of the installation: --prefix DIR"
    copy=$(mktemp)
    trap 'rm -f "$copy"' EXIT
    cp "$list" "$copy"
    # A daemon that runs without a service would go on with removed files.
    "$prefix/bin/hippoctl" service stop >/dev/null 2>&1 || true
    listed file "$copy" | while IFS= read -r path; do
        rm -f "$prefix/$path"
    done
    rm -f "$list"
    remove_folders "$copy"
    echo "removed hippod from $prefix"
    echo "Your settings and the index stay: ~/.config/hippod, ~/.local/state/hippod, ~/.local/share/hippod"
    exit 0
fi

[ "$(uname -s)" = Linux ] || fail "there is no archive for $(uname -s)" "build hippod from source: docs/install.md"
arch=$(uname -m)
[ "$arch" = x86_64 ] || fail "there is no archive for $arch" "build hippod from source: docs/install.md"
[ -n "$from" ] || fail "the location of the archive is not known" "give --from URL|DIR, or set HIPPOD_URL"

name=hippod-$VERSION-$arch-linux
archive=$name.tar.gz
is_new=
[ -d "$prefix" ] || is_new=yes
mkdir -p "$prefix"
# A folder on the same disk, so that files can be renamed into place.
work=$(mktemp -d "$prefix/.install-hippod.XXXXXX") || fail "could not write to $prefix" "give another folder: --prefix DIR"
trap 'remove_folders "$work/list"; rm -rf "$work"; [ -z "$is_new" ] || rmdir "$prefix" 2>/dev/null || true' EXIT
trap 'exit 130' INT TERM HUP

fetch() {
    case $from in
    *://*)
        command -v curl >/dev/null || fail "curl is not installed" "install it, or download the files, and give --from DIR"
        # A server cannot redirect an https address to http.
        protocols=${from%%:*}
        [ "$protocols" = https ] || protocols=$protocols,https
        curl --proto "=$protocols" --fail --silent --show-error --location --output "$work/$1" "${from%/}/$1"
        ;;
    *) cp "$from/$1" "$work/$1" ;;
    esac || fail "could not get ${from%/}/$1" "check the location and the network"
}

fetch "$archive.sha256"
fetch "$archive"
expected=$(sed -n '1s/ .*//p' "$work/$archive.sha256")
if command -v sha256sum >/dev/null; then
    found=$(sha256sum <"$work/$archive")
else
    found=$(shasum -a 256 <"$work/$archive")
fi
found=${found%% *}
[ "$found" = "$expected" ] ||
    fail "$archive has the SHA-256 $found, expected $expected; nothing was installed" "download the files again"

tar -xzf "$work/$archive" -C "$work"
version=$("$work/$name/bin/hippoctl" --version) ||
    fail "the program in the archive does not run; nothing was installed" "hippod needs glibc 2.34 or newer"
(cd "$work/$name" && find . ! -type d) | sed 's|^\./||' | sort >"$work/files"
(cd "$work/$name" && find . -type d) | sed -n 's|^\./||p' | sort >"$work/folders"

# Files of other programs are not overwritten.
listed file "$list" | sort >"$work/before"
while IFS= read -r path; do
    if { [ -e "$prefix/$path" ] || [ -L "$prefix/$path" ]; } && ! grep -Fqx -e "$path" "$work/before"; then
        fail "this script did not install $prefix/$path, and does not overwrite it" "remove the file, or give --prefix DIR"
    fi
done <"$work/files"

# The list is in place before the other folders and the files, so that an interrupted installation can be removed.
listed folder "$list" >"$work/kept"
[ -z "$is_new" ] || echo >>"$work/kept"
while IFS= read -r path; do
    if [ ! -d "$prefix/$path" ] && ! grep -Fqx -e "$path" "$work/kept"; then
        echo "$path" >>"$work/kept"
    fi
done <"$work/folders"
{
    sed 's/^/folder /' "$work/kept"
    sort -u "$work/files" "$work/before" | sed 's/^/file /'
} >"$work/list"
mkdir -p "${list%/*}"
mv -f "$work/list" "$list"
while IFS= read -r path; do
    mkdir -p "$prefix/$path"
done <"$work/folders"
while IFS= read -r path; do
    mv -f "$work/$name/$path" "$prefix/$path"
done <"$work/files"

# Files of an earlier version that this version lacks.
sort "$work/before" "$work/files" "$work/files" | uniq -u | while IFS= read -r path; do
    rm -f "$prefix/$path"
done
{
    sed 's/^/folder /' "$work/kept"
    sed 's/^/file /' "$work/files"
} >"$work/list"
mv -f "$work/list" "$list"

echo "installed $version in $prefix"
case :$PATH: in
*:"$prefix/bin":*) ;;
*) echo "add $prefix/bin to PATH" ;;
esac
echo "to try hippod: hippoctl demo"
echo "to set up a memory in the folder of your agent: hippoctl init"
