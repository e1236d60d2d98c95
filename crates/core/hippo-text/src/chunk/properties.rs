//! Property tests of chunking on arbitrary bytes.

use proptest::prelude::*;

use super::line::{MarkdownLines, atx_heading, is_rule, trim};
use super::*;

fn config() -> ProptestConfig {
    ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// Generates lines with all syntax that the parser handles.
fn markdown_line() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-zé日 .!?]{0,80}",
        2 => "#{1,7} [a-z ]{0,12}#{0,2}",
        2 => "[ ]{0,6}[-*+] [a-z0-9. ]{0,70}",
        1 => "[ ]{0,4}[0-9]{1,3}[.)] [A-Za-z ]{0,90}",
        1 => "(User|Assistant|\\*\\*Caroline|Ada Lovelace):(\\*\\*)? [a-z ]{0,30}",
        1 => "- \\*\\*(User|Caroline):\\*\\* [a-z]{0,30}",
        1 => "\\|( [a-z-]{0,9} \\|){1,3}",
        1 => "> ?[a-z ]{0,20}",
        1 => prop::sample::select(vec!["```", "````", "~~~", "```rust", "---", "===", "***", "", "", "\t", "    x", "-"])
            .prop_map(str::to_owned),
        1 => prop::sample::select(vec!["<!-- hippod: root -->", "<!-- hippod: sessions -->", "<!-- /hippod -->"]).prop_map(str::to_owned),
        1 => "(title|date|tags): [a-z0-9, -]{0,12}",
        1 => "[a-z]{900,1400}",
        1 => "([a-z]{3,9}[. ]){150,300}",
    ]
}

fn markdown() -> impl Strategy<Value = String> {
    let end = prop::sample::select(vec!["\n", "\r\n"]);
    (prop::collection::vec(markdown_line(), 0..40), end, any::<bool>()).prop_map(|(lines, end, bom)| {
        let text = lines.join(end);
        if bom { format!("\u{feff}{text}") } else { text }
    })
}

fn any_bytes() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        prop::collection::vec(any::<u8>(), 0..3_000),
        any::<String>().prop_map(String::into_bytes),
        (
            markdown(),
            prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..20)
        )
            .prop_map(|(text, edits)| {
                let mut bytes = text.into_bytes();
                for (at, byte) in edits {
                    if !bytes.is_empty() {
                        let at = at.index(bytes.len());
                        bytes[at] = byte;
                    }
                }
                bytes
            }),
    ]
}

