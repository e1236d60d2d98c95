//! Tests of facts repeated in daily logs.

use proptest::prelude::*;

use super::*;
use hippo_text::chunk::chunk;

/// Creates one log per text, starting on 1 May.
fn logs(texts: &[&str]) -> Vec<Fact> {
    let days = (1i8..).zip(texts);
    let days: Vec<(String, Date, Vec<u8>)> = days
        .map(|(day, text)| {
            let date = jiff::civil::date(2026, 5, day);
            (format!("memory/{date}.md"), date, text.as_bytes().to_vec())
        })
        .collect();
    find_facts(&days, |_| 0)
}

fn find_facts(days: &[(String, Date, Vec<u8>)], hits: impl Fn(&Pointer) -> u32) -> Vec<Fact> {
    let documents: Vec<Document> = days.iter().map(|(_, _, bytes)| chunk(bytes)).collect();
    let logs = days
        .iter()
        .zip(&documents)
        .map(|((path, date, bytes), document)| LogDay {
            path,
            date: *date,
            document,
            bytes,
        });
    find_repeated_facts(logs, hits)
}

fn texts(facts: &[Fact]) -> Vec<(&str, u32)> {
    facts.iter().map(|fact| (fact.text.as_str(), fact.days)).collect()
}

#[test]
fn a_fact_is_found_on_several_days_despite_small_changes_of_wording() {
    let found = logs(&[
        "# Day\n\n## Ops\n\n- Backups of the gauge archive run at 02:00\n- Something else altogether was done today\n",
        "Today was calm. **Backups** of the gauge archive run at 02:00.\n",
        "## Notes\n- 10:30 — The backups of the gauge archive run at 02:00 here\n",
        "- [ ] Backups of the gauge archive run at 02:00\n",
    ]);
    assert_eq!(texts(&found), [("Backups of the gauge archive run at 02:00", 3)]);
    let sources: Vec<(&str, Option<&str>)> = found[0]
        .sources
        .iter()
        .map(|source| (source.path.as_str(), source.section.as_deref()))
        .collect();
    let expected = [
        ("memory/2026-05-01.md", Some("Ops")),
        ("memory/2026-05-02.md", None),
        ("memory/2026-05-03.md", Some("Notes")),
    ];
    assert_eq!(sources, expected);
}

#[test]
fn a_later_value_replaces_an_earlier_one() {
    let old = "- The lease of the gauge node is 30 seconds\n";
    let new = "- The lease of the gauge node is 120 seconds\n";
    assert_eq!(logs(&[old, new]), []);
    assert_eq!(
        texts(&logs(&[old, old, new])),
        [],
        "the later value replaces the earlier one"
    );
    let found = logs(&[old, old, new, new]);
    assert_eq!(texts(&found), [("The lease of the gauge node is 120 seconds", 2)]);
    let deny = "- The lease of the gauge node is not 120 seconds\n";
    assert_eq!(texts(&logs(&[new, new, deny])), []);
    let turned = [
        "- Moved the archive from harbour to depot\n",
        "- Moved the archive from depot to harbour\n",
    ];
    assert_eq!(logs(&turned), []);
}

#[test]
fn requests_tasks_secrets_and_generated_text_are_not_facts() {
    let left_out = [
        "- Too short\n",
        "- Does the crane in the harbour need new firmware?\n",
        "- The crane firmware needs these three steps:\n",
        "- [x] Flash the crane firmware in harbour seven\n",
        "```\nflash the crane firmware in harbour seven\n```\n",
        "> Flash the crane firmware in harbour seven\n",
        "Assistant: The crane firmware in harbour seven is flashed.\n",
        "User: Can you flash the crane firmware in harbour seven\n",
        "User: Hey, your crane firmware in harbour seven looks wonderful.\n",
        "User: [Queued messages while the crane firmware was busy]\n",
        "User: System: check the crane firmware queue of the harbour\n",
        "- Read HEARTBEAT.md and the crane firmware queue of the harbour\n",
        "- The crane firmware repository token is ghp_0123456789abcdef\n",
        "<!-- hippod: memory -->\nThe crane firmware in harbour seven is flashed.\n<!-- /hippod -->\n",
    ];
    for text in left_out {
        assert_eq!(logs(&[text, text, text]), [], "{text}");
    }
    let open = "<!-- hippod: memory -->\n\nThe crane firmware in harbour seven is flashed.\n";
    assert_eq!(logs(&[open, open]).len(), 1, "an unclosed block hides nothing");
    let spoken = "User: I keep the crane firmware keys in the harbour office.\n";
    assert_eq!(logs(&[spoken, spoken]).len(), 1);
}

