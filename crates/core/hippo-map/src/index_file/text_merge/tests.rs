//! Property tests of the three-way merge of text.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use hippo_types::time::Timestamp;

const SETTINGS: IndexFileOptions = IndexFileOptions {
    offset_seconds: 0,
    undated: Timestamp(0),
};

fn merged(base: &str, ours: &str, theirs: &str) -> String {
    let merged = merge_text(base.as_bytes(), ours.as_bytes(), theirs.as_bytes(), SETTINGS);
    String::from_utf8(merged).unwrap()
}

const HEAD: &str =
    "# HIPPOCAMPUS.md\n<!-- hippocampus.md v1.0 | entries: 1 | reindexed: 2026-02-01T00:00:00Z -->\n";
const META: &str = "## Meta\n<!-- hippod: meta -->\n- entries in this file: 1\n<!-- /hippod -->\n";

fn entry(id: &str, summary: &str, prose: &str) -> String {
    format!("### Topic {id}\n{summary}\n→ knowledge/{id}.md\n<!-- hx: id={id} | str=0.50 -->\n{prose}\n")
}

#[test]
fn lines_that_a_person_appended_follow_hippod_s_lines() {
    let base = format!("{HEAD}\n{}{META}", entry("a", "Old.", ""));
    let ours = base
        .replace("00:00:00Z", "00:00:09Z")
        .replace("str=0.50", "str=0.75");
    let theirs = format!("{base}\nmy note 1\n");
    assert_eq!(merged(&base, &ours, &theirs), format!("{ours}\nmy note 1\n"));
    let ours_too = format!("{ours}\nmy note 0\n");
    let both = merged(&base, &ours_too, &theirs);
    assert_eq!(both, format!("{ours}\nmy note 0\nmy note 1\n"));
}

#[test]
fn a_line_removed_on_one_side_stays_removed_unless_the_other_changed_it() {
    let base = "One.\nTwo.\nThree.\n";
    assert_eq!(
        merged(base, "One.\nThree.\n", "One.\nTwo.\nThree.\nFour.\n"),
        "One.\nThree.\nFour.\n"
    );
    assert_eq!(
        merged(base, "One.\nThree.\n", "One.\nTwo and a half.\nThree.\n"),
        "One.\nTwo and a half.\nThree.\n"
    );
    assert_eq!(
        merged(base, "One.\nTwo.\nThree.\nOurs.\n", "Two.\nThree.\n"),
        "Two.\nThree.\nOurs.\n"
    );
}

#[test]
fn prose_in_an_entry_is_merged_and_fields_keep_our_value() {
    let base = entry("a", "Old.", "\nProse.\n");
    let ours = base.replace("Old.", "Hippod's summary.");
    let theirs = base.replace("Prose.\n", "Prose.\nMore prose.\n");
    let expected = ours.replace("Prose.\n", "Prose.\nMore prose.\n");
    assert_eq!(merged(&base, &ours, &theirs), expected);
    // `mood` is a key that hippod does not know, so only the comment contains its value.
    let theirs = base.replace("str=0.50", "str=0.50 | mood=calm");
    assert!(merged(&base, &ours, &theirs).contains("mood=calm"));
}

#[test]
fn an_entry_added_in_the_file_is_inserted_once_and_no_entry_of_ours_is_lost() {
    let base = format!("{HEAD}\n{}", entry("a", "A.", ""));
    let ours = format!("{base}{}", entry("b", "B.", ""));
    let theirs = format!("{HEAD}\n{}{}", entry("c", "C.", ""), entry("b", "B.", ""));
    let result = merged(&base, &ours, &theirs);
    for id in ["a", "b", "c"] {
        assert_eq!(result.matches(&format!("id={id} ")).count(), 1, "{result}");
    }
}

#[test]
fn a_large_file_in_which_every_line_differs_is_merged_in_bounded_time() {
    let lines = |what: &str| -> String { (0..30_000).map(|at| format!("{what} {}\n", at % 7)).collect() };
    let (base, ours, theirs) = (lines("base"), lines("ours"), lines("theirs"));
    let result = merged(&base, &ours, &theirs);
    assert_eq!(result.lines().count(), 60_000);
}

