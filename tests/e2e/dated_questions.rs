//! Questions that name a date.
//!
//! Among equally good matches, the ones with this date are ranked first.

use std::time::{Duration, SystemTime};

use hippo_proto::{SearchRequest, SearchResponse};
use hippod_tests::{Caller, Scratch};

fn ask(client: &mut Caller, scratch: &Scratch, query: &str) -> SearchResponse {
    let mut request = SearchRequest::new(scratch.workspace().display().to_string(), query);
    request.record = false;
    client.raw().call(&request.into()).expect("an answer")
}

/// Writes logs for two months on the same topic. The log of the later month contains more words of the question.
fn months(scratch: &Scratch) {
    scratch.write(
        "memory/2023-07-15.md",
        "# 2023-07-15\n\n## 13:51 Nora and Paul\n\n\
         - **Paul:** The garden looks great.\n\
         - **Nora:** Last Friday I went to a meeting of the council about adoption.\n\
         - **Paul:** How was it?\n",
    );
    scratch.write(
        "memory/2023-10-22.md",
        "# 2023-10-22\n\n## 09:55 Nora and Paul\n\n\
         - **Nora:** I passed the adoption agency interviews, adoption is near!\n\
         - **Paul:** What did the adoption agency say?\n\
         - **Nora:** They say that the adoption of a child takes a year.\n",
    );
    scratch.write(
        "memory/2023-10-13.md",
        "# 2023-10-13\n\n- **Nora:** I asked my mentor for adoption advice.\n",
    );
}

#[test]
fn results_with_the_date_of_the_question_rank_first() {
    let scratch = Scratch::new();
    months(&scratch);
    let daemon = scratch.daemon();
    let mut client = daemon.client();
    client.index(&scratch.workspace());
    let answer = ask(
        &mut client,
        &scratch,
        "what did Nora say in July 2023 about adoption",
    );
    assert_eq!(answer.results[0].path, "memory/2023-07-15.md", "{answer:?}");
    assert!(answer.results[0].text.contains("council"), "{answer:?}");
    let answer = ask(
        &mut client,
        &scratch,
        "what did Nora say in October 2023 about adoption",
    );
    assert!(
        answer.results[0].path.starts_with("memory/2023-10-"),
        "{answer:?}"
    );
    // The date does not exclude other results: the answer also contains results that match only by words.
    let answer = ask(
        &mut client,
        &scratch,
        "who passed the agency interviews in July 2023",
    );
    assert!(
        answer.results.iter().any(|hit| hit.text.contains("interviews")),
        "{answer:?}"
    );
}

#[test]
fn an_answer_notes_that_nothing_has_the_requested_date() {
    let scratch = Scratch::new();
    months(&scratch);
    let daemon = scratch.daemon();
    let mut client = daemon.client();
    client.index(&scratch.workspace());
    let answer = ask(
        &mut client,
        &scratch,
        "what did Nora say in March 2021 about adoption",
    );
    let note =
        "the dates in the query were read as 2021-03-01 to 2021-03-31; no text has a date in that range";
    assert!(answer.notes.iter().any(|told| told == note), "{answer:?}");
    let answer = ask(
        &mut client,
        &scratch,
        "what did Nora say in July 2023 about adoption",
    );
    let note = "the dates in the query were read as 2023-07-01 to 2023-07-31";
    assert!(answer.notes.iter().any(|told| told == note), "{answer:?}");
}

#[test]
fn a_question_that_is_only_a_date_returns_the_passages_of_the_day() {
    let scratch = Scratch::new();
    months(&scratch);
    scratch.write(
        "memory/2023-10-23.md",
        "# 2023-10-23\n\n- Yesterday's talk with the agency took two hours.\n\n- The form of 22 October is in the drawer.\n",
    );
    let daemon = scratch.daemon();
    let mut client = daemon.client();
    client.index(&scratch.workspace());
    for query in [
        "what happened on 22 October 2023?",
        "2023-10-22",
        "notes of 22.10.2023",
    ] {
        let answer = ask(&mut client, &scratch, query);
        let paths: Vec<&str> = answer.results.iter().map(|hit| hit.path.as_str()).collect();
        assert_eq!(paths, ["memory/2023-10-22.md"; 3], "{query}: {answer:?}");
        assert!(answer.results[0].text.contains("interviews"), "{answer:?}");
        assert!(!answer.nothing_relevant, "{answer:?}");
    }
    // A later text of the day is found, although it contains no word of the question.
    let ask_again = |client: &mut Caller| -> SearchResponse {
        let query = "what happened on 23 October 2023?";
        let request = SearchRequest::new(scratch.workspace().display().to_string(), query);
        client.raw().call(&request.into()).expect("an answer")
    };
    assert_eq!(ask_again(&mut client).results.len(), 2);
    scratch.write(
        "memory/2023-10-23.md",
        "# 2023-10-23\n\n- Moved the backup to another city.\n",
    );
    client.sync(&scratch.workspace());
    let answer = ask_again(&mut client);
    assert!(answer.results[0].text.contains("backup"), "{answer:?}");
    // Each day of a longer time has a turn.
    let answer = ask(&mut client, &scratch, "what happened in October 2023?");
    let paths: Vec<&str> = answer.results.iter().map(|hit| hit.path.as_str()).collect();
    let days = [
        "memory/2023-10-13.md",
        "memory/2023-10-22.md",
        "memory/2023-10-23.md",
    ];
    assert_eq!(paths[..3], days, "{answer:?}");
    // Without a text of the day, the words of the question are searched.
    let answer = ask(&mut client, &scratch, "what happened on 3 October 2023?");
    assert!(
        answer
            .notes
            .iter()
            .any(|note| note.contains("no text has a date")),
        "{answer:?}"
    );
}

#[test]
fn a_file_whose_time_changes_has_its_new_date_and_the_index_a_new_generation() {
    let scratch = Scratch::new();
    scratch.write("memory/garden.md", "# Garden\n\n- The adoption papers arrived.\n");
    let at = |seconds: u64| {
        let path = scratch.workspace().join("memory/garden.md");
        let file = std::fs::File::options().append(true).open(path).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds))
            .unwrap();
    };
    at(1_689_850_000);
    let daemon = scratch.daemon();
    let mut client = daemon.client();
    client.index(&scratch.workspace());
    let before = ask(&mut client, &scratch, "adoption papers");
    assert_eq!(before.results[0].date.as_deref(), Some("2023-07-20"));
    // Without a change of the date, the generation stays.
    for (time, date, is_new) in [
        (1_689_850_100, "2023-07-20", false),
        (1_694_350_000, "2023-09-10", true),
    ] {
        at(time);
        client.sync(&scratch.workspace());
        let after = ask(&mut client, &scratch, "adoption papers");
        assert_eq!(after.results[0].date.as_deref(), Some(date));
        let is_newer = after.index.generation > before.index.generation;
        assert_eq!(is_newer, is_new, "{date}: {after:?}");
    }
}
