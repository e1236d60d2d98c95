//! Answers from the entries of the index, and recorded accesses.
//! An entry answers a question only while its source is unchanged.

use std::time::Instant;

use hippo_proto::{Cycle, IndexEntry, SearchMode, SearchRequest, SearchResponse, Strategy};
use hippod_tests::{Caller, Clocked, PATIENCE, QUIET, Scratch, essence};

use crate::index_file::{block_of, fill, id_of, indexed};

const QUESTION: &str = "when is the coffee machine descaled";

/// Asks a question, waits until the accesses are recorded, and returns the answer.
fn ask(client: &mut Caller, scratch: &Scratch, question: &str) -> SearchResponse {
    let root = scratch.workspace();
    let hits = |client: &mut Caller| -> u32 { client.entries(&root).iter().map(|entry| entry.hits).sum() };
    let before = hits(client);
    let answer = client.ask(&root, question, true);
    let trace = answer.trace.as_ref().expect("a trace");
    let deadline = Instant::now() + PATIENCE;
    loop {
        let counted = hits(client) - before == u32::try_from(trace.refreshed.len()).unwrap();
        let asked = client
            .entries(&root)
            .into_iter()
            .any(|entry| entry.topic == question);
        if counted && asked {
            return answer;
        }
        assert!(Instant::now() < deadline, "{trace:?}");
        client.sync(&root);
    }
}

#[test]
fn a_repeated_question_uses_its_entry_until_newer_text_exists() {
    let (scratch, _daemon, mut client) = indexed();
    let root = scratch.workspace();
    let first = ask(&mut client, &scratch, QUESTION);
    assert_ne!(first.strategy, Strategy::Index);
    assert_eq!(first.results[0].path, "knowledge/kitchen.md");
    let second = ask(&mut client, &scratch, QUESTION);
    assert_eq!(second.strategy, Strategy::Index, "{:?}", second.trace);
    assert_eq!(essence(&second.results), essence(&first.results));
    assert_eq!((second.tokens, second.index.degraded), (first.tokens, None));
    // The daemon ignores case, punctuation and word order, so this is the same question.
    let again = client.ask(&root, "When is the COFFEE machine descaled??", false);
    assert_eq!(again.strategy, Strategy::Index, "{:?}", again.trace);
    let other = client.ask(&root, "who leads the work on the harbour crane", false);
    assert_ne!(other.strategy, Strategy::Index);

    // The line that the entry cites has changed.
    let text = std::fs::read_to_string(root.join("knowledge/kitchen.md")).unwrap();
    scratch.write(
        "knowledge/kitchen.md",
        text.replace("every second Monday", "every first Friday"),
    );
    let third = client.ask(&root, QUESTION, true);
    assert_ne!(third.strategy, Strategy::Index, "{:?}", third.trace);
    client.sync(&root);
    let third = client.ask(&root, QUESTION, true);
    assert!(third.results[0].text.contains("every first Friday"), "{third:?}");

    // There is a newer log on the same topic. The source that the entry cites is unchanged.
    client.sync(&root);
    let deadline = Instant::now() + PATIENCE;
    while client.ask(&root, QUESTION, true).strategy != Strategy::Index {
        assert!(Instant::now() < deadline, "never answered from its entry again");
        client.sync(&root);
    }
    let log =
        "# 2026-03-05\n\n## Kitchen\n\nThe coffee machine is descaled on Sundays from now on, says Ada.\n";
    scratch.write("memory/2026-03-05.md", log);
    client.sync(&root);
    let fourth = client.ask(&root, QUESTION, true);
    assert_ne!(fourth.strategy, Strategy::Index, "{:?}", fourth.trace);
    let texts: Vec<&str> = fourth.results.iter().map(|hit| hit.text.as_str()).collect();
    assert!(texts.iter().any(|text| text.contains("on Sundays")), "{texts:?}");

    // The source that the entry cites is deleted.
    std::fs::remove_file(root.join("knowledge/kitchen.md")).unwrap();
    let fifth = client.ask(&root, QUESTION, true);
    let texts: Vec<&str> = fifth.results.iter().map(|hit| hit.text.as_str()).collect();
    assert!(
        texts.iter().all(|text| !text.contains("first Friday")),
        "{texts:?}"
    );
    assert!(texts.iter().any(|text| text.contains("on Sundays")), "{texts:?}");
}

