//! Summaries of nodes by the program that the user configured.

use std::path::Path;
use std::process::Command;
use std::thread;

use hippo_proto::{
    Cycle, TreeCompactRequest, TreeCompactResponse, TreePendingRequest, TreePendingResponse,
    TreeSubmitRequest, TreeSubmitResponse,
};
use hippod_tests::{Caller, Clocked, Scratch};

use super::tree::{NOW, compact, day, fill, log};

/// Shell command that prints facts from the sources.
const HONEST: &str = "grep -o 'crate [0-9]* of [0-9-]* goes to warehouse [0-9]* at pier [0-9]*' | head -30";

/// Creates a workspace with logs of many days, and a daemon that gets its summaries from a program.
fn begun(script: &str, jobs: &str) -> (Scratch, Clocked, Caller) {
    let scratch = Scratch::new();
    fill(&scratch);
    let command = serde_json::to_string(&["sh", "-c", script]).unwrap();
    let settings = [
        ("HIPPOD_TREE_SUMMARIES", "command"),
        ("HIPPOD_TREE_COMMAND", command.as_str()),
        ("HIPPOD_TREE_COMMAND_DAILY_JOBS", jobs),
    ];
    let daemon = Clocked::start(&scratch, NOW, &settings);
    let mut client = daemon.client();
    client.index(&scratch.workspace());
    (scratch, daemon, client)
}

fn now(client: &mut Caller, root: &Path) -> TreeCompactResponse {
    let request = TreeCompactRequest {
        workspace: root.display().to_string(),
        ..TreeCompactRequest::default()
    };
    client.raw().call(&request.into()).unwrap()
}

fn summarised(answer: &TreeCompactResponse) -> Vec<&str> {
    let nodes = answer.nodes.iter().filter(|node| node.action == "summarised");
    nodes.map(|node| node.path.as_str()).collect()
}

fn text(root: &Path, path: &str) -> String {
    std::fs::read_to_string(root.join(path)).unwrap()
}

#[test]
fn a_command_writes_summaries_up_to_its_daily_limit() {
    let (scratch, daemon, mut client) = begun(HONEST, "2");
    let root = scratch.workspace();
    let made = compact(&mut client, &root);
    let written = summarised(&made);
    assert_eq!(written.len(), 2, "{made:?}");
    assert!(
        made.notes
            .iter()
            .any(|note| note.contains("2 summaries for today")),
        "{:?}",
        made.notes
    );
    let node = std::fs::read_to_string(root.join(written[0])).unwrap();
    assert!(
        node.contains("written-by: command") && node.contains("crate 2 of"),
        "{node}"
    );
    let again = compact(&mut client, &root);
    assert_eq!(summarised(&again), Vec::<&str>::new());
    daemon.set("2026-03-21T10:00:00Z");
    assert_eq!(summarised(&now(&mut client, &root)).len(), 2);
}

#[test]
fn a_command_replaces_no_foreign_body_and_keeps_later_statements() {
    let (scratch, _daemon, mut client) = begun(HONEST, "100");
    let root = scratch.workspace();
    // The logs of 4, 8 and 12 days ago are longer than the threshold. One node was written before hippod was used,
    // and its status requests a summary.
    let theirs = "---\ntype: daily\nstatus: needs-summarization\nperiod: 2026-03-16\n---\n\n## What I noted\n- the harbour was closed\n";
    scratch.write("memory/daily/2026-03-16.md", theirs);
    let request = TreeCompactRequest {
        workspace: root.display().to_string(),
        at: Some(NOW.to_owned()),
        take_over: true,
        ..TreeCompactRequest::default()
    };
    let made: TreeCompactResponse = client.raw().call(&request.into()).expect("a tree");
    assert!(!summarised(&made).contains(&"memory/daily/2026-03-16.md"));
    assert!(
        summarised(&made).contains(&"memory/daily/2026-03-12.md"),
        "{made:?}"
    );
    assert_eq!(text(&root, "memory/daily/2026-03-16.md"), theirs);
    // A person rewrites another node. Its log changes later.
    let mine =
        "---\ntype: daily\nstatus: fixed\nperiod: 2026-03-12\n---\n\n## Mine\n- the crane was rented\n";
    scratch.write("memory/daily/2026-03-12.md", mine);
    let again = compact(&mut client, &root);
    assert_eq!(text(&root, "memory/daily/2026-03-12.md"), mine, "{again:?}");
    scratch.write("memory/2026-03-12.md", log(day(8), 270));
    let last = compact(&mut client, &root);
    assert!(
        summarised(&last).contains(&"memory/daily/2026-03-12.md"),
        "{last:?}"
    );
    let kept = std::fs::read_dir(root.join(".hippocampus/replaced")).unwrap();
    let kept: Vec<String> = kept
        .map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap())
        .collect();
    assert!(
        kept.len() == 1 && kept[0].contains("the crane was rented"),
        "{kept:?}"
    );
}

