//! Are entries known again, the forgotten ones too, when their file or heading has another name?

use super::*;

fn new(name: &str, path: &str, section: Option<&str>) -> NewEntry {
    NewEntry {
        entry: Entry {
            pointers: vec![pointer(path, section)],
            ..entry(name, "new")
        },
        group: TECHNICAL.to_owned(),
    }
}

/// An entry that has seen what it points at.
fn told(name: &str, path: &str, section: Option<&str>, text: &[u8], place: Place) -> Record {
    let mut record = record(name, 0.7, place);
    record.entry.pointers = vec![pointer(path, section)];
    record.hashes = vec![Some(ContentHash::of(text).0)];
    record.filed = Filed::of(&record);
    record
}

fn light(state: &mut Snapshot) -> (Plan, Snapshot) {
    state.quick_access = vec![id("listed")];
    let plan = plan(state, Cycle::Light);
    let after = apply(state, &plan);
    (plan, after)
}

#[test]
fn an_entry_goes_with_its_file_or_heading_wherever_it_stands() {
    let places = [Place::Index, Place::Queue(NOW), Place::Archive(NOW)];
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
            let mut state = snapshot(vec![told("mine", path, section, text, place)]);
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
fn a_copy_is_new_and_what_leads_nowhere_is_left_alone() {
    let mut state = snapshot(vec![
        told("mine", "memory/original.md", Some("One"), b"one", Place::Index),
        told("lost", "memory/gone.md", Some("Six"), b"six", Place::Index),
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
fn of_two_places_with_one_text_each_entry_takes_its_own() {
    let mut state = snapshot(vec![
        told("first", "memory/a.md", Some("Old"), b"same", Place::Index),
        told("second", "memory/a.md", Some("Older"), b"same", Place::Index),
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
fn what_was_forgotten_stays_so_under_another_name() {
    let archived = Place::Archive(NOW);
    // Moved, copied, in a file that was forgotten as a whole, and moved without being known to have.
    let cases = [
        (
            told("mine", "memory/old.md", Some("One"), b"one", archived),
            false,
        ),
        (
            told("mine", "memory/a.md", Some("Old heading"), b"one", archived),
            false,
        ),
        (
            told("mine", "memory/there.md", Some("One"), b"one", archived),
            true,
        ),
        (told("mine", "memory/a.md", None, b"onetwo", archived), false),
    ];
    for (mine, there) in cases {
        let before = mine.entry.pointers.clone();
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
fn a_changed_text_is_known_again_when_it_moves_later() {
    let mut state = snapshot(vec![told(
        "mine",
        "memory/a.md",
        Some("One"),
        b"before",
        Place::Index,
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
fn a_whole_file_is_told_until_it_changes() {
    for (text, added) in [(b"onetwo", 0), (b"onesix", 2)] {
        let mut state = snapshot(vec![told("mine", "memory/a.md", None, text, Place::Index)]);
        state.candidates = vec![
            new("one", "memory/a.md", Some("One")),
            new("two", "memory/a.md", Some("Two")),
        ];
        assert_eq!(light(&mut state).1.records.len(), 1 + added);
    }
}
