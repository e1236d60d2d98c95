//! Blocks that hippod writes into users' files.
//!
//! A block is enclosed by two lines: `<!-- hippod: NAME -->` and `<!-- /hippod -->` in markdown, `# hippod: NAME` and
//! `# /hippod` in formats in which `#` starts a comment. hippod changes no byte outside its blocks. It ignores a block
//! inside fenced code, because such a block is an example. An unclosed block is an error, because its end is unknown.

use std::ops::Range;

use memchr::memmem;

use crate::chunk::line::{Fence, MarkdownLines, trim};

/// Start of the first line of a generated block. The name of the block and ` -->` follow.
pub const BEGIN: &str = "<!-- hippod: ";
/// Last line of a generated block.
pub const END: &str = "<!-- /hippod -->";

/// Error for an unclosed block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the block that begins on line {line} with \"{begin}\" is not closed by \"{end}\"", begin = marks.begin.trim_end(), end = marks.end)]
pub struct UnclosedBlock {
    /// Line on which the block starts, from 1.
    pub line: u32,
    /// Form of the two lines that enclose the block.
    pub marks: BlockMarks,
}

/// Form of the two lines that enclose a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockMarks {
    begin: &'static str,
    tail: &'static str,
    end: &'static str,
}

/// Byte range of a block.
#[derive(Debug, Clone, PartialEq, Eq)]
struct BlockRange {
    /// Range including both enclosing lines.
    whole: Range<usize>,
    body: Range<usize>,
}

/// Returns the content of the first block with this name in a markdown file, without the enclosing lines.
///
/// # Errors
///
/// Returns [`UnclosedBlock`] if the block is not closed.
pub fn body<'t>(text: &'t [u8], name: &str) -> Result<Option<&'t [u8]>, UnclosedBlock> {
    let place = BlockMarks::MARKDOWN.find(text, name)?;
    Ok(place.map(|place| &text[place.body]))
}

/// Replaces the content of a block in a markdown text, as [`BlockMarks::put`] does.
///
/// # Errors
///
/// Returns [`UnclosedBlock`] if the block is not closed.
pub fn put(text: &[u8], name: &str, body: &str) -> Result<Vec<u8>, UnclosedBlock> {
    BlockMarks::MARKDOWN.put(text, name, body)
}

impl BlockMarks {
    /// Form for markdown: HTML comments, which are not rendered.
    pub const MARKDOWN: Self = Self {
        begin: BEGIN,
        tail: " -->",
        end: END,
    };
    /// Form for formats in which `#` starts a comment: `.gitignore`, TOML.
    pub const HASH: Self = Self {
        begin: "# hippod: ",
        tail: "",
        end: "# /hippod",
    };

    /// Returns the byte range of the first block with this name, including the enclosing lines.
    ///
    /// # Errors
    ///
    /// Returns [`UnclosedBlock`] if the block is not closed.
    pub fn span(self, text: &[u8], name: &str) -> Result<Option<Range<usize>>, UnclosedBlock> {
        Ok(self.find(text, name)?.map(|place| place.whole))
    }

    /// Returns the text with `body` as the content of the block. Appends the block if it is missing. Uses the kind of
    /// line break that ends the first line of the text.
    ///
    /// # Errors
    ///
    /// Returns [`UnclosedBlock`] if the block is not closed.
    pub fn put(self, text: &[u8], name: &str, body: &str) -> Result<Vec<u8>, UnclosedBlock> {
        // A `\r` at the end of the first line is the first half of `\r\n`, even if the text ends there.
        let first = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let end = if first.ends_with(b"\r") { "\r\n" } else { "\n" };
        let mut body = body.trim_matches('\n').replace('\n', end);
        if !body.is_empty() {
            body.push_str(end);
        }
        if let Some(BlockRange { body: place, .. }) = self.find(text, name)? {
            return Ok([&text[..place.start], body.as_bytes(), &text[place.end..]].concat());
        }
        let gap = match text {
            [] => String::new(),
            [.., b'\n'] => end.to_owned(),
            _ => end.repeat(2),
        };
        let (begin, tail, last) = (self.begin, self.tail, self.end);
        let block = format!("{gap}{begin}{name}{tail}{end}{body}{last}{end}");
        Ok([text, block.as_bytes()].concat())
    }

