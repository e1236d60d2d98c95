//! A compaction tree with other writers.
//!
//! The tests cover files at the path of a node, agents that write at the same time, and nodes of another program.

use std::collections::BTreeSet;
use std::path::Path;
use std::thread;

use hippo_proto::{SearchRequest, SearchResponse, TreeCompactRequest, TreeCompactResponse};
use hippo_tree::Period;
use hippod_tests::{Caller, Clocked, Daemon, Scratch};

use super::tree::{NOW, begun, compact, day, fill, log, nodes};

#[test]
fn an_obstacle_at_the_path_of_a_node_affects_only_that_node() {
    let (scratch, _daemon, mut client) = begun();
    let root = scratch.workspace();
    std::fs::create_dir_all(root.join("memory/daily/2026-03-18.md")).unwrap();
    std::os::unix::fs::symlink("/etc/hostname", root.join("memory/daily/2026-03-17.md")).unwrap();
    let made = compact(&mut client, &root);
    let refused: Vec<&str> = made.refused.iter().map(|it| it.path.as_str()).collect();
    assert_eq!(
        refused,
        ["memory/daily/2026-03-17.md", "memory/daily/2026-03-18.md"],
        "{made:?}"
    );
    assert!(root.join("memory/daily/2026-03-16.md").is_file());
    let outside = scratch.beside("outside");
    std::fs::create_dir_all(&outside).unwrap();
    std::fs::remove_dir_all(root.join("memory/weekly")).unwrap();
    std::os::unix::fs::symlink(&outside, root.join("memory/weekly")).unwrap();
    let made = compact(&mut client, &root);
    assert!(
        made.refused.iter().any(|it| it.reason.contains("is a link")),
        "{made:?}"
    );
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 0);
}

#[test]
fn concurrent_compactions_and_edits_lose_nothing() {
    let (scratch, daemon, mut client) = begun();
    let root = scratch.workspace();
    compact(&mut client, &root);
    let node = root.join("memory/daily/2026-03-19.md");
    thread::scope(|scope| {
        for worker in 0..3 {
            let mut client = daemon.client();
            let (root, scratch) = (root.clone(), &scratch);
            scope.spawn(move || {
                for round in 0..6 {
                    let at = day(5 + worker);
                    scratch_write(scratch, worker, &format!("memory/{at}.md"), &log(at, 20 + round));
                    compact(&mut client, &root);
                }
            });
        }
        scope.spawn(|| {
            for round in 0..30 {
                let mine = format!("---\ntype: daily\nstatus: fixed\nperiod: 2026-03-19\n---\n\n## Key Decisions\n- round {round}: the agent's own words\n");
                std::fs::write(&node, mine).unwrap();
                std::fs::write(root.join("memory/2026-03-19.md"), log(day(1), 12 + round)).unwrap();
            }
        });
    });
    compact(&mut client, &root);
    let text = std::fs::read_to_string(&node).unwrap();
    assert!(
        text.contains("round 29: the agent's own words"),
        "the last words of the agent stand: {text}"
    );
    assert_eq!(compact(&mut client, &root).nodes, []);
}

/// Writes a file as [`Scratch::write`] does. Several workers can write at the same time.
fn scratch_write(scratch: &Scratch, worker: i64, path: &str, text: &str) {
    let draft = scratch.beside(&format!("draft-{worker}"));
    std::fs::write(&draft, text).unwrap();
    std::fs::rename(&draft, scratch.workspace().join(path)).unwrap();
}

