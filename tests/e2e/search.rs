//! Questions, filters, budgets and pointers over a small workspace.

use std::process::{Command, Stdio};

use hippo_proto::{
    ClientError, ErrorKind, GetRequest, GetResponse, SearchMode, SearchRequest, SearchResponse,
};
use hippod_tests::{Caller, Daemon, Scratch, client_program};

fn started() -> (Scratch, Daemon, Caller) {
    let scratch = Scratch::new();
    scratch.write(
        "MEMORY.md",
        "# Long-term memory\n\n## Deploy\n\n- The gauge firmware is flashed with `make flash PORT=/dev/ttyUSB0`.\n- Ask Ines before a release.\n",
    );
    scratch.write(
        "memory/2026-03-02.md",
        "# 2026-03-02\n\n## Pump house\n\n- request: replace the blue pump\n- decision: order the 40 W model\n\n## Lunch\n\n- pizza with anchovies\n",
    );
    scratch.write(
        "memory/2026-04-11.md",
        "# 2026-04-11\n\n## Pump house\n\n- the blue pump arrived, two days late\n- 東京都の水位計を交換した\n- Café Zoë closes at six\n",
    );
    scratch.write(
        "memory/daily/2026-03-02.md",
        "---\ntype: daily\n---\n\n- request: replace the blue pump\n- decision: order the 40 W model\n",
    );
    let daemon = scratch.daemon();
    let mut client = daemon.client();
    client.index(&scratch.workspace());
    (scratch, daemon, client)
}

fn ask(
    client: &mut Caller,
    scratch: &Scratch,
    change: impl FnOnce(&mut SearchRequest),
    query: &str,
) -> SearchResponse {
    let mut request = SearchRequest::new(scratch.workspace().display().to_string(), query);
    change(&mut request);
    client.raw().call(&request.into()).expect("an answer")
}

#[test]
fn every_mode_finds_the_line_and_scores_fall_within_bounds() {
    let (scratch, _daemon, mut client) = started();
    for mode in [SearchMode::Hybrid, SearchMode::Lexical, SearchMode::Vector] {
        let answer = ask(
            &mut client,
            &scratch,
            |request| request.mode = Some(mode),
            "decision: which model to order, the 40 W one?",
        );
        let best = &answer.results[0];
        assert_eq!(best.path, "memory/2026-03-02.md", "{mode:?}");
        assert_eq!(best.heading, ["2026-03-02", "Pump house"]);
        assert_eq!(best.date.as_deref(), Some("2026-03-02"));
        assert!(
            answer.results.iter().all(|hit| (0.0..=1.0).contains(&hit.score)),
            "{mode:?}"
        );
        assert!(answer.results.is_sorted_by(|a, b| a.score >= b.score), "{mode:?}");
        assert_eq!(answer.index.degraded, None);
        assert_eq!(answer.index.pending, 0);
    }
}

#[test]
fn a_compaction_node_is_not_listed_beside_its_source() {
    let (scratch, _daemon, mut client) = started();
    let answer = ask(&mut client, &scratch, |_| {}, "replace the blue pump");
    let copies = answer
        .results
        .iter()
        .filter(|hit| hit.text.contains("replace the blue pump"));
    assert_eq!(
        copies.map(|hit| hit.path.as_str()).collect::<Vec<_>>(),
        ["memory/2026-03-02.md"]
    );
}

/// The best matches are outside the filter. Their number exceeds the number of candidates of a search.
#[test]
fn a_filter_is_applied_before_candidates_are_selected() {
    let scratch = Scratch::new();
    for file in 0..40 {
        let lines: String = (0..20)
            .map(|line| format!("- blue pump: the blue pump number {file}.{line}\n"))
            .collect();
        scratch.write(&format!("memory/2026-03-{:02}-{file}.md", 1 + file % 28), lines);
    }
    scratch.write(
        "knowledge/far.md",
        "# Far\n\n- somewhere in a long sentence about gardens, roofs and weather a pump is named once\n",
    );
    let daemon = scratch.daemon();
    let mut client = daemon.client();
    client.index(&scratch.workspace());
    for mode in [SearchMode::Hybrid, SearchMode::Lexical, SearchMode::Vector] {
        let narrow = |request: &mut SearchRequest| {
            request.mode = Some(mode);
            request.path = Some("knowledge/**".into());
        };
        let answer = ask(&mut client, &scratch, narrow, "blue pump");
        let paths: Vec<&str> = answer.results.iter().map(|hit| hit.path.as_str()).collect();
        assert_eq!(paths, ["knowledge/far.md"], "{mode:?}");
    }
}

