//! Consistency of the compaction tree with its logs.
//!
//! Neither other writers nor kills of the daemon may change the result.

use std::collections::BTreeMap;
use std::path::Path;
use std::thread;

use hippo_proto::{
    Cycle, ErrorKind, RpcError, TreeCompactRequest, TreeCompactResponse, TreePendingRequest,
    TreePendingResponse, TreeShowRequest, TreeShowResponse, TreeSubmitRequest, TreeSubmitResponse,
};
use hippod_tests::{Caller, Clocked, Dice, Scratch};

/// Number of times that the daemon is killed while it compacts a tree.
const KILLS: usize = 15;
/// Number of days before `NOW` for which there is a log.
const DAYS: i64 = 40;
pub(super) const NOW: &str = "2026-03-20T10:00:00Z";

pub(super) fn day(before: i64) -> jiff::civil::Date {
    let today = jiff::civil::date(2026, 3, 20);
    today.checked_sub(jiff::Span::new().days(before)).unwrap()
}

pub(super) fn log(day: jiff::civil::Date, lines: usize) -> String {
    let line = |number: usize| {
        format!(
            "- decision: crate {number} of {day} goes to warehouse {} at pier {}\n",
            number * 7 % 31,
            number % 5
        )
    };
    let lines: String = (0..lines).map(line).collect();
    format!(
        "# {day}\n\n## Warehouse [project]\n- request: where do the crates go\n{lines}\n## Style [feedback]\n- rule: always answer in metric units\n"
    )
}

/// Writes logs of many days. Every fourth log is longer than the threshold.
pub(super) fn fill(scratch: &Scratch) {
    for before in 0..DAYS {
        let lines = if before % 4 == 0 { 260 } else { 12 };
        scratch.write(&format!("memory/{}.md", day(before)), log(day(before), lines));
    }
}

pub(super) fn begun() -> (Scratch, Clocked, Caller) {
    let scratch = Scratch::new();
    fill(&scratch);
    let daemon = Clocked::start(&scratch, NOW, &[]);
    let mut client = daemon.client();
    client.index(&scratch.workspace());
    (scratch, daemon, client)
}

pub(super) fn compact(client: &mut Caller, root: &Path) -> TreeCompactResponse {
    try_compact(client, root, false).expect("a tree")
}

fn try_compact(client: &mut Caller, root: &Path, dry_run: bool) -> Result<TreeCompactResponse, RpcError> {
    let request = TreeCompactRequest {
        workspace: root.display().to_string(),
        at: Some(NOW.to_owned()),
        dry_run,
        ..TreeCompactRequest::default()
    };
    match client.raw().call(&request.into()) {
        Ok(answer) => Ok(answer),
        Err(hippo_proto::ClientError::Refused(error)) => Err(error),
        Err(error) => panic!("{error}"),
    }
}

fn refused(client: &mut Caller, request: TreeSubmitRequest) -> RpcError {
    match client.raw().call::<TreeSubmitResponse>(&request.into()) {
        Err(hippo_proto::ClientError::Refused(error)) => error,
        other => panic!("{other:?}"),
    }
}

fn show(client: &mut Caller, root: &Path, node: &str) -> TreeShowResponse {
    let request = TreeShowRequest {
        workspace: root.display().to_string(),
        node: Some(node.to_owned()),
    };
    client.raw().call(&request.into()).expect("a node")
}

/// Returns the text of each node by path.
pub(super) fn nodes(root: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for folder in ["memory", "memory/daily", "memory/weekly", "memory/monthly"] {
        let Ok(entries) = std::fs::read_dir(root.join(folder)) else {
            continue;
        };
        for entry in entries {
            let entry = entry.unwrap();
            let name = entry.file_name().to_string_lossy().into_owned();
            let is_node = folder != "memory" || name == "ROOT.md";
            if is_node && entry.file_type().unwrap().is_file() {
                found.insert(
                    format!("{folder}/{name}"),
                    std::fs::read_to_string(entry.path()).unwrap(),
                );
            }
        }
    }
    found
}