#[test]
fn a_foreign_tree_is_taken_over_unchanged() {
    let scratch = Scratch::new();
    let node = |kind: &str, status: &str, period: &str, source: &str, body: &str| {
        format!(
            "---\ntype: {kind}\nstatus: {status}\nperiod: {period}\nsource-files: [{source}]\ntopics: []\n---\n\n{body}\n"
        )
    };
    for before in 1..4 {
        scratch.write(&format!("memory/{}.md", day(before)), log(day(before), 12));
    }
    let theirs = [
        ("memory/daily/2026-03-19.md", node("daily", "fixed", "2026-03-19", "memory/2026-03-19.md", "## Topics\nwarehouse\n\n## Key Decisions\n- pier: 4, because it is deep")),
        ("memory/weekly/2026-W12.md", node("weekly", "tentative", "2026-W12", "memory/daily/2026-03-19.md", "## Topics\nwarehouse, style")),
        ("memory/weekly/2026-W11.md", node("weekly", "fixed", "2026-W11", "memory/daily/2026-03-12.md", "## Topics\nlong gone: the logs of that week are on another disk")),
        ("memory/ROOT.md", "---\ntype: root\nstatus: tentative\nlast-updated: 2026-03-19\n---\n\n## Active Context (recent ~7 days)\n- harbour move: to pier 4\n\n## Recent Patterns\n\n## Historical Summary\n- 2025-11: the old depot burnt down\n\n## Topics Index\n- depot [project, 120d]: fire, insurance → knowledge/depot.md\n".to_owned()),
    ];
    for (path, text) in &theirs {
        scratch.write(path, text);
    }
    scratch.write(
        "memory/daily/2026-03-18.md",
        "---\ntype: daily\nstatus: needs-summarization\nperiod: 2026-03-18\nsource-files: [memory/2026-03-18.md]\nlines: 260\n---\n\nThis daily node exceeds 200 lines and needs LLM summarization.\nRun hipocampus-compaction skill to generate the summary.\n",
    );
    let state = "{\n  \"lastCompactionRun\": \"2026-03-19T08:00:00.000Z\",\n  \"rawLinesSinceLastCompaction\": 12,\n  \"checkpointsSinceLastCompaction\": 1\n}";
    scratch.write("memory/.compaction-state.json", state);
    let daemon = Clocked::start(&scratch, NOW, &[]);
    let mut client = daemon.client();
    let root = scratch.workspace();
    client.index(&root);
    let request = TreeCompactRequest {
        workspace: root.display().to_string(),
        at: Some(NOW.to_owned()),
        take_over: true,
        ..TreeCompactRequest::default()
    };
    let made: TreeCompactResponse = client.raw().call(&request.into()).unwrap();
    assert_eq!(made.refused, []);
    for (path, text) in &theirs[..1] {
        assert_eq!(&std::fs::read_to_string(root.join(path)).unwrap(), text, "{path}");
    }
    assert_eq!(
        std::fs::read_to_string(root.join(theirs[2].0)).unwrap(),
        theirs[2].1,
        "nothing of it has changed"
    );
    assert_eq!(
        std::fs::read_to_string(root.join("memory/.compaction-state.json")).unwrap(),
        state
    );
    let day = std::fs::read_to_string(root.join("memory/daily/2026-03-18.md")).unwrap();
    assert!(
        day.contains("written-by: hippod") && !day.contains("needs LLM"),
        "{day}"
    );
    let all: String = nodes(&root).into_values().collect();
    for kept in [
        "because it is deep",
        "long gone",
        "old depot burnt down",
        "knowledge/depot.md",
    ] {
        assert!(all.contains(kept), "{kept}");
    }
    assert_eq!(compact(&mut client, &root).nodes, []);
}

/// The daemon has an empty home and uses the clock of the machine.
#[test]
fn a_workspace_without_logs_has_no_tree() {
    let scratch = Scratch::new();
    scratch.write("MEMORY.md", "# Memory\n");
    let daemon: Daemon = scratch.daemon();
    let mut client = daemon.client();
    client.index(&scratch.workspace());
    let made = compact(&mut client, &scratch.workspace());
    assert_eq!((made.nodes, made.refused, made.unchanged), (vec![], vec![], 0));
    assert!(nodes(&scratch.workspace()).is_empty());
}

/// Returns the text of a file, or an empty string if the file cannot be read.
fn text(root: &Path, path: &str) -> String {
    std::fs::read_to_string(root.join(path)).unwrap_or_default()
}

#[test]
fn unreadable_logs_and_nodes_change_nothing() {
    let scratch = Scratch::new();
    fill(&scratch);
    let root = scratch.workspace();
    let evening = format!("memory/{}-evening.md", day(4));
    scratch.write(&evening, log(day(4), 9).replace("crate", "barrel"));
    let daemon = Clocked::start(&scratch, NOW, &[("HIPPOD_SOURCES_MAX_FILE_BYTES", "60000")]);
    let mut client = daemon.client();
    client.index(&root);
    assert_eq!(compact(&mut client, &root).refused, []);
    let before = nodes(&root);
    assert!(before["memory/daily/2026-03-16.md"].contains("barrel"));
    // One of the two logs of a day is too large to be read. At the path of another day's node, there is a link to a
    // missing file.
    scratch.write(&evening, "x\n".repeat(40_000));
    let hidden = root.join("memory/daily/2026-03-12.md");
    std::fs::remove_file(&hidden).unwrap();
    std::os::unix::fs::symlink("2026-03-12.md", &hidden).unwrap();
    let held = compact(&mut client, &root);
    let refused: Vec<&str> = held.refused.iter().map(|it| it.path.as_str()).collect();
    assert_eq!(
        refused,
        ["memory/2026-03-16-evening.md", "memory/daily/2026-03-12.md"],
        "{held:?}"
    );
    let mut after = nodes(&root);
    after.insert(
        "memory/daily/2026-03-12.md".to_owned(),
        before["memory/daily/2026-03-12.md"].clone(),
    );
    assert_eq!(after, before);
    // Now both files can be read.
    std::fs::remove_file(&hidden).unwrap();
    scratch.write(&evening, log(day(4), 9).replace("crate", "barrel"));
    assert_eq!(compact(&mut client, &root).refused, []);
    assert_eq!(nodes(&root), before);
}