#[test]
fn a_refused_body_is_kept_and_other_nodes_are_tried_the_next_day() {
    let script = "cat >/dev/null; echo 'The quarterly revenue of the bakery rose sharply while its ovens were being replaced.'";
    let (scratch, daemon, mut client) = begun(script, "100");
    let root = scratch.workspace();
    let refused = |answer: &TreeCompactResponse| -> Vec<String> {
        answer.refused.iter().map(|it| it.path.clone()).collect()
    };
    let made = compact(&mut client, &root);
    let first = refused(&made);
    assert_eq!((first.len(), summarised(&made).len()), (3, 0), "{made:?}");
    assert!(
        made.notes.iter().any(|note| note.contains("again tomorrow")),
        "{made:?}"
    );
    for (path, it) in first.iter().zip(&made.refused) {
        let name = path.trim_start_matches("memory/daily/").trim_end_matches(".md");
        assert!(text(&root, &format!(".hippocampus/rejected/{name}-1.md")).contains("bakery"));
        assert!(it.reason.contains(".hippocampus/rejected/"), "{it:?}");
        assert!(
            text(&root, path).contains("written-by: hippod"),
            "the extracted one stands"
        );
    }
    daemon.set("2026-03-21T10:00:00Z");
    let second = refused(&now(&mut client, &root));
    assert_eq!(second.len(), 3);
    assert!(
        second.iter().all(|path| !first.contains(path)),
        "{first:?} {second:?}"
    );
}

#[test]
fn no_request_waits_for_the_summary_command() {
    let pipes = Scratch::new();
    let (told, go) = (pipes.beside("told"), pipes.beside("go"));
    for pipe in [&told, &go] {
        assert!(Command::new("mkfifo").arg(pipe).status().unwrap().success());
    }
    let script = format!(
        "echo begun > '{}'; cat '{}' > /dev/null; {HONEST}",
        told.display(),
        go.display()
    );
    let (scratch, daemon, mut client) = begun(&script, "1");
    let root = scratch.workspace();
    let answer = thread::scope(|scope| {
        let mut other = daemon.client();
        let at = root.clone();
        let running = scope.spawn(move || compact(&mut other, &at));
        // Opening the pipe blocks until the program has started.
        assert_eq!(std::fs::read_to_string(&told).unwrap(), "begun\n");
        let pending: TreePendingResponse = client
            .raw()
            .call(
                &TreePendingRequest {
                    workspace: root.display().to_string(),
                    limit: None,
                }
                .into(),
            )
            .unwrap();
        let job = &pending.jobs[0];
        let body = "## Key Decisions\n- crate 12 goes to warehouse 22 at pier 2\n- crate 13 goes to warehouse 29 at pier 3\n";
        let submit = TreeSubmitRequest {
            workspace: root.display().to_string(),
            node: job.period.clone(),
            body: body.to_owned(),
            source_digest: Some(job.source_digest.clone()),
        };
        let taken: TreeSubmitResponse = client.raw().call(&submit.into()).unwrap();
        assert_eq!(taken.status, "fixed");
        let second = compact(&mut client, &root);
        assert!(
            second.notes.iter().any(|note| note.contains("another run")),
            "{second:?}"
        );
        std::fs::write(&go, "").unwrap();
        let answer = running.join().unwrap();
        assert!(text(&root, &job.path).contains("crate 12 goes to warehouse 22"));
        (job.path.clone(), answer)
    });
    let (path, answer) = answer;
    // Both requests needed a summary of the newest day. The result that came first was kept.
    assert_eq!(summarised(&answer), Vec::<&str>::new());
    assert!(
        answer
            .refused
            .iter()
            .any(|it| it.path == path && it.reason.contains("changed during the summary")),
        "{answer:?}"
    );
}

#[test]
fn deep_cycles_write_summaries_and_light_cycles_do_not() {
    let (scratch, _daemon, mut client) = begun(HONEST, "0");
    let root = scratch.workspace();
    compact(&mut client, &root);
    drop((client, _daemon));
    let command = serde_json::to_string(&["sh", "-c", HONEST]).unwrap();
    let settings = [
        ("HIPPOD_TREE_SUMMARIES", "command"),
        ("HIPPOD_TREE_COMMAND", command.as_str()),
    ];
    let daemon = Clocked::start(&scratch, NOW, &settings);
    let mut client = daemon.client();
    client.sync(&root);
    client.run(&root, Cycle::Light);
    let written = || {
        let nodes = std::fs::read_dir(root.join("memory/daily")).unwrap();
        let mut texts = nodes.map(|node| match std::fs::read_to_string(node.unwrap().path()) {
            // A temporary file of a node may have been renamed after the folder was listed.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            text => text.unwrap(),
        });
        texts.any(|text| text.contains("written-by: command"))
    };
    assert!(!written());
    client.run(&root, Cycle::Deep);
    // The summaries are written after the answer. Meanwhile, a client may send requests about the tree.
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while !written() {
        assert!(std::time::Instant::now() < deadline, "no summary came");
        client.sync(&root);
    }
}
