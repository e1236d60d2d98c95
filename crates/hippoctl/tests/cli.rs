//! Tests of exit codes, output streams, and the choice of the workspace.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests, outside the functions that clippy knows as tests"
)]

mod scripted;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use hippo_proto::{
    ErrorKind, GetResponse, IndexState, ModelPullResponse, Paths, Progress, RememberResponse, Request,
    RpcError, SearchHit, SearchMode, SearchResponse, Strategy, WorkspaceInfo, WorkspaceListResponse,
    encode_error, encode_result,
};
use scripted::{Daemon, command, hippoctl, out};
use tempfile::TempDir;

fn canonical(folder: &TempDir) -> PathBuf {
    folder.path().canonicalize().unwrap()
}

fn list(roots: &[&Path]) -> WorkspaceListResponse {
    let info = |root: &&Path| WorkspaceInfo {
        root: root.to_str().unwrap().to_owned(),
        documents: 1,
        pending: 0,
        generation: 1,
        root_present: true,
        opening: false,
    };
    WorkspaceListResponse {
        workspaces: roots.iter().map(info).collect(),
    }
}

fn found(texts: &[&str]) -> SearchResponse {
    let hit = |(at, text): (usize, &&str)| SearchHit {
        id: format!("c{at}"),
        path: "MEMORY.md".into(),
        start_line: at as u32 + 1,
        end_line: at as u32 + 1,
        heading: vec!["Rules".into()],
        score: 0.5,
        scores: None,
        strength: None,
        entry: None,
        tokens: 3,
        text: (*text).into(),
        date: None,
        scope: hippo_proto::Scope::Shared,
        copies: 0,
        speaker: None,
        superseded_by: None,
        origin: None,
        explain: None,
    };
    SearchResponse {
        query: "q".into(),
        mode: SearchMode::Lexical,
        strategy: Strategy::Search,
        results: texts.iter().enumerate().map(hit).collect(),
        tokens: 3,
        index: IndexState {
            degraded: Some("no-model".into()),
            why: Some("run x".into()),
            ..IndexState::default()
        },
        notes: vec![],
        trace: None,
        nothing_relevant: false,
        took_ms: 0.5,
    }
}

#[test]
fn search_uses_the_nearest_workspace_and_separates_its_streams() {
    let root = tempfile::tempdir().unwrap();
    let outer = canonical(&root);
    let inner = outer.join("agent");
    let below = inner.join("memory/deep");
    std::fs::create_dir_all(&below).unwrap();
    let roots = (outer.clone(), inner.clone());
    let daemon = Daemon::start(move |call| match &call.request {
        Request::WorkspaceList(_) => encode_result(&call.id, &list(&[&roots.0, &roots.1])),
        _ => encode_result(&call.id, &found(&["never on Fridays"])),
    });
    let (code, stdout, stderr) = out(&daemon.run(&below, &["search", "which", "day", "-n", "3"]));
    assert_eq!(
        (code, stdout.as_str(), stderr.as_str()),
        (
            0,
            " 1 0.50 MEMORY.md:1\n   Rules\n   never on Fridays\n",
            "degraded: no-model: run x\n"
        )
    );
    assert!(matches!(
        daemon.requests.recv().unwrap(),
        Request::WorkspaceList(_)
    ));
    let Request::Search(request) = daemon.requests.recv().unwrap() else {
        panic!("no search")
    };
    assert_eq!(request.workspace, inner.to_str().unwrap());
    assert_eq!(
        (request.query.as_str(), request.limit, request.record),
        ("which day", Some(3), false)
    );

    let (code, stdout, stderr) =
        out(&daemon.run(&outer, &["--json", "search", "day", "--workspace", "agent"]));
    assert_eq!((code, stderr.as_str()), (0, ""));
    assert_eq!(
        serde_json::from_str::<SearchResponse>(&stdout).unwrap(),
        found(&["never on Fridays"])
    );
    assert_eq!(stdout.lines().count(), 1);
    let Request::Search(request) = daemon.requests.recv().unwrap() else {
        panic!("asked for the list")
    };
    assert_eq!(request.workspace, inner.to_str().unwrap());
}

