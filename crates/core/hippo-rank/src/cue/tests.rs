//! Tests of matched entries and their scores.

use proptest::prelude::*;

use super::*;
use hippo_text::terms::query_terms;

fn entry(topic: &str, tags: &str, summary: &str, pointers: &[&str]) -> Entry {
    let pointers = pointers.iter().map(|pointer| {
        let (path, section) = pointer.split_once(" §").unwrap_or((pointer, ""));
        Pointer {
            path: path.to_owned(),
            section: (!section.is_empty()).then(|| section.to_owned()),
        }
    });
    Entry {
        topic: topic.to_owned(),
        tags: tags.split_whitespace().map(str::to_owned).collect(),
        summary: summary.to_owned(),
        pointers: pointers.collect(),
        ..Entry::default()
    }
}

fn harbour() -> Vec<Entry> {
    vec![
        entry(
            "Crane firmware",
            "flashing rollback",
            "How a crane gets new firmware, and what to do when it does not start.",
            &["firmware/crane.md §Flashing"],
        ),
        entry(
            "Tide tables",
            "forecast",
            "Where the forecast of the water level comes from.",
            &["tides.md §Sources | x", "memory/2026-01-10.md"],
        ),
        entry(
            "Ilse Brandt",
            "people",
            "Harbour master; asks for the crane report on Mondays.",
            &["people/ilse.md"],
        ),
        entry(
            "Café Zürich",
            "",
            "Where the crew meets; the max_connections of its Wi-Fi are few.",
            &["places.md"],
        ),
        entry("東京都の倉庫", "倉庫", "港の荷物を東京に送る。", &["tokyo.md"]),
    ]
}

/// Returns the positions of the entries that match a question.
fn named(question: &str) -> Vec<usize> {
    let matches = Cues::new(&harbour()).find(&query_terms(question), 10);
    matches.iter().map(|found| found.entry).collect()
}

fn best(question: &str) -> Match {
    Cues::new(&harbour()).find(&query_terms(question), 1)[0]
}

#[test]
fn a_question_matches_the_entries_that_contain_its_words() {
    let table: [(&str, &[usize]); 12] = [
        ("How do I flash the firmware of a crane?", &[0, 2]),
        ("crane", &[0, 2]),
        ("What did Ilse ask for?", &[2]),
        ("cafe ZURICH", &[3]),
        ("the café in Zürich", &[3]),
        ("max connections", &[3]),
        ("東京", &[4]),
        ("倉", &[4]),
        ("2026-01-10", &[1]),
        ("fla", &[0]),
        ("payroll", &[]),
        ("", &[]),
    ];
    for (question, expected) in table {
        assert_eq!(named(question), expected, "{question}");
    }
}

#[test]
fn a_topic_counts_more_than_a_summary_and_a_summary_more_than_a_file_name() {
    let entries = [
        entry("a", "", "b", &["lease.md"]),
        entry("a", "", "lease", &["b.md"]),
        entry("lease", "", "a", &["b.md"]),
    ];
    let found = Cues::new(&entries).find(&query_terms("lease"), 10);
    let order: Vec<usize> = found.iter().map(|found| found.entry).collect();
    assert_eq!(order, [2, 1, 0]);
    assert!(found.iter().all(|found| found.coverage == 1.0));
}

#[test]
fn a_question_about_something_else_has_low_coverage() {
    assert_eq!(best("crane firmware").coverage, 1.0);
    let other = best("Which crane did the museum of Oslo buy for its garden?");
    assert!(other.coverage < 0.25, "{other:?}");
    // Other words in the question do not reduce the relevance.
    let same = [best("crane"), best("crane payroll")];
    assert_eq!(same[0].relevance, same[1].relevance);
    assert!(same[1].coverage < same[0].coverage);
}

#[test]
fn a_compound_matches_fully_only_if_all_its_parts_match() {
    assert_eq!(best("crane-firmware").coverage, 1.0);
    assert!(best("crane-payroll").coverage < 0.5);
    let whole = best("max_connections");
    assert_eq!((whole.entry, whole.coverage), (3, 1.0));
}

#[test]
fn stop_words_match_only_if_a_question_has_no_other_words() {
    assert_eq!(named("what of the crane"), named("crane"));
    assert_eq!(named("where"), [1, 3], "both summaries start with it");
}

#[test]
fn a_prefix_counts_once_per_entry() {
    let entries = [entry("tide tidal tides", "", "", &[]), entry("tidy", "", "", &[])];
    let found = Cues::new(&entries).find(&query_terms("tid"), 10);
    assert_eq!(found.len(), 2);
    assert!(found.iter().all(|found| found.coverage == 1.0));
}

#[test]
fn empty_indexes_and_zero_limits_yield_no_match() {
    let none: [Entry; 0] = [];
    let cues = Cues::new(&none);
    assert!(cues.is_empty() && cues.find(&query_terms("crane"), 5).is_empty());
    let cues = Cues::new(&[Entry::default()]);
    assert_eq!((cues.len(), cues.find(&query_terms("crane"), 5)), (1, Vec::new()));
    assert!(Cues::new(&harbour()).find(&query_terms("crane"), 0).is_empty());
    assert!(Cues::default().find(&query_terms("crane"), 5).is_empty());
}

/// Generates words from a small vocabulary, so that the same words occur in several texts.
fn words() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        Just("crane"),
        Just("Cranes"),
        Just("tide"),
        Just("max_tide"),
        Just("東京都"),
        Just("the"),
        Just("Ada:"),
        Just("c++"),
        Just("é"),
        Just("…"),
    ];
    prop::collection::vec(word, 0..6).prop_map(|words| words.join(" "))
}

fn entries() -> impl Strategy<Value = Vec<Entry>> {
    let one =
        (words(), words(), words(), words(), words()).prop_map(|(topic, tags, summary, path, section)| {
            entry(
                &topic,
                &tags,
                &summary,
                &[&path, &format!("{path}.md §{section}")],
            )
        });
    prop::collection::vec(one, 0..12)
}

proptest! {
    #[test]
    fn matches_are_ordered_and_within_bounds(entries in entries(), question in words(), limit in 0usize..15) {
        let cues = Cues::new(&entries);
        let terms = query_terms(&question);
        let all = cues.find(&terms, usize::MAX);
        for found in &all {
            prop_assert!(found.entry < cues.len());
            prop_assert!(found.relevance > 0.0 && found.relevance <= 1.0, "{found:?}");
            prop_assert!(found.coverage > 0.0 && found.coverage <= 1.0, "{found:?}");
        }
        for pair in all.windows(2) {
            let falling = pair[0].relevance > pair[1].relevance;
            prop_assert!(falling || pair[0].relevance == pair[1].relevance && pair[0].entry < pair[1].entry);
        }
        let some = cues.find(&terms, limit);
        prop_assert_eq!(&some[..], &all[..limit.min(all.len())]);
        prop_assert_eq!(Cues::new(&entries).find(&terms, limit), some, "the same words give the same answer");
    }

    #[test]
    fn an_entry_matches_its_own_topic(entries in entries(), at in any::<prop::sample::Index>()) {
        prop_assume!(!entries.is_empty());
        let at = at.index(entries.len());
        let terms = query_terms(&entries[at].topic);
        prop_assume!(terms.iter().any(|term| !is_speaker_term(&term.term)));
        let found = Cues::new(&entries).find(&terms, usize::MAX);
        let own = found.iter().find(|found| found.entry == at);
        prop_assert!(own.is_some_and(|own| own.coverage > 0.999), "{found:?}");
    }
}
