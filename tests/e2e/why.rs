//! The recall log, and explanations of answers.

use std::process::{Command, Output};

use hippo_proto::{
    LoggedQuestion, RecallLogRequest, RecallLogResponse, RecallWhyRequest, RecallWhyResponse, SearchMode,
    SearchRequest, SearchResponse,
};
use hippod_tests::{Caller, Daemon, QUIET, Scratch, client_program};

const QUESTION: &str = "which port does staging use";
const SECRET: &str = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";

fn begun(settings: &[(&str, &str)]) -> (Scratch, Daemon, Caller) {
    let scratch = Scratch::new();
    scratch.write(
        "memory/2026-03-02.md",
        "# 2026-03-02\n\n## Deploy\n\n- Staging server port: 7000\n\n## Garden\n\n- The tomato seedlings moved to the balcony.\n",
    );
    scratch.write(
        "memory/2026-03-09.md",
        "# 2026-03-09\n\n## Deploy\n\n- Staging server port: 8443\n",
    );
    scratch.write("notes.txt", "The staging port of the museum is 1234.\n");
    let daemon = Daemon::start(&scratch.home(), &[&QUIET[..], settings].concat());
    let mut client = daemon.client();
    client.index(&scratch.workspace());
    (scratch, daemon, client)
}

fn search(client: &mut Caller, scratch: &Scratch, query: &str, asks: impl FnOnce(&mut SearchRequest)) {
    let mut request = SearchRequest::new(scratch.workspace().display().to_string(), query);
    asks(&mut request);
    let _: SearchResponse = client.raw().call(&request.into()).expect("an answer");
}

fn log(client: &mut Caller, scratch: &Scratch, limit: u32, before: Option<u64>) -> Vec<LoggedQuestion> {
    let request = RecallLogRequest {
        workspace: scratch.workspace().display().to_string(),
        limit: Some(limit),
        before,
    };
    let answer: RecallLogResponse = client.raw().call(&request.into()).expect("an answer");
    answer.questions
}

fn why(client: &mut Caller, scratch: &Scratch, query: &str, place: Option<(&str, u32)>) -> RecallWhyResponse {
    let request = RecallWhyRequest {
        workspace: scratch.workspace().display().to_string(),
        query: query.to_owned(),
        path: place.map(|(path, _)| path.to_owned()),
        line: place.map(|(_, line)| line),
        limit: Some(2),
        mode: None,
    };
    client.raw().call(&request.into()).expect("an answer")
}

fn hippoctl(scratch: &Scratch, words: &[&str]) -> Output {
    let mut command = Command::new(client_program());
    command
        .args(words)
        .env("HIPPOD_HOME", scratch.home())
        .current_dir(scratch.workspace());
    command.output().unwrap()
}

#[test]
fn the_log_contains_who_asked_what_and_what_was_returned_or_dropped() {
    let (scratch, daemon, mut client) = begun(&[]);
    search(&mut client, &scratch, QUESTION, |request| {
        request.client = Some("test".into());
        request.limit = Some(1);
    });
    let with_secret = format!("where is {SECRET}");
    search(&mut client, &scratch, &with_secret, |request| {
        request.path = Some("memory/**".into())
    });
    search(&mut client, &scratch, "not in the log", |request| {
        request.log = false
    });
    hippoctl(&scratch, &["search", "tomato", "seedlings"]);
    let all = log(&mut client, &scratch, 20, None);
    let asked: Vec<_> = all
        .iter()
        .map(|one| (one.client.as_deref(), one.method.as_str()))
        .collect();
    assert_eq!(
        asked,
        [
            (Some("cli"), "search"),
            (None, "search"),
            (Some("test"), "search")
        ]
    );
    assert_eq!(all[0].question, "tomato seedlings");
    assert!(!format!("{all:?}").contains(SECRET), "{all:?}");
    assert_eq!(all[1].filters.as_deref(), Some("path memory/**"));
    let passages: Vec<_> = (all[2].passages.iter())
        .map(|passage| (passage.place.as_str(), passage.outcome.as_str()))
        .collect();
    assert_eq!(
        passages[..2],
        [
            ("memory/2026-03-09.md:5", "given"),
            ("memory/2026-03-02.md:5", "not-needed")
        ]
    );
    assert!(
        all[2].passages[0].lexical.is_some() && all[2].took_ms > 0.0,
        "{:?}",
        all[2]
    );
    assert_eq!(log(&mut client, &scratch, 1, Some(all[0].id)), [all[1].clone()]);
    let written = daemon.log();
    assert!(
        !written.contains("tomato") && !written.contains("staging use"),
        "{written}"
    );
}

