//! Tests of sections and chunks on typical files.

use jiff::civil::date;

use super::*;

/// Describes each chunk in one line: its kind, speaker, section, lines and text.
fn describe_chunks(text: &str) -> Vec<String> {
    let document = chunk(text.as_bytes());
    let show = |chunk: &Chunk| {
        let path = heading_path(&document.sections, chunk.section).join("/");
        let said = chunk_text(text.as_bytes(), chunk).replace('\n', "⏎");
        format!(
            "{:?} {:?} {path} {}-{} {said}",
            chunk.kind, chunk.speaker, chunk.start_line, chunk.end_line
        )
    };
    document.chunks.iter().map(show).collect()
}

#[test]
fn headings_make_sections() {
    let text = "lead\n\n# One\n\ntext a\n\n## Two ##\ntext b\n\nThree\n=====\ntext c\n\nFour\n----\n";
    assert_eq!(
        describe_chunks(text),
        [
            "Paragraph None  1-1 lead",
            "Paragraph None One 5-5 text a",
            "Paragraph None One/Two 8-8 text b",
            "Paragraph None Three 12-12 text c",
            "Heading None Three/Four 14-15 Four⏎----",
        ]
    );
    let document = chunk(text.as_bytes());
    let lines: Vec<(u8, u32, u32)> = document
        .sections
        .iter()
        .map(|section| (section.level, section.start_line, section.end_line))
        .collect();
    assert_eq!(lines, [(0, 1, 2), (1, 3, 6), (2, 7, 9), (1, 10, 13), (2, 14, 15)]);
    assert_eq!(section_end(&document, 1), 9);
    assert_eq!(document.title.as_deref(), Some("One"));
}

#[test]
fn a_heading_is_a_chunk_only_if_its_section_is_empty() {
    let text = "# Day\n\n## Empty\n\n## Full\ntext\n";
    assert_eq!(
        describe_chunks(text),
        [
            "Heading None Day/Empty 3-3 ## Empty",
            "Paragraph None Day/Full 6-6 text"
        ]
    );
}

#[test]
fn a_heading_that_is_too_long_is_text() {
    for (length, sections) in [(1_000, 2), (1_001, 1)] {
        let text = format!("# Day\n\ntext\n\n## {}\n\nmore\n", "a".repeat(length));
        assert_eq!(chunk(text.as_bytes()).sections.len(), sections, "{length}");
    }
}

#[test]
fn headings_have_dates() {
    let document = chunk(b"# 2024-04-25\n\n## Standup (2024-04-26)\n\n## Room 2024\n");
    let dates: Vec<_> = document.sections.iter().map(|section| section.date).collect();
    assert_eq!(dates, [Some(date(2024, 4, 25)), Some(date(2024, 4, 26)), None]);
}

#[test]
fn items_are_chunks_and_short_nested_items_are_joined() {
    let text = "- first item\n  goes on\n- second\n  - tiny\n  - tiny too\n\n  more\n1. third\n";
    assert_eq!(
        describe_chunks(text),
        [
            "Item None  1-2 - first item⏎  goes on",
            "Item None  3-7 - second⏎  - tiny⏎  - tiny too⏎⏎  more",
            "Item None  8-8 1. third",
        ]
    );
}

#[test]
fn a_dialogue_has_a_chunk_for_each_turn() {
    let text = "- **Caroline:** Hi! <!-- D1:1 -->\n- **Mel:** Hey\n- **Caroline:** So?\n\nAda: one\nBo: two\nAda: three\n";
    assert_eq!(
        describe_chunks(text),
        [
            "Turn Other  1-1 - **Caroline:** Hi! <!-- D1:1 -->",
            "Turn Other  2-2 - **Mel:** Hey",
            "Turn Other  3-3 - **Caroline:** So?",
            "Turn Other  5-5 Ada: one",
            "Turn Other  6-6 Bo: two",
            "Turn Other  7-7 Ada: three",
        ]
    );
}