#[test]
fn the_speaker_is_part_of_a_fact() {
    let talk = |one: &str, other: &str| {
        format!(
            "- **{one}:** The weather is nice. My dog is called Luna Brandt.\n- **{other}:** Nice.\n- **{one}:** Yes.\n- **{other}:** Good.\n"
        )
    };
    let (ada, ben) = (&talk("Ada", "Ben"), &talk("Ben", "Ada"));
    assert_eq!(logs(&[ada, ben]), []);
    assert_eq!(
        texts(&logs(&[ada, ada])),
        [("Ada: My dog is called Luna Brandt.", 2)]
    );
}

#[test]
fn facts_are_found_in_scripts_without_latin_letters() {
    let text = "- 港の倉庫の鍵は東京事務所にあります。\n- Склад порта открыт только утром\n";
    assert_eq!(logs(&[text, text]).len(), 2);
}

#[test]
fn facts_are_ordered_by_days_and_then_by_section_hits() {
    let day = |day, text: &str| {
        let date = jiff::civil::date(2026, 5, day);
        (format!("memory/{date}.md"), date, text.as_bytes().to_vec())
    };
    let days = [
        day(
            1,
            "## A\n- The crane lease ends each Friday\n\n## B\n- The tide forecast comes from Cuxhaven\n",
        ),
        day(
            2,
            "## B\n- The tide forecast comes from Cuxhaven\n\n## A\n- The crane lease ends each Friday\n",
        ),
        day(
            3,
            "## C\n- Ilse Brandt opens the depot gate\n- Ilse Brandt opens the depot gate\n",
        ),
        day(4, "## C\n- Ilse Brandt opens the depot gate\n"),
        day(4, "## D\n- Ilse Brandt opens the depot gate\n"),
        day(5, "## C\n- Ilse Brandt opens the depot gate\n"),
    ];
    let found = find_facts(&days, |pointer| match pointer.section.as_deref() {
        Some("A") => 1,
        Some("B") => 5,
        _ => 0,
    });
    let seen: Vec<(&str, u32, u32)> = found
        .iter()
        .map(|fact| (fact.text.as_str(), fact.days, fact.hits))
        .collect();
    let expected = [
        ("Ilse Brandt opens the depot gate", 3, 0),
        ("The tide forecast comes from Cuxhaven", 2, 10),
        ("The crane lease ends each Friday", 2, 2),
    ];
    assert_eq!(seen, expected);
}

/// Generates a log whose statements use few words, so that they collide.
fn log() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        Just("crane"),
        Just("depot"),
        Just("lease"),
        Just("Ilse"),
        Just("30"),
        Just("120"),
        Just("not"),
        Just("the"),
        Just("東京の倉庫"),
        Just("User:"),
        Just("…"),
    ];
    let line = prop::collection::vec(word, 0..8).prop_map(|words| format!("- {}\n", words.join(" ")));
    prop::collection::vec(line, 0..6).prop_map(|lines| lines.concat())
}

proptest! {
    #[test]
    fn facts_are_distinct_and_occur_in_their_sources(texts in prop::collection::vec(log(), 0..9)) {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let found = logs(&texts);
        for (at, fact) in found.iter().enumerate() {
            prop_assert!(fact.days as usize <= fact.sources.len() && fact.days > 1);
            prop_assert!(texts.iter().any(|text| text.contains(&fact.text)), "{fact:?}");
            prop_assert!(found[..at].iter().all(|other| other.text != fact.text));
        }
        prop_assert!(found.is_sorted_by(|a, b| a.days >= b.days));
    }

    #[test]
    fn more_logs_keep_the_wording_of_a_fact(texts in prop::collection::vec(log(), 1..9)) {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let before = logs(&texts);
        // The same statements on later days state each fact again.
        let again = [&texts[..], &texts[..]].concat();
        let after = logs(&again);
        for fact in &before {
            prop_assert!(after.iter().any(|other| other.text == fact.text), "{fact:?} {after:?}");
        }
    }
}