#[test]
fn a_tree_is_built_from_logs_and_rebuilt_byte_for_byte() {
    let (scratch, _daemon, mut client) = begun();
    let root = scratch.workspace();
    let before: Vec<String> = (0..DAYS)
        .map(|at| std::fs::read_to_string(root.join(format!("memory/{}.md", day(at)))).unwrap())
        .collect();
    let planned = try_compact(&mut client, &root, true).unwrap();
    assert!(nodes(&root).is_empty(), "a dry run writes nothing");
    let made = compact(&mut client, &root);
    assert_eq!(made.refused, []);
    let paths = |answer: &TreeCompactResponse| {
        answer
            .nodes
            .iter()
            .map(|node| node.path.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(paths(&planned), paths(&made), "the dry run says what is done");
    let first = nodes(&root);
    assert_eq!(first.len(), made.nodes.len());
    for path in [
        "memory/daily/2026-03-20.md",
        "memory/weekly/2026-W12.md",
        "memory/monthly/2026-02.md",
        "memory/ROOT.md",
    ] {
        assert!(first.contains_key(path), "{path}");
    }
    assert_eq!(compact(&mut client, &root).nodes, [], "nothing is due any more");
    assert_eq!(nodes(&root), first);
    for folder in ["daily", "weekly", "monthly"] {
        std::fs::remove_dir_all(root.join("memory").join(folder)).unwrap();
    }
    std::fs::remove_file(root.join("memory/ROOT.md")).unwrap();
    compact(&mut client, &root);
    assert_eq!(nodes(&root), first, "the same bytes from the logs alone");
    let after: Vec<String> = (0..DAYS)
        .map(|at| std::fs::read_to_string(root.join(format!("memory/{}.md", day(at)))).unwrap())
        .collect();
    assert_eq!(before, after, "no log is touched");
    let day = show(&mut client, &root, "2026-03-20");
    assert_eq!(
        (day.status.as_deref(), day.written_by.as_deref(), day.stale),
        (Some("tentative"), Some("hippod"), false)
    );
    assert!(day.body.contains("→ memory/2026-03-20.md#L"), "{}", day.body);
    let root_md = show(&mut client, &root, "ROOT");
    assert!(
        root_md.tokens <= 3_000 && root_md.body.contains("## Topics Index"),
        "{}",
        root_md.body
    );
    assert!(
        root_md.body.contains("metric units"),
        "what the user wants stays: {}",
        root_md.body
    );
}

#[test]
fn a_compaction_killed_at_any_moment_can_be_completed() {
    let scratch = Scratch::new();
    fill(&scratch);
    let root = scratch.workspace();
    let mut dice = Dice::new();
    for kill in 0..KILLS {
        let daemon = scratch.daemon();
        let mut client = daemon.client();
        client.index(&root);
        // Change the log, so that each round has work to do.
        scratch.write(&format!("memory/{}.md", day(3)), log(day(3), 200 + kill));
        let asked = {
            let mut client = daemon.client();
            let root = root.clone();
            thread::spawn(move || {
                let request = TreeCompactRequest {
                    workspace: root.display().to_string(),
                    at: Some(NOW.to_owned()),
                    ..TreeCompactRequest::default()
                };
                // The request fails if the daemon is killed before it answers.
                let _ = client.raw().call::<TreeCompactResponse>(&request.into());
            })
        };
        for _ in 0..dice.below(40) {
            client.status();
        }
        daemon.kill();
        asked.join().unwrap();
    }
    let daemon = scratch.daemon();
    let mut client = daemon.client();
    client.index(&root);
    compact(&mut client, &root);
    assert_eq!(compact(&mut client, &root).nodes, []);
    let found = nodes(&root);
    let fresh = Scratch::new();
    fill(&fresh);
    fresh.write(&format!("memory/{}.md", day(3)), log(day(3), 200 + KILLS - 1));
    let other = fresh.daemon();
    let mut client = other.client();
    client.index(&fresh.workspace());
    compact(&mut client, &fresh.workspace());
    assert_eq!(
        found.keys().collect::<Vec<_>>(),
        nodes(&fresh.workspace()).keys().collect::<Vec<_>>()
    );
    for (path, text) in nodes(&fresh.workspace()) {
        assert_eq!(found[&path], text, "{path}");
    }
    let left: Vec<_> = walk(&root.join("memory"))
        .into_iter()
        .filter(|name| !name.ends_with(".md"))
        .collect();
    assert_eq!(left, Vec::<String>::new(), "nothing is left of what was cut off");
}

fn walk(folder: &Path) -> Vec<String> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            names.extend(walk(&entry.path()));
        } else {
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    names
}

#[test]
fn cycles_update_an_existing_tree_and_create_none() {
    let (scratch, daemon, mut client) = begun();
    let root = scratch.workspace();
    assert!(client.run(&root, Cycle::Deep).tree.is_none());
    assert!(nodes(&root).is_empty(), "nobody asked for one");
    compact(&mut client, &root);
    daemon.set("2026-03-21T09:00:00Z");
    scratch.write("memory/2026-03-21.md", log(jiff::civil::date(2026, 3, 21), 8));
    let tree = client.run(&root, Cycle::Light).tree.expect("a report");
    assert!(
        tree.nodes
            .iter()
            .any(|node| node.path == "memory/daily/2026-03-21.md"),
        "{tree:?}"
    );
    let tree = client.run(&root, Cycle::Deep).tree.expect("a report");
    assert!(tree.refused.is_empty(), "{tree:?}");
    assert!(nodes(&root)["memory/ROOT.md"].contains("last-updated: 2026-03-21"));
    assert_eq!(
        show(&mut client, &root, "2026-03-20").status.as_deref(),
        Some("fixed")
    );
}

#[test]
fn a_compaction_requested_by_hooks_runs_only_when_due() {
    let (scratch, daemon, mut client) = begun();
    let root = scratch.workspace();
    compact(&mut client, &root);
    let ask = |client: &mut Caller| {
        let request = TreeCompactRequest {
            workspace: root.display().to_string(),
            when_due: true,
            ..TreeCompactRequest::default()
        };
        client
            .raw()
            .call::<TreeCompactResponse>(&request.into())
            .unwrap()
            .ran
    };
    assert!(!ask(&mut client));
    scratch.write(&format!("memory/{}.md", day(0)), log(day(0), 261));
    assert!(!ask(&mut client), "one line");
    scratch.write(&format!("memory/{}.md", day(0)), log(day(0), 600));
    assert!(ask(&mut client), "the log grew by hundreds of lines");
    assert!(!ask(&mut client));
    let mut text = log(day(0), 600);
    for checkpoint in 0..5 {
        text.push_str(&format!("\n## Checkpoint {checkpoint}\n- outcome: done\n"));
    }
    scratch.write(&format!("memory/{}.md", day(0)), text);
    assert!(ask(&mut client), "five checkpoints");
    assert!(!ask(&mut client));
    daemon.set("2026-03-20T13:01:00Z");
    assert!(ask(&mut client), "three hours");
}

#[test]
fn a_submitted_summary_is_kept_until_its_sources_change() {
    let scratch = Scratch::new();
    fill(&scratch);
    let daemon = Clocked::start(&scratch, NOW, &[("HIPPOD_TREE_SUMMARIES", "agent")]);
    let mut client = daemon.client();
    let root = scratch.workspace();
    client.index(&root);
    compact(&mut client, &root);
    let pending = |client: &mut Caller| {
        let request = TreePendingRequest {
            workspace: root.display().to_string(),
            limit: Some(100),
        };
        client.raw().call::<TreePendingResponse>(&request.into()).unwrap()
    };
    let jobs = pending(&mut client);
    assert!(jobs.total > 5 && jobs.jobs[0].level == "daily", "{jobs:?}");
    assert!(
        client
            .heartbeat(&root)
            .pending
            .iter()
            .any(|it| it.kind == "summaries-wanted")
    );
    let job = jobs.jobs[0].clone();
    let submit = |body: &str, digest: Option<&str>| TreeSubmitRequest {
        workspace: root.display().to_string(),
        node: job.period.clone(),
        body: body.to_owned(),
        source_digest: digest.map(str::to_owned),
    };
    let other = "The quarterly revenue of the bakery rose sharply while its ovens were being replaced by newer models.";
    let refusal = refused(&mut client, submit(other, None));
    assert_eq!(refusal.data.kind, ErrorKind::BadRequest);
    let body = "## Key Decisions\n- crate 12 goes to warehouse 22 at pier 2\n- crate 13 goes to warehouse 29 at pier 3\n";
    assert_eq!(
        refused(&mut client, submit(body, Some("0000000000000000")))
            .data
            .kind,
        ErrorKind::Stale
    );
    let taken: TreeSubmitResponse = client
        .raw()
        .call(&submit(body, Some(&job.source_digest)).into())
        .unwrap();
    assert_eq!(taken.status, "fixed");
    assert_eq!(
        show(&mut client, &root, &job.period).written_by.as_deref(),
        Some("agent")
    );
    compact(&mut client, &root);
    assert_eq!(show(&mut client, &root, &job.period).body, body);
    assert!(
        pending(&mut client)
            .jobs
            .iter()
            .all(|other| other.path != job.path)
    );
    let log_path = format!("memory/{}.md", job.period);
    let mut text = std::fs::read_to_string(root.join(&log_path)).unwrap();
    text.push_str("\n## Late\n- decision: crate 999 stays on the quay\n");
    scratch.write(&log_path, text);
    compact(&mut client, &root);
    let node = show(&mut client, &root, &job.period);
    assert_eq!(node.status.as_deref(), Some("needs-summarization"));
    assert!(node.body.starts_with(body), "{}", node.body);
    assert!(
        pending(&mut client)
            .jobs
            .iter()
            .any(|other| other.path == job.path)
    );
}
