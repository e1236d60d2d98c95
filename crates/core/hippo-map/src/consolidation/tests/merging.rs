//! Tests of merged duplicates.

use super::super::merge::{find_difference, is_similar};
use super::super::value::TextReading;
use super::*;

#[test]
fn duplicates_are_merged_unless_their_values_differ() {
    let mut twin = record("twin", 0.5, RecordPlace::Index);
    twin.entry.tags = vec!["lease".into()];
    twin.entry.hits = 4;
    let mut other = record("other", 0.5, RecordPlace::Index);
    other.entry.summary = "what there is to know: 30 s".into();
    let mut state = snapshot(vec![record("one", 0.9, RecordPlace::Index), twin, other]);
    state.run.live = 40;
    let pair = |a: &str, b: &str, cosine| SimilarPair {
        a: id(a),
        b: id(b),
        cosine,
    };
    state.similar = vec![
        pair("one", "twin", 0.95),
        pair("one", "other", 0.99),
        pair("twin", "other", f32::NAN),
    ];
    let plan = plan(&state, Cycle::Deep);
    let refused: Vec<Rule> = plan.refused.iter().map(|refusal| refusal.rule).collect();
    assert_eq!(refused, [Rule::ValueConflict]);
    let after = apply(&state, &plan);
    let kept = &after.records[&id("twin")];
    assert_eq!((kept.entry.hits, kept.entry.version), (5, 2));
    assert_eq!(after.records[&id("one")].place, RecordPlace::Archive(NOW));
    assert_eq!(after.quick_access[0], id("twin"));
}

#[test]
fn the_entry_that_says_more_is_kept_and_texts_by_people_are_never_absorbed() {
    let with = |name: &str, summary: &str, hits, origin| {
        let mut record = record(name, 0.5, RecordPlace::Index);
        record.entry.summary = summary.into();
        record.entry.hits = hits;
        record.entry.origin = origin;
        record
    };
    let (less, more) = ("Deploys run nightly.", "Deploys run nightly from the build host.");
    let cases = [
        (EntryOrigin::Auto, EntryOrigin::Auto, Some("more")),
        (EntryOrigin::Auto, EntryOrigin::Manual, Some("more")),
        (EntryOrigin::Manual, EntryOrigin::Auto, None),
        (EntryOrigin::Manual, EntryOrigin::Manual, None),
    ];
    for (one, other, kept) in cases {
        let mut state = snapshot(vec![with("less", less, 9, one), with("more", more, 0, other)]);
        state.run.live = 40;
        state.similar = vec![SimilarPair {
            a: id("less"),
            b: id("more"),
            cosine: 0.95,
        }];
        let plan = plan(&state, Cycle::Deep);
        let after = apply(&state, &plan);
        let live: Vec<&str> = after.live().map(|record| record.entry.id.0.as_str()).collect();
        assert_eq!(
            live,
            kept.map_or(vec!["less", "more"], |kept| vec![kept]),
            "{one} {other}"
        );
        assert_eq!(plan.refused.len(), usize::from(kept.is_none()));
        if kept.is_some() {
            assert_eq!(after.records[&id("more")].entry.hits, 9);
            let back = undo(&plan).iter().fold(after, |mut state, change| {
                change.apply(&mut state);
                state
            });
            assert_eq!(back.records, state.records);
        }
    }
}

/// Compares two entries. Returns their difference, or `None` if they are not similar enough.
fn compare(
    a: &Entry,
    b: &Entry,
    cosine: f32,
    settings: &ConsolidationSettings,
) -> Option<Option<ValueConflict>> {
    let [text_a, text_b] = [a, b].map(|entry| TextReading::read(&entry.topic, &entry.summary));
    is_similar(a, b, cosine, settings).then(|| find_difference(a, b, &text_a, &text_b))
}

#[test]
fn entries_with_a_common_pointer_need_less_similarity() {
    let settings = ConsolidationSettings::default();
    let (mut a, b) = (entry("a", "what there is"), entry("b", "what there is to know"));
    let shared = f32::midpoint(settings.merge_above, settings.merge_above_shared);
    assert_eq!(compare(&a, &b, shared, &settings), Some(None));
    assert_eq!(
        compare(&a, &b, settings.merge_above_shared - 0.01, &settings),
        None
    );
    a.pointers = vec![pointer("memory/b.md", Some("One"))];
    assert_eq!(compare(&a, &b, shared, &settings), None);
    assert_eq!(compare(&a, &b, settings.merge_above, &settings), Some(None));
    assert_eq!(compare(&a, &b, f32::NAN, &settings), None);
    a.summary = "what there is not".into();
    let denied = Some(Some(ValueConflict::Negation));
    assert_eq!(compare(&a, &b, 1.0, &settings), denied);
    assert_eq!(compare(&b, &a, 1.0, &settings), denied);
}

#[test]
fn the_same_words_in_different_projects_are_not_merged() {
    let settings = ConsolidationSettings::default();
    let at = |path: &str| {
        let mut entry = entry(path, "Deploys go out on Thursdays");
        entry.pointers = vec![pointer(path, None)];
        entry
    };
    let one = at("projects/acme/PROJECT.md");
    let apart = compare(&one, &at("projects/atlas/PROJECT.md"), 1.0, &settings);
    assert_eq!(apart, Some(Some(ValueConflict::Name)));
    for path in [
        "projects/acme/NOTES.md",
        "projects/README.md",
        "memory/2026-01-01.md",
    ] {
        assert_eq!(compare(&one, &at(path), 1.0, &settings), Some(None), "{path}");
    }
}
