//! Which part of a file that belongs to people is hippod's, and how does it change with no other byte touched?
//!
//! A block between two lines of its own: `<!-- hippod: NAME -->` and `<!-- /hippod -->` in markdown, `# hippod: NAME` and
//! `# /hippod` where `#` begins a comment. One that stands in fenced code is an example, and none. A block that is not closed
//! is refused: nobody can tell where it would end.

use std::ops::Range;

use crate::chunk::line::{Fence, MarkdownLines, trim};
use crate::index_file::{BEGIN, END};

/// A block that is not closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the block that begins on line {line} with \"{begin}\" is not closed by \"{end}\"", begin = marks.begin.trim_end(), end = marks.end)]
pub struct Torn {
    /// The line on which it begins, from 1.
    pub line: u32,
    /// Of which kind it is.
    pub marks: Marks,
}

/// The two lines of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Marks {
    begin: &'static str,
    tail: &'static str,
    end: &'static str,
}

/// Where a block stands.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Place {
    /// Its two lines and what is between them.
    whole: Range<usize>,
    body: Range<usize>,
}

/// What stands in the first block of this name in a markdown file, without its two lines.
///
/// # Errors
/// [`Torn`].
pub fn body<'t>(text: &'t [u8], name: &str) -> Result<Option<&'t [u8]>, Torn> {
    Marks::MARKDOWN.body(text, name)
}

/// The markdown text with `body` in its block of this name; as [`Marks::put`].
///
/// # Errors
/// [`Torn`].
pub fn put(text: &[u8], name: &str, body: &str) -> Result<Vec<u8>, Torn> {
    Marks::MARKDOWN.put(text, name, body)
}

impl Marks {
    /// In markdown: comments that no reader sees.
    pub const MARKDOWN: Self = Self {
        begin: BEGIN,
        tail: " -->",
        end: END,
    };
    /// Where `#` begins a comment: `.gitignore`, TOML.
    pub const HASH: Self = Self {
        begin: "# hippod: ",
        tail: "",
        end: "# /hippod",
    };

