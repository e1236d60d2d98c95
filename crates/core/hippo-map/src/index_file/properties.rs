//! Property tests of the index file on arbitrary bytes and values.

use proptest::prelude::*;

use super::*;
use hippo_types::entry::{EntryOrigin, EntryPriority, Pointer};

fn config() -> ProptestConfig {
    ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

const SETTINGS: IndexFileOptions = IndexFileOptions {
    offset_seconds: 3_600,
    undated: Timestamp(1_769_900_000_000),
};

/// Generates words that include each token with a meaning for the parser.
fn words() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "deploy",
        "é",
        "日記",
        "a|b",
        "x,y",
        "->",
        "→",
        "-->",
        "<!--",
        "<\\!--",
        "\\",
        "#",
        "- ",
        "§",
        "%41",
        "%",
        "1.",
        "```",
        "`p`",
        "\n",
        "=",
        "hx:",
        "strength:",
        "\u{0}",
        ">",
        "\u{a0}",
        "[ ]",
        "end",
    ]);
    prop::collection::vec(word, 0..6).prop_map(|words| words.join(" "))
}

pub(crate) fn any_entry() -> impl Strategy<Value = Entry> {
    let names = (words(), words(), words());
    let pointers = prop::collection::vec((words(), prop::option::of(words())), 0..4);
    let lists = (
        prop::collection::vec(words(), 0..4),
        prop::collection::vec("[a-z]{1,3}", 0..4),
    );
    let numbers = (
        0..4_102_444_800_000_i64,
        0..4_102_444_800_000_i64,
        any::<u32>(),
        0.0_f32..=1.0,
        0..5_u32,
    );
    let priority = prop::sample::select(vec![
        EntryPriority::Low,
        EntryPriority::Normal,
        EntryPriority::High,
        EntryPriority::Amygdala,
    ]);
    let origin = prop::sample::select(vec![
        EntryOrigin::Defrag,
        EntryOrigin::Manual,
        EntryOrigin::Retrieval,
        EntryOrigin::Auto,
    ]);
    (
        names,
        pointers,
        lists,
        numbers,
        priority,
        prop::option::of(words()),
        origin,
    )
        .prop_map(
            |(names, pointers, lists, numbers, priority, priority_rule, origin)| Entry {
                id: EntryId(names.0),
                topic: names.1,
                summary: names.2,
                pointers: pointers
                    .into_iter()
                    .map(|(path, section)| Pointer { path, section })
                    .collect(),
                created: Timestamp(numbers.0),
                accessed: Timestamp(numbers.1),
                replayed_to: None,
                hits: numbers.2,
                strength: numbers.3,
                tags: lists.0,
                related: lists.1.into_iter().map(EntryId).collect(),
                priority,
                priority_rule,
                origin,
                version: numbers.4,
            },
        )
}

/// Generates lines in the style of people, agents and hippod.
fn index_line() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => "#{1,4} (Acme|Beta|By Topic|Meta|[a-z]{1,3})( #)?",
        2 => "<!-- hx: id=[a-c]{1,2} \\| str=0\\.[0-9]( \\| x=[a-z])?( \\| tags=a,b)? -->[a-z]{0,3}",
        1 => "<!-- hx: id=[d-f] \\| hits=[0-9]",
        1 => "\\| str=[0-9.]{1,4} -->",
        2 => "→ [a-z]{1,3}\\.md( §[A-Z])?( \\| [a-z]\\.md)?",
        2 => "[-*] [a-z]{1,3} → [a-z]\\.md( §[A-Z])?( <!-- hx: id=[g-k] -->)?",
        1 => "- [a-z]{1,3}: [a-z]\\.md",
        1 => "  [a-z]{1,6}",
        3 => "[a-z ]{0,12}",
        1 => "strength: 0\\.[0-9] \\| tags: [a-z]",
        1 => prop::sample::select(vec![
            "```", "~~~", "<!-- hippod: x -->", "<!-- /hippod -->", "<!--", "-->", "> q", "---", "",
            "# HIPPOCAMPUS.md <!-- hippocampus.md v1.0 | entries: 3 -->", "-> b.md", "- → c.md",
        ]).prop_map(str::to_owned),
    ]
}

pub(crate) fn index_text() -> impl Strategy<Value = String> {
    let end = prop::sample::select(vec!["\n", "\r\n"]);
    (
        prop::collection::vec(index_line(), 0..30),
        end,
        any::<bool>(),
        any::<bool>(),
    )
        .prop_map(|(lines, end, bom, last)| {
            let text = lines.join(end);
            format!(
                "{}{text}{}",
                if bom { "\u{feff}" } else { "" },
                if last { end } else { "" }
            )
        })
}

