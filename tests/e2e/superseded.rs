//! Values that a later log changes.

use hippo_proto::{SearchHit, SearchRequest, SearchResponse};
use hippod_tests::{Caller, Daemon, QUIET, Scratch};

use super::tree::compact;

fn ask(client: &mut Caller, scratch: &Scratch, query: &str) -> Vec<SearchHit> {
    let mut request = SearchRequest::new(scratch.workspace().display().to_string(), query);
    request.record = false;
    let answer: SearchResponse = client.raw().call(&request.into()).expect("an answer");
    answer.results
}

/// Returns the path of each result and the place that supersedes the result.
fn marks(hits: &[SearchHit]) -> Vec<(&str, Option<&str>)> {
    let marks = hits
        .iter()
        .map(|hit| (hit.path.as_str(), hit.superseded_by.as_deref()));
    marks.collect()
}

#[test]
fn a_value_that_a_later_day_changes_ranks_below_and_names_its_successor() {
    const OLD: &str = "memory/2026-03-02.md";
    const NEW: &str = "memory/2026-03-09.md";
    let scratch = Scratch::new();
    scratch.write(
        OLD,
        "# 2026-03-02\n\n## Deploy\n\n- port of staging: 8443, port of staging: 8443\n",
    );
    scratch.write(NEW, "# 2026-03-09\n\n## Deploy\n\n- port of staging: 9001\n");
    // This file has today's date only because it was saved today.
    scratch.write("MEMORY.md", "# Memory\n\n## Deploy\n\n- port of staging: 7000\n");
    let daemon = Daemon::start(&scratch.home(), &QUIET);
    let mut client = daemon.client();
    client.index(&scratch.workspace());
    let hits = ask(&mut client, &scratch, "port of staging");
    let marks_of_logs = marks(&hits).into_iter().filter(|(path, _)| *path != "MEMORY.md");
    assert_eq!(
        marks_of_logs.collect::<Vec<_>>(),
        [(NEW, None), (OLD, Some("memory/2026-03-09.md:5"))],
        "{hits:?}"
    );
    assert!(marks(&hits).contains(&("MEMORY.md", None)), "{hits:?}");

    let mut as_of = SearchRequest::new(scratch.workspace().display().to_string(), "port of staging");
    as_of.until = Some("2026-03-05".into());
    let answer: SearchResponse = client.raw().call(&as_of.into()).expect("an answer");
    assert_eq!(marks(&answer.results), [(OLD, None)], "the value of that day");

    std::fs::remove_file(scratch.workspace().join(NEW)).unwrap();
    client.index(&scratch.workspace());
    let hits = ask(&mut client, &scratch, "port of staging");
    assert!(marks(&hits).contains(&(OLD, None)) && hits.len() == 2, "{hits:?}");
}

#[test]
fn a_corrected_value_in_a_long_sentence_is_not_left_out_as_a_repetition() {
    let text = |port: u16| {
        format!(
            "The staging cluster behind the old load balancer in the second data centre runs its public gateway for \
             all internal customers of the northern region on port {port} since the last certificate renewal\n"
        )
    };
    let scratch = Scratch::new();
    scratch.write("memory/2026-03-02.md", format!("# 2026-03-02\n\n{}", text(8443)));
    scratch.write("memory/2026-03-09.md", format!("# 2026-03-09\n\n{}", text(9001)));
    let daemon = Daemon::start(&scratch.home(), &QUIET);
    let mut client = daemon.client();
    client.index(&scratch.workspace());
    let hits = ask(&mut client, &scratch, "port of the staging gateway");
    assert_eq!(
        marks(&hits),
        [
            ("memory/2026-03-09.md", None),
            ("memory/2026-03-02.md", Some("memory/2026-03-09.md:3"))
        ],
        "{hits:?}"
    );
}

#[test]
fn the_latest_of_equally_good_results_is_first_with_any_limit() {
    let scratch = Scratch::new();
    scratch.write(
        "memory/2026-03-02.md",
        "# 2026-03-02\n\nMy coin collection has 37 coins; a coin collection, 37 coins.\n",
    );
    scratch.write(
        "memory/2026-03-09.md",
        "# 2026-03-09\n\nWith the new one from the market, my coin collection has 38 coins.\n",
    );
    let daemon = Daemon::start(&scratch.home(), &QUIET);
    let mut client = daemon.client();
    client.index(&scratch.workspace());
    let mut first = |question: &str, limit| {
        let mut request = SearchRequest::new(scratch.workspace().display().to_string(), question);
        (request.record, request.limit) = (false, Some(limit));
        let answer: SearchResponse = client.raw().call(&request.into()).expect("an answer");
        assert!(answer.results.len() <= limit as usize, "{answer:?}");
        let tokens: u64 = answer.results.iter().map(|hit| u64::from(hit.tokens)).sum();
        assert_eq!(answer.tokens, tokens, "{answer:?}");
        answer.results[0].path.clone()
    };
    for limit in [1, 2, 10] {
        let latest = first("how many coins are in my coin collection", limit);
        assert_eq!(latest, "memory/2026-03-09.md", "{limit}");
        let earlier = first("how many coins were in my coin collection at first", limit);
        assert_eq!(earlier, "memory/2026-03-02.md", "{limit}");
    }
}

#[test]
fn lists_in_messages_of_an_assistant_correct_nothing() {
    let scratch = Scratch::new();
    for (day, port) in [("2026-03-02", 8443), ("2026-03-09", 9001)] {
        let message = format!("User: Which port?\nAssistant: For example:\n\n- port of staging: {port}\n");
        scratch.write(
            &format!("memory/{day}.md"),
            format!("# {day}\n\n## Deploy\n\n{message}"),
        );
    }
    let daemon = Daemon::start(&scratch.home(), &QUIET);
    let mut client = daemon.client();
    client.index(&scratch.workspace());
    let hits = ask(&mut client, &scratch, "port of staging");
    let lists = hits.iter().filter(|hit| hit.text.contains("port of staging:"));
    let lists: Vec<_> = lists
        .map(|hit| (hit.speaker.as_deref(), hit.superseded_by.as_deref()))
        .collect();
    assert_eq!(
        lists,
        [(Some("assistant"), None), (Some("assistant"), None)],
        "{hits:?}"
    );
}

#[test]
fn root_repeats_no_statement_that_a_later_day_corrects() {
    let scratch = Scratch::new();
    let lines = [
        (
            "2026-03-02",
            "The harbour database runs on PostgreSQL 14 in Kiel.",
        ),
        ("2026-03-04", "The ferry tickets are printed by Ada in Lisbon."),
        (
            "2026-03-09",
            "The harbour database runs on PostgreSQL 16 in Kiel now, not on 14.",
        ),
    ];
    for (day, line) in lines {
        let text = format!("# {day}\n\n## Harbour\n\n- {line}\n");
        scratch.write(&format!("memory/{day}.md"), text);
    }
    let daemon = Daemon::start(&scratch.home(), &QUIET);
    let mut client = daemon.client();
    client.index(&scratch.workspace());
    compact(&mut client, &scratch.workspace());
    let root = std::fs::read_to_string(scratch.workspace().join("memory/ROOT.md")).unwrap();
    assert!(
        root.contains("PostgreSQL 16") && root.contains("ferry tickets"),
        "{root}"
    );
    assert!(!root.contains("PostgreSQL 14"), "{root}");
    let day = std::fs::read_to_string(scratch.workspace().join("memory/daily/2026-03-02.md")).unwrap();
    assert!(day.contains("PostgreSQL 14"), "{day}");
}
