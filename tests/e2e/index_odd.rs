//! Invalid, unreadable or unusual index files.
//! The daemon keeps the text in these files.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use hippo_proto::Cycle;
use hippod_tests::{Caller, Daemon, PATIENCE, QUIET, Scratch, program};

use crate::index_file::{block_of, fill, id_of, indexed};

/// Starts a daemon that is subject to file permissions, even if root runs the tests.
pub fn daemon_without_privilege(scratch: &Scratch) -> Daemon {
    let mut command = Command::new(program());
    if rustix::process::geteuid().is_root() {
        command = Command::new("setpriv");
        command
            .arg("--bounding-set=-dac_override,-dac_read_search")
            .arg(program());
    }
    command.arg("run");
    Daemon::start_as(command, &scratch.home(), &QUIET)
}

fn mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

/// Asserts that `status`, `doctor` and `heartbeat` report the problem and its fix, and that all other functions work.
fn assert_told(what: &str, scratch: &Scratch, client: &mut Caller, words: &str, fix: &str) {
    let root = scratch.workspace();
    client.sync(&root);
    let status = client.index_status();
    let trouble = status
        .trouble
        .unwrap_or_else(|| panic!("{what}: {}", status.file));
    assert_eq!(status.file, "held", "{what}");
    assert!(
        trouble.contains(words) && trouble.contains(fix),
        "{what}: {trouble}"
    );
    let problems = client.doctor(false).problems;
    let told = problems.iter().find(|problem| problem.id == "index-file");
    let told = told.unwrap_or_else(|| panic!("{what}: {problems:?}"));
    assert!(
        told.what.contains(words) && told.fix.contains(fix),
        "{what}: {told:?}"
    );
    assert!(told.where_.ends_with("HIPPOCAMPUS.md"), "{what}: {told:?}");
    for cycle in [Cycle::Light, Cycle::Deep] {
        let report = client.run(&root, cycle);
        assert!(
            report.notes.iter().any(|note| note.contains(words)),
            "{what}: {report:#?}"
        );
        assert!(report.files.is_empty(), "{what}: {report:#?}");
    }
    let found = client.ask(&root, "coffee machine citric acid", false).results;
    assert_eq!(found[0].path, "knowledge/kitchen.md", "{what}");
    let log = client.remember(&root, &format!("Something about {what}."), what);
    assert!(log.entry.is_some() && root.join(log.path).exists(), "{what}");
}

fn assert_mended(what: &str, scratch: &Scratch, client: &mut Caller, ids: &[String]) {
    client.sync(&scratch.workspace());
    let status = client.index_status();
    assert_eq!(
        (status.file.as_str(), status.trouble),
        ("written", None),
        "{what}"
    );
    let problems = client.doctor(false).problems;
    assert!(problems.is_empty(), "{what}: {problems:?}");
    let file = scratch.index_file();
    for id in ids {
        block_of(&file, id);
    }
    assert!(
        scratch.index_file().contains(what),
        "what was remembered meanwhile is in it"
    );
}

#[test]
fn an_unreadable_index_file_is_left_unchanged_and_reported() {
    let scratch = Scratch::new();
    fill(&scratch);
    let root = scratch.workspace();
    let daemon = daemon_without_privilege(&scratch);
    let mut client = daemon.client();
    client.index(&root);
    let ids = client.ids(&root);
    let path = scratch.index_path();
    let whole = std::fs::read(&path).unwrap();

    let large = b"- a line of ten megabytes\n".repeat((10 << 20) / 26);
    let mut zeros = whole.clone();
    zeros[100..200].fill(0);
    let binary: Vec<u8> = (0..=255).cycle().take(9000).collect();
    for (what, bytes, words) in [
        ("ten megabytes", large, "and the maximum is"),
        ("zero bytes", zeros, "is not a text file"),
        ("a binary", binary, "is not a text file"),
    ] {
        scratch.write("HIPPOCAMPUS.md", &bytes);
        assert_told(what, &scratch, &mut client, words, "elsewhere");
        assert_eq!(std::fs::read(&path).unwrap(), bytes, "{what}");
        std::fs::rename(&path, scratch.beside("moved")).unwrap();
        assert_mended(what, &scratch, &mut client, &ids);
    }

    std::fs::rename(&path, scratch.beside("moved")).unwrap();
    std::fs::create_dir(&path).unwrap();
    std::fs::write(path.join("inside.txt"), "of somebody").unwrap();
    assert_told(
        "a folder",
        &scratch,
        &mut client,
        "is not a regular file",
        "move the file elsewhere",
    );
    assert_eq!(std::fs::read(path.join("inside.txt")).unwrap(), b"of somebody");
    std::fs::remove_dir_all(&path).unwrap();
    assert_mended("a folder", &scratch, &mut client, &ids);

    let before = std::fs::read(&path).unwrap();
    mode(&path, 0o000);
    assert_told(
        "no right",
        &scratch,
        &mut client,
        "cannot be read",
        "give hippod permission to read the file",
    );
    mode(&path, 0o640);
    assert_mended("no right", &scratch, &mut client, &ids);
    assert_eq!(
        path.metadata().unwrap().permissions().mode() & 0o777,
        0o640,
        "it keeps its rights"
    );
    assert!(before.len() < std::fs::read(&path).unwrap().len());

    let away = scratch.beside("elsewhere.md");
    std::fs::rename(&path, &away).unwrap();
    let bytes = std::fs::read(&away).unwrap();
    symlink(&away, &path).unwrap();
    assert_told(
        "a link out",
        &scratch,
        &mut client,
        "outside the workspace",
        "replace HIPPOCAMPUS.md with a regular file",
    );
    assert_eq!(
        std::fs::read(&away).unwrap(),
        bytes,
        "nothing is written through it"
    );
    std::fs::remove_file(&path).unwrap();
    symlink("nowhere.md", &path).unwrap();
    assert_told(
        "a dead link",
        &scratch,
        &mut client,
        "without a target",
        "remove the link",
    );
    std::fs::remove_file(&path).unwrap();
    assert_mended("a link out", &scratch, &mut client, &ids);
}