/// Starts a daemon that answers all calls but the first.
fn silent_once() -> Daemon {
    let calls = std::sync::atomic::AtomicUsize::new(0);
    Daemon::start(
        move |call| match calls.fetch_add(1, std::sync::atomic::Ordering::Relaxed) {
            0 => Vec::new(),
            _ => encode_result(&call.id, &found(&["never on Fridays"])),
        },
    )
}

#[test]
fn a_request_is_retried_once_unless_it_could_take_effect_twice() {
    let search = ["--no-start", "--workspace", "/", "search", "day"];
    let remember = ["--no-start", "--workspace", "/", "remember", "never on Fridays"];
    let root = Path::new("/");
    // The daemon reads the first request without answering, so the request may have taken effect.
    let daemon = silent_once();
    let (code, stdout, stderr) = out(&daemon.run(root, &search));
    assert_eq!(code, 0, "{stderr}");
    assert!(stdout.contains("never on Fridays"));
    assert_eq!(daemon.requests.try_iter().count(), 2);
    let daemon = silent_once();
    let (code, _, stderr) = out(&daemon.run(root, &remember));
    assert_eq!(code, 1);
    assert!(
        stderr.contains("closed the connection without an answer"),
        "{stderr}"
    );
    assert_eq!(daemon.requests.try_iter().count(), 1);

    let answers = |call: &hippo_proto::Call| match &call.request {
        Request::Search(_) => encode_result(&call.id, &found(&["never on Fridays"])),
        _ => encode_result(
            &call.id,
            &RememberResponse {
                path: "memory/2026-03-01.md".into(),
                start_line: 1,
                end_line: 1,
                entry: None,
                secrets: vec![],
                notes: vec![],
            },
        ),
    };
    let words: &[&[&str]] = &[&search, &remember];
    // The client can find out that the daemon has not read any part of a request, but only on Linux.
    for words in &words[..if cfg!(target_os = "linux") { 2 } else { 1 }] {
        let daemon = Daemon::after(1, answers);
        let (code, _, stderr) = out(&daemon.run(root, words));
        assert_eq!(code, 0, "{words:?}: {stderr}");
        assert_eq!(daemon.requests.try_iter().count(), 1);
        // The client repeats the request only once. For `search`, 1 means that nothing was found.
        let (code, _, stderr) = out(&Daemon::after(2, answers).run(root, words));
        let expected = if **words == search { 2 } else { 1 };
        assert_eq!(code, expected, "{words:?}: {stderr}");
    }
}

#[test]
fn refusals_become_exit_codes_with_message_and_hint() {
    let here = tempfile::tempdir().unwrap();
    for (kind, expected) in [
        (ErrorKind::BadRequest, 2),
        (ErrorKind::NoWorkspace, 4),
        (ErrorKind::NotFound, 4),
        (ErrorKind::Conflict, 5),
        (ErrorKind::Budget, 5),
        (ErrorKind::ReadOnly, 5),
        (ErrorKind::Internal, 1),
    ] {
        let daemon = Daemon::start(move |call| {
            encode_error(&call.id, &RpcError::new(kind, "it cannot be").hint("try another"))
        });
        let answer = out(&daemon.run(here.path(), &["get", "MEMORY.md", "--workspace", "."]));
        assert_eq!(
            answer,
            (
                expected,
                String::new(),
                "hippoctl: it cannot be\nhint: try another\n".to_owned()
            ),
            "{kind:?}"
        );
    }
}