#[test]
fn fields_are_not_a_dialogue() {
    let text = "**Purpose:** backup\n**Version:** 2\n**Base Path:** /srv\n";
    assert_eq!(describe_chunks(text).len(), 1);
    assert!(describe_chunks(text)[0].starts_with("Paragraph None  1-3"));
}

#[test]
fn code_may_start_after_a_label() {
    let text = "Assistant: ```sh\n# no heading\n```\nUser: thanks\n";
    assert_eq!(
        describe_chunks(text),
        [
            "Turn Assistant  1-3 Assistant: ```sh⏎# no heading⏎```",
            "Turn User  4-4 User: thanks"
        ]
    );
}

#[test]
fn an_answer_lasts_until_another_speaker_is_named() {
    let text = "## Session\nDate: today\n\nUser: how?\nAssistant: Like this:\n\n### Steps\n\n1. Do what was said before, \
                and then look at the result.\n\n```sh\nls\n```\n**Tip:** easy\nUser: thanks\n\n## Notes\n\nplain\n";
    assert_eq!(
        describe_chunks(text),
        [
            "Paragraph None Session 2-2 Date: today",
            "Turn User Session 4-4 User: how?",
            "Turn Assistant Session 5-5 Assistant: Like this:",
            "Item Assistant Session/Steps 9-9 1. Do what was said before, and then look at the result.",
            "Code Assistant Session/Steps 11-13 ```sh⏎ls⏎```",
            "Paragraph Assistant Session/Steps 14-14 **Tip:** easy",
            "Turn User Session/Steps 15-15 User: thanks",
            "Paragraph None Notes 19-19 plain",
        ]
    );
}

#[test]
fn a_turn_in_a_list_ends_with_its_item() {
    let text = "- **User:** I like tea\n  - green, mostly, and only in the morning because of the caffeine in it\n\
                - Deploy on Friday\n\nplain\n";
    assert_eq!(
        describe_chunks(text),
        [
            "Turn User  1-1 - **User:** I like tea",
            "Item User  2-2 - green, mostly, and only in the morning because of the caffeine in it",
            "Item None  3-3 - Deploy on Friday",
            "Paragraph None  5-5 plain",
        ]
    );
}

#[test]
fn a_user_of_one_word_without_an_answer_is_a_field() {
    let text = "The database has a replica.\nUser: postgres\n";
    assert_eq!(
        describe_chunks(text),
        ["Paragraph None  1-2 The database has a replica.⏎User: postgres"]
    );
    let text = "User: hello\nAssistant: Hello, Ada.\nUser: thanks\n";
    let turns = [
        "Turn User  1-1 User: hello",
        "Turn Assistant  2-2 Assistant: Hello, Ada.",
        "Turn User  3-3 User: thanks",
    ];
    assert_eq!(describe_chunks(text), turns);
    assert_eq!(describe_chunks("User: why?\n"), ["Turn User  1-1 User: why?"]);
}

#[test]
fn headings_name_speakers() {
    let text = "# Chat\n## User\nhow?\n## Assistant\nso\n";
    assert_eq!(
        describe_chunks(text),
        [
            "Paragraph User Chat/User 3-3 how?",
            "Paragraph Assistant Chat/Assistant 5-5 so"
        ]
    );
}

#[test]
fn tables_quotes_and_code_become_chunks() {
    let text = "| a | b |\n|---|---|\n| 1 | 2 |\n\nx | y\n--|--\n1 | 2\n\n> quote\n> more\n\n    indented\n\n    code\n\n\
                text\n```\na\n\nb\n```\nend\n";
    assert_eq!(
        describe_chunks(text),
        [
            "Table None  1-3 | a | b |⏎|---|---|⏎| 1 | 2 |",
            "Table None  5-7 x | y⏎--|--⏎1 | 2",
            "Quote None  9-10 > quote⏎> more",
            "Code None  12-14     indented⏎⏎    code",
            "Paragraph None  16-16 text",
            "Code None  17-21 ```⏎a⏎⏎b⏎```",
            "Paragraph None  22-22 end",
        ]
    );
}