#[test]
fn the_trace_explains_why_an_entry_does_not_answer_alone() {
    let scratch = Scratch::new();
    fill(&scratch);
    let root = scratch.workspace();
    let ask = |client: &mut Caller, change: &dyn Fn(&mut SearchRequest)| {
        let mut request = SearchRequest::new(root.display().to_string(), QUESTION);
        (request.explain, request.limit) = (true, Some(1));
        change(&mut request);
        let answer: SearchResponse = client.raw().call(&request.into()).unwrap();
        (answer.strategy, answer.trace.expect("a trace").reason)
    };
    let daemon = Clocked::start(&scratch, "2026-03-05T10:00:00Z", &QUIET);
    let mut client = daemon.client();
    client.index(&root);
    let deadline = Instant::now() + PATIENCE;
    let (strategy, reason) = loop {
        let (strategy, reason) = ask(&mut client, &|_| ());
        if strategy == Strategy::Index {
            break (strategy, reason);
        }
        assert!(
            Instant::now() < deadline,
            "never answered from its entry: {reason}"
        );
        client.sync(&root);
    };
    assert_eq!(
        (strategy, &*reason),
        (Strategy::Index, "the same query was answered before")
    );
    let (strategy, reason) = ask(&mut client, &|request| request.limit = Some(5));
    assert_ne!(strategy, Strategy::Index);
    assert!(
        reason.contains("stores fewer passages than requested"),
        "{reason}"
    );
    let (strategy, reason) = ask(&mut client, &|request| {
        (request.path, request.record) = (Some("knowledge/*.md".to_owned()), false);
    });
    assert_ne!(strategy, Strategy::Index);
    assert!(reason.contains("the query has a filter"), "{reason}");
    drop((client, daemon));

    let daemon = Clocked::start(&scratch, "2026-04-05T10:00:00Z", &QUIET);
    let mut client = daemon.client();
    client.sync(&root);
    let (strategy, reason) = ask(&mut client, &|_| ());
    assert_ne!(strategy, Strategy::Index);
    assert!(reason.contains("has a strength below 0.5"), "{reason}");
}

#[test]
fn a_remembered_answer_does_not_hide_changed_text() {
    let scratch = Scratch::new();
    scratch.write(
        "memory/2026-03-02.md",
        "# 2026-03-02\n\n## Deploy\n\n- Staging runs on port 8443 since the certificate was renewed.\n- The rollback took four minutes.\n",
    );
    scratch.write(
        "memory/2026-03-01.md",
        "# 2026-03-01\n\n- The gate code is 1111.\n",
    );
    let daemon = scratch.quiet_daemon();
    let mut client = daemon.client();
    let root = scratch.workspace();
    client.index(&root);
    for (question, told, word) in [
        (
            "which port does staging run on",
            "Staging moved to port 9999",
            "9999",
        ),
        ("gate code", "The gate code changed to 2222", "2222"),
        ("gate code", "The gate needs 3333 now", "3333"),
    ] {
        let deadline = Instant::now() + PATIENCE;
        while client.ask(&root, question, true).strategy != Strategy::Index {
            assert!(
                Instant::now() < deadline,
                "never answered from its entry: {question}"
            );
            client.sync(&root);
        }
        client.remember(&root, told, word);
        client.sync(&root);
        let answer = client.ask(&root, question, true);
        let found = answer.results.iter().any(|hit| hit.text.contains(word));
        assert!(found, "{question}: {answer:?}");
    }
}

