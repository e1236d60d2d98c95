//! Which part of a file that belongs to people is hippod's, and how does it change with no other byte touched?
//!
//! A block between two lines of its own, `<!-- hippod: NAME -->` and `<!-- /hippod -->`. One that stands in fenced code is
//! an example, and none. A block that is not closed is refused: nobody can tell where it would end.

use std::ops::Range;

use crate::chunk::line::{Fence, Lines, trim};
use crate::index_file::{BEGIN, END};

/// A block that is not closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the block that begins on line {line} with \"<!-- hippod:\" is not closed by \"<!-- /hippod -->\"")]
pub struct Torn {
    /// The line on which it begins, from 1.
    pub line: u32,
}

/// What stands in the first block of this name, without its two lines.
///
/// # Errors
/// [`Torn`].
pub fn body<'t>(text: &'t [u8], name: &str) -> Result<Option<&'t [u8]>, Torn> {
    Ok(find(text, name)?.map(|place| &text[place]))
}

/// The text with `body` in its block of this name, which is made at the end where there is none. Line ends are those of the
/// text.
///
/// # Errors
/// [`Torn`].
pub fn put(text: &[u8], name: &str, body: &str) -> Result<Vec<u8>, Torn> {
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
    if let Some(place) = find(text, name)? {
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
    out.extend_from_slice(format!("{BEGIN}{name} -->{end}{body}{END}{end}").as_bytes());
    Ok(out)
}

/// The bytes between the two lines. A fence that is not closed hides nothing.
fn find(text: &[u8], name: &str) -> Result<Option<Range<usize>>, Torn> {
    match find_past(text, name, u32::MAX)? {
        Found::Block(place) => Ok(Some(place)),
        Found::Nothing => Ok(None),
        Found::OpenFence(at) => match find_past(text, name, at)? {
            Found::Block(place) => Ok(Some(place)),
            _ => Ok(None),
        },
    }
}

/// What is found of a block.
enum Found {
    /// The bytes between its two lines.
    Block(Range<usize>),
    Nothing,
    /// Nothing before the end of fenced code that begins on this line and never ends.
    OpenFence(u32),
}

/// The same, with no fence from this line on.
fn find_past(text: &[u8], name: &str, no_fence: u32) -> Result<Found, Torn> {
    let begin = format!("{BEGIN}{name} -->");
    let mut fence: Option<(Fence, u32)> = None;
    // Line and end of the block's first line.
    let mut open: Option<(u32, usize)> = None;
    let mut lines = Lines::new(text).peekable();
    while let Some(line) = lines.next() {
        let trimmed = trim(&text[line.start..line.end]);
        if let Some((first, from)) = open {
            if trimmed == END.as_bytes() {
                return Ok(Found::Block(from..line.start));
            }
            if trimmed.starts_with(BEGIN.as_bytes()) {
                return Err(Torn { line: first });
            }
            continue;
        }
        match fence {
            Some((within, _)) if within.closed_by(trimmed) => fence = None,
            Some(_) => {}
            None if trimmed == begin.as_bytes() => {
                let from = lines.peek().map_or(text.len(), |next| next.start);
                open = Some((line.number, from));
            }
            None if line.number >= no_fence => {}
            None => fence = Fence::open(trimmed).map(|fence| (fence, line.number)),
        }
    }
    match (open, fence) {
        (Some((line, _)), _) => Err(Torn { line }),
        (None, Some((_, line))) => Ok(Found::OpenFence(line)),
        (None, None) => Ok(Found::Nothing),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text(text: &[u8], name: &str, body: &str) -> String {
        String::from_utf8(put(text, name, body).unwrap()).unwrap()
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
        assert_eq!(put(open, "x", "c"), Err(Torn { line: 2 }));
        let next = b"<!-- hippod: x -->\n<!-- hippod: y -->\nb\n<!-- /hippod -->\n";
        assert_eq!(put(next, "x", "c"), Err(Torn { line: 1 }));
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
                let changed = put(&made, "x", &other).unwrap();
                prop_assert_eq!(&put(&changed, "x", &one).unwrap(), &made);
                prop_assert_eq!(put(&made, "x", &one).unwrap(), made);
            }
        }
    }
}