#[test]
fn the_log_survives_a_restart_and_keeps_only_the_last_questions() {
    let (scratch, daemon, mut client) = begun(&[("HIPPOD_RECALL_LOG_QUESTIONS", "3")]);
    for number in 0..70 {
        search(&mut client, &scratch, &format!("question {number}"), |_| {});
    }
    let kept =
        |all: &[LoggedQuestion]| -> Vec<String> { all.iter().map(|one| one.question.clone()).collect() };
    let last = ["question 69", "question 68", "question 67"];
    assert_eq!(kept(&log(&mut client, &scratch, 20, None)), last);
    drop(client);
    daemon.kill();
    let daemon = Daemon::start(
        &scratch.home(),
        &[&QUIET[..], &[("HIPPOD_RECALL_LOG_QUESTIONS", "3")]].concat(),
    );
    let mut client = daemon.client();
    assert_eq!(kept(&log(&mut client, &scratch, 20, None)), last);
    drop(client);
    daemon.kill();
    // A log that is turned off is deleted.
    let off = [("HIPPOD_RECALL_LOG_QUESTIONS", "0")];
    let daemon = Daemon::start(&scratch.home(), &[&QUIET[..], &off].concat());
    search(&mut daemon.client(), &scratch, QUESTION, |_| {});
    assert!(log(&mut daemon.client(), &scratch, 20, None).is_empty());
    let shown = hippoctl(&scratch, &["why", "--last"]);
    assert!(
        String::from_utf8_lossy(&shown.stderr).contains("the recall log is turned off"),
        "{shown:?}"
    );
    daemon.kill();
    let daemon = Daemon::start(&scratch.home(), &QUIET);
    assert!(log(&mut daemon.client(), &scratch, 20, None).is_empty());
}

#[test]
fn a_missed_passage_is_explained_with_the_change_that_finds_it() {
    let (scratch, _daemon, mut client) = begun(&[]);
    scratch.write(
        "memory/copy.md",
        "# Copy\n\n## Deploy\n\n- Staging server port: 8443\n",
    );
    client.sync(&scratch.workspace());
    for (place, outcome, rank, because, change) in [
        (
            ("memory/none.md", 1),
            "no-file",
            None,
            "contains no file",
            "Check the path",
        ),
        (
            ("notes.txt", 1),
            "not-indexed",
            None,
            "not a memory file",
            "sources.include",
        ),
        (
            ("memory/2026-03-09.md", 2),
            "no-text",
            None,
            "blank",
            "hippoctl get",
        ),
        (
            ("memory/2026-03-02.md", 9),
            "below-limit",
            Some(3),
            "no word of the question",
            "seedlings",
        ),
    ] {
        let answer = why(&mut client, &scratch, QUESTION, Some(place));
        let passage = &answer.passages[0];
        assert_eq!(
            (passage.outcome.as_str(), passage.rank),
            (outcome, rank),
            "{passage:?}"
        );
        assert!(passage.because.join(" ").contains(because), "{passage:?}");
        assert!(
            passage.change.as_deref().unwrap_or_default().contains(change),
            "{passage:?}"
        );
    }
    let by_words = RecallWhyRequest {
        workspace: scratch.workspace().display().to_string(),
        query: QUESTION.to_owned(),
        mode: Some(SearchMode::Lexical),
        path: Some("memory/2026-03-02.md".into()),
        line: Some(9),
        limit: None,
    };
    let answer: RecallWhyResponse = client.raw().call(&by_words.into()).expect("an answer");
    assert_eq!(
        (answer.passages[0].outcome.as_str(), answer.passages[0].rank),
        ("no-match", None)
    );
    let mut found =
        |query: &str, line| why(&mut client, &scratch, query, Some(("memory/2026-03-02.md", line)));
    let passage = found("tomato seedlings balcony", 9).passages.remove(0);
    assert_eq!(
        (passage.outcome.as_str(), passage.rank),
        ("given", Some(1)),
        "the words that were suggested find it"
    );
    let corrected = found(QUESTION, 5).passages.remove(0);
    assert!(
        corrected.because.join(" ").contains("A later text corrects it"),
        "{corrected:?}"
    );
    let copies: Vec<_> = ["memory/2026-03-09.md", "memory/copy.md"]
        .map(|path| {
            why(&mut client, &scratch, QUESTION, Some((path, 5)))
                .passages
                .remove(0)
                .outcome
        })
        .into();
    assert!(copies.contains(&"equal-text".to_owned()), "{copies:?}");
}