#[test]
fn an_edited_root_is_kept_until_its_sources_change_and_then_saved() {
    let (scratch, daemon, mut client) = begun();
    let root = scratch.workspace();
    let at = |client: &mut Caller, today: &str| {
        daemon.set(today);
        let request = TreeCompactRequest {
            workspace: root.display().to_string(),
            ..TreeCompactRequest::default()
        };
        client.raw().call::<TreeCompactResponse>(&request.into()).unwrap()
    };
    at(&mut client, NOW);
    let kept = || -> Vec<String> {
        let files = std::fs::read_dir(root.join(".hippocampus/replaced"));
        let mut texts: Vec<String> = files
            .map(|files| {
                files
                    .map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap())
                    .collect()
            })
            .unwrap_or_default();
        texts.sort();
        texts
    };
    let mut mine = Vec::new();
    for (round, today) in ["2026-03-22T10:00:00Z", "2026-03-30T10:00:00Z"]
        .into_iter()
        .enumerate()
    {
        let edited = format!(
            "{}\n- note {round} of somebody: the crane is rented\n",
            text(&root, "memory/ROOT.md").trim_end()
        );
        scratch.write("memory/ROOT.md", &edited);
        let passed = at(&mut client, today);
        assert!(
            passed.nodes.iter().any(|node| node.action == "restated"),
            "{passed:?}"
        );
        assert_eq!(text(&root, "memory/ROOT.md"), edited, "only time passed");
        scratch.write(
            &format!("memory/{}.md", day(round as i64)),
            log(day(round as i64), 20),
        );
        let made = at(&mut client, today);
        assert!(
            made.notes
                .iter()
                .any(|note| note.contains(".hippocampus/replaced")),
            "{made:?}"
        );
        let now = text(&root, "memory/ROOT.md");
        assert_ne!(now, edited);
        assert_eq!(now.matches("## Topics Index").count(), 1);
        let lines: Vec<&str> = now.lines().filter(|line| line.starts_with("- ")).collect();
        let once: BTreeSet<&&str> = lines.iter().collect();
        assert_eq!(once.len(), lines.len(), "{now}");
        mine.push(edited);
        mine.sort();
        assert_eq!(kept(), mine);
    }
}

/// Asserts that the index contains exactly this number of documents, one for each file that can be indexed, and that
/// no deletion is held back.
fn assert_indexed(client: &mut Caller, documents: u64) {
    let told = client.status().workspaces.remove(0);
    let counts = (told.disk.files, told.disk.indexed_files, told.documents);
    assert_eq!(counts, (documents, documents, documents));
    assert_eq!((told.held_deletions, told.skipped_count), (0, 0));
    let told = client.doctor(false);
    let disk = told.checks.iter().find(|check| check.id == "disk").unwrap();
    assert!(disk.ok && disk.detail.ends_with("all indexed"), "{disk:?}");
}

/// Returns the paths of the nodes in an answer.
fn cited_nodes(client: &mut Caller, root: &Path, question: &str) -> BTreeSet<String> {
    let mut request = SearchRequest::new(root.display().to_string(), question);
    request.limit = Some(100);
    request.record = false;
    let answer: SearchResponse = client.raw().call(&request.into()).expect("an answer");
    let paths = answer.results.into_iter().map(|hit| hit.path);
    paths.filter(|path| Period::of_path(path).is_some()).collect()
}

#[test]
fn generated_nodes_are_not_searched_and_edited_ones_are() {
    let (scratch, daemon, mut client) = begun();
    let root = scratch.workspace();
    let question = "which crate goes to warehouse 7 at pier 1, and when does Ingrid retire?";
    compact(&mut client, &root);
    client.sync(&root);
    assert!(nodes(&root).len() > 40);
    assert_indexed(&mut client, 40);
    assert_eq!(cited_nodes(&mut client, &root, question), BTreeSet::new());

    let node = "memory/weekly/2026-W10.md";
    let changed = nodes(&root)[node].clone() + "- Ingrid retires in June\n";
    scratch.write(node, changed);
    client.sync(&root);
    assert_indexed(&mut client, 41);
    assert_eq!(
        cited_nodes(&mut client, &root, question),
        BTreeSet::from([node.to_owned()])
    );

    drop((client, daemon));
    // The clock of this daemon does not advance, so the delay before a deletion is confirmed must be zero.
    let daemon = Clocked::start(&scratch, NOW, &[("HIPPOD_WATCH_DELETE_CONFIRM_MS", "0")]);
    let mut client = daemon.client();
    client.sync(&root);
    assert_indexed(&mut client, 41);
    assert_eq!(
        cited_nodes(&mut client, &root, question),
        BTreeSet::from([node.to_owned()])
    );

    // The only node in the index is the one that was changed. Deleting all nodes thus removes one document from the
    // index.
    for folder in ["daily", "weekly", "monthly"] {
        std::fs::remove_dir_all(root.join("memory").join(folder)).unwrap();
    }
    client.sync(&root);
    assert_indexed(&mut client, 40);
}