#[test]
fn filters_restrict_the_results_of_a_search() {
    let (scratch, _daemon, mut client) = started();
    let by_path = ask(
        &mut client,
        &scratch,
        |request| request.path = Some("MEMORY.md".into()),
        "blue pump",
    );
    assert!(by_path.results.iter().all(|hit| hit.path == "MEMORY.md"));
    assert!(
        !by_path.results.is_empty(),
        "a filter leaves the best of what it passes"
    );
    let whole = format!(
        "{}/memory/2026-03-02.md",
        scratch.workspace().canonicalize().unwrap().display()
    );
    for path in [
        "./memory/2026-03-02.md",
        whole.as_str(),
        "memory",
        "memory/",
        "./memory",
    ] {
        let spelt = ask(
            &mut client,
            &scratch,
            |request| request.path = Some(path.into()),
            "blue pump",
        );
        assert!(!spelt.results.is_empty(), "{path}");
        assert!(
            spelt.results.iter().all(|hit| hit.path.starts_with("memory/")),
            "{path}"
        );
    }
    // The word occurs only in one line, and this line has more than one token.
    let narrow = |request: &mut SearchRequest| {
        request.mode = Some(SearchMode::Lexical);
        request.budget_tokens = Some(1);
    };
    let tight = ask(&mut client, &scratch, narrow, "anchovies");
    assert!(tight.results.is_empty());
    assert!(
        tight.notes.iter().any(|note| note.contains("budget")),
        "{:?}",
        tight.notes
    );
    let by_date = ask(
        &mut client,
        &scratch,
        |request| {
            request.since = Some("2026-04-01".into());
            request.until = Some("2026-04-30".into());
        },
        "blue pump",
    );
    assert_eq!(by_date.results[0].path, "memory/2026-04-11.md");
    assert!(
        by_date
            .results
            .iter()
            .all(|hit| hit.date.as_deref() == Some("2026-04-11"))
    );
    let none = ask(
        &mut client,
        &scratch,
        |request| request.path = Some("nowhere/**".into()),
        "blue pump",
    );
    assert!(none.results.is_empty());
}

#[test]
fn a_date_in_the_question_is_recognised() {
    let (scratch, _daemon, mut client) = started();
    let answer = ask(
        &mut client,
        &scratch,
        |_| {},
        "what about the blue pump in April 2026?",
    );
    assert_eq!(answer.results[0].path, "memory/2026-04-11.md");
    assert!(
        answer.notes.iter().any(|note| note.contains("2026-04-01")),
        "{:?}",
        answer.notes
    );
}

#[test]
fn results_stay_within_the_token_budget() {
    let (scratch, _daemon, mut client) = started();
    let answer = ask(
        &mut client,
        &scratch,
        |request| request.budget_tokens = Some(20),
        "blue pump",
    );
    let sum: u64 = answer.results.iter().map(|hit| u64::from(hit.tokens)).sum();
    assert!(
        answer.tokens <= 20 && answer.tokens == sum && sum > 0,
        "{answer:?}"
    );
}

#[test]
fn other_scripts_accents_and_short_words_are_found() {
    let (scratch, _daemon, mut client) = started();
    for (query, word) in [
        ("水位計", "水位計"),
        ("cafe zoe", "Café"),
        ("CAFÉ", "Café"),
        ("piz", "pizza"),
        ("40", "40 W"),
    ] {
        let answer = ask(
            &mut client,
            &scratch,
            |request| request.mode = Some(SearchMode::Lexical),
            query,
        );
        assert!(
            answer.results.iter().any(|hit| hit.text.contains(word)),
            "{query}: {:?}",
            answer.results
        );
    }
}

