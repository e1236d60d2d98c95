//! Unusual names, folders and links.
//!
//! The daemon handles them where possible, and reports a reason for each one that it skips.

use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, symlink};
use std::path::Path;

use hippo_proto::{Cycle, GetRequest, GetResponse};
use hippod_tests::{Daemon, QUIET, Scratch};

use crate::index_file::fill;

#[test]
fn misleading_folders_and_links_are_reported() {
    let scratch = Scratch::new();
    let root = scratch.workspace();
    scratch.write("memory/real.md", "- the real pump\n");
    scratch.write("memory/folder.md/inside.md", "- the lantern inside\n");
    let outside = scratch.beside("outside.md");
    std::fs::write(&outside, "- the secret of the neighbour\n").unwrap();
    symlink(&outside, root.join("memory/outside.md")).unwrap();
    symlink("nowhere.md", root.join("memory/dangling.md")).unwrap();
    symlink("../memory", root.join("memory/loop")).unwrap();
    symlink("self.md", root.join("memory/self.md")).unwrap();
    symlink("real.md", root.join("memory/second-name.md")).unwrap();
    scratch.write(".env", "PASSWORD=the secret of the owner\n");
    scratch.write(".git/notes/log.md", "- the secret of the repository\n");
    symlink("../.env", root.join("memory/env.md")).unwrap();
    symlink("../.git/notes", root.join("memory/notes")).unwrap();
    let deep = format!("memory/{}deep.md", "level/".repeat(60));
    scratch.write(&deep, "- the anchor at the bottom\n");
    let daemon = scratch.daemon();
    let mut client = daemon.client();
    let synced = client.index(&root);
    assert_eq!(synced.documents, 3, "{:?}", client.status().workspaces[0]);
    for (path, word) in [
        ("memory/folder.md", "folder"),
        ("memory/outside.md", "outside"),
        ("memory/dangling.md", "link"),
        ("memory/env.md", "hidden"),
        ("memory/notes", "hidden"),
        ("memory/loop", "link"),
        ("memory/self.md", "link"),
        ("memory/second-name.md", "memory/real.md"),
    ] {
        let why = client.skipped(path);
        assert!(why.contains(word), "{path}: {why}");
    }
    assert_eq!(
        client.best(&scratch.workspace(), "real pump").as_deref(),
        Some("memory/real.md:1")
    );
    assert_eq!(
        client.best(&scratch.workspace(), "lantern").as_deref(),
        Some("memory/folder.md/inside.md:1")
    );
    assert_eq!(
        client.best(&scratch.workspace(), "anchor"),
        Some(format!("{deep}:1"))
    );
    let secret = client.search(&root, "secret of the neighbour");
    assert!(secret.results.iter().all(|hit| !hit.text.contains("secret")));
    for path in [
        "memory/outside.md",
        "memory/env.md",
        "memory/notes/log.md",
        "memory/loop/../../../outside.md",
    ] {
        let request = GetRequest {
            workspace: Some(root.display().to_string()),
            path: Some(path.into()),
            ..GetRequest::default()
        };
        assert!(
            client.raw().call::<GetResponse>(&request.into()).is_err(),
            "{path}"
        );
    }
}

/// The open call for reading a pipe blocks until another process opens the pipe for writing.
#[test]
fn a_pipe_created_while_the_daemon_runs_blocks_no_client() {
    let scratch = Scratch::new();
    scratch.write("memory/real.md", "- the real pump\n");
    let daemon = scratch.daemon();
    let mut client = daemon.client();
    client.index(&scratch.workspace());
    let made = std::process::Command::new("mkfifo")
        .args([
            scratch.workspace().join("memory/pipe.md"),
            scratch.workspace().join("memory/real.md.tmp"),
        ])
        .status();
    assert!(made.unwrap().success());
    // A pipe replaces a file that is already indexed.
    std::fs::rename(
        scratch.workspace().join("memory/real.md.tmp"),
        scratch.workspace().join("memory/real.md"),
    )
    .unwrap();
    client.sync(&scratch.workspace());
    scratch.write("memory/later.md", "- the lantern came later\n");
    client.search_until(&scratch.workspace(), "lantern", |answer| {
        !answer.results.is_empty()
    });
    assert!(
        client
            .search(&scratch.workspace(), "real pump")
            .results
            .iter()
            .all(|hit| hit.path != "memory/real.md")
    );
    assert!(client.skipped("memory/pipe.md").contains("regular"));
}

fn pipe(path: &Path) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let beside = path.with_extension("pipe");
    let made = std::process::Command::new("mkfifo").arg(&beside).status();
    assert!(made.unwrap().success());
    std::fs::rename(&beside, path).unwrap();
}

/// Starts a daemon with such a small limit for the index file that most entries are in topic files.
fn with_little_room(scratch: &Scratch) -> Daemon {
    let mut settings = QUIET.to_vec();
    settings.extend([
        ("HIPPOD_INDEX_MAX_TOKENS", "600"),
        ("HIPPOD_INDEX_MAX_ENTRIES", "2"),
    ]);
    Daemon::start(&scratch.home(), &settings)
}