#[test]
fn an_unrecorded_question_changes_nothing() {
    let (scratch, daemon, mut client) = indexed();
    let root = scratch.workspace();
    ask(&mut client, &scratch, "what does the pressure sensor do");
    client.run(&root, Cycle::Light);
    client.run(&root, Cycle::Deep);
    client.run(&root, Cycle::Light);
    let plain = |client: &mut Caller| -> Vec<IndexEntry> {
        let mut entries = client.listed(&root, true, Some("2026-12-01")).entries;
        entries.sort_by(|a, b| a.id.cmp(&b.id));
        entries
    };
    let (entries, files) = (plain(&mut client), scratch.kept_files());
    for mode in [
        SearchMode::Hybrid,
        SearchMode::Index,
        SearchMode::Lexical,
        SearchMode::Vector,
    ] {
        for question in [
            QUESTION,
            "what does the pressure sensor do",
            "harbour crane firmware",
        ] {
            let mut request = SearchRequest::new(root.display().to_string(), question);
            (request.mode, request.record, request.explain) = (Some(mode), false, true);
            let answer: SearchResponse = client.raw().call(&request.into()).unwrap();
            assert!(!answer.results.is_empty(), "{mode:?} {question}");
            let trace = answer.trace.unwrap_or_default();
            assert_eq!(
                (trace.refreshed, trace.created),
                (Vec::new(), None),
                "{mode:?} {question}"
            );
        }
    }
    client.sync(&root);
    let report = client.run(&root, Cycle::Light);
    assert!(report.plan.is_empty() && report.files.is_empty(), "{report:#?}");
    assert_eq!(plain(&mut client), entries);
    drop(client);
    daemon.terminate();
    let daemon = scratch.quiet_daemon();
    let mut client = daemon.client();
    client.sync(&root);
    assert_eq!(plain(&mut client), entries);
    assert_eq!(scratch.kept_files(), files);
}

#[test]
fn accesses_reach_the_file_with_the_next_light_cycle_and_survive_a_kill() {
    let (scratch, daemon, mut client) = indexed();
    let root = scratch.workspace();
    let before = scratch.kept_files();
    let coffee = id_of(&mut client, &scratch, "Coffee machine");
    for _ in 0..3 {
        ask(&mut client, &scratch, QUESTION);
    }
    let strong = client.entry(&root, &coffee);
    assert_eq!(strong.hits, 3);
    assert_eq!(
        scratch.kept_files(),
        before,
        "the file stands in prompts: no question changes it"
    );
    drop(client);
    daemon.kill();

    let daemon = scratch.quiet_daemon();
    let mut client = daemon.client();
    client.sync(&root);
    assert_eq!(client.entry(&root, &coffee).hits, 3, "counted once");
    let learned = client.ask(&root, QUESTION, false);
    assert_eq!(
        learned.strategy,
        Strategy::Index,
        "what the question found is known still"
    );
    client.run(&root, Cycle::Light);
    assert!(block_of(&scratch.index_file(), &coffee).contains("hits=3"));
    let file = scratch.index_file();
    assert!(
        !file.contains(QUESTION),
        "a learned question is not in the file: {file}"
    );
}

#[test]
fn index_mode_reads_the_targets_of_entry_pointers() {
    let (scratch, _daemon, mut client) = indexed();
    let root = scratch.workspace();
    let mut request = SearchRequest::new(root.display().to_string(), "the nightly backup");
    (request.mode, request.explain) = (Some(SearchMode::Index), true);
    let answer: SearchResponse = client.raw().call(&request.into()).unwrap();
    assert_eq!(answer.strategy, Strategy::Index);
    assert!(answer.results[0].text.contains("nightly backup"), "{answer:?}");
    let id = id_of(&mut client, &scratch, "Database");
    let trace = answer.trace.expect("a trace");
    assert_eq!(trace.matches[0].entry, id, "{trace:?}");
    let section = id_of(&mut client, &scratch, "Backups");
    assert_eq!(answer.results[0].entry.as_deref(), Some(section.as_str()));
    assert!(answer.results[0].strength.is_some_and(|strength| strength > 0.9));
}

