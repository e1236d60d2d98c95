//! Damaged, truncated and hostile backups, and unusable targets.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use hippo_proto::{BackupRequest, BackupResponse, ErrorKind};
use hippod_tests::{Caller, Daemon, Scratch, begun};
use serde_json::{Value, json};

use crate::backup::{backup, refused, restore, verify};
use crate::index_room::daemon_without_room;

/// Creates an intact backup of a small workspace.
pub(super) fn made() -> (Scratch, Daemon, Caller, PathBuf) {
    let (scratch, daemon, mut client) = begun();
    let file = scratch.beside("sound.tar.zst");
    backup(&mut client, &file).unwrap();
    (scratch, daemon, client, file)
}

/// Returns the paths of all files outside the workspace. A refused restore must not add any.
pub(super) fn names(scratch: &Scratch) -> Vec<String> {
    let mut names: Vec<String> = walk(scratch.beside("").as_path());
    names.sort();
    names
}

fn walk(folder: &Path) -> Vec<String> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.path().display().to_string();
        // Ignore files that a daemon may write at any time.
        if [
            "-wal",
            "-shm",
            "-journal",
            "canary",
            "log",
            ".spare",
            ".spare.draft",
        ]
        .iter()
        .any(|end| name.ends_with(end))
        {
            continue;
        }
        if entry.file_type().unwrap().is_dir() {
            names.extend(walk(&entry.path()));
        }
        names.push(name);
    }
    names
}

/// Asserts that `verify` and `restore` refuse the file with a message that contains `words`, and that they write
/// nothing.
pub(super) fn assert_refused(scratch: &Scratch, client: &mut Caller, what: &str, file: &Path, words: &str) {
    let before = names(scratch);
    let into = scratch.beside("into");
    let checked = verify(client, file).expect_err(what);
    let refusal = restore(client, file, Some(&into)).expect_err(what);
    assert_eq!(checked.message, refusal.message, "{what}");
    assert!(
        refusal.message.contains(words),
        "{what}: {words:?} is not in {refusal:?}"
    );
    assert!(!refusal.data.hint.is_empty(), "{what}");
    assert_eq!(names(scratch), before, "{what}");
    assert_eq!(client.status().workspaces.len(), 1, "{what}");
}

#[test]
fn a_damaged_backup_is_refused_and_the_member_is_named() {
    let (scratch, _daemon, mut client, sound) = made();
    let whole = std::fs::read(&sound).unwrap();
    let content = zstd::decode_all(&whole[..]).unwrap();
    let file = scratch.beside("damaged.tar.zst");
    std::fs::write(&file, b"").unwrap();
    for length in [
        0,
        1,
        100,
        whole.len() / 3,
        whole.len() / 2,
        whole.len() - 300,
        whole.len() - 5,
        whole.len() - 1,
    ] {
        std::fs::write(&file, &whole[..length]).unwrap();
        assert_refused(
            &scratch,
            &mut client,
            &format!("cut to {length}"),
            &file,
            "could not use the backup",
        );
    }
    for place in (0..16).map(|part| part * (whole.len() - 1) / 16) {
        let mut bytes = whole.clone();
        bytes[place] ^= 0x10;
        // If the decompressor ignores the changed bit, the content is the same.
        let is_ignored = zstd::decode_all(&bytes[..]).is_ok_and(|unpacked| unpacked == content);
        std::fs::write(&file, bytes).unwrap();
        if is_ignored {
            verify(&mut client, &file).unwrap();
            continue;
        }
        assert_refused(
            &scratch,
            &mut client,
            &format!("a bit of {place}"),
            &file,
            "could not use the backup",
        );
    }
    std::fs::write(&file, [&whole[..], b"more"].concat()).unwrap();
    assert_refused(&scratch, &mut client, "more behind it", &file, "manifest.json");
    for junk in [b"# no backup\n".repeat(500), vec![0; 20_000]] {
        std::fs::write(&file, junk).unwrap();
        assert_refused(&scratch, &mut client, "junk", &file, "could not use the backup");
    }
    assert_refused(
        &scratch,
        &mut client,
        "no such file",
        &scratch.beside("none"),
        "could not read the backup",
    );

    restore(&mut client, &sound, Some(&scratch.beside("into"))).unwrap();
}

/// A member of an archive, with any name and any kind.
pub(super) struct Entry {
    pub(super) name: &'static str,
    pub(super) kind: tar::EntryType,
    pub(super) bytes: Vec<u8>,
}

pub(super) fn file(name: &'static str, bytes: &[u8]) -> Entry {
    Entry {
        name,
        kind: tar::EntryType::Regular,
        bytes: bytes.to_vec(),
    }
}