#[test]
fn a_search_exits_like_grep() {
    let here = tempfile::tempdir().unwrap();
    for json in [&[][..], &["--json"]] {
        for (texts, expected) in [(&["never on Fridays"][..], 0), (&[], 1)] {
            let daemon = Daemon::start(move |call| encode_result(&call.id, &found(texts)));
            let words = [&["search", "x", "--workspace", "."], json].concat();
            let (code, stdout, stderr) = out(&daemon.run(here.path(), &words));
            assert_eq!(code, expected, "{stdout}{stderr}");
            let is_note = expected == 1 && json.is_empty();
            assert_eq!(stdout.is_empty(), is_note, "{stdout}");
            assert_eq!(stderr.contains("nothing found"), is_note, "{stderr}");
        }
        for (kind, expected) in [
            (ErrorKind::Internal, 2),
            (ErrorKind::BadRequest, 2),
            (ErrorKind::NoWorkspace, 4),
        ] {
            let daemon =
                Daemon::start(move |call| encode_error(&call.id, &RpcError::new(kind, "it cannot be")));
            let words = [&["search", "x", "--workspace", "."], json].concat();
            let (code, stdout, stderr) = out(&daemon.run(here.path(), &words));
            assert_eq!((code, stdout.as_str()), (expected, ""), "{kind:?}");
            assert_eq!(stderr.starts_with("{\"error\":{"), !json.is_empty(), "{stderr}");
        }
    }
}

#[test]
fn a_search_outside_every_workspace_exits_with_4() {
    let here = tempfile::tempdir().unwrap();
    let daemon = Daemon::start(|call| encode_result(&call.id, &list(&[Path::new("/elsewhere")])));
    let (code, stdout, stderr) = out(&daemon.run(here.path(), &["search", "x"]));
    assert_eq!((code, stdout.as_str()), (4, ""));
    assert!(stderr.contains("no registered workspace at or above"), "{stderr}");
    let hint = "\nhint: register the folder: hippoctl workspace add DIR, or choose a workspace with --workspace DIR:\n  \
                /elsewhere\n";
    assert!(stderr.ends_with(hint), "{stderr}");
}

#[test]
fn no_start_without_a_daemon_exits_with_3() {
    let home = tempfile::tempdir().unwrap();
    let (code, stdout, stderr) = out(&hippoctl(home.path(), home.path(), &["--no-start", "status"]));
    assert_eq!((code, stdout.as_str()), (3, ""));
    assert!(
        stderr.contains("could not connect") && stderr.contains("hint: "),
        "{stderr}"
    );
    assert_eq!(
        out(&hippoctl(home.path(), home.path(), &["service", "stop"])).0,
        0
    );
}

#[test]
fn wrong_usage_exits_with_2_and_help_with_0() {
    let home = tempfile::tempdir().unwrap();
    let (code, stdout, stderr) = out(&hippoctl(home.path(), home.path(), &["serach", "x"]));
    assert_eq!((code, stdout.as_str()), (2, ""));
    assert!(stderr.contains("search"), "{stderr}");
    let (code, stdout, _) = out(&hippoctl(home.path(), home.path(), &["--help"]));
    assert_eq!(code, 0);
    assert!(stdout.contains("\nUpkeep:\n  status "), "{stdout}");
    let (_, stdout, _) = out(&hippoctl(home.path(), home.path(), &["search", "--help"]));
    assert!(stdout.contains("\nGlobal options:\n"), "{stdout}");
    let (code, stdout, _) = out(&hippoctl(home.path(), home.path(), &["--completions", "bash"]));
    assert!(code == 0 && stdout.contains("consolidate"), "{stdout}");
    let mut relative = command(home.path(), home.path(), &["status"]);
    let (code, _, stderr) = out(&relative.env("HIPPOD_HOME", "here").output().unwrap());
    assert_eq!(
        (code, stderr.as_str()),
        (
            2,
            "hippoctl: could not use HIPPOD_HOME: not an absolute path: here\n"
        )
    );
}

