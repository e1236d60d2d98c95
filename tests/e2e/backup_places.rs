//! Targets of backups and restores, and files that are never replaced.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use hippo_proto::{BackupRequest, BackupResponse, ErrorKind, RpcError};
use hippod_tests::{Caller, begun};

use crate::backup::{elsewhere, hippoctl, refused, restore, shown, verify};
use crate::backup_odd::{Entry, assert_refused, file, hostile, made, manifest};

fn backup_to(client: &mut Caller, to: &Path) -> Result<BackupResponse, RpcError> {
    let to = shown(to);
    refused(client, BackupRequest { workspace: None, to }.into())
}

fn assert_kind(answer: Result<BackupResponse, RpcError>, kind: ErrorKind, words: &str) {
    let refusal = answer.expect_err(words);
    assert_eq!(refusal.data.kind, kind, "{refusal:?}");
    assert!(refusal.message.contains(words), "{words:?}: {refusal:?}");
    assert!(!refusal.data.hint.is_empty(), "{refusal:?}");
}

#[test]
fn a_backup_into_watched_memory_is_refused() {
    let (scratch, _daemon, mut client) = begun();
    let root = scratch.workspace();
    scratch.write("knowledge/a.md", "- the door is red\n");
    scratch.write("memory/.hippoignore", "exports/\n");
    let second = scratch.beside("second");
    fs::create_dir_all(second.join("memory")).unwrap();
    client.index(&second);
    client.sync(&root);
    let log = root.join("knowledge/a.md");
    let state = scratch.home().join("state/workspaces");
    for to in [
        log.clone(),
        root.join("MEMORY.md"),
        second.join("memory/out.md"),
        root.join(".hippocampus/b.tar.zst"),
    ] {
        assert_kind(
            backup_to(&mut client, &to),
            ErrorKind::BadRequest,
            "would become a memory file",
        );
    }
    assert_eq!(fs::read(&log).unwrap(), b"- the door is red\n");
    assert_kind(
        backup_to(&mut client, &state.join("b.tar.zst")),
        ErrorKind::BadRequest,
        "its own files",
    );
    // A backup may be written into the workspace if hippod ignores the path or does not watch it.
    fs::create_dir_all(root.join("memory/exports")).unwrap();
    for to in ["out", "memory/exports/out", "memory/b.tar.zst"] {
        backup_to(&mut client, &root.join(to)).unwrap();
    }
}

#[test]
fn an_existing_path_is_never_replaced() {
    let (scratch, _daemon, mut client) = begun();
    let folder = scratch.beside("folder");
    fs::create_dir(&folder).unwrap();
    let text = scratch.beside("notes.txt");
    fs::write(&text, "mine").unwrap();
    let link = scratch.beside("link.tar.zst");
    std::os::unix::fs::symlink(&text, &link).unwrap();
    let dangling = scratch.beside("dangling.tar.zst");
    std::os::unix::fs::symlink(scratch.beside("none"), &dangling).unwrap();
    for place in [&folder, &text, &link, &dangling] {
        assert_kind(
            backup_to(&mut client, place),
            ErrorKind::Conflict,
            "could not write the backup",
        );
    }
    assert_eq!(fs::read(&text).unwrap(), b"mine");
    let file = scratch.beside("b.tar.zst");
    backup_to(&mut client, &file).unwrap();
    let whole = fs::read(&file).unwrap();
    assert_kind(
        backup_to(&mut client, &file),
        ErrorKind::Conflict,
        "an existing file",
    );
    assert_eq!(fs::read(&file).unwrap(), whole);
}

#[test]
fn a_restore_into_a_folder_with_foreign_files_is_refused() {
    let (scratch, daemon, _client, sound) = made();
    let root = scratch.workspace();
    daemon.terminate();
    fs::rename(&root, scratch.beside("gone")).unwrap();
    // On the other machine, an unrelated folder has the same path as the workspace.
    fs::create_dir(&root).unwrap();
    fs::write(root.join("main.c"), "mine").unwrap();
    let other = elsewhere(&scratch, "other");
    let mut there = other.client();
    for into in [None, Some(&*root)] {
        let refusal = restore(&mut there, &sound, into).unwrap_err();
        assert_eq!(refusal.data.kind, ErrorKind::Conflict, "{refusal:?}");
        assert!(
            refusal.data.hint.contains("move its files elsewhere"),
            "{refusal:?}"
        );
    }
    assert_eq!(fs::read(root.join("main.c")).unwrap(), b"mine");
    fs::remove_file(root.join("main.c")).unwrap();
    restore(&mut there, &sound, None).unwrap();
    assert!(root.join("MEMORY.md").is_file());
}

#[test]
fn a_damaged_backup_exits_with_1_and_not_as_wrong_usage() {
    let (scratch, _daemon, _client, sound) = made();
    let home = scratch.home();
    let whole = fs::read(&sound).unwrap();
    let cut = scratch.beside("cut.tar.zst");
    fs::write(&cut, &whole[..whole.len() / 2]).unwrap();
    let code = |words: &[&str]| hippoctl(&home, words).status.code();
    let (cut, into) = (shown(&cut), shown(&scratch.beside("into")));
    assert_eq!(code(&["backup", "verify", &cut]), Some(1));
    assert_eq!(code(&["restore", &cut, "--into", &into]), Some(1));
    assert_eq!(code(&["restore", &shown(&sound), "--into", "/"]), Some(2));
}