/// Writes an archive without checking the names or kinds of its members.
pub(super) fn hostile(to: &Path, entries: &[Entry]) {
    let mut packed = zstd::Encoder::new(std::fs::File::create(to).unwrap(), 3).unwrap();
    for entry in entries {
        let mut header = tar::Header::new_gnu();
        let name = entry.name.as_bytes();
        header.as_gnu_mut().unwrap().name[..name.len()].copy_from_slice(name);
        if entry.kind != tar::EntryType::Regular {
            header.set_link_name("../../outside").unwrap();
        }
        header.set_entry_type(entry.kind);
        header.set_size(entry.bytes.len() as u64);
        header.set_mode(0o777);
        header.set_cksum();
        packed.write_all(header.as_bytes()).unwrap();
        packed.write_all(&entry.bytes).unwrap();
        let rest = (512 - entry.bytes.len() % 512) % 512;
        packed.write_all(&vec![0; rest]).unwrap();
    }
    packed.write_all(&[0; 1024]).unwrap();
    packed.finish().unwrap();
}

/// Returns a manifest with the correct checksums of the given members.
pub(super) fn manifest(entries: &[Entry], change: impl FnOnce(&mut Value)) -> Entry {
    let member = |entry: &Entry| {
        let hash = blake3::hash(&entry.bytes).to_hex().to_string();
        json!({"path": entry.name, "bytes": entry.bytes.len(), "blake3": hash})
    };
    let members: Vec<Value> = entries.iter().map(member).collect();
    let mut manifest = json!({
        "version": 1, "hippod": "0.1.0", "at": "2026-03-02T10:00:00Z",
        "workspaces": [{"folder": "1", "root": "/w", "left_out": []}],
        "members": members,
    });
    change(&mut manifest);
    file("manifest.json", manifest.to_string().as_bytes())
}

#[test]
fn a_malicious_archive_writes_nothing() {
    let (scratch, _daemon, mut client, _) = made();
    let archive = scratch.beside("hostile.tar.zst");
    for (name, words) in [
        ("../outside.md", "points outside"),
        ("1/files/../../../outside.md", "points outside"),
        ("/tmp/hippod-outside.md", "absolute"),
        ("1/other.db", "backups do not contain such a member"),
        ("outside", "backups do not contain such a member"),
        ("1/files/.envrc", "hidden file"),
        ("1/files/.claude/settings.json", "hidden file"),
    ] {
        let entries = [file(name, b"x")];
        let all = [manifest(&entries, |_| {}), file(name, b"x")];
        for order in [[1, 0], [0, 1]] {
            let all: Vec<Entry> = order
                .iter()
                .map(|at| file(all[*at].name, &all[*at].bytes))
                .collect();
            hostile(&archive, &all);
            let words = if order[0] == 0 { "" } else { words };
            assert_refused(&scratch, &mut client, name, &archive, words);
        }
    }
    for kind in [
        tar::EntryType::Symlink,
        tar::EntryType::Link,
        tar::EntryType::Fifo,
        tar::EntryType::Char,
        tar::EntryType::Directory,
        tar::EntryType::XHeader,
        tar::EntryType::GNUSparse,
    ] {
        let entry = Entry {
            name: "1/files/a.md",
            kind,
            bytes: Vec::new(),
        };
        hostile(&archive, &[entry, manifest(&[], |_| {})]);
        assert_refused(
            &scratch,
            &mut client,
            &format!("{kind:?}"),
            &archive,
            "not a regular file",
        );
    }
    let database = || file("1/index.db", b"no database");
    let twice = [database(), database()];
    hostile(&archive, &[database(), database(), manifest(&twice[..1], |_| {})]);
    assert_refused(
        &scratch,
        &mut client,
        "twice",
        &archive,
        "1/index.db: it is not in the manifest, or the backup contains it twice",
    );
    hostile(&archive, &[database(), manifest(&[], |_| {})]);
    assert_refused(&scratch, &mut client, "unlisted", &archive, "not in the manifest");
    hostile(&archive, &[manifest(&[], |_| {}), database()]);
    assert_refused(
        &scratch,
        &mut client,
        "after the manifest",
        &archive,
        "after the manifest",
    );
    let newer = |manifest: &mut Value| manifest["version"] = 99.into();
    hostile(&archive, &[database(), manifest(&twice[..1], newer)]);
    assert_refused(&scratch, &mut client, "newer", &archive, "format is 99");
    let change = |manifest: &mut Value| manifest["workspaces"][0]["folder"] = "1/files".into();
    let entry = || file("1/files/index.db-wal", b"a file that would be one of the state");
    hostile(&archive, &[entry(), manifest(&[entry()], change)]);
    assert_refused(
        &scratch,
        &mut client,
        "does not match its position",
        &archive,
        "does not match its position",
    );
    // 600 MiB of spaces, compressed to less than 1 MiB.
    let bomb = file("1/files/bomb.md", &vec![b' '; 600 << 20]);
    hostile(&archive, &[bomb]);
    assert!(std::fs::metadata(&archive).unwrap().len() < 1 << 20);
    assert_refused(
        &scratch,
        &mut client,
        "a bomb",
        &archive,
        "unpacked size is too large",
    );

    // The checksums match, but the contents are invalid. The restore fails before it moves any file into place.
    let before = names(&scratch);
    hostile(&archive, &[database(), manifest(&twice[..1], |_| {})]);
    verify(&mut client, &archive).unwrap();
    let refusal = restore(&mut client, &archive, Some(&scratch.beside("into"))).unwrap_err();
    assert!(refusal.message.contains("index.db"), "{refusal:?}");
    assert_eq!(names(&scratch), before);
    let entries = [file("1/files/a", b"x"), file("1/files/a/b", b"x")];
    let listed = manifest(&entries, |_| {});
    let [a, b] = entries;
    hostile(&archive, &[a, b, listed]);
    restore(&mut client, &archive, Some(&scratch.beside("into"))).unwrap_err();
    assert_eq!(names(&scratch), before, "a file where a folder is wanted");
}