/// Only a few threads process all workspaces, so threads that wait for pipes would block every client.
#[test]
fn pipes_at_the_paths_of_written_files_block_no_client() {
    let topics = {
        let scratch = Scratch::new();
        fill(&scratch);
        let daemon = with_little_room(&scratch);
        daemon.client().index(&scratch.workspace());
        let mut listing = std::fs::read_dir(scratch.workspace().join(".hippocampus/topics")).unwrap();
        let name = listing.next().expect("a file").unwrap().file_name();
        format!(".hippocampus/topics/{}", name.to_str().unwrap())
    };
    for (path, words) in [
        ("HIPPOCAMPUS.md", "is not a regular file"),
        (&topics, ".md is not a regular file"),
        (".hippocampus/topics/of-nobody.md", ""),
        (".hippocampus/archive/2026-01.md", ""),
        (".hippocampus/config.toml", ""),
        (".hippocampus/canary", ""),
    ] {
        for before in [true, false] {
            let what = format!("{path}, before the start: {before}");
            let scratch = Scratch::new();
            fill(&scratch);
            let root = scratch.workspace();
            if before {
                pipe(&root.join(path));
            }
            let daemon = with_little_room(&scratch);
            let mut client = daemon.client();
            client.index(&root);
            if !before {
                pipe(&root.join(path));
                client.sync(&root);
            }
            client.run(&root, Cycle::Light);
            let noted = client.remember(&root, "The anchor was painted blue.", "Anchor paint");
            let status = client.index_status();
            let trouble = status.trouble.unwrap_or_default();
            assert!(
                trouble.contains(words) && (words.is_empty() || status.file == "held"),
                "{what}: {} {trouble}",
                status.file
            );
            let kind = std::fs::symlink_metadata(root.join(path)).unwrap().file_type();
            assert!(kind.is_fifo(), "{what}: it is left as it is");
            assert_eq!(
                client.best(&root, "citric acid").as_deref(),
                Some("knowledge/kitchen.md:5")
            );
            if !words.is_empty() {
                std::fs::remove_file(root.join(path)).unwrap();
                client.sync(&root);
                client.run(&root, Cycle::Light);
                let status = client.index_status();
                assert_eq!(
                    (status.file.as_str(), status.trouble),
                    ("written", None),
                    "{what}"
                );
                let id = noted.entry.expect("an entry").id;
                assert!(client.show(&root, &id).file.is_some(), "{what}");
            }
            drop(client);
            daemon.terminate();
        }
    }
}

/// Reading the whole file would take as much memory as its size.
#[cfg(target_os = "linux")]
#[test]
fn an_index_file_of_three_gigabytes_is_not_read() {
    let scratch = Scratch::new();
    fill(&scratch);
    let root = scratch.workspace();
    let large = std::fs::File::create(scratch.index_path()).unwrap();
    large.set_len(3 << 30).unwrap();
    let daemon = scratch.quiet_daemon();
    let mut client = daemon.client();
    client.index(&root);
    let trouble = client.index_status().trouble.expect("a reason");
    assert!(trouble.contains("and the maximum is"), "{trouble}");
    let most = daemon.most_memory();
    assert!(most < 1 << 20, "{most} KiB");
}

#[test]
fn file_names_may_contain_any_utf_8() {
    let scratch = Scratch::new();
    let names = [
        ("memory/ein Name mit Ümläuten.md", "lantern"),
        ("memory/two\nlines.md", "anvil"),
        ("memory/\"quoted\" 'name' & $(more).md", "bellows"),
        ("memory/東京 🗼.md", "sextant"),
        ("memory/%41%00.md", "sundial"),
        ("memory/[glob]*?{a,b}.md", "gimlet"),
    ];
    for (path, word) in names {
        scratch.write(path, format!("- first\n- the {word}\n"));
    }
    // Only Linux accepts such a file name.
    let not_utf8 = cfg!(target_os = "linux");
    if not_utf8 {
        let odd = std::ffi::OsStr::from_bytes(b"memory/latin\xe9.md");
        std::fs::write(scratch.workspace().join(odd), "- unreachable\n").unwrap();
    }
    let daemon = scratch.daemon();
    let mut client = daemon.client();
    assert_eq!(client.index(&scratch.workspace()).documents, 6);
    for (path, word) in names {
        assert_eq!(client.best(&scratch.workspace(), word), Some(format!("{path}:2")));
        let request = GetRequest {
            workspace: Some(scratch.workspace().display().to_string()),
            path: Some(path.into()),
            from: Some(2),
            count: Some(1),
            ..GetRequest::default()
        };
        let read: GetResponse = client.raw().call(&request.into()).unwrap();
        assert_eq!(read.text.trim_end(), format!("- the {word}"));
    }
    if not_utf8 {
        assert!(client.skipped("memory/latin\u{fffd}.md").contains("UTF-8"));
    }
    // The watcher notices edits of files with such names.
    scratch.write(names[1].0, "- the anvil\n- the periscope\n");
    client.search_until(&scratch.workspace(), "periscope", |answer| {
        answer
            .results
            .first()
            .is_some_and(|hit| hit.path == names[1].0 && hit.start_line == 2)
    });
}