#[test]
fn a_linked_index_file_within_the_workspace_stays_a_link() {
    let scratch = Scratch::new();
    fill(&scratch);
    let root = scratch.workspace();
    scratch.write("ours.md", "# Ours\n\n- Keys → knowledge/kitchen.md\n");
    symlink("ours.md", scratch.index_path()).unwrap();
    let daemon = scratch.quiet_daemon();
    let mut client = daemon.client();
    client.index(&root);
    assert!(scratch.index_path().symlink_metadata().unwrap().is_symlink());
    let id = id_of(&mut client, &scratch, "Backups");
    let target = std::fs::read_to_string(root.join("ours.md")).unwrap();
    assert!(
        target.starts_with("# Ours\n") && target.contains("- Keys → knowledge/kitchen.md\n"),
        "{target}"
    );
    block_of(&target, &id);
    let summary = client.entry(&root, &id).summary;
    scratch.write("ours.md", target.replacen(&summary, "Said through the link.", 1));
    // The watcher must also report changes of the file to which the link leads.
    let deadline = Instant::now() + PATIENCE;
    while client.entry(&root, &id).summary != "Said through the link." {
        assert!(Instant::now() < deadline, "never noticed");
        std::thread::yield_now();
    }
    client.edit(&root, &id, |edit| edit.tags = Some(vec!["linked".into()]));
    assert!(scratch.index_path().symlink_metadata().unwrap().is_symlink());
    let target = std::fs::read_to_string(root.join("ours.md")).unwrap();
    assert!(block_of(&target, &id).contains("tags=linked"), "{target}");
}

#[test]
fn foreign_text_in_the_index_file_is_kept_byte_for_byte() {
    let prose = "# Index of the house\n\nWritten by ada since 2019; keep the order.\n\n| room | floor |\n|---|---|\n| hall | 0 |\n\n\
                 ## Rooms\n\nThe hall comes first.\n\n```\n# no heading → nothing\n```\n\n## Rules\n- keep it short\n- [x] done → maybe\n\
                 \n## People\n- Ilse → MEMORY.md §Harbour project\n";
    let crlf = prose.replace('\n', "\r\n");
    let bom = [b"\xEF\xBB\xBF".as_slice(), prose.as_bytes()].concat();
    let invalid = [prose.as_bytes(), b"\n## Old \xff\xfe notes\ncaf\xe9 \x80\x81\n"].concat();
    let no_end = prose.trim_end().as_bytes().to_vec();
    let other =
        b"{\"tool\": \"mem\", \"entries\": [1, 2, 3]}\n# not ours <!-- mem:meta v=3 --> <!-- open\n".to_vec();
    for (what, bytes, adopts) in [
        ("prose", prose.as_bytes().to_vec(), true),
        ("CRLF", crlf.into_bytes(), true),
        ("a byte order mark", bom, true),
        ("invalid UTF-8", invalid, true),
        ("no last line end", no_end, true),
        ("another tool", other, false),
        ("white space", b"\n \n\t\n".to_vec(), false),
        ("nothing", Vec::new(), false),
    ] {
        let scratch = Scratch::new();
        fill(&scratch);
        let root = scratch.workspace();
        scratch.write("HIPPOCAMPUS.md", &bytes);
        let daemon = scratch.quiet_daemon();
        let mut client = daemon.client();
        client.index(&root);
        let keeps = |when: &str| {
            let file = std::fs::read(scratch.index_path()).unwrap();
            let mut lines = file.split(|byte| *byte == b'\n');
            for mine in bytes
                .split(|byte| *byte == b'\n')
                .filter(|line| !line.trim_ascii().is_empty())
            {
                // When the daemon has data on a plain entry, it adds a comment at the end of the entry's line.
                let kept = |line: &[u8]| {
                    line == mine || line.starts_with(mine) && line[mine.len()..].starts_with(b" <!-- hx: ")
                };
                assert!(
                    lines.any(kept),
                    "{what}, {when}: {}",
                    String::from_utf8_lossy(mine)
                );
            }
            if what == "CRLF" {
                let alone = file
                    .windows(2)
                    .filter(|pair| pair[1] == b'\n' && pair[0] != b'\r');
                assert_eq!(
                    alone.count(),
                    0,
                    "{what}, {when}: {}",
                    String::from_utf8_lossy(&file)
                );
            }
            if what == "a byte order mark" {
                assert!(file.starts_with(b"\xEF\xBB\xBF# Index of the house"), "{when}");
            }
        };
        keeps("at once");
        assert_eq!(client.ids(&root).contains(&"ilse".to_owned()), adopts, "{what}");
        let id = id_of(&mut client, &scratch, "Backups");
        block_of(&scratch.index_file(), &id);
        for cycle in [Cycle::Light, Cycle::Deep, Cycle::Archival] {
            client.run(&root, cycle);
            keeps(&format!("after {cycle:?}"));
        }
        client.remember(&root, "The anchor is new.", "Anchor");
        client.edit(&root, &id, |edit| edit.summary = Some("Changed.".into()));
        keeps("after edits");
        assert_eq!(client.index_status().trouble, None, "{what}");
    }
}