#[test]
fn existing_files_are_neither_overwritten_nor_deleted() {
    let (scratch, _daemon, mut client, sound) = made();
    let whole = std::fs::read(&sound).unwrap();
    let refusal = backup(&mut client, &sound).unwrap_err();
    assert_eq!(refusal.data.kind, ErrorKind::Conflict);
    assert_eq!(std::fs::read(&sound).unwrap(), whole);
    let to = |path: &Path| BackupRequest {
        workspace: None,
        to: path.display().to_string(),
    };
    let folder = scratch.beside("folder");
    std::fs::create_dir(&folder).unwrap();
    for path in [
        folder.clone(),
        scratch.beside("none/b.tar.zst"),
        sound.join("b.tar.zst"),
        PathBuf::from("relative"),
    ] {
        let refusal = refused::<BackupResponse>(&mut client, to(&path).into()).unwrap_err();
        assert!(!refusal.data.hint.is_empty(), "{refusal:?}");
    }

    let own = scratch.beside("own");
    std::fs::create_dir(&own).unwrap();
    std::fs::write(own.join("mine.txt"), "mine").unwrap();
    let refusal = restore(&mut client, &sound, Some(&own)).unwrap_err();
    assert_eq!(refusal.data.kind, ErrorKind::Conflict, "{refusal:?}");
    let refusal = restore(&mut client, &sound, Some(&own.join("mine.txt"))).unwrap_err();
    assert_eq!(refusal.data.kind, ErrorKind::BadRequest, "{refusal:?}");
    assert_eq!(std::fs::read(own.join("mine.txt")).unwrap(), b"mine");
    // A restore into hippod's own folder or into one of its parent folders is refused.
    for folder in [
        scratch.home(),
        scratch.beside("").to_path_buf(),
        PathBuf::from("/"),
    ] {
        let refusal = restore(&mut client, &sound, Some(&folder)).unwrap_err();
        assert!(
            matches!(refusal.data.kind, ErrorKind::BadRequest | ErrorKind::Conflict),
            "{refusal:?}"
        );
    }
}

#[test]
fn a_backup_or_restore_without_disk_space_leaves_nothing() {
    let (scratch, daemon, mut client, sound) = made();
    let mut noise = vec![0; 1_600_000];
    blake3::Hasher::new().finalize_xof().fill(&mut noise);
    let text: String = noise.iter().map(|byte| char::from(b'a' + byte % 26)).collect();
    scratch.write(".hippocampus/archive/large.md", &text);
    let large = scratch.beside("large.tar.zst");
    backup(&mut client, &large).unwrap();
    drop(client);
    daemon.terminate();
    // The size limit is too small for the backup and the restore, but large enough for the daemon's own files.
    let daemon = daemon_without_room(&scratch, 1500);
    let mut client = daemon.client();
    let before = names(&scratch);
    let full = scratch.beside("full.tar.zst");
    let refusal = backup(&mut client, &full).unwrap_err();
    assert!(refusal.data.hint.contains("free some space"), "{refusal:?}");
    assert_eq!(names(&scratch), before);
    let refusal = restore(&mut client, &large, Some(&scratch.beside("into"))).unwrap_err();
    assert!(refusal.data.hint.contains("free some space"), "{refusal:?}");
    assert_eq!(names(&scratch), before);
    restore(&mut client, &sound, Some(&scratch.beside("into"))).unwrap();
    drop(client);
    daemon.kill();
    let daemon = scratch.daemon();
    backup(&mut daemon.client(), &full).unwrap();
}
