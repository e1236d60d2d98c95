//! What becomes of a tree that others write into, too: other files in its way, agents at work, another program's nodes?

use std::thread;

use hippo_proto::{Mode, SearchRequest, SearchResponse, TreeCompactRequest, TreeCompactResponse};
use hippod_tests::{Caller, Clocked, Daemon, Scratch};

use super::tree::{NOW, begun, compact, day, fill, log, nodes};

#[test]
fn what_is_in_the_way_of_a_node_costs_that_node_alone() {
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
fn many_at_once_and_an_agent_that_writes_meanwhile_lose_nothing() {
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

/// As [`Scratch::write`], by several at once.
fn scratch_write(scratch: &Scratch, worker: i64, path: &str, text: &str) {
    let draft = scratch.beside(&format!("draft-{worker}"));
    std::fs::write(&draft, text).unwrap();
    std::fs::rename(&draft, scratch.workspace().join(path)).unwrap();
}

#[test]
fn a_tree_of_another_program_is_taken_as_it_is() {
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

/// A daemon whose clock is the machine's, over an empty home.
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

/// What a file says, or nothing.
fn text(root: &std::path::Path, path: &str) -> String {
    std::fs::read_to_string(root.join(path)).unwrap_or_default()
}

#[test]
fn what_cannot_be_read_changes_nothing() {
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
    // One of two logs of a day is too large to be read, and the node of another day is a link that leads nowhere.
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
    // Both can be read again.
    std::fs::remove_file(&hidden).unwrap();
    scratch.write(&evening, log(day(4), 9).replace("crate", "barrel"));
    assert_eq!(compact(&mut client, &root).refused, []);
    assert_eq!(nodes(&root), before);
}

#[test]
fn a_root_of_somebody_stands_while_only_time_passes_and_each_of_them_is_kept() {
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
        let once: std::collections::BTreeSet<&&str> = lines.iter().collect();
        assert_eq!(once.len(), lines.len(), "{now}");
        mine.push(edited);
        mine.sort();
        assert_eq!(kept(), mine);
    }
}

#[test]
fn what_a_node_tells_of_stands_in_the_answer_as_the_line_of_its_log() {
    let (scratch, _daemon, mut client) = begun();
    let root = scratch.workspace();
    let question = "which crate goes to warehouse 7 at pier 1?";
    let ask = |client: &mut Caller, path: Option<&str>| -> SearchResponse {
        let mut request = SearchRequest::new(root.display().to_string(), question);
        request.mode = Some(Mode::Hybrid);
        request.limit = Some(40);
        request.record = false;
        request.explain = true;
        request.path = path.map(str::to_owned);
        client.raw().call(&request.into()).expect("an answer")
    };
    let is_told = |answer: &SearchResponse| {
        let told = answer.results.iter().filter(|hit| {
            let features = hit.explain.as_ref();
            features.is_some_and(|features| features.contains_key("tree"))
        });
        told.count()
    };
    assert_eq!(is_told(&ask(&mut client, None)), 0, "there is no tree yet");
    compact(&mut client, &root);
    client.index(&root);
    let answer = ask(&mut client, None);
    let found: Vec<_> = answer
        .results
        .iter()
        .map(|hit| (&hit.path, hit.start_line))
        .collect();
    assert!(is_told(&answer) > 0, "{found:?}");
    for hit in &answer.results {
        assert!(
            !hit.path.starts_with("memory/daily/") && hit.path != "memory/ROOT.md",
            "{hit:?}"
        );
    }
    assert!(answer.results.is_sorted_by(|a, b| a.score >= b.score));
    let ids: std::collections::BTreeSet<&str> = answer.results.iter().map(|hit| hit.id.as_str()).collect();
    assert_eq!(ids.len(), answer.results.len(), "no line is there twice");
    // Whoever asks for nodes has them.
    let nodes = ask(&mut client, Some("memory/daily/*.md"));
    assert!(!nodes.results.is_empty() && is_told(&nodes) == 0);
    assert!(
        nodes
            .results
            .iter()
            .all(|hit| hit.path.starts_with("memory/daily/"))
    );
}