#[test]
fn backup_files_of_editors_are_left_unchanged() {
    let (scratch, _daemon, mut client) = indexed();
    let beside = [
        ".HIPPOCAMPUS.md.swp",
        "HIPPOCAMPUS.md~",
        "#HIPPOCAMPUS.md#",
        "HIPPOCAMPUS.md.bak",
    ];
    for name in beside {
        scratch.write(name, b"half written \x00 by a crashed editor".as_slice());
    }
    client.sync(&scratch.workspace());
    client.remember(&scratch.workspace(), "The anchor is new.", "Anchor");
    client.run(&scratch.workspace(), Cycle::Deep);
    for name in beside {
        let bytes = std::fs::read(scratch.workspace().join(name)).unwrap();
        assert_eq!(bytes, b"half written \x00 by a crashed editor", "{name}");
    }
}

#[test]
fn an_unwritable_folder_is_reported_and_still_served() {
    let scratch = Scratch::new();
    fill(&scratch);
    let root = scratch.workspace();
    mode(&root, 0o555);
    let daemon = daemon_without_privilege(&scratch);
    let mut client = daemon.client();
    client.index(&root);
    let ids = client.ids(&root);
    assert!(!ids.is_empty() && !scratch.index_path().exists());
    assert_told("read-only", &scratch, &mut client, "could not write", "writable");
    mode(&root, 0o755);
    assert_mended("read-only", &scratch, &mut client, &ids);

    // This time the file exists, and a person has edited it.
    let id = id_of(&mut client, &scratch, "Backups");
    scratch.edit_index(&client.entry(&root, &id).summary, "The person was here.");
    mode(&root, 0o555);
    let before = std::fs::read(scratch.index_path()).unwrap();
    client.edit(&root, &ids[0], |edit| edit.tags = Some(vec!["meanwhile".into()]));
    assert_told(
        "read-only again",
        &scratch,
        &mut client,
        "could not write",
        "writable",
    );
    assert_eq!(client.entry(&root, &id).summary, "The person was here.");
    assert_eq!(std::fs::read(scratch.index_path()).unwrap(), before);
    drop(client);
    daemon.kill();
    let daemon = daemon_without_privilege(&scratch);
    let mut client = daemon.client();
    client.sync(&root);
    let trouble = client.index_status().trouble.expect("still so after a restart");
    assert!(trouble.contains("could not write"), "{trouble}");
    mode(&root, 0o755);
    assert_mended("read-only again", &scratch, &mut client, &ids);
    assert!(scratch.index_file().contains("The person was here."));
}

#[test]
fn an_obstacle_to_writing_the_index_file_is_named() {
    let (scratch, _daemon, mut client) = indexed();
    let root = scratch.workspace();
    let ids = client.ids(&root);
    for (what, name) in [
        ("a draft", ".HIPPOCAMPUS.md.draft"),
        ("a slot", ".HIPPOCAMPUS.md.replaced"),
    ] {
        crate::index_writers::settled(&mut client, &scratch);
        std::fs::create_dir(root.join(name)).unwrap();
        std::fs::write(root.join(name).join("inside"), "of somebody").unwrap();
        client.edit(&root, &ids[0], |edit| {
            edit.tags = Some(vec![what.replace(' ', "-")])
        });
        assert_told(what, &scratch, &mut client, name, "");
        assert!(!scratch.index_file().contains(&what.replace(' ', "-")));
        std::fs::remove_dir_all(root.join(name)).unwrap();
        assert_mended(what, &scratch, &mut client, &ids);
        assert!(scratch.index_file().contains(&what.replace(' ', "-")));
    }
}
