//! Tests that entries in the protocol's version 1 stay unchanged.

use super::*;

/// The entry of v1 §5.1. It has a comment of three lines, with bars at the start of the second and third.
const ENTRY: &str = "\
## Ferry Website Release
Release steps, hosting account, name server entries.
→ STEPS.md §Hosting | projects/ferry.example/PROJECT.md
<!-- hx: id=ferry-release | created=2026-01-10 | accessed=2026-01-31
| hits=23 | str=0.92 | tags=release,hosting,ferry
| rel=island-services,name-servers -->
";

/// The sections of v1 §5.3, with comments below the title and below some headings.
const SECTIONS: &str = "\
# HIPPOCAMPUS.md — Memory Index
<!-- hippocampus.md v1.0 | entries: 127 | reindexed: 2026-01-31T02:30:00Z -->

## Quick Access
<!-- What is asked for most, by hits. -->

## By Topic
### Projects
### People
### Infrastructure
### Technical Knowledge

## By Time
### This Week
### This Month
### Older

## Associations
<!-- Which entries belong together. -->

## Decay Queue
<!-- What has faded. -->

## Meta
<!-- Numbers, and the last maintenance. -->
";

/// An entry of the quick reference, with few fields and with dots in place of the others.
const SHORT: &str = "\
## Topic
Summary line.
→ file.md §section
<!-- hx: id=x | str=0.9 | hits=12 | ... -->
";

/// Minimal index file: pointers without fields, under a heading that a person wrote.
const LEAST: &str = "\
# HIPPOCAMPUS.md
<!-- Small index — kept by hand -->

## Where to Find Things

- Release commands → STEPS.md
- State of the projects → MEMORY.md §Projects
- Passwords → VAULT.md
- Recent days → memory/2026-01-31.md
- Server settings → STEPS.md §Ferry VPS
";

/// All keys of v1 §5.2, with the values in that section.
const FIELDS: &str = "\
## Night watch
Who is called at night.
→ ops/watch.md §Roster | ops/phones.md | memory/2026-01-09.md §Night
<!-- hx: id=night-watch | created=2026-01-09 | accessed=2026-01-30 | hits=4 | str=0.75 | tags=ops,people | rel=ferry-release | pri=amygdala | src=manual | ver=3 -->
";

fn back_and_forth(text: &str) -> IndexFile {
    // Also test CRLF line ends, and a file without the last line end, because other editors write these.
    for form in [
        text.to_owned(),
        text.replace('\n', "\r\n"),
        text.trim_end().to_owned(),
    ] {
        assert_eq!(self::text(&parse(&form)), form);
    }
    let file = parse(text);
    assert!(file.copied_ids().is_empty() && !file.has_open_marks());
    file
}

#[test]
fn a_comment_of_several_lines_is_parsed() {
    let expected = "\
ferry-release: \"Ferry Website Release\", level 2, in -
  summary: Release steps, hosting account, name server entries.
  pointers: STEPS.md §Hosting | projects/ferry.example/PROJECT.md
  created 2026-01-10, accessed 2026-01-31, hits 23, strength 0.92, priority normal, by auto, version 1
  tags: release, hosting, ferry
  related: island-services, name-servers
";
    assert_eq!(describe(&back_and_forth(ENTRY)), expected);
}

#[test]
fn section_headings_are_not_entries_and_contain_entries() {
    let empty = back_and_forth(SECTIONS);
    assert_eq!(describe(&empty), "");
    for (section, heading) in [
        ("By Topic > Projects", "### Projects\n"),
        ("By Time > Older", "### Older\n"),
        ("Decay Queue", "## Decay Queue\n"),
    ] {
        let inside = ENTRY.replace(
            "## Ferry",
            if section.contains('>') {
                "#### Ferry"
            } else {
                "### Ferry"
            },
        );
        let file = back_and_forth(&SECTIONS.replace(heading, &format!("{heading}\n{inside}\n")));
        let placed: Vec<(String, String)> = file
            .placed_entries()
            .into_iter()
            .map(|placed| (placed.indexed.entry.id.0.clone(), placed.section.join(" > ")))
            .collect();
        assert_eq!(placed, [("ferry-release".to_owned(), section.to_owned())]);
    }
}

#[test]
fn missing_fields_have_their_defaults() {
    let file = back_and_forth(SHORT);
    let entries: Vec<&Entry> = file
        .placed_entries()
        .into_iter()
        .map(|placed| &placed.indexed.entry)
        .collect();
    assert_eq!(entries.len(), 1);
    let entry = entries[0];
    assert_eq!((entry.id.clone(), entry.hits), (id("x"), 12));
    assert!((entry.strength - 0.9).abs() < 1e-6);
    assert_eq!(entry.summary, "Summary line.");
    assert_eq!(entry.created, day("2026-02-01"), "the entry has no creation date");
    let section = Some("section".to_owned());
    let path = "file.md".to_owned();
    assert_eq!(entry.pointers, [Pointer { path, section }]);
}

#[test]
fn a_pointer_without_fields_is_an_entry() {
    let file = back_and_forth(LEAST);
    let read: Vec<(String, Vec<Pointer>, String)> = file
        .placed_entries()
        .into_iter()
        .map(|placed| {
            let entry = &placed.indexed.entry;
            (
                entry.topic.clone(),
                entry.pointers.clone(),
                placed.section.join(" > "),
            )
        })
        .collect();
    let expected = [
        ("Release commands", "STEPS.md", None),
        ("State of the projects", "MEMORY.md", Some("Projects")),
        ("Passwords", "VAULT.md", None),
        ("Recent days", "memory/2026-01-31.md", None),
        ("Server settings", "STEPS.md", Some("Ferry VPS")),
    ];
    let expected: Vec<(String, Vec<Pointer>, String)> = expected
        .into_iter()
        .map(|(topic, path, section)| {
            let pointer = Pointer {
                path: path.to_owned(),
                section: section.map(str::to_owned),
            };
            (topic.to_owned(), vec![pointer], "Where to Find Things".to_owned())
        })
        .collect();
    assert_eq!(read, expected);
}

#[test]
fn every_field_is_parsed() {
    let expected = "\
night-watch: \"Night watch\", level 2, in -
  summary: Who is called at night.
  pointers: ops/watch.md §Roster | ops/phones.md | memory/2026-01-09.md §Night
  created 2026-01-09, accessed 2026-01-30, hits 4, strength 0.75, priority amygdala, by manual, version 3
  tags: ops, people
  related: ferry-release
";
    assert_eq!(describe(&back_and_forth(FIELDS)), expected);
    for (key, values) in [
        ("pri", vec!["amygdala", "normal", "low"]),
        ("src", vec!["defrag", "manual", "retrieval", "auto"]),
    ] {
        let said = if key == "pri" {
            "pri=amygdala"
        } else {
            "src=manual"
        };
        for value in values {
            let file = back_and_forth(&FIELDS.replace(said, &format!("{key}={value}")));
            let described = describe(&file);
            assert!(described.contains(&format!(" {value}, ")), "{described}");
        }
    }
}
