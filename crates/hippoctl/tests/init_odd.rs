//! Tests of `init` and `workspace add` in unusual places.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests, outside the functions that clippy knows as tests"
)]

mod scripted;

use std::fs;
use std::path::{Path, PathBuf};

use hippo_proto::{
    Request, WorkspaceAddResponse, WorkspaceInfo, WorkspaceListResponse, WorkspaceRemoveResponse,
    encode_result,
};
use scripted::{Daemon, command, hippoctl, out};
use tempfile::TempDir;

const CONFIG: &str = "hipocampus.config.json";

fn folder() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap().join("w");
    fs::create_dir(&root).unwrap();
    (folder, root)
}

fn write(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn run(root: &Path, words: &[&str]) -> (i32, String, String) {
    let words: Vec<&str> = words.iter().copied().chain(["--no-start"]).collect();
    out(&hippoctl(&root.with_file_name("home"), root, &words))
}

#[test]
fn invalid_settings_are_refused_with_their_keys() {
    let (_folder, root) = folder();
    let text = "{\n  \"platform\": \"vim\",\n  \"tenants\": -1,\n  \"compaction\": { \"rootMaxTokens\": \"many\", \"cooldownHours\": -3 }\n}\n";
    write(&root, CONFIG, text);
    for words in [
        &["init"][..],
        &["init", "--platform", "codex"],
        &["init", "--dry-run"],
    ] {
        let (code, told, errors) = run(&root, words);
        assert_eq!((code, told.as_str()), (5, ""), "{errors}");
        for what in [
            "nothing was written",
            "hipocampus.config.json: platform is \"vim\"; expected one of claude-code, ",
            "compaction.rootMaxTokens is \"many\"; expected a whole number from 200",
            "compaction.cooldownHours is -3",
        ] {
            assert!(errors.contains(what), "{what}: {errors}");
        }
        assert!(!errors.contains("tenants"), "{errors}");
        assert_eq!(fs::read_dir(&root).unwrap().count(), 1);
        assert_eq!(fs::read_to_string(root.join(CONFIG)).unwrap(), text);
    }
    // With `--bare`, init ignores the configuration file. Only the daemon reads the file.
    let (code, _, errors) = run(&root, &["init", "--bare"]);
    assert_eq!(code, 0, "{errors}");
    write(
        &root,
        CONFIG,
        "{\"platform\": \"codex\", \"tenants\": -1, \"search\": null}",
    );
    let (code, _, errors) = run(&root, &["init"]);
    assert_eq!((code, errors.as_str()), (0, ""));
}

#[test]
fn the_home_folder_is_used_only_if_named_explicitly() {
    let (_folder, root) = folder();
    let root_too = root.clone();
    let daemon = Daemon::start(move |call| {
        let root = root_too.display().to_string();
        let added = WorkspaceAddResponse { root, added: true };
        encode_result(&call.id, &added)
    });
    let run = |cwd: &Path, words: &[&str]| {
        let mut command = command(daemon.home.path(), cwd, words);
        out(&command.env("HOME", &root).output().unwrap())
    };
    let named = root.display().to_string();
    for (cwd, words, what) in [
        (&*root, &["init"][..], "your home folder"),
        (&root, &["workspace", "add"], "your home folder"),
        (
            Path::new("/"),
            &["init", "--dry-run"],
            "the root of the file system",
        ),
        (
            Path::new("/"),
            &["workspace", "add"],
            "the root of the file system",
        ),
    ] {
        let (code, told, errors) = run(cwd, words);
        assert_eq!((code, told.as_str()), (5, ""), "{words:?}: {errors}");
        let shown = cwd.display();
        let verb = if words[0] == "init" {
            "init"
        } else {
            "workspace add"
        };
        let hint = format!("hippoctl {verb} {shown}\n");
        assert!(errors.contains(what) && errors.ends_with(&hint), "{errors}");
    }
    assert_eq!(fs::read_dir(&root).unwrap().count(), 0);
    assert!(daemon.requests.try_recv().is_err(), "the daemon got a request");
    for words in [
        &["workspace", "add", "."][..],
        &["--workspace", &named, "workspace", "add"],
    ] {
        let (code, _, errors) = run(&root, words);
        assert_eq!((code, errors.as_str()), (0, ""));
    }
    let (code, _, errors) = run(&root, &["init", &named]);
    assert_eq!(code, 0, "{errors}");
}

#[test]
fn files_and_missing_folders_are_refused_differently() {
    let (_folder, root) = folder();
    write(&root, "notes.md", "");
    for verb in [&["init"][..], &["workspace", "add"]] {
        for (name, what) in [("notes.md", "a file, not a folder"), ("gone", "no such folder")] {
            let (code, _, errors) = run(&root, &[verb, &[name]].concat());
            assert_eq!(code, 4, "{errors}");
            assert!(errors.contains(what) && errors.contains("\nhint: "), "{errors}");
        }
    }
}

/// Starts a daemon in which this folder is registered, and which keeps stored contents of its sessions.
fn keeping(root: &Path) -> Daemon {
    let root = root.display().to_string();
    Daemon::start(move |call| match &call.request {
        Request::WorkspaceRemove(_) => {
            let removed = WorkspaceRemoveResponse {
                root: root.clone(),
                contexts_kept: true,
                restored: Vec::new(),
                notes: Vec::new(),
            };
            encode_result(&call.id, &removed)
        }
        Request::WorkspaceList(_) => {
            let known = WorkspaceInfo {
                root: root.clone(),
                documents: 1,
                pending: 0,
                generation: 1,
                root_present: true,
                opening: false,
            };
            let workspaces = vec![known];
            encode_result(&call.id, &WorkspaceListResponse { workspaces })
        }
        _ => {
            let added = WorkspaceAddResponse {
                root: root.clone(),
                added: true,
            };
            encode_result(&call.id, &added)
        }
    })
}

#[test]
fn deinit_names_what_stays() {
    let (_folder, root) = folder();
    let daemon = keeping(&root);
    let run = |words: &[&str]| out(&daemon.run_in(&root.with_file_name("home"), &root, words));
    git(&root, &["init", "-q"]);
    run(&["init"]);
    write(&root, "memory/2026-03-02.md", "- The relay is blue.\n");
    let (_, told, _) = run(&["init", "--undo", "--dry-run"]);
    assert!(told.starts_with("would revert init in "), "{told}");
    let (code, told, errors) = run(&["init", "--undo"]);
    assert_eq!(code, 0, "{told}{errors}");
    assert!(told.contains("git sees the memory files that stay"), "{told}");
    let purge = format!("hippoctl workspace remove {} --purge\n", root.display());
    assert!(told.contains(&purge), "{told}");
    assert!(root.join("memory/2026-03-02.md").exists());
}

#[test]
fn init_connects_no_agent_if_no_agent_is_installed() {
    let (folder, root) = folder();
    write(&root, ".obsidian/app.json", "{}");
    write(&root, "Tea.md", "Two minutes.\n");
    let home = folder.path().join("user");
    fs::create_dir(&home).unwrap();
    let run = |words: &[&str]| {
        let mut command = command(&root.with_extension("home"), &root, words);
        command.env("HOME", &home).env("PATH", &home);
        out(&command.output().unwrap())
    };
    let (code, told, errors) = run(&["init", "--no-start"]);
    assert_eq!(code, 0, "{told}{errors}");
    let set_up = format!("set up {} for search\n", root.display());
    assert!(told.starts_with(&set_up), "{told}");
    let hint =
        "search works without an agent; to connect an agent later: hippoctl init --platform claude-code";
    assert!(told.contains(hint), "{told}");
    assert!(!root.join("CLAUDE.md").exists() && !root.join(".claude").exists());

    // An agent that is installed is still the default.
    fs::create_dir(home.join(".claude")).unwrap();
    let (_, told, _) = run(&["init", "--no-start"]);
    assert!(told.starts_with("claude-code in "), "{told}");
    assert!(!told.contains("without an agent"), "{told}");
}

/// Runs git in a folder.
fn git(root: &Path, words: &[&str]) -> String {
    let ran = std::process::Command::new("git")
        .args(["-c", "user.name=t", "-c", "user.email=t@example.org"])
        .args(words)
        .current_dir(root)
        .output()
        .unwrap();
    assert!(ran.status.success(), "{words:?}: {ran:?}");
    String::from_utf8(ran.stdout).unwrap()
}

#[test]
fn files_of_a_kind_that_git_tracks_are_not_ignored() {
    let (_folder, top) = folder();
    // The workspace is below the folder of the repository, and its name is a pattern.
    let root = top.join("notes [a]");
    for day in ["2026-03-02", "2026-03-03"] {
        write(&root, &format!("memory/{day}.md"), "# Log\n");
    }
    git(&top, &["init", "-q"]);
    git(&top, &["add", "."]);
    for words in [&["init", "--dry-run"][..], &["init"], &["init"]] {
        let (code, told, errors) = run(&root, words);
        assert_eq!(code, 0, "{told}{errors}");
        let note = ".gitignore gets no line /memory/????-??-??*.md, because git tracks memory/2026-03-02.md and 1 \
                    other file";
        assert!(told.contains(note), "{told}");
    }
    let rules = fs::read_to_string(root.join(".gitignore")).unwrap();
    assert!(
        !rules.contains("????") && rules.contains("/memory/daily/\n"),
        "{rules}"
    );
    write(&root, "memory/2026-03-04.md", "# Log\n");
    write(&root, "memory/daily/2026-03-04.md", "# Day\n");
    let seen = git(&root, &["status", "--porcelain", "-uall"]);
    assert!(seen.contains("memory/2026-03-04.md"), "{seen}");
    assert!(!seen.contains("memory/daily"), "{seen}");
}

#[test]
fn undo_names_a_gitignore_only_in_a_repository_and_leaves_no_pages_of_sessions() {
    for (has_git, has_other) in [(false, false), (true, true)] {
        let (_folder, root) = folder();
        if has_git {
            git(&root, &["init", "-q"]);
        }
        let text = root.display().to_string();
        let daemon = Daemon::start(move |call| match &call.request {
            Request::WorkspaceAdd(_) => encode_result(
                &call.id,
                &WorkspaceAddResponse {
                    root: text.clone(),
                    added: true,
                },
            ),
            _ => encode_result(
                &call.id,
                &WorkspaceRemoveResponse {
                    root: text.clone(),
                    contexts_kept: false,
                    restored: Vec::new(),
                    notes: Vec::new(),
                },
            ),
        });
        let run = |words: &[&str]| out(&daemon.run_in(&root.with_file_name("home"), &root, words));
        let (code, told, errors) = run(&["init", "--platform", "claude-code"]);
        assert_eq!(code, 0, "{told}{errors}");
        let pages = ".hippocampus/sessions";
        write(&root, &format!("{pages}/.gitignore"), "*\n");
        write(
            &root,
            &format!("{pages}/2026-03-02-codex-0a1b2c3d.md"),
            "# Codex session\n",
        );
        if has_other {
            write(&root, &format!("{pages}/mine.txt"), "mine\n");
        }
        let (code, told, errors) = run(&["init", "--undo"]);
        assert_eq!(code, 0, "{told}{errors}");
        assert_eq!(told.contains("so git sees the memory files"), has_git, "{told}");
        assert_eq!(root.join(pages).exists(), has_other, "{told}");
        let kept = "kept          .hippocampus/sessions/: it contains mine.txt, which hippod did not write";
        assert_eq!(told.contains(kept), has_other, "{told}");
        assert_eq!(root.join(".hippocampus").exists(), has_other, "{told}");
    }
}
