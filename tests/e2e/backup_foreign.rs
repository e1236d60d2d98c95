//! Restores of archives with files that no backup contains.
//! Other programs and harnesses read these files automatically.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use hippo_proto::{ErrorKind, RestoreRequest, RestoreResponse, RpcError};
use hippod_tests::Caller;
use serde_json::{Value, json};

use crate::backup::{members, refused, shown};
use crate::backup_odd::{Entry, file, hostile, made, names};

/// Writes a copy of an intact backup with additional files. The manifest lists these files as executable.
fn with_files(sound: &Path, to: &Path, paths: &[&str]) {
    let mut members = members(sound);
    let (_, manifest) = members.pop().unwrap();
    let mut manifest: Value = serde_json::from_slice(&manifest).unwrap();
    for path in paths {
        let (name, bytes) = (format!("1/files/{path}"), b"all:\n\ttouch /tmp/proof\n".to_vec());
        let hash = blake3::hash(&bytes).to_hex().to_string();
        let member = json!({"path": name, "bytes": bytes.len(), "blake3": hash, "mode": 0o777});
        manifest["members"].as_array_mut().unwrap().push(member);
        members.push((name, bytes));
    }
    members.push(("manifest.json".to_owned(), manifest.to_string().into_bytes()));
    let entries: Vec<Entry> = members
        .into_iter()
        .map(|(name, bytes)| file(name.leak(), &bytes))
        .collect();
    hostile(to, &entries);
}

fn restore(
    client: &mut Caller,
    from: &Path,
    into: &Path,
    other_files: bool,
) -> Result<RestoreResponse, RpcError> {
    let request = RestoreRequest {
        from: shown(from),
        into: Some(shown(into)),
        other_files,
        ..RestoreRequest::default()
    };
    refused(client, request.into())
}

#[test]
fn foreign_files_in_a_backup_are_restored_only_on_request() {
    let (scratch, _daemon, mut client, sound) = made();
    let archive = scratch.beside("foreign.tar.zst");
    let into = scratch.beside("into");
    let (makefile, record) = ("Makefile", ".hippocampus/harness.json");
    for (paths, is_optional) in [
        (&[makefile, "vendor/a.md", "src/main.rs"][..], true),
        (&["C:/x.md"], false),
        (&[".envrc"], false),
        (&[".git/hooks/post-checkout"], false),
    ] {
        with_files(&sound, &archive, paths);
        let before = names(&scratch);
        let refusal = restore(&mut client, &archive, &into, false).expect_err("refused");
        assert_eq!(refusal.data.kind, ErrorKind::BadRequest, "{refusal:?}");
        assert!(
            paths.iter().all(|path| refusal.message.contains(path)),
            "{refusal:?}"
        );
        assert_eq!(
            refusal.data.hint.contains("--other-files"),
            is_optional,
            "{refusal:?}"
        );
        if !is_optional {
            restore(&mut client, &archive, &into, true).expect_err("refused all the same");
        }
        assert_eq!(names(&scratch), before, "{paths:?}");
    }
    for (other_files, folder) in [(false, "without"), (true, "with")] {
        let root = scratch.beside(folder);
        let paths = if other_files {
            &[record, makefile][..]
        } else {
            &[record]
        };
        with_files(&sound, &archive, paths);
        restore(&mut client, &archive, &root, other_files).expect("restored");
        assert!(root.join("MEMORY.md").is_file());
        assert!(
            !root.join(record).exists(),
            "the record of init is of another machine"
        );
        assert_eq!(root.join(makefile).is_file(), other_files);
    }
    let mode = std::fs::metadata(scratch.beside("with/Makefile")).unwrap();
    assert_eq!(
        mode.permissions().mode() & 0o111,
        0,
        "no restored file is a program"
    );
}
