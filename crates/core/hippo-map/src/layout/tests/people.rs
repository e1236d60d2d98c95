//! Tests that people's text and its position are kept.

use super::*;

/// A file with all kinds of edits by people.
const THEIRS: &str = "\u{feff}# Our memory\r\n<!-- kept by Ilse -->\r\n\r\nAsk before you change anything.\r\n\r\n\
    ## Harbour office\r\n\r\nOpening hours: never.\r\n\r\n\
    ### Crane\r\nHow the crane is\r\nkept alive.\r\n→ crane.md §Grease\r\n-> old/crane.md\r\n\
    <!-- hx: id=crane | mood=wary\r\n| hits=3 | created=2026-01-05\r\n| accessed=2026-01-20T08:30:00Z | str=0.5 -->glued\r\n\r\n\
    - grease it\r\n- ask Ilse\r\n\r\n```sh\r\n## no heading\r\n```\r\n\r\n\
    ## Places\r\n- Tides → tides.md\r\n- Berths → berths.md\r\n- Watch: tv.md\r\n\r\n\
    ## By Topic\r\n### People\r\n#### Ilse\r\n→ ilse.md\r\n\r\n\
    ## meta\r\nmine <!-- open\r\n";

#[test]
fn a_file_by_people_gets_the_lists_and_keeps_every_byte() {
    let mut store = LayoutStore::adopting(THEIRS.as_bytes());
    assert_eq!(store.records.len(), 4);
    let files = store.from(THEIRS.as_bytes());
    let header = "<!-- hippocampus.md v1.0 | entries: 4 | reindexed: 2026-02-01T00:00:00Z -->\r\n";
    let expected = THEIRS.replacen("memory\r\n", &format!("memory\r\n{header}"), 1)
        + "\r\n<!-- hippod: meta -->\r\n- entries in this file: 4\r\n- mean strength: 0.9\r\n<!-- /hippod -->\r\n";
    let expected = expected
        .replace("## By Topic\r\n", "## Quick Access\r\n\r\n## By Topic\r\n")
        .replace(
            "## meta\r\n",
            "## By Time\r\n\r\n### This Week\r\n\r\n### This Month\r\n\r\n### Older\r\n\r\n\
            ## Associations\r\n\r\n## Decay Queue\r\n\r\n## meta\r\n",
        );
    assert_eq!(text(&files.master), expected);

    // If one value changes, the other fields and the surrounding text must stay.
    let crane = store.record("crane").filed.as_mut().unwrap();
    *crane = FiledUse {
        hits: 4,
        hundredths: 63,
        ..*crane
    };
    let after = store.from(&files.master).master;
    let expected = expected
        .replace("hits=3", "hits=4")
        .replace("str=0.5", "str=0.63")
        .replace("T00:00:00Z", "T00:00:01Z");
    assert_eq!(text(&after), expected);
}

#[test]
fn an_entry_is_removed_with_only_its_own_lines() {
    let mut store = LayoutStore::adopting(THEIRS.as_bytes());
    let before = store.from(THEIRS.as_bytes()).master;
    for name in ["tides", "berths"] {
        store.record(name).place = RecordPlace::Archive(NOW);
    }
    let after = store.from(&before).master;
    assert!(
        text(&after).contains("## Places\r\n- Watch: tv.md\r\n\r\n## Quick Access\r\n"),
        "{}",
        text(&after)
    );
    // The remaining line turns its heading into an entry that is not in the store. hippod must not remove such an
    // entry.
    let again = store.from(&after);
    assert_eq!(text(&again.master), text(&after));
    assert_eq!(again.entries, 2);

    // An entry that hippod wrote and no longer knows is removed.
    store.records.remove(&id("crane"));
    let after = store.from(&after).master;
    assert!(
        !text(&after).contains("Crane") && text(&after).contains("Opening hours: never.\r\n\r\n## Places")
    );
}

#[test]
fn a_line_under_a_heading_stays_if_an_entry_with_the_title_s_id_leaves() {
    let theirs = "## Places\n- Watch: tv.md\n- Tides → tides.md\n\n## Places\n→ b.md\n";
    let mut store = LayoutStore::adopting(theirs.as_bytes());
    for name in ["tides", "places"] {
        store.record(name).place = RecordPlace::Archive(NOW);
    }
    let after = store.from(theirs.as_bytes()).master;
    let kept = "## Places\n<!-- hippod: nothing -->\n<!-- /hippod -->\n- Watch: tv.md\n";
    assert!(text(&after).contains(kept), "{}", text(&after));
}

#[test]
fn an_id_derived_from_the_topic_survives_the_removal_of_its_neighbours() {
    let places = "## Places\n- Tides → tides.md\n- Tides → old/tides.md\n- Tides → older/tides.md\n";
    let mut store = LayoutStore::adopting(places.as_bytes());
    store.record("tides").place = RecordPlace::Archive(NOW);
    let files = store.from(places.as_bytes());
    let found = IndexFile::parse(&files.master, IndexFileOptions::default());
    let pointers: Vec<(&str, &str)> = found
        .entries()
        .map(|there| (there.entry.id.0.as_str(), there.entry.pointers[0].path.as_str()))
        .collect();
    assert_eq!(
        pointers,
        [("tides-2", "old/tides.md"), ("tides-3", "older/tides.md")]
    );
}

