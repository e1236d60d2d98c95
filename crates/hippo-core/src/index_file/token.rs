//! What do the lines below one heading say?

use std::ops::Range;

use super::line::{Line, Shape};
use super::text::{arrow, find, is_construct, last_arrow};
use crate::chunk::line::{atx_heading, list_marker, trim};

/// Something on a line. Offsets are those of the whole text.
#[derive(Debug, Clone)]
pub(super) struct Token {
    /// What it is.
    pub kind: Kind,
    /// Where it stands, without white space around it.
    pub span: Range<usize>,
    /// Index of its first line.
    pub line: usize,
}

/// What a token is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    /// What follows the marks of a heading; `topic` is without closing marks.
    Title { topic: Range<usize> },
    /// A line of plain words.
    Prose { indented: bool },
    /// A pointer line; `list` is what follows its arrow.
    Pointer { list: Range<usize> },
    /// A list item with an arrow in it.
    Item { topic: Range<usize>, list: Range<usize> },
    /// A list item such as `Deploy: TOOLS.md §Vercel`.
    Labelled { list: Range<usize> },
    /// `strength: 0.92 | tags: deploy`.
    Facts,
    /// An `hx` comment.
    Hx,
    /// An `hx` comment that does not end.
    BrokenHx,
    /// The comment that says what the file is.
    Header,
    /// Anything else with content.
    Other,
}

/// Goes through the lines below one heading, and that heading; linear in their bytes.
pub(super) fn tokens(text: &[u8], lines: &[Line]) -> Vec<Token> {
    let mut out = Vec::new();
    let (Some(first), Some(last)) = (lines.first(), lines.last()) else {
        return out;
    };
    let (mut index, mut at, mut closes) = (0, first.start, true);
    while let Some(line) = lines.get(index) {
        let mut push = |kind: Kind, span: Range<usize>| {
            out.push(Token {
                kind,
                span,
                line: index,
            });
        };
        if line.shape == Shape::Fenced {
            push(Kind::Other, line.start..line.end);
        } else {
            let comment = find(&text[at..line.end], b"<!--").filter(|_| closes);
            let start = comment.map_or(line.end, |offset| at + offset);
            let span = within(text, at..start);
            if line.shape != Shape::Plain && at == line.start {
                let topic = heading(text, span.clone());
                push(Kind::Title { topic: topic.0 }, topic.1);
            } else if !span.is_empty() {
                let glued = at > line.start;
                push(
                    if glued {
                        Kind::Other
                    } else {
                        content(text, line, &span)
                    },
                    span,
                );
            }
            if comment.is_some() {
                match comment_end(&text[start + 4..last.end.max(start + 4)]) {
                    End::Closed(length) => {
                        let end = start + 4 + length;
                        push(comment_kind(&text[start..end]), start..end);
                        while lines.get(index).is_some_and(|line| line.end < end) {
                            index += 1;
                        }
                        at = end;
                        continue;
                    }
                    End::Reopened(length) if start + 4 + length < line.end => {
                        at = start + 4 + length;
                        push(broken_kind(&text[start..at]), start..at);
                        continue;
                    }
                    End::Reopened(_) => {}
                    End::Never => closes = false,
                }
                push(broken_kind(&text[start..line.end]), start..line.end);
            }
        }
        index += 1;
        at = lines.get(index).map_or(at, |line| line.start);
    }
    out
}

/// What a line says that does not follow a comment; `span` is not empty.
fn content(text: &[u8], line: &Line, span: &Range<usize>) -> Kind {
    let trimmed = &text[span.clone()];
    if !is_construct(trimmed) {
        let indented = span.start >= line.start + 2;
        return Kind::Prose { indented };
    }
    let from = |offset: usize| within(text, span.start + offset..span.end);
    if arrow(trimmed) > 0 {
        return pointer(from(arrow(trimmed)));
    }
    if let Some(marker) = list_marker(trimmed) {
        return item(text, from(marker));
    }
    if super::text::facts(trimmed).is_some() {
        Kind::Facts
    } else {
        broken_kind(trimmed)
    }
}

/// What follows an arrow at the beginning.
fn pointer(list: Range<usize>) -> Kind {
    if list.is_empty() {
        Kind::Other
    } else {
        Kind::Pointer { list }
    }
}