#[test]
fn comments_on_lines_of_their_own_are_skipped() {
    let text =
        "<!-- hx: id=1 -->\na\n<!--\nlong\n-->\nb <!-- end -->\n<!-- m1 --> **User:** c\n<!-- open\nd\n";
    assert_eq!(
        describe_chunks(text),
        [
            "Paragraph None  2-2 a",
            "Paragraph None  6-6 b <!-- end -->",
            "Turn User  7-9 <!-- m1 --> **User:** c⏎<!-- open⏎d",
        ]
    );
}

#[test]
fn long_paragraphs_are_split_at_sentences() {
    let sentence = "All happy families are alike, each unhappy one is unhappy in its own way. ";
    let text = sentence.repeat(40);
    let document = chunk(text.as_bytes());
    assert!(document.chunks.len() >= 4);
    assert!(
        document
            .chunks
            .iter()
            .all(|chunk| chunk_text(text.as_bytes(), chunk).ends_with("way."))
    );
    let code = format!("```\n{}```\n", "let number = 1;\n\n".repeat(60));
    assert_eq!(chunk(code.as_bytes()).chunks.len(), 1);
}

#[test]
fn a_line_that_only_embeds_a_file_is_not_content() {
    let texts = |text: &str| -> Vec<String> {
        let found = chunk(text.as_bytes()).chunks;
        found
            .iter()
            .map(|chunk| chunk_text(text.as_bytes(), chunk).into_owned())
            .collect()
    };
    for embed in [
        "![[photo.png]]",
        "![](photo.png)",
        "![logo](a.png) ![[b c.pdf#page=2]]",
        "- ![[Notes/List#Part|200]]",
        "![[a.png]]\n![[b.png]]",
    ] {
        assert_eq!(texts(&format!("Text.\n\n{embed}\n")), ["Text."], "{embed}");
    }
    for kept in [
        "![[photo.png]] of the kitchen",
        "![The plan of the kitchen](a.png)",
        "[[Note]]",
        "![open",
        "!",
    ] {
        assert_eq!(texts(&format!("{kept}\n")), [kept]);
    }
    // A heading with nothing but an image below it is found by its own words.
    assert_eq!(texts("## Floor plan\n\n![[plan.png]]\n"), ["## Floor plan"]);
}

#[test]
fn front_matter_is_content_only_if_it_contains_prose() {
    let fields = "---\ntype: daily\ndate: 2026-01-10\n---\n\ntext\n";
    assert_eq!(describe_chunks(fields), ["Paragraph None  6-6 text"]);
    assert_eq!(
        chunk(fields.as_bytes()).front_matter.date,
        Some(date(2026, 1, 10))
    );
    let said = "---\nname: backup\ndescription: How the nightly backup is restored\n---\n# A\n";
    assert_eq!(
        describe_chunks(said),
        [
            "Paragraph None  2-3 name: backup⏎description: How the nightly backup is restored",
            "Heading None A 5-5 # A",
        ]
    );
    assert_eq!(chunk(said.as_bytes()).title.as_deref(), Some("backup"));
}

#[test]
fn front_matter_without_text_is_content_if_it_contains_names() {
    for names in ["title: Beekeeping", "tags: [hive]", "aliases:\n  - Apiary"] {
        let shown = names.replace("\n", "⏎");
        let lines = 2 + names.matches('\n').count();
        for rest in ["", "\n", "\n![[hive.png]]\n"] {
            let text = format!("---\n{names}\n---\n{rest}");
            assert_eq!(
                describe_chunks(&text),
                [format!("Paragraph None  2-{lines} {shown}")],
                "{text}"
            );
        }
        let text = format!("---\n{names}\n---\n# Bees\n");
        assert_eq!(describe_chunks(&text).len(), 1, "{text}");
    }
    assert_eq!(describe_chunks("---\ncssclass: wide\n---\n"), [""; 0]);
}