#[test]
fn an_early_closed_output_is_not_a_failure() {
    let here = tempfile::tempdir().unwrap();
    let line = "x".repeat(1000);
    let daemon = Daemon::start(move |call| encode_result(&call.id, &found(&vec![line.as_str(); 1000])));
    let mut child = command(
        daemon.home.path(),
        here.path(),
        &["search", "x", "--workspace", "."],
    )
    .stdout(Stdio::piped())
    .stderr(Stdio::piped())
    .spawn()
    .unwrap();
    drop(child.stdout.take());
    let (code, _, stderr) = out(&child.wait_with_output().unwrap());
    assert_eq!((code, stderr.as_str()), (0, "degraded: no-model: run x\n"));
}

#[test]
fn get_prints_only_the_text() {
    let here = tempfile::tempdir().unwrap();
    let daemon = Daemon::start(|call| {
        if matches!(&call.request, Request::Get(get) if get.path.as_deref() == Some("MEMORY.md:2:2")) {
            return encode_error(&call.id, &RpcError::new(ErrorKind::NotFound, "no such file"));
        }
        let answer = GetResponse {
            path: "MEMORY.md".into(),
            start_line: 2,
            end_line: 3,
            text: "two\nthree".into(),
            heading: vec![],
            hash: String::new(),
            total_lines: 9,
            truncated: true,
        };
        encode_result(&call.id, &answer)
    });
    let (code, stdout, stderr) = out(&daemon.run(here.path(), &["get", "MEMORY.md:2:2", "--workspace", "."]));
    assert_eq!((code, stdout.as_str()), (0, "two\nthree\n"));
    assert_eq!(stderr, "note: printed lines 2 to 3 of 9 lines\n");
    // The client first requests a file whose name is the whole argument.
    let Request::Get(request) = daemon.requests.iter().nth(1).unwrap() else {
        panic!("no get")
    };
    assert_eq!((request.from, request.count), (Some(2), Some(2)));
}

#[test]
fn progress_is_hidden_without_a_terminal() {
    let here = tempfile::tempdir().unwrap();
    let daemon = Daemon::start(|call| {
        let item = "model.safetensors".to_owned();
        let progress = Progress {
            id: call.id.clone(),
            stage: "download".into(),
            item,
            done: 1,
            total: Some(2),
        };
        let answer = ModelPullResponse {
            model: "m".into(),
            files: vec![],
            took_ms: 1500.0,
        };
        [progress.to_line(), encode_result(&call.id, &answer)].concat()
    });
    let answer = out(&daemon.run(here.path(), &["model", "pull"]));
    assert_eq!(answer, (0, "m is installed (1.5 s)\n".to_owned(), String::new()));
}

#[test]
fn a_daemon_that_exits_early_is_reported_with_its_last_log_lines() {
    use std::os::unix::fs::PermissionsExt;

    let home = tempfile::tempdir().unwrap();
    let bin = tempfile::tempdir().unwrap();
    let daemon = bin.path().join("hippod");
    std::fs::write(
        &daemon,
        "#!/bin/sh\necho \"args: $*\" >&2\necho 'could not read the configuration' >&2\nexit 7\n",
    )
    .unwrap();
    std::fs::set_permissions(&daemon, std::fs::Permissions::from_mode(0o755)).unwrap();
    // Copy the client, so that it does not find the real daemon in its own folder.
    let client = bin.path().join("hippoctl");
    std::fs::copy(env!("CARGO_BIN_EXE_hippoctl"), &client).unwrap();
    let run = || {
        let mut command = Command::new(&client);
        command
            .args(["service", "start"])
            .env_clear()
            .env("HIPPOD_HOME", home.path())
            .env("PATH", "/usr/bin:/bin");
        out(&command.stdin(Stdio::null()).output().unwrap())
    };
    let (code, stdout, stderr) = run();
    assert_eq!((code, stdout.as_str()), (3, ""));
    assert!(stderr.contains("the daemon ended early"), "{stderr}");
    let log = Paths::below(home.path()).log;
    let said = format!(
        "args: run --log-file {}\ncould not read the configuration\nhint: ",
        log.display()
    );
    assert!(stderr.contains(&said), "{stderr}");
    let mode = std::fs::metadata(log).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(run().2.matches("args: run").count(), 1);
}