    /// What stands in the first block of this name, without its two lines.
    ///
    /// # Errors
    /// [`Torn`].
    pub fn body<'t>(self, text: &'t [u8], name: &str) -> Result<Option<&'t [u8]>, Torn> {
        Ok(self.find(text, name)?.map(|place| &text[place.body]))
    }

    /// Where the first block of this name stands, its two lines among it.
    ///
    /// # Errors
    /// [`Torn`].
    pub fn span(self, text: &[u8], name: &str) -> Result<Option<Range<usize>>, Torn> {
        Ok(self.find(text, name)?.map(|place| place.whole))
    }

    /// The text with `body` in its block of this name, which is made at the end where there is none. Line ends are those of
    /// the text.
    ///
    /// # Errors
    /// [`Torn`].
    pub fn put(self, text: &[u8], name: &str, body: &str) -> Result<Vec<u8>, Torn> {
        let end: &str = match text.iter().position(|byte| *byte == b'\n') {
            Some(at) if at > 0 && text[at - 1] == b'\r' => "\r\n",
            // With a line end behind it, it is of that kind.
            None if text.ends_with(b"\r") => "\r\n",
            _ => "\n",
        };
        let mut body = body.trim_matches('\n').replace('\n', end);
        if !body.is_empty() {
            body.push_str(end);
        }
        let mut out = Vec::with_capacity(text.len() + body.len() + 64);
        if let Some(Place { body: place, .. }) = self.find(text, name)? {
            out.extend_from_slice(&text[..place.start]);
            out.extend_from_slice(body.as_bytes());
            out.extend_from_slice(&text[place.end..]);
            return Ok(out);
        }
        out.extend_from_slice(text);
        if !text.is_empty() {
            if !text.ends_with(b"\n") {
                out.extend_from_slice(end.as_bytes());
            }
            out.extend_from_slice(end.as_bytes());
        }
        let Marks {
            begin,
            tail,
            end: last,
        } = self;
        out.extend_from_slice(format!("{begin}{name}{tail}{end}{body}{last}{end}").as_bytes());
        Ok(out)
    }

    /// The first block of this name. A fence that is not closed hides nothing.
    fn find(self, text: &[u8], name: &str) -> Result<Option<Place>, Torn> {
        match self.find_past(text, name, u32::MAX)? {
            Found::Block(place) => Ok(Some(place)),
            Found::Nothing => Ok(None),
            Found::OpenFence(at) => match self.find_past(text, name, at)? {
                Found::Block(place) => Ok(Some(place)),
                _ => Ok(None),
            },
        }
    }

    /// The same, with no fence from this line on.
    fn find_past(self, text: &[u8], name: &str, no_fence: u32) -> Result<Found, Torn> {
        let begin = format!("{}{name}{}", self.begin, self.tail);
        let torn = |line| Torn { line, marks: self };
        let mut fence: Option<(Fence, u32)> = None;
        // The block's first line: its number, where it begins, and where the next one does.
        let mut open: Option<(u32, usize, usize)> = None;
        let mut lines = MarkdownLines::new(text).peekable();
        while let Some(line) = lines.next() {
            let trimmed = trim(&text[line.start..line.end]);
            let next = lines.peek().map_or(text.len(), |next| next.start);
            if let Some((first, start, from)) = open {
                if trimmed == self.end.as_bytes() {
                    return Ok(Found::Block(Place {
                        whole: start..next,
                        body: from..line.start,
                    }));
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
        match (open, fence) {
            (Some((line, ..)), _) => Err(torn(line)),
            (None, Some((_, line))) => Ok(Found::OpenFence(line)),
            (None, None) => Ok(Found::Nothing),
        }
    }
}

/// Whether a trimmed line begins a block of which every word stands elsewhere: what agents are told (`protocol …`, `heartbeat`), a copy of
/// `memory/ROOT.md` (`root`), a section of a session (`context`). Any other may hold memory, and be the last that does: `sessions` is left
/// when its log is gone, and `since` when somebody wrote the node anew.
pub(crate) fn is_copy(line: &[u8]) -> bool {
    let name = line.strip_prefix(BEGIN.as_bytes());
    let name = name.and_then(|name| name.strip_suffix(Marks::MARKDOWN.tail.as_bytes()));
    name.is_some_and(|name| {
        matches!(name, b"heartbeat" | b"root" | b"context" | b"protocol")
            || name.starts_with(b"protocol for ")
    })
}

/// Whether a trimmed line begins a block.
pub(crate) fn is_begin(line: &[u8]) -> bool {
    line.starts_with(BEGIN.as_bytes())
}

/// Whether a trimmed line ends one.
pub(crate) fn is_end(line: &[u8]) -> bool {
    line == END.as_bytes()
}

/// Where hippod's own text stands in a file.
pub(crate) fn generated(bytes: &[u8]) -> Vec<Range<usize>> {
    let find = |what: &str, from: usize| {
        let mut windows = bytes.get(from..)?.windows(what.len());
        windows
            .position(|window| window == what.as_bytes())
            .map(|at| from + at)
    };
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(start) = find(BEGIN, from) {
        // What is not closed hides nothing below it.
        let Some(end) = find(END, start) else { break };
        from = end + END.len();
        found.push(start..from);
    }
    found
}

/// What is found of a block.
enum Found {
    Block(Place),
    Nothing,
    /// Nothing before the end of fenced code that begins on this line and never ends.
    OpenFence(u32),
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text(text: &[u8], name: &str, body: &str) -> String {
        String::from_utf8(put(text, name, body).unwrap()).unwrap()
    }

    fn torn(line: u32) -> Torn {
        let marks = Marks::MARKDOWN;
        Torn { line, marks }
    }

    #[test]
    fn where_a_hash_begins_a_comment_so_do_the_lines() {
        let made = Marks::HASH.put(b"target\n", "memory", "/memory/").unwrap();
        assert_eq!(made, b"target\n\n# hippod: memory\n/memory/\n# /hippod\n");
        assert_eq!(Marks::HASH.span(&made, "memory"), Ok(Some(8..made.len())));
        assert_eq!(Marks::MARKDOWN.span(&made, "memory"), Ok(None));
        let open = Marks::HASH.put(b"# hippod: memory\n", "memory", "").unwrap_err();
        assert_eq!(
            open.to_string(),
            "the block that begins on line 1 with \"# hippod:\" is not closed by \"# /hippod\""
        );
    }

    #[test]
    fn a_block_is_made_at_the_end_and_changed_in_its_place() {
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
    fn line_ends_are_those_of_the_file() {
        assert_eq!(
            text(b"a\r\nb", "x", "c\nd"),
            "a\r\nb\r\n\r\n<!-- hippod: x -->\r\nc\r\nd\r\n<!-- /hippod -->\r\n"
        );
    }

    #[test]
    fn what_is_not_closed_is_refused() {
        let open = b"a\n<!-- hippod: x -->\nb\n";
        assert_eq!(put(open, "x", "c"), Err(torn(2)));
        let next = b"<!-- hippod: x -->\n<!-- hippod: y -->\nb\n<!-- /hippod -->\n";
        assert_eq!(put(next, "x", "c"), Err(torn(1)));
        assert_eq!(body(next, "y"), Ok(Some(&b"b\n"[..])));
    }

    #[test]
    fn an_example_in_code_is_no_block() {
        let example = "```\n<!-- hippod: x -->\n```\n";
        let made = text(example.as_bytes(), "x", "c");
        assert!(made.starts_with(example) && made.ends_with("\n\n<!-- hippod: x -->\nc\n<!-- /hippod -->\n"));
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn no_other_byte_is_touched(
            before in "(\\PC{0,8}\r?\n|```\n|<!-- hippod: y -->\n|<!-- /hippod -->\n){0,6}",
            bytes in proptest::collection::vec(any::<u8>(), 0..20),
            one in "(- [a-z ]{0,8}\n){0,3}",
            other in "(- [a-z ]{0,8}\n){0,3}",
        ) {
            let mut text = before.into_bytes();
            text.extend(bytes);
            if let Ok(made) = put(&text, "x", &one) {
                prop_assert!(made.starts_with(&text));
                if let Ok(None) = Marks::MARKDOWN.span(&text, "x") {
                    let span = Marks::MARKDOWN.span(&made, "x").unwrap().unwrap();
                    prop_assert!(span.start >= text.len() && span.end == made.len());
                }
                let changed = put(&made, "x", &other).unwrap();
                prop_assert_eq!(&put(&changed, "x", &one).unwrap(), &made);
                prop_assert_eq!(put(&made, "x", &one).unwrap(), made);
            }
        }
    }
}