fn check(bytes: &[u8]) -> Result<IndexFile, TestCaseError> {
    let file = IndexFile::parse(bytes, SETTINGS);
    prop_assert_eq!(&file.to_bytes(), bytes);
    for placed in file.placed_entries() {
        prop_assert_eq!(&bytes[placed.span.clone()], placed.indexed.bytes());
        prop_assert!((0.0..=1.0).contains(&placed.indexed.entry.strength));
    }
    let ids: BTreeSet<_> = file.entries().map(|it| &it.entry.id).collect();
    prop_assert_eq!(ids.len(), file.entries().count());
    Ok(file)
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn any_bytes_round_trip(bytes in prop::collection::vec(any::<u8>(), 0..2_000)) {
        check(&bytes)?;
    }

    #[test]
    fn any_index_text_round_trips(
        text in index_text(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
    ) {
        check(text.as_bytes())?;
        let mut bytes = text.into_bytes();
        for (at, byte) in edits {
            if !bytes.is_empty() {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
        }
        check(&bytes)?;
    }

    #[test]
    fn a_written_entry_is_read_back(entry in any_entry(), level in prop::option::of(2_u8..=6), crlf in any::<bool>()) {
        let text = entry_text(&entry, level, if crlf { "\r\n" } else { "\n" }, &SETTINGS);
        let file = check(text.as_bytes())?;
        prop_assert!(file.copied_ids().is_empty() && !file.has_open_marks());
        prop_assert_eq!(file.to_entries(), vec![as_written(&entry, &SETTINGS)], "{}", text);
        prop_assert_eq!(as_written(&as_written(&entry, &SETTINGS), &SETTINGS), as_written(&entry, &SETTINGS));
    }

    #[test]
    fn an_edit_changes_no_bytes_outside_its_entry(text in index_text(), new in any_entry(), which in any::<prop::sample::Index>()) {
        let mut file = check(text.as_bytes())?;
        let before = file.clone();
        let placed = before.placed_entries();
        if placed.is_empty() {
            return Ok(());
        }
        let at = which.index(placed.len());
        let (old, span) = (placed[at].indexed, placed[at].span.clone());
        let mut new = Entry { id: old.entry.id.clone(), ..new };
        // Avoid an empty summary, because the next paragraph would be read as the summary. Avoid an empty topic,
        // because the topic is the only name of an item.
        if text::one_line(&new.summary).is_empty() {
            new.summary = "words".to_owned();
        }
        if text::one_line(&new.topic).is_empty() {
            new.topic = "topic".to_owned();
        }
        prop_assert!(!file.update(&old.entry));
        file.update(&new);
        let bytes = file.to_bytes();
        prop_assert!(bytes.starts_with(&text.as_bytes()[..span.start]));
        prop_assert!(bytes.ends_with(&text.as_bytes()[span.end..]));

        let again = check(&bytes)?;
        let shown = String::from_utf8_lossy(&bytes).into_owned();
        prop_assert_eq!(again.entries().count(), before.entries().count(), "{}", shown);
        for (one, other) in again.entries().zip(before.entries()) {
            if one.entry.id == new.id {
                prop_assert_eq!(as_written(&one.entry, &SETTINGS), as_written(&new, &SETTINGS), "{}", shown);
            } else {
                prop_assert_eq!(&one.entry, &other.entry, "{}", shown);
            }
            prop_assert_eq!(one.has_unknown, other.has_unknown);
        }
    }

    #[test]
    fn an_inserted_entry_can_be_read_moved_and_removed(text in index_text(), entry in any_entry(), title in words()) {
        let mut file = check(text.as_bytes())?;
        let before = file.to_entries();
        if !file.insert(&entry, &["By Topic", &title]) {
            return Ok(());
        }
        let id = as_written(&entry, &SETTINGS).id;
        let again = check(&file.to_bytes())?;
        let mut found = again.to_entries();
        let at = found.iter().position(|entry| entry.id == id).unwrap();
        prop_assert_eq!(found.remove(at), as_written(&entry, &SETTINGS));
        prop_assert_eq!(&found, &before);
        file.relocate(&id, &["Decay Queue"]);
        prop_assert!(!file.relocate(&id, &["Decay Queue"]));
        let again = check(&file.to_bytes())?;
        let placed = again.placed_entries();
        let there = placed.iter().find(|placed| placed.indexed.entry.id == id).unwrap();
        prop_assert!(there.section.last().unwrap().eq_ignore_ascii_case("Decay Queue"));
        prop_assert!(file.remove(&id).is_some() && file.remove(&id).is_none());
        prop_assert_eq!(check(&file.to_bytes())?.to_entries(), before);
    }

    #[test]
    fn generated_text_is_not_read_as_entries(text in index_text(), body in index_text()) {
        let mut file = check(text.as_bytes())?;
        let before = file.to_entries();
        let body = format!("{body}.");
        prop_assert!(file.set_generated(&["Quick Access"], &body));
        prop_assert!(!file.set_generated(&["Quick Access"], &body));
        let mut again = check(&file.to_bytes())?;
        prop_assert_eq!(again.to_entries(), before);
        prop_assert!(!again.set_generated(&["Quick Access"], &body));
    }
}

#[test]
fn deep_nesting_needs_no_stack_and_long_input_linear_time() {
    let units = [
        "#### ",
        "- ",
        "<!--",
        "<!-- hx: ",
        "-->",
        "```\n",
        "````\n~~~\n",
        "→ a|",
        "- a → b.md\n",
        "## a\n",
        "# a\n## b\n→ c\n",
        "<!-- hippod: x -->\n",
        "<!-- /hippod -->\n",
        "<!-- hx: id=a -->\n",
        "|",
        "=",
        "%",
        "<\\",
        "- a → b.md <!-- hx: -->",
        "  x\n",
    ];
    for unit in units {
        check(unit.repeat(30_000).as_bytes()).unwrap();
    }
}