/// Checks the invariants of any file.
fn check(bytes: &[u8]) -> Result<Document, TestCaseError> {
    let document = chunk(bytes);
    prop_assert_eq!(&chunk(bytes), &document);
    let lines: Vec<_> = MarkdownLines::new(bytes).collect();
    let line_of = |at: u64| {
        let at = usize::try_from(at).unwrap();
        lines[..lines.partition_point(|line| line.start <= at)]
            .last()
            .map(|line| line.number)
    };
    let text = std::str::from_utf8(bytes).ok();
    let mut before = 0;
    for chunk in &document.chunks {
        prop_assert!(
            before <= chunk.start_byte && chunk.start_byte < chunk.end_byte,
            "{:?}",
            chunk
        );
        prop_assert!(chunk.end_byte <= bytes.len() as u64);
        before = chunk.end_byte;
        let range = usize::try_from(chunk.start_byte).unwrap()..usize::try_from(chunk.end_byte).unwrap();
        prop_assert_eq!(chunk.hash, ContentHash::of(&bytes[range.clone()]));
        prop_assert_eq!(Some(chunk.start_line), line_of(chunk.start_byte));
        prop_assert_eq!(Some(chunk.end_line), line_of(chunk.end_byte - 1));
        prop_assert!(!trim(&bytes[range.clone()]).is_empty());
        prop_assert!(
            text.is_none_or(|text| text.get(range.clone()).is_some()),
            "{:?} splits a character",
            chunk
        );
        prop_assert!(range.len() <= 2_000, "{:?}", chunk);
        let section = &document.sections[chunk.section as usize];
        prop_assert!(section.start_line <= chunk.start_line && chunk.end_line <= section.end_line);
    }
    for (index, section) in document.sections.iter().enumerate() {
        prop_assert!(section.start_line <= section.end_line);
        if let Some(parent) = section.parent {
            prop_assert!((parent as usize) < index);
            prop_assert!(document.sections[parent as usize].level < section.level);
        }
        if let Some(next) = document.sections.get(index + 1) {
            prop_assert!(section.end_line < next.start_line);
        }
        let path = heading_path(&document.sections, u32::try_from(index).unwrap());
        prop_assert!(path.len() <= 6);
    }
    Ok(document)
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn any_bytes_are_chunked(bytes in any_bytes()) {
        check(&bytes)?;
    }

    #[test]
    fn every_line_with_content_is_in_a_chunk(text in markdown()) {
        let document = check(text.as_bytes())?;
        let bytes = text.as_bytes();
        let inside = |at: usize| {
            document.chunks.iter().any(|chunk| chunk.start_byte <= at as u64 && (at as u64) < chunk.end_byte)
        };
        let headings = |number: u32| document.sections.iter().any(|section| section.level > 0 && section.start_line == number);
        let mut front = text.trim_start_matches('\u{feff}').starts_with("---");
        for (index, line) in MarkdownLines::new(bytes).enumerate() {
            let content = trim(&bytes[line.start..line.end]);
            if front {
                // Front matter is not content. It ends at its second `---` line.
                front = index == 0 || content != b"---";
                continue;
            }
            if document.copies.iter().any(|copy| copy.contains(&line.start)) {
                prop_assert!((line.start..line.end).all(|at| !inside(at)), "line {} is a copy", line.number);
                continue;
            }
            let mark = is_rule(content)
                || content.starts_with(b"<!--")
                || content.starts_with(b"```")
                || content.starts_with(b"~~~")
                || atx_heading(content).is_some()
                || content.iter().all(|&byte| byte == b'=' || byte == b'-')
                || headings(line.number);
            if content.is_empty() || mark {
                continue;
            }
            for (at, byte) in (line.start..).zip(&bytes[line.start..line.end]) {
                prop_assert!(byte.is_ascii_whitespace() || inside(at), "line {} is in no chunk", line.number);
            }
        }
    }

    #[test]
    fn text_inserted_before_a_section_changes_none_of_its_chunks(first in markdown(), second in markdown()) {
        let second = format!("# Second\n\n{}", second.trim_start_matches('\u{feff}'));
        // An unclosed fence, block or front matter would extend into the text that follows.
        let first = format!("first\n{}", first.replace("```", "").replace("~~~", "").replace("hippod", ""));
        let hashes = |text: &str| -> Vec<ContentHash> {
            chunk(text.as_bytes()).chunks.iter().map(|chunk| chunk.hash).collect()
        };
        let alone = hashes(&second);
        let both = hashes(&format!("{first}\n\n{second}"));
        prop_assert!(both.ends_with(&alone));
    }
}

#[test]
fn a_line_of_megabytes_is_split_without_loss() {
    let text = "日本語テキスト".repeat(100_000);
    let document = check(text.as_bytes()).unwrap();
    let joined: String = document
        .chunks
        .iter()
        .map(|chunk| chunk_text(text.as_bytes(), chunk))
        .collect();
    assert_eq!(joined, text);
    assert!(
        document
            .chunks
            .iter()
            .all(|chunk| chunk.start_line == 1 && chunk.end_line == 1)
    );
}

#[test]
fn deep_nesting_does_not_overflow_the_stack() {
    for unit in ["> ", "- ", "  - x\n", "<!--", "#", "[", "**", "```\n", "| "] {
        let text = unit.repeat(200_000);
        check(text.as_bytes()).unwrap();
    }
}