#[test]
fn names_that_no_disk_accepts_are_refused_with_the_reason() {
    let (scratch, _daemon, mut client, _) = made();
    let archive = scratch.beside("odd.tar.zst");
    let under = [file("1/files/a", b"x"), file("1/files/a/b", b"x")];
    let manifest_of_both = manifest(&under, |_| {});
    let [a, b] = under;
    hostile(&archive, &[a, b, manifest_of_both]);
    assert_refused(
        &scratch,
        &mut client,
        "a file as a folder",
        &archive,
        "1/files/a/b: a folder and another member have the same name",
    );
    let long: &'static str = format!("1/files/{}.md", "x".repeat(300)).leak();
    let listed = manifest(&[file(long, b"x")], |_| {});
    let link = Entry {
        name: "././@LongLink",
        kind: tar::EntryType::GNULongName,
        bytes: long.as_bytes().to_vec(),
    };
    hostile(&archive, &[link, file("1/files/x", b"x"), listed]);
    assert_refused(&scratch, &mut client, "a long part", &archive, "too long");
    let refusal = restore(&mut client, &archive, Some(&scratch.beside("into"))).unwrap_err();
    assert_eq!(refusal.data.kind, ErrorKind::BadRequest, "{refusal:?}");
    // The refusal names an unusable target: a path that is too long, or a folder below a file.
    let sound = scratch.beside("sound.tar.zst");
    fs::write(scratch.beside("plain"), "x").unwrap();
    for into in [scratch.beside(&"y".repeat(300)), scratch.beside("plain/in")] {
        let refusal = restore(&mut client, &sound, Some(&into)).unwrap_err();
        assert_eq!(refusal.data.kind, ErrorKind::BadRequest, "{refusal:?}");
    }
    // The checksum of this member is correct, but the member is not a database.
    let none = || file("1/index.db", b"no database");
    hostile(&archive, &[none(), manifest(&[none()], |_| {})]);
    let refusal = restore(&mut client, &archive, Some(&scratch.beside("into"))).unwrap_err();
    assert_eq!(refusal.data.kind, ErrorKind::BadRequest, "{refusal:?}");
    assert!(refusal.message.contains(" 1/index.db"), "{refusal:?}");
    assert!(!refusal.message.contains(".restoring"), "{refusal:?}");
}

#[test]
fn a_damaged_member_is_named_even_if_it_can_be_unpacked() {
    let (scratch, _daemon, mut client, _) = made();
    let archive = scratch.beside("damaged.tar.zst");
    let member = || file("1/files/a.md", &[b'x'; 600]);
    hostile(&archive, &[member(), manifest(&[member()], |_| {})]);
    let mut tar = zstd::decode_all(fs::File::open(&archive).unwrap()).unwrap();
    let spoiled = |tar: &[u8]| {
        let mut packed = zstd::Encoder::new(Vec::new(), 0).unwrap();
        packed.include_checksum(true).unwrap();
        packed.write_all(tar).unwrap();
        let mut bytes = packed.finish().unwrap();
        // This flips a bit of the final checksum.
        *bytes.last_mut().unwrap() ^= 1;
        bytes
    };
    fs::write(&archive, spoiled(&tar)).unwrap();
    assert_refused(
        &scratch,
        &mut client,
        "the checksum alone",
        &archive,
        "manifest.json: the archive ends",
    );
    // Change the content. This has the effect of a flipped bit that the decompressor does not detect.
    let at = tar.windows(9).position(|bytes| bytes == [b'x'; 9]).unwrap();
    tar[at] = b'y';
    fs::write(&archive, spoiled(&tar)).unwrap();
    assert_refused(
        &scratch,
        &mut client,
        "what is packed",
        &archive,
        "1/files/a.md: its checksum",
    );
    // A refusal contains unreadable names without their control characters.
    fs::write(&archive, zstd::encode_all(&[0x1b; 2048][..], 0).unwrap()).unwrap();
    let refusal = verify(&mut client, &archive).unwrap_err();
    assert!(!refusal.message.contains(char::is_control), "{refusal:?}");
}

#[test]
fn a_backup_that_no_restore_accepts_is_not_written() {
    let (scratch, _daemon, mut client) = begun();
    let archive = scratch.workspace().join(".hippocampus/archive");
    fs::create_dir_all(&archive).unwrap();
    for number in 0..5 {
        let file = fs::File::create(archive.join(format!("{number}.bin"))).unwrap();
        // A sparse file of zeros takes no disk space.
        file.set_len(54 << 20).unwrap();
    }
    let file = scratch.beside("b.tar.zst");
    assert_kind(
        backup_to(&mut client, &file),
        ErrorKind::TooLarge,
        "unpacked size is too large",
    );
    assert!(!file.exists());
}
