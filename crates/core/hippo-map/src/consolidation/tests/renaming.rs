//! Tests of entries whose file or heading was renamed.

use super::*;

fn new(name: &str, path: &str, section: Option<&str>) -> BootstrapEntry {
    BootstrapEntry {
        entry: Entry {
            pointers: vec![pointer(path, section)],
            ..entry(name, "new")
        },
        group: TECHNICAL.to_owned(),
    }
}

/// Creates an entry that stores the content of its source.
fn known_record(
    name: &str,
    path: &str,
    section: Option<&str>,
    text: &[u8],
    place: RecordPlace,
) -> EntryRecord {
    let mut record = record(name, 0.7, place);
    record.entry.pointers = vec![pointer(path, section)];
    record.hashes = vec![Some(ContentHash::of(text).0)];
    record.filed = FiledUse::with_strength(&record, record.strength);
    record
}

fn light(state: &mut ConsolidationSnapshot) -> (ConsolidationPlan, ConsolidationSnapshot) {
    state.quick_access = vec![id("listed")];
    let plan = plan(state, Cycle::Light);
    let after = apply(state, &plan);
    (plan, after)
}

#[test]
fn an_entry_follows_its_renamed_file_or_heading_from_any_place() {
    let places = [
        RecordPlace::Index,
        RecordPlace::Queue(NOW),
        RecordPlace::Archive(NOW),
    ];
    let olds = [
        ("memory/old.md", Some("One")),
        ("memory/a.md", Some("Old heading")),
        ("memory/old.md", None),
    ];
    for place in places {
        for (path, section) in olds {
            let (text, now): (&[u8], _) = match section {
                Some(_) => (b"one", Some("One")),
                None => (b"onetwo", None),
            };
            let mut state = snapshot(vec![known_record("mine", path, section, text, place)]);
            state.candidates = vec![new("again", "memory/a.md", now)];
            let (plan, after) = light(&mut state);
            assert_eq!(rules_of(&plan)[0], (Rule::Pointer, "mine".to_owned()));
            assert_eq!(after.records.len(), 1, "{place:?} {path} {section:?}");
            assert_eq!(
                after.records[&id("mine")].entry.pointers,
                [pointer("memory/a.md", now)]
            );
        }
    }
}

#[test]
fn a_copy_gets_a_new_entry_and_lost_pointers_are_left_alone() {
    let mut state = snapshot(vec![
        known_record(
            "mine",
            "memory/original.md",
            Some("One"),
            b"one",
            RecordPlace::Index,
        ),
        known_record("lost", "memory/gone.md", Some("Six"), b"six", RecordPlace::Index),
    ]);
    state.unread.insert("memory/original.md".to_owned());
    state.candidates = vec![new("copy", "memory/a.md", Some("One"))];
    let (plan, after) = light(&mut state);
    assert_eq!(rules_of(&plan), [(Rule::NewEntry, "copy".to_owned())]);
    assert!(plan.findings.is_empty());
    for name in ["mine", "lost"] {
        assert_eq!(after.records[&id(name)].entry, state.records[&id(name)].entry);
    }
    let copied = [Some(ContentHash::of(b"one").0)];
    assert_eq!(after.records[&id("copy")].hashes, copied);
}

#[test]
fn two_entries_with_the_same_moved_text_follow_to_different_sections() {
    let mut state = snapshot(vec![
        known_record("first", "memory/a.md", Some("Old"), b"same", RecordPlace::Index),
        known_record(
            "second",
            "memory/a.md",
            Some("Older"),
            b"same",
            RecordPlace::Index,
        ),
    ]);
    let sections: [(&str, &[u8]); 2] = [("New", b"same"), ("Newer", b"same")];
    state
        .documents
        .insert("memory/a.md".to_owned(), document(&sections));
    let (_, after) = light(&mut state);
    let section = |name: &str| after.records[&id(name)].entry.pointers[0].section.clone();
    assert_eq!(
        [section("first"), section("second")],
        ["New", "Newer"].map(|title| Some(title.to_owned()))
    );
}