/// What a list item says after its marker.
fn item(text: &[u8], span: Range<usize>) -> Kind {
    let trimmed = &text[span.clone()];
    let from = |offset: usize| within(text, span.start + offset..span.end);
    if arrow(trimmed) > 0 {
        return pointer(from(arrow(trimmed)));
    }
    if let Some((at, length)) = last_arrow(trimmed) {
        let topic = within(text, span.start..span.start + at);
        return Kind::Item {
            topic,
            list: from(at + length),
        };
    }
    let label = find(trimmed, b": ").map(|at| from(at + 1));
    match label {
        Some(list) if names_a_file(&text[list.clone()]) => Kind::Labelled { list },
        _ => Kind::Other,
    }
}

/// Whether the target of a labelled item is surely a file: known endings, folders, sections.
fn names_a_file(text: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(text) else {
        return false;
    };
    let (path, section) = text
        .split_once('§')
        .map_or((text, false), |(path, _)| (path, true));
    let path = path.trim().trim_matches('`');
    let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending);
    let known = [
        "md", "markdown", "txt", "json", "jsonl", "yaml", "yml", "toml", "csv", "org",
    ];
    let bare = !path.is_empty() && !path.contains(char::is_whitespace) && !path.contains("://");
    bare && (section || path.ends_with('/') || known.contains(&ending))
}

/// Whether the first target of a list item can be a file: words after an arrow mean something else more often.
pub(super) fn may_name_a_file(list: &[u8]) -> bool {
    let list = String::from_utf8_lossy(list);
    let first = list.split('|').next().unwrap_or_default();
    let (path, section) = first
        .split_once('§')
        .map_or((first, false), |(path, _)| (path, true));
    let path = path.trim().trim_matches('`');
    let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending);
    let ends = (1..=8).contains(&ending.len()) && ending.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let bare = !path.contains(char::is_whitespace) && path.contains(['.', '/']);
    !path.is_empty() && (section || bare || ends)
}

/// The topic of a heading line, and all that follows its marks.
fn heading(text: &[u8], span: Range<usize>) -> (Range<usize>, Range<usize>) {
    let trimmed = &text[span.clone()];
    let marks = trimmed.iter().take_while(|&&byte| byte == b'#').count();
    let whole = within(text, span.start + marks..span.end);
    let title = atx_heading(trimmed).map_or(0, |(_, title)| title.len());
    (whole.start..whole.start + title, whole)
}

/// How a comment ends.
enum End {
    /// After so many bytes, `-->` included.
    Closed(usize),
    /// Not before another comment starts, after so many bytes.
    Reopened(usize),
    /// Not before the next heading.
    Never,
}

/// How a comment ends that goes on with `text`, over several lines perhaps.
///
/// One that another one starts in is not closed: else the end of a later comment, perhaps one that hippod adds, would take
/// everything between into the broken one.
fn comment_end(text: &[u8]) -> End {
    let mut at = 0;
    while let Some(mark) = text[at..].iter().position(|byte| matches!(byte, b'-' | b'<')) {
        at += mark;
        if text[at..].starts_with(b"-->") {
            return End::Closed(at + 3);
        }
        if text[at..].starts_with(b"<!--") {
            return End::Reopened(at);
        }
        at += 1;
    }
    End::Never
}

fn broken_kind(text: &[u8]) -> Kind {
    if is_hx(text) { Kind::BrokenHx } else { Kind::Other }
}

fn comment_kind(comment: &[u8]) -> Kind {
    let inner = trim(&comment[4..comment.len() - 3]);
    if is_hx(comment) {
        Kind::Hx
    } else if inner.starts_with(b"hippocampus.md") {
        Kind::Header
    } else {
        Kind::Other
    }
}

fn is_hx(text: &[u8]) -> bool {
    text.strip_prefix(b"<!--")
        .is_some_and(|rest| trim(rest).starts_with(b"hx:"))
}

/// A span without the white space at its ends.
pub(super) fn within(text: &[u8], span: Range<usize>) -> Range<usize> {
    let part = &text[span.clone()];
    let trimmed = trim(part);
    if trimmed.is_empty() {
        return span.start..span.start;
    }
    let before = part
        .iter()
        .take_while(|&&byte| crate::chunk::line::is_space(byte))
        .count();
    span.start + before..span.start + before + trimmed.len()
}