    /// Finds the first block with this name. A code fence that is never closed does not hide the block.
    fn find(self, text: &[u8], name: &str) -> Result<Option<BlockRange>, UnclosedBlock> {
        match self.find_ignoring_fences(text, name, u32::MAX)? {
            (None, Some(fence)) => Ok(self.find_ignoring_fences(text, name, fence)?.0),
            (found, _) => Ok(found),
        }
    }

    /// Finds the first block with this name. Treats code fences from line `no_fence` on as ordinary text. Also returns
    /// the line of a fence that is not closed.
    fn find_ignoring_fences(
        self,
        text: &[u8],
        name: &str,
        no_fence: u32,
    ) -> Result<(Option<BlockRange>, Option<u32>), UnclosedBlock> {
        let begin = format!("{}{name}{}", self.begin, self.tail);
        let torn = |line| UnclosedBlock { line, marks: self };
        let mut fence: Option<(Fence, u32)> = None;
        // First line of the open block: its number, its offset, and the offset of the next line.
        let mut open: Option<(u32, usize, usize)> = None;
        let mut lines = MarkdownLines::new(text).peekable();
        while let Some(line) = lines.next() {
            let trimmed = trim(&text[line.start..line.end]);
            let next = lines.peek().map_or(text.len(), |next| next.start);
            if let Some((first, start, from)) = open {
                if trimmed == self.end.as_bytes() {
                    let found = BlockRange {
                        whole: start..next,
                        body: from..line.start,
                    };
                    return Ok((Some(found), None));
                }
                if trimmed.starts_with(self.begin.as_bytes()) {
                    return Err(torn(first));
                }
                continue;
            }
            match fence {
                Some((within, _)) if within.is_closed_by(trimmed) => fence = None,
                Some(_) => {}
                None if trimmed == begin.as_bytes() => open = Some((line.number, line.start, next)),
                None if line.number >= no_fence => {}
                None => fence = Fence::parse(trimmed).map(|fence| (fence, line.number)),
            }
        }
        match open {
            Some((line, ..)) => Err(torn(line)),
            None => Ok((None, fence.map(|(_, line)| line))),
        }
    }
}

/// Returns `true` if a trimmed line starts a block whose content also exists elsewhere: instructions to agents
/// (`protocol …`, `heartbeat`), a copy of `memory/ROOT.md` (`root`), text that was inserted into a prompt (`context`).
///
/// Any other block may contain the only copy of a memory. For example, a `sessions` block may outlive the log of the
/// session, and a `since` block may outlive a rewritten node.
pub fn is_copy(line: &[u8]) -> bool {
    let name = line.strip_prefix(BEGIN.as_bytes());
    let name = name.and_then(|name| name.strip_suffix(BlockMarks::MARKDOWN.tail.as_bytes()));
    name.is_some_and(|name| {
        matches!(name, b"heartbeat" | b"root" | b"context" | b"protocol")
            || name.starts_with(b"protocol for ")
    })
}

/// Returns `true` if a trimmed line starts a block.
pub fn is_begin(line: &[u8]) -> bool {
    line.starts_with(BEGIN.as_bytes())
}

/// Returns `true` if a trimmed line ends a block.
pub fn is_end(line: &[u8]) -> bool {
    line == END.as_bytes()
}