#[test]
fn empty_and_damaged_files_are_parsed() {
    assert_eq!(chunk(b""), Document::default());
    assert_eq!(chunk(b"\xEF\xBB\xBF"), Document::default());
    assert_eq!(
        describe_chunks("\u{feff}# A\r\ntext\r\n"),
        ["Paragraph None A 2-2 text"]
    );
    let document = chunk(b"ok\nbad \xFF\x00 byte\n```\nopen");
    assert_eq!(document.chunks.len(), 2);
    assert_eq!(chunk_text(b"short", &document.chunks[1]), "");
}

#[test]
fn chunk_kind_codes_are_stable() {
    for code in 0..=6 {
        assert_eq!(ChunkKind::from_code(code).code(), code);
    }
    assert_eq!(ChunkKind::from_code(200), ChunkKind::Paragraph);
}

#[test]
fn an_underlined_heading_at_the_top_has_no_section_before_it() {
    let document = chunk(b"Title\n===\n\ntext\n");
    assert_eq!(document.sections.len(), 1);
    assert_eq!(
        describe_chunks("# A\nB\n=\ntext"),
        ["Heading None A 1-1 # A", "Paragraph None B 4-4 text"]
    );
}

#[test]
fn a_table_right_below_a_paragraph_loses_nothing() {
    assert_eq!(
        describe_chunks("text\n| a |\n"),
        ["Paragraph None  1-1 text", "Table None  2-2 | a |"]
    );
}

#[test]
fn blocks_generated_by_hippod_are_not_memory() {
    let text = "# Rules\n\nmine\n\n<!-- hippod: protocol for claude-code -->\n## Memory\n- read `memory/ROOT.md`\n<!-- /hippod -->\n\nalso mine\n\
        <!-- hippod: root -->\n## Topics Index\n```\n- pump\n<!-- /hippod -->\nmine at last\n";
    assert_eq!(
        describe_chunks(text),
        [
            "Paragraph None Rules 3-3 mine",
            "Paragraph None Rules 10-10 also mine",
            "Paragraph None Rules 16-16 mine at last",
        ]
    );
    let document = chunk(text.as_bytes());
    assert_eq!(document.sections.len(), 1);
    assert_eq!(
        document.without_copies(text.as_bytes(), 0..text.len()).as_ref(),
        b"# Rules\n\nmine\n\n\nalso mine\nmine at last\n"
    );
    for name in ["heartbeat", "context", "protocol"] {
        let text = format!("a\r\n<!-- hippod: {name} -->\r\nb\r\n<!-- /hippod -->\r\n- c\r\n");
        assert_eq!(
            describe_chunks(&text),
            ["Paragraph None  1-1 a", "Item None  5-5 - c"],
            "{name}"
        );
    }
    // No chunk may contain text from both sides of hippod's block.
    let text = "Assistant: \n?\n<!-- hippod: root -->\nlost\n<!-- /hippod -->\na\n";
    assert!(
        describe_chunks(text).iter().all(|chunk| !chunk.contains("lost")),
        "{:?}",
        describe_chunks(text)
    );
}

#[test]
fn text_that_is_not_a_copy_is_memory() {
    let said = |text: &str, word: &str| describe_chunks(text).iter().any(|chunk| chunk.contains(word));
    for name in ["sessions", "since", "mine", "roots"] {
        let text = format!("<!-- hippod: {name} -->\n- kept\n<!-- /hippod -->\n");
        assert!(said(&text, "kept"), "{name}");
    }
    let open = "<!-- hippod: root -->\nkept\n\nalso\n";
    assert!(said(open, "kept") && said(open, "also"));
    let next = "<!-- hippod: root -->\nkept\n<!-- hippod: root -->\nlost\n<!-- /hippod -->\nalso\n";
    assert!(said(next, "kept") && said(next, "also") && !said(next, "lost"));
    let example = "```\n<!-- hippod: root -->\nkept\n<!-- /hippod -->\n```\n";
    assert!(said(example, "kept"));
    // A block inside a fence that is never closed is found, as it is when hippod writes the file.
    let never = "```\ncode\n\n<!-- hippod: root -->\nlost\n<!-- /hippod -->\nmine\n";
    assert!(said(never, "code") && said(never, "mine") && !said(never, "lost"));
}