#[test]
fn why_explains_results_and_lists_the_corrections_of_a_text() {
    let (scratch, _daemon, mut client) = begun(&[]);
    let answer = why(&mut client, &scratch, QUESTION, None);
    assert!(
        answer.passages[0].because[0].contains("\"port\", \"staging\""),
        "{answer:?}"
    );
    assert!(
        log(&mut client, &scratch, 20, None).is_empty(),
        "an explanation is not in the log"
    );
    let shown = |words: &[&str]| {
        let output = hippoctl(&scratch, words);
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let chain = shown(&["why", "memory/2026-03-02.md:5"]);
    let (old, new) = chain
        .split_once("2026-03-09  ")
        .expect("the corrected text comes first");
    assert!(
        old.contains("corrected by memory/2026-03-09.md:5") && new.contains("current"),
        "{chain}"
    );
    hippoctl(&scratch, &["search", QUESTION]);
    let last = shown(&["why", "--last"]);
    assert!(
        last.contains(QUESTION) && last.contains("given") && last.contains("cli"),
        "{last}"
    );
    let missed = shown(&["why", "--last", "-n", "2", "--missed", "memory/2026-03-02.md:9"]);
    assert!(
        missed.contains("It is result 3, and the answer has 2.") && missed.contains("To find it:"),
        "{missed}"
    );
    let refused = |words: &[&str]| {
        let output = hippoctl(&scratch, words);
        assert!(!output.status.success(), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(refused(&["why", "memory/2026-03-20.md:5"]).contains("no such file"));
    assert!(refused(&["why", QUESTION, "--missed", "memory/2026-03-02.md"]).contains("needs a line"));
    let misspelt = shown(&["why", QUESTION, "--missed", "memory/2026-3-02.md:5"]);
    assert!(
        misspelt.contains("A similar path is memory/2026-03-02.md"),
        "{misspelt}"
    );
    let list = shown(&["why"]);
    assert!(list.contains("3 passages") && list.lines().count() == 1, "{list}");
}

#[test]
fn the_corrections_of_a_line_are_those_of_no_other_line_in_its_passage() {
    let scratch = Scratch::new();
    let log = |port: u16| {
        format!("# Deploy\n\nThe garden is green.\nStaging server port: {port}\nThe fence is old.\n")
    };
    scratch.write("memory/2026-03-02.md", log(7000));
    scratch.write("memory/2026-03-09.md", log(8443));
    let daemon = Daemon::start(&scratch.home(), &QUIET);
    let mut client = daemon.client();
    client.index(&scratch.workspace());
    let why = |line: u32| {
        let output = hippoctl(&scratch, &["why", &format!("memory/2026-03-02.md:{line}")]);
        String::from_utf8(output.stdout).unwrap()
    };
    for line in [3, 5] {
        let told = why(line);
        assert_eq!(
            told,
            format!("memory/2026-03-02.md:{line}: no text corrects it\n")
        );
    }
    assert_eq!(
        why(4),
        "2026-03-02  memory/2026-03-02.md:4  corrected by memory/2026-03-09.md:4\n   Staging server port: 7000\n\
         2026-03-09  memory/2026-03-09.md:4  current\n   Staging server port: 8443\n"
    );
}