/// Returns the ranges of hippod's blocks in a file.
pub fn generated_ranges(bytes: &[u8]) -> Vec<Range<usize>> {
    let find = |what: &str, from: usize| Some(from + memmem::find(&bytes[from..], what.as_bytes())?);
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(start) = find(BEGIN, from) {
        // The text after an unclosed block is not part of a block.
        let Some(end) = find(END, start) else { break };
        from = end + END.len();
        found.push(start..from);
    }
    found
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text(text: &[u8], name: &str, body: &str) -> String {
        String::from_utf8(put(text, name, body).unwrap()).unwrap()
    }

    fn torn(line: u32) -> UnclosedBlock {
        let marks = BlockMarks::MARKDOWN;
        UnclosedBlock { line, marks }
    }

    #[test]
    fn blocks_of_hash_comments_use_hash_marks() {
        let made = BlockMarks::HASH.put(b"target\n", "memory", "/memory/").unwrap();
        assert_eq!(made, b"target\n\n# hippod: memory\n/memory/\n# /hippod\n");
        assert_eq!(BlockMarks::HASH.span(&made, "memory"), Ok(Some(8..made.len())));
        assert_eq!(BlockMarks::MARKDOWN.span(&made, "memory"), Ok(None));
        let open = BlockMarks::HASH
            .put(b"# hippod: memory\n", "memory", "")
            .unwrap_err();
        assert_eq!(
            open.to_string(),
            "the block that begins on line 1 with \"# hippod:\" is not closed by \"# /hippod\""
        );
    }

    #[test]
    fn a_block_is_appended_and_then_updated_in_place() {
        let made = text(b"# Memory\n\n- mine\n", "sessions", "- one\n");
        assert_eq!(
            made,
            "# Memory\n\n- mine\n\n<!-- hippod: sessions -->\n- one\n<!-- /hippod -->\n"
        );
        assert_eq!(body(made.as_bytes(), "sessions"), Ok(Some(&b"- one\n"[..])));
        let more = made.clone() + "\nmine again, no end";
        assert_eq!(
            text(more.as_bytes(), "sessions", "- one\n- two"),
            "# Memory\n\n- mine\n\n<!-- hippod: sessions -->\n- one\n- two\n<!-- /hippod -->\n\nmine again, no end"
        );
        assert_eq!(text(b"", "x", ""), "<!-- hippod: x -->\n<!-- /hippod -->\n");
        assert_eq!(
            text(b"a", "x", "b"),
            "a\n\n<!-- hippod: x -->\nb\n<!-- /hippod -->\n"
        );
    }

    #[test]
    fn line_ends_follow_the_file() {
        assert_eq!(
            text(b"a\r\nb", "x", "c\nd"),
            "a\r\nb\r\n\r\n<!-- hippod: x -->\r\nc\r\nd\r\n<!-- /hippod -->\r\n"
        );
    }

    #[test]
    fn an_unclosed_block_is_an_error() {
        let open = b"a\n<!-- hippod: x -->\nb\n";
        assert_eq!(put(open, "x", "c"), Err(torn(2)));
        let next = b"<!-- hippod: x -->\n<!-- hippod: y -->\nb\n<!-- /hippod -->\n";
        assert_eq!(put(next, "x", "c"), Err(torn(1)));
        assert_eq!(body(next, "y"), Ok(Some(&b"b\n"[..])));
    }

    #[test]
    fn a_block_in_fenced_code_is_ignored() {
        let example = "```\n<!-- hippod: x -->\n```\n";
        let made = text(example.as_bytes(), "x", "c");
        assert!(made.starts_with(example) && made.ends_with("\n\n<!-- hippod: x -->\nc\n<!-- /hippod -->\n"));
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn no_byte_outside_the_block_changes(
            before in "(\\PC{0,8}\r?\n|```\n|<!-- hippod: y -->\n|<!-- /hippod -->\n){0,6}",
            bytes in proptest::collection::vec(any::<u8>(), 0..20),
            one in "(- [a-z ]{0,8}\n){0,3}",
            other in "(- [a-z ]{0,8}\n){0,3}",
        ) {
            let mut text = before.into_bytes();
            text.extend(bytes);
            if let Ok(made) = put(&text, "x", &one) {
                prop_assert!(made.starts_with(&text));
                if let Ok(None) = BlockMarks::MARKDOWN.span(&text, "x") {
                    let span = BlockMarks::MARKDOWN.span(&made, "x").unwrap().unwrap();
                    prop_assert!(span.start >= text.len() && span.end == made.len());
                }
                let changed = put(&made, "x", &other).unwrap();
                prop_assert_eq!(&put(&changed, "x", &one).unwrap(), &made);
                prop_assert_eq!(put(&made, "x", &one).unwrap(), made);
            }
        }
    }
}
