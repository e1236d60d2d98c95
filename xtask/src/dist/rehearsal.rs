//! Do packages of the programs that tests run hold what they must, each time the same? Small enough for the gate.

use std::collections::BTreeSet;
use std::io::Read;

use anyhow::{Context, Result, bail};
use flate2::Compression;
use flate2::read::GzDecoder;
use tar::{Archive, EntryType};

use super::build::Programs;
use super::contents::{Kind, names, pages};
use super::{Package, pack, time};
use crate::house::House;
use crate::reference;
use crate::terminal::say;

/// What is in both packages, below their folder, beside manual pages and documents.
const BOTH: [&str; 18] = [
    "bin/hippoctl",
    "bin/hippod",
    "share/bash-completion/completions/hippoctl",
    "share/bash-completion/completions/hippod",
    "share/doc/hippod/ARCHITECTURE.md",
    "share/doc/hippod/CHANGELOG.md",
    "share/doc/hippod/CONTRIBUTING.md",
    "share/doc/hippod/LICENSE-APACHE",
    "share/doc/hippod/LICENSE-MIT",
    "share/doc/hippod/ONNXRUNTIME-LICENSE",
    "share/doc/hippod/ONNXRUNTIME-ThirdPartyNotices.txt",
    "share/doc/hippod/README.md",
    "share/doc/hippod/THIRD-PARTY.txt",
    "share/doc/hippod/copyright",
    "share/fish/vendor_completions.d/hippoctl.fish",
    "share/fish/vendor_completions.d/hippod.fish",
    "share/hippod/manifest.toml",
    "lib/hippod/runtime/onnxruntime-1.24.4/libonnxruntime.so.1.24.4",
];

/// Packs twice, compares the bytes, unpacks, and compares with what is expected.
///
/// # Errors
/// Names what is missing, too much, or different.
pub fn rehearse(house: &House) -> Result<()> {
    let programs = Programs::of_tests(house)?;
    let fast = Compression::fast();
    let time = time(house)?;
    let (first, again) = (
        pack(house, &programs, fast, time)?,
        pack(house, &programs, fast, time)?,
    );
    for (one, other) in [(&first.archive, &again.archive), (&first.debian, &again.debian)] {
        if one.bytes != other.bytes {
            bail!("{} differs from itself when it is packed again", one.name);
        }
        say(format_args!(
            "{}: {:.1} MB, twice the same",
            one.name,
            one.bytes.len() as f64 / 1e6
        ));
    }
    let folder = first.archive.name.trim_end_matches(".tar.gz");
    let found = unpack(&first.archive.bytes, time)?;
    compare(
        &first.archive,
        &found,
        expected(house, Kind::Archive, &format!("{folder}/"))?,
    )?;
    let found = unpack_deb(&first.debian, time)?;
    compare(&first.debian, &found, expected(house, Kind::Debian, "usr/")?)
}

fn expected(house: &House, kind: Kind, prefix: &str) -> Result<BTreeSet<String>> {
    let mut expected: BTreeSet<String> = BOTH.map(str::to_owned).into();
    for page in reference::manual()? {
        expected.insert(format!("share/man/man1/{}.gz", page.name));
    }
    let pages = pages(house)?;
    expected.extend(pages.iter().map(|name| format!("share/doc/hippod/{name}")));
    let zsh = match kind {
        Kind::Archive => "share/zsh/site-functions",
        Kind::Debian => "share/zsh/vendor-completions",
    };
    expected.extend(["hippoctl", "hippod"].map(|program| format!("{zsh}/_{program}")));
    if kind == Kind::Debian {
        let systemd = names(&house.root.join("systemd"))?;
        expected.extend(systemd.iter().map(|name| format!("lib/systemd/user/{name}")));
    }
    Ok(expected
        .into_iter()
        .map(|path| format!("{prefix}{path}"))
        .collect())
}

fn compare(package: &Package, found: &BTreeSet<String>, expected: BTreeSet<String>) -> Result<()> {
    let missing: Vec<_> = expected.difference(found).collect();
    let more: Vec<_> = found.difference(&expected).collect();
    if !missing.is_empty() || !more.is_empty() {
        bail!(
            "{} is not as it must be: missing {missing:?}, not expected {more:?}",
            package.name
        );
    }
    Ok(())
}

/// The files of a compressed archive, each looked at.
fn unpack(bytes: &[u8], time: u64) -> Result<BTreeSet<String>> {
    let mut found = BTreeSet::new();
    let mut archive = Archive::new(GzDecoder::new(bytes));
    for entry in archive.entries().context("could not read the archive")? {
        let mut entry = entry.context("could not read the archive")?;
        let path = entry
            .path()
            .context("could not read a path")?
            .to_string_lossy()
            .into_owned();
        let header = entry.header();
        let folder = header.entry_type() == EntryType::Directory;
        let runs = folder || path.contains("/bin/");
        let mode = if runs { 0o755 } else { 0o644 };
        if (header.mode()?, header.uid()?, header.gid()?, header.mtime()?) != (mode, 0, 0, time) {
            bail!("mode, owner or time of {path} are not as they must be");
        }
        let size = std::io::copy(&mut entry, &mut std::io::sink())?;
        if !folder {
            if size == 0 {
                bail!("{path} is empty");
            }
            found.insert(path);
        }
    }
    Ok(found)
}

/// The files of a Debian package. Its members and what it says of itself are looked at.
fn unpack_deb(package: &Package, time: u64) -> Result<BTreeSet<String>> {
    let mut members: Vec<(String, Vec<u8>)> = Vec::new();
    let mut archive = ar::Archive::new(&package.bytes[..]);
    while let Some(entry) = archive.next_entry() {
        let mut entry = entry.context("could not read the package")?;
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes)?;
        let name = String::from_utf8_lossy(entry.header().identifier()).into_owned();
        members.push((name, bytes));
    }
    let names: Vec<&str> = members.iter().map(|(name, _)| name.as_str()).collect();
    let [(_, format), (_, about), (_, data)] = &members[..] else {
        bail!("the members of {} are {names:?}", package.name);
    };
    if names != ["debian-binary", "control.tar.gz", "data.tar.gz"] || format != b"2.0\n" {
        bail!("the members of {} are {names:?}", package.name);
    }
    // No scripts: nothing runs as root when it is installed or removed.
    let said: Vec<String> = unpack(about, time)?.into_iter().collect();
    if said != ["control", "md5sums"] {
        bail!("{} says of itself {said:?}", package.name);
    }
    unpack(data, time)
}