#[test]
fn a_query_is_never_parsed_as_syntax() {
    let (scratch, _daemon, mut client) = started();
    for query in [
        "\"",
        "pump AND",
        "NEAR(pump, 3)",
        "terms:pump",
        "pump*",
        "-pump",
        "(((",
        "a\u{0}b",
        "^pump OR \"",
        "'; DROP TABLE chunks; --",
    ] {
        ask(&mut client, &scratch, |_| {}, query);
    }
    assert!(client.best(&scratch.workspace(), "blue pump").is_some());
}

#[test]
fn pointers_are_read_by_lines_section_and_id() {
    let (scratch, _daemon, mut client) = started();
    let workspace = Some(scratch.workspace().display().to_string());
    let mut get = |request: GetRequest| client.raw().call::<GetResponse>(&request.into());
    let path = Some("memory/2026-03-02.md".to_owned());
    let lines = get(GetRequest {
        workspace: workspace.clone(),
        path: path.clone(),
        from: Some(5),
        count: Some(2),
        ..GetRequest::default()
    })
    .unwrap();
    assert_eq!(
        lines.text,
        "- request: replace the blue pump\n- decision: order the 40 W model\n"
    );
    assert_eq!((lines.start_line, lines.end_line, lines.total_lines), (5, 6, 10));
    let section = get(GetRequest {
        workspace: workspace.clone(),
        path,
        section: Some("§lunch".into()),
        ..GetRequest::default()
    })
    .unwrap();
    assert_eq!(section.text, "## Lunch\n\n- pizza with anchovies\n");
    for outside in [
        "../home/log",
        "/etc/passwd",
        "memory/../../home/log",
        "notes.txt",
        ".hippocampus/canary",
    ] {
        let request = GetRequest {
            workspace: workspace.clone(),
            path: Some(outside.into()),
            ..GetRequest::default()
        };
        assert!(get(request).is_err(), "{outside}");
    }

    let hit = client.search(&scratch.workspace(), "anchovies").results.remove(0);
    let by_id = GetRequest {
        id: Some(hit.id.clone()),
        ..GetRequest::default()
    };
    let read: GetResponse = client.raw().call(&by_id.clone().into()).unwrap();
    assert_eq!(
        (read.path.as_str(), read.start_line),
        (hit.path.as_str(), hit.start_line)
    );
    assert_eq!(read.text.trim_end(), hit.text);
    scratch.write(
        "memory/2026-03-02.md",
        "# 2026-03-02\n\n- nothing of it is left\n",
    );
    let gone = client.raw().call::<GetResponse>(&by_id.into()).unwrap_err();
    let ClientError::Refused(refusal) = gone else {
        panic!("{gone}")
    };
    assert!(
        matches!(refusal.data.kind, ErrorKind::Stale | ErrorKind::NotFound),
        "{refusal}"
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_terminal_shows_the_nearest_weak_result_only_unless_the_search_is_recorded() {
    let (scratch, _daemon, _) = started();
    let search = |program: &str, words: &[&str]| {
        let output = Command::new(program)
            .args(words)
            .env("HIPPOD_HOME", scratch.home())
            .env("TERM", "xterm")
            .current_dir(scratch.workspace())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let results = text.lines().filter(|line| line.contains("memory/")).count();
        (output.status.code(), results, text)
    };
    let (code, all, text) = search(client_program().to_str().unwrap(), &["search", "zebra crossing"]);
    assert!(code == Some(1) && all > 1, "{text}");
    // The program `script` runs the command in a terminal.
    let line = format!("{} search zebra crossing", client_program().display());
    let (code, results, text) = search("script", &["-qec", &line, "/dev/null"]);
    assert!(
        code == Some(1) && results == 1 && text.contains("nothing relevant found"),
        "{text}"
    );
    for option in ["--record", "--min-score 0"] {
        let line = format!("{line} {option}");
        let (code, results, text) = search("script", &["-qec", &line, "/dev/null"]);
        assert!(code == Some(0) && results == all, "{option}: {text}");
    }
}