#[test]
fn a_moved_section_is_followed_and_a_deleted_one_is_reported() {
    let (scratch, _daemon, mut client) = indexed();
    let root = scratch.workspace();
    let (backups, pool) = (
        id_of(&mut client, &scratch, "Backups"),
        id_of(&mut client, &scratch, "Connection pool"),
    );
    // The first deep cycle records the targets of the pointers.
    client.run(&root, Cycle::Deep);
    let shown = client.show(&root, &backups);
    let at = &shown.entry.pointers[0];
    assert_eq!(
        (at.path.as_str(), at.section.as_deref()),
        ("knowledge/database.md", Some("Backups"))
    );
    assert!(shown.stale.is_empty(), "{shown:?}");

    let text = std::fs::read_to_string(root.join("knowledge/database.md")).unwrap();
    let from = text.find("## Backups").unwrap();
    let to = text.find("## Connection pool").unwrap();
    let moved = text[from..to].replace("## Backups", "## How copies are made");
    scratch.write("knowledge/operations.md", format!("# Operations\n\n{moved}"));
    // The original section is deleted.
    scratch.write("knowledge/database.md", &text[..from]);
    client.sync(&root);
    let expected = ["knowledge/database.md §Backups"];
    assert_eq!(client.show(&root, &backups).stale, expected);
    let answer = client.ask(&root, "the nightly backup is kept", false);
    assert_eq!(
        answer.results[0].path, "knowledge/operations.md",
        "a search finds it"
    );
    let mut request = SearchRequest::new(root.display().to_string(), "how the nightly backup is kept");
    (request.mode, request.record) = (Some(SearchMode::Index), false);
    let answer: SearchResponse = client.raw().call(&request.into()).unwrap();
    assert_eq!(answer.strategy, Strategy::Hybrid);
    let paths: Vec<&str> = answer.results.iter().map(|hit| hit.path.as_str()).collect();
    assert!(paths.contains(&"knowledge/operations.md"), "{answer:?}");
    assert!(
        answer
            .notes
            .iter()
            .any(|note| note.contains(&backups) && note.contains(expected[0])),
        "{answer:?}"
    );

    let report = client.run(&root, Cycle::Deep);
    let step = report
        .plan
        .iter()
        .find(|step| step.rule == "pointer")
        .expect("it is followed");
    assert_eq!(step.entries, std::slice::from_ref(&backups), "{report:#?}");
    let shown = client.show(&root, &backups);
    let at = &shown.entry.pointers[0];
    let place = ("knowledge/operations.md", Some("How copies are made"));
    assert_eq!((at.path.as_str(), at.section.as_deref()), place);
    assert!(shown.stale.is_empty(), "{shown:?}");
    let block = block_of(&scratch.index_file(), &backups);
    assert!(
        block.contains("knowledge/operations.md §How copies are made"),
        "{block}"
    );

    let expected = ["knowledge/database.md §Connection pool"];
    assert_eq!(client.show(&root, &pool).stale, expected);
    assert!(
        report
            .findings
            .iter()
            .any(|finding| finding.entry == pool && finding.what.contains("no longer exists")),
        "{report:#?}"
    );
    let pending = client.heartbeat(&root).pending;
    let orphan = pending
        .iter()
        .find(|pending| pending.kind == "orphan")
        .expect("it is told");
    assert!(
        orphan.text.contains(&pool) && orphan.paths == ["knowledge/database.md"],
        "{orphan:?}"
    );
    let mut request = SearchRequest::new(root.display().to_string(), "forty connections per replica");
    (request.explain, request.record) = (true, false);
    let answer: SearchResponse = client.raw().call(&request.into()).unwrap();
    assert_ne!(answer.strategy, Strategy::Index);
}