#[test]
fn a_forgotten_entry_stays_forgotten_after_a_rename() {
    let archived = RecordPlace::Archive(NOW);
    // Cases: a moved file, a renamed heading, a copy, a whole file that was forgotten, and a section that moved while
    // its old place got new content.
    let cases = [
        (
            known_record("mine", "memory/old.md", Some("One"), b"one", archived),
            false,
        ),
        (
            known_record("mine", "memory/a.md", Some("Old heading"), b"one", archived),
            false,
        ),
        (
            known_record("mine", "memory/there.md", Some("One"), b"one", archived),
            true,
        ),
        (
            known_record("mine", "memory/a.md", None, b"onetwo", archived),
            false,
        ),
        (
            known_record("mine", "memory/a.md", Some("Two"), b"one", archived),
            false,
        ),
    ];
    for (mine, there) in cases {
        let before = RemovedEntry::from(&mine);
        let mut state = snapshot(vec![mine]);
        state.tombstones = BTreeMap::from([(id("mine"), before.clone())]);
        state.unread.extend(there.then(|| "memory/there.md".to_owned()));
        state.candidates = vec![
            new("again", "memory/a.md", Some("One")),
            new("else", "memory/b.md", Some("One")),
        ];
        let (_, after) = light(&mut state);
        let ids: Vec<&str> = after.records.keys().map(|id| id.0.as_str()).collect();
        assert_eq!(ids, ["else", "mine"], "{before:?}");
        assert_eq!(after.records[&id("mine")].place, archived);
    }
}

#[test]
fn a_forgotten_entry_stays_forgotten_after_an_edit_and_a_move() {
    let mine = known_record(
        "mine",
        "memory/a.md",
        Some("One"),
        b"before",
        RecordPlace::Archive(NOW),
    );
    let mut state = snapshot(vec![mine.clone()]);
    state.tombstones = BTreeMap::from([(id("mine"), RemovedEntry::from(&mine))]);
    let (_, mut edited) = light(&mut state);
    // Two contents count as removed: the content at the time of the removal, and the last content at the same place.
    let moved = document(&[("Old text", b"before"), ("New text", b"one")]);
    edited.documents = BTreeMap::from([("memory/new.md".to_owned(), moved)]);
    edited.candidates = vec![
        new("again", "memory/new.md", Some("Old text")),
        new("later", "memory/new.md", Some("New text")),
    ];
    let (_, after) = light(&mut edited);
    assert_eq!(after.records.keys().collect::<Vec<_>>(), [&id("mine")]);
}

#[test]
fn an_entry_claims_a_location_before_a_question() {
    // Two entries pointed to a text that now exists at two places. The id of the entry that a question created sorts
    // first.
    let mut asked = known_record("asked", "memory/old.md", Some("One"), b"one", RecordPlace::Index);
    asked.learned = Some(Box::default());
    let entry = known_record(
        "timetable",
        "memory/old.md",
        Some("One"),
        b"one",
        RecordPlace::Index,
    );
    let mut state = snapshot(vec![asked, entry]);
    state.documents = ["memory/x.md", "memory/y.md"]
        .map(|path| (path.to_owned(), document(&[("One", b"one")])))
        .into();
    let (_, after) = light(&mut state);
    let expected = [pointer("memory/x.md", Some("One"))];
    assert_eq!(after.records[&id("timetable")].entry.pointers, expected);
}

#[test]
fn an_archived_entry_covers_its_file_even_if_a_candidate_has_its_id() {
    let mut archived = known_record(
        "harbour",
        "memory/a.md",
        Some("One"),
        b"one",
        RecordPlace::Archive(NOW),
    );
    archived.entry.pointers.push(pointer("memory/a.md", Some("Two")));
    archived.hashes.push(None);
    let mut state = snapshot(vec![archived]);
    state.candidates = vec![
        new("harbour", "memory/a.md", Some("One")),
        new("two", "memory/a.md", Some("Two")),
    ];
    let (_, after) = light(&mut state);
    assert_eq!(after.records.len(), 1);
}

#[test]
fn a_changed_text_is_recognized_when_it_moves_later() {
    let mut state = snapshot(vec![known_record(
        "mine",
        "memory/a.md",
        Some("One"),
        b"before",
        RecordPlace::Index,
    )]);
    let (_, mut edited) = light(&mut state);
    let moved = document(&[("Heading", b"one")]);
    edited.documents = BTreeMap::from([("memory/new.md".to_owned(), moved)]);
    edited.candidates = vec![new("again", "memory/new.md", Some("Heading"))];
    let (_, after) = light(&mut edited);
    assert_eq!(after.records.len(), 1);
    let expected = [pointer("memory/new.md", Some("Heading"))];
    assert_eq!(after.records[&id("mine")].entry.pointers, expected);
}

#[test]
fn a_whole_file_entry_covers_its_sections_until_the_file_changes() {
    for (text, added) in [(b"onetwo", 0), (b"onesix", 2)] {
        let mut state = snapshot(vec![known_record(
            "mine",
            "memory/a.md",
            None,
            text,
            RecordPlace::Index,
        )]);
        state.candidates = vec![
            new("one", "memory/a.md", Some("One")),
            new("two", "memory/a.md", Some("Two")),
        ];
        assert_eq!(light(&mut state).1.records.len(), 1 + added);
    }
}