/// Generates a part of a file: a line, or an entry with a line of prose.
fn part() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-z]{1,2}".prop_map(|line| format!("word {line}\n")),
        1 => Just("\n".to_owned()),
        1 => "[a-c]".prop_map(|title| format!("## Section {title}\n")),
        1 => ("[a-e]", 0..9).prop_map(|(id, prose)| entry(&id, "It is so.", &format!("\nprose {prose}"))),
        1 => Just(META.to_owned()),
    ]
}

/// Generates a base file, and two versions of it in which parts are dropped and inserted.
fn versions() -> impl Strategy<Value = [String; 3]> {
    let edit = || prop::collection::vec((any::<prop::sample::Index>(), prop::option::of(part())), 0..6);
    (prop::collection::vec(part(), 0..12), edit(), edit()).prop_map(|(base, one, other)| {
        let edited = |edits: Vec<(prop::sample::Index, Option<String>)>| {
            let mut parts = base.clone();
            for (at, new) in edits {
                match new {
                    Some(new) => parts.insert(at.index(parts.len() + 1), new),
                    None if parts.is_empty() => {}
                    None => drop(parts.remove(at.index(parts.len()))),
                }
            }
            parts.concat()
        };
        let (ours, theirs) = (edited(one), edited(other));
        [base.concat(), ours, theirs]
    })
}

/// Returns the lines written by people.
fn lines(file: &str) -> BTreeSet<&str> {
    let own = ["<!--", "- entries in this file", "→ ", "It is so."];
    let lines = file.lines().map(str::trim_end);
    lines
        .filter(|line| !line.is_empty() && !own.iter().any(|own| line.starts_with(own)))
        .collect()
}

proptest! {
    #[test]
    fn every_added_line_is_in_the_result([base, ours, theirs] in versions()) {
        let result = merged(&base, &ours, &theirs);
        let (base, result) = (lines(&base), lines(&result));
        for side in [&ours, &theirs] {
            for line in lines(side).difference(&base) {
                prop_assert!(result.contains(line), "{:?} is not in {:?}", line, result);
            }
        }
    }

    #[test]
    fn an_unchanged_side_yields_the_other([base, ours, _] in versions()) {
        prop_assert_eq!(&merged(&base, &ours, &base), &ours);
        prop_assert_eq!(&merged(&base, &base, &ours), &ours);
        prop_assert_eq!(&merged(&base, &ours, &ours), &ours);
    }

    #[test]
    fn merging_again_changes_nothing(lines in prop::collection::btree_map("[a-z]{3}", 0..27_usize, 0..40)) {
        // Each line is in one version, in two versions or in all versions.
        let version = |side: u32| -> String {
            let has = |among: &usize| !(among / 3_usize.pow(side)).is_multiple_of(3);
            lines.iter().filter(|(_, among)| has(among)).map(|(line, _)| format!("{line}\n")).collect()
        };
        let (base, ours, theirs) = (version(0), version(1), version(2));
        let once = merged(&base, &ours, &theirs);
        prop_assert_eq!(merged(&base, &once, &theirs), once.clone());
        let is_in = |file: &str, line: &str| file.lines().any(|there| there == line);
        for line in lines.keys() {
            let was = is_in(&base, line);
            let (ours, theirs) = (is_in(&ours, line), is_in(&theirs, line));
            prop_assert_eq!(is_in(&once, line), if was { ours && theirs } else { ours || theirs });
        }
    }

    #[test]
    fn every_line_of_both_sides_is_in_the_result(versions in prop::array::uniform3(prop::collection::vec("[a-d]", 0..9))) {
        let [base, ours, theirs] = versions.map(|lines| -> String { lines.iter().map(|line| format!("{line}\n")).collect() });
        let result = merged(&base, &ours, &theirs);
        for line in lines(&ours).intersection(&lines(&theirs)) {
            prop_assert!(lines(&result).contains(line), "{:?} is not in {:?}", line, result);
        }
    }

    #[test]
    fn any_bytes_are_merged(base in any::<Vec<u8>>(), ours in any::<Vec<u8>>(), theirs in any::<Vec<u8>>()) {
        let _ = merge_text(&base, &ours, &theirs, SETTINGS);
    }
}