#[test]
fn annotated_entries_are_removed_last() {
    let mut store = LayoutStore::of((0..20).map(|number| record(entry(&format!("e{number:02}")))));
    store.record("e07").filed.as_mut().unwrap().hundredths = 1;
    let before = text(&store.lay_out(None).master).replace(
        "→ notes/e07.md §Now",
        "→ notes/e07.md §Now\n\nNot before the ice is gone.",
    );
    store.limits.max_entries = 3;
    store.limits.max_tokens = 600;
    let files = store.from(before.as_bytes());
    assert!(text(&files.master).contains("\n\nNot before the ice is gone."));
    assert_eq!(files.entries, 3);
}

#[test]
fn entries_stay_in_the_section_chosen_by_users_except_when_queued() {
    let mut store = LayoutStore::of(["crane", "dock", "fog"].map(|name| record(entry(name))));
    let text_of = |files: &LaidOutFiles| text(&files.master).to_owned();
    let section = |files: &LaidOutFiles, name: &str| {
        let file = IndexFile::parse(&files.master, IndexFileOptions::default());
        let placed = file.placed_entries();
        let found = placed
            .iter()
            .find(|placed| placed.indexed.entry.id == id(name))
            .unwrap();
        found.section.join(" > ")
    };
    // A person moves an entry into a new section.
    let before = text_of(&store.lay_out(None));
    let at = before.find("- Topic crane → notes/crane.md §Now <").unwrap();
    let lines = &before[at..before.find("- Topic dock → notes/dock.md §Now <").unwrap()];
    let moved = before
        .replace(lines, "")
        .replace("## By Time", &format!("## Harbour\n\nOurs.\n\n{lines}## By Time"));
    let files = store.from(moved.as_bytes());
    assert_eq!(text_of(&files), moved);
    assert_eq!(section(&files, "crane"), "Harbour");

    // Move the entry to another group, to the Decay Queue, and back.
    store.record("dock").group = "New  group".to_owned();
    let files = store.from(&files.master);
    assert_eq!(section(&files, "dock"), "By Topic > New group");
    assert_eq!(section(&files, "crane"), "Harbour");
    let settled = text_of(&files);
    for name in ["crane", "dock"] {
        store.record(name).place = RecordPlace::Queue(NOW);
    }
    let files = store.from(&files.master);
    assert_eq!(section(&files, "crane"), "Decay Queue");
    assert_eq!(section(&files, "dock"), "Decay Queue");
    assert!(text_of(&files).contains("## Harbour\n\nOurs.\n"));
    for name in ["crane", "dock"] {
        store.record(name).place = RecordPlace::Index;
    }
    store.record("crane").group = String::new();
    let files = store.from(&files.master);
    assert_eq!(section(&files, "crane"), "By Topic");
    assert_eq!(section(&files, "dock"), "By Topic > New group");
    let without = |text: &str| {
        text.lines()
            .filter(|line| line.contains("dock"))
            .collect::<Vec<_>>()
            .join("\n")
    };
    assert_eq!(without(&text_of(&files)), without(&settled));
}

#[test]
fn unclosed_marks_hide_no_entry() {
    let table = [
        ("```sh\nls\n```", "```"),
        ("~~~~\nls\n~~~~", "~~~"),
        ("<!-- /hippod -->", "<!-- hippod: x -->"),
        ("words", "```"),
        ("words", "<!-- "),
        ("words --> more", "<!-- words"),
    ];
    for (inside, open) in table {
        let mut store = LayoutStore::of((0..4).map(|number| record(entry(&format!("e{number}")))));
        let before = text(&store.lay_out(None).master)
            .replace("\n- Topic e3", &format!("\n{inside}\n\n- Topic e3"))
            .replace("## By Time\n", &format!("## By Time\n\n{open}\n"));
        store.record("e2").place = RecordPlace::Queue(NOW);
        let files = store.from(before.as_bytes());
        let after = text(&files.master);
        let found = IndexFile::parse(after.as_bytes(), IndexFileOptions::default());
        let ids: BTreeSet<&str> = found.entries().map(|there| there.entry.id.0.as_str()).collect();
        assert_eq!(
            ids,
            BTreeSet::from(["e0", "e1", "e2", "e3"]),
            "{inside}, {open}: {after}"
        );
        for mark in [inside, open, "Topic e2 →", "Topic e3 →"] {
            assert_eq!(
                after.matches(mark).count(),
                before.matches(mark).count(),
                "{inside}, {open}: {after}"
            );
        }
    }
}

#[test]
fn text_in_entries_is_kept_in_a_small_file() {
    let notes: String = (0..40)
        .map(|number| {
            format!(
                "## Topic of mine {number}\nWhat is known of it.\n→ MEMORY.md\n\nmy free line {number}.\n\n"
            )
        })
        .collect();
    let file = format!("# Our memory\n\n{notes}");
    for max_tokens in [100, 500, 15_000] {
        let mut store = LayoutStore::adopting(file.as_bytes());
        let more = (0..60).map(|number| record(entry(&format!("e{number}"))));
        store
            .records
            .extend(more.map(|record| (record.entry.id.clone(), record)));
        store.limits.max_tokens = max_tokens;
        let mut bytes = file.clone().into_bytes();
        for _ in 0..3 {
            bytes = store.from(&bytes).master;
            let lost = (0..40).filter(|number| !text(&bytes).contains(&format!("my free line {number}.")));
            assert_eq!(lost.count(), 0, "{max_tokens}: {}", text(&bytes));
        }
        let others = text(&bytes).matches("What is known of e").count();
        assert_eq!(
            others > 0,
            max_tokens == 15_000,
            "{max_tokens}: {others} of the others"
        );
    }
}
