//! Tokens of the lines below one heading.

use std::ops::Range;

use super::line::{IndexLine, LineShape};
use super::text::{arrow_len, find_bytes, find_last_arrow, is_construct, parse_facts};
use hippo_text::chunk::line::{atx_heading, is_space, list_marker, trim};

/// Token with its byte range in the whole text.
#[derive(Debug, Clone)]
pub(super) struct IndexToken {
    /// Kind of token.
    pub kind: TokenKind,
    /// Byte range without surrounding white space.
    pub span: Range<usize>,
    /// Index of its first line.
    pub line: usize,
}

/// Kind of a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// Text after the marks of a heading; `topic` excludes closing marks.
    Title { topic: Range<usize> },
    /// Line of plain words.
    Prose { indented: bool },
    /// Pointer line; `list` is the text after its arrow.
    Pointer { list: Range<usize> },
    /// List item that contains an arrow.
    Item { topic: Range<usize>, list: Range<usize> },
    /// List item such as `Deploy: TOOLS.md §Vercel`.
    Labelled { list: Range<usize> },
    /// Line such as `strength: 0.92 | tags: deploy`.
    Facts,
    /// `hx` comment.
    Hx,
    /// `hx` comment without an end.
    BrokenHx,
    /// Header comment of the file.
    Header,
    /// Any other content.
    Other,
}

/// Splits a heading and the lines below it into tokens, in time linear in their bytes.
pub(super) fn tokenize(text: &[u8], lines: &[IndexLine]) -> Vec<IndexToken> {
    let mut out = Vec::new();
    let (Some(first), Some(last)) = (lines.first(), lines.last()) else {
        return out;
    };
    let (mut index, mut at, mut closes) = (0, first.start, true);
    while let Some(line) = lines.get(index) {
        let mut push = |kind: TokenKind, span: Range<usize>| {
            out.push(IndexToken {
                kind,
                span,
                line: index,
            });
        };
        if line.shape == LineShape::Fenced {
            push(TokenKind::Other, line.start..line.end);
        } else {
            let comment = find_bytes(&text[at..line.end], b"<!--").filter(|_| closes);
            let start = comment.map_or(line.end, |offset| at + offset);
            let span = within(text, at..start);
            if line.shape != LineShape::Plain && at == line.start {
                let topic = split_heading(text, span.clone());
                push(TokenKind::Title { topic: topic.0 }, topic.1);
            } else if !span.is_empty() {
                let kind = match at > line.start {
                    true => TokenKind::Other,
                    false => classify_line(text, line, &span),
                };
                push(kind, span);
            }
            if comment.is_some() {
                match find_comment_end(&text[start + 4..last.end.max(start + 4)]) {
                    CommentEnd::Closed(length) => {
                        let end = start + 4 + length;
                        push(comment_kind(&text[start..end]), start..end);
                        while lines.get(index).is_some_and(|line| line.end < end) {
                            index += 1;
                        }
                        at = end;
                        continue;
                    }
                    CommentEnd::Reopened(length) if start + 4 + length < line.end => {
                        at = start + 4 + length;
                        push(broken_kind(&text[start..at]), start..at);
                        continue;
                    }
                    CommentEnd::Reopened(_) => {}
                    CommentEnd::Never => closes = false,
                }
                push(broken_kind(&text[start..line.end]), start..line.end);
            }
        }
        index += 1;
        at = lines.get(index).map_or(at, |line| line.start);
    }
    out
}

/// Classifies a line that does not follow a comment; `span` is not empty.
fn classify_line(text: &[u8], line: &IndexLine, span: &Range<usize>) -> TokenKind {
    let trimmed = &text[span.clone()];
    if !is_construct(trimmed) {
        let indented = span.start >= line.start + 2;
        return TokenKind::Prose { indented };
    }
    let from = |offset: usize| within(text, span.start + offset..span.end);
    if arrow_len(trimmed) > 0 {
        return classify_pointer(from(arrow_len(trimmed)));
    }
    if let Some(marker) = list_marker(trimmed) {
        return classify_item(text, from(marker));
    }
    match parse_facts(trimmed) {
        Some(_) => TokenKind::Facts,
        None => broken_kind(trimmed),
    }
}

/// Classifies the text after a leading arrow.
fn classify_pointer(list: Range<usize>) -> TokenKind {
    if list.is_empty() {
        TokenKind::Other
    } else {
        TokenKind::Pointer { list }
    }
}

/// Classifies a list item by the text after its marker.
fn classify_item(text: &[u8], span: Range<usize>) -> TokenKind {
    let trimmed = &text[span.clone()];
    let from = |offset: usize| within(text, span.start + offset..span.end);
    if arrow_len(trimmed) > 0 {
        return classify_pointer(from(arrow_len(trimmed)));
    }
    if let Some((at, length)) = find_last_arrow(trimmed) {
        let topic = within(text, span.start..span.start + at);
        return TokenKind::Item {
            topic,
            list: from(at + length),
        };
    }
    let label = find_bytes(trimmed, b": ").map(|at| from(at + 1));
    match label {
        Some(list) if names_a_file(&text[list.clone()]) => TokenKind::Labelled { list },
        _ => TokenKind::Other,
    }
}

/// Returns the path of a target without marks, the path's file extension, and `true` if the target names a section.
fn split_target(target: &str) -> (&str, &str, bool) {
    let path = target.split('§').next().unwrap_or(target);
    let path = path.trim().trim_matches('`');
    let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending);
    (path, ending, target.contains('§'))
}

/// Returns `true` if the target of a labelled item is certainly a file: known extension, folder or section.
fn names_a_file(text: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(text) else {
        return false;
    };
    let (path, ending, section) = split_target(text);
    let known = [
        "md", "markdown", "txt", "json", "jsonl", "yaml", "yml", "toml", "csv", "org",
    ];
    let bare = !path.is_empty() && !path.contains(char::is_whitespace) && !path.contains("://");
    bare && (section || path.ends_with('/') || known.contains(&ending))
}

/// Returns `true` if the first target of a list item can be a file. The check is needed because an arrow often precedes
/// ordinary words.
pub(super) fn may_name_a_file(list: &[u8]) -> bool {
    let list = String::from_utf8_lossy(list);
    let (path, ending, section) = split_target(list.split('|').next().unwrap_or_default());
    let ends = (1..=8).contains(&ending.len()) && ending.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let bare = !path.contains(char::is_whitespace) && path.contains(['.', '/']);
    !path.is_empty() && (section || bare || ends)
}

/// Returns the topic of a heading line, and all text after its marks.
fn split_heading(text: &[u8], span: Range<usize>) -> (Range<usize>, Range<usize>) {
    let trimmed = &text[span.clone()];
    let marks = trimmed.iter().take_while(|&&byte| byte == b'#').count();
    let whole = within(text, span.start + marks..span.end);
    let title = atx_heading(trimmed).map_or(0, |(_, title)| title.len());
    (whole.start..whole.start + title, whole)
}

/// End of a comment.
enum CommentEnd {
    /// Closed after this many bytes, including `-->`.
    Closed(usize),
    /// Another comment starts first, after this many bytes.
    Reopened(usize),
    /// Not closed before the next heading.
    Never,
}

/// Finds the end of a comment whose content starts with `text` and may span lines.
///
/// A comment counts as unclosed if another comment starts before its end. Otherwise, the end of the second comment,
/// which hippod may have written, would close the first, and all text between them would be lost.
fn find_comment_end(text: &[u8]) -> CommentEnd {
    let mut at = 0;
    while let Some(mark) = text[at..].iter().position(|byte| matches!(byte, b'-' | b'<')) {
        at += mark;
        if text[at..].starts_with(b"-->") {
            return CommentEnd::Closed(at + 3);
        }
        if text[at..].starts_with(b"<!--") {
            return CommentEnd::Reopened(at);
        }
        at += 1;
    }
    CommentEnd::Never
}

fn broken_kind(text: &[u8]) -> TokenKind {
    if is_hx(text) {
        TokenKind::BrokenHx
    } else {
        TokenKind::Other
    }
}

fn comment_kind(comment: &[u8]) -> TokenKind {
    let inner = trim(&comment[4..comment.len() - 3]);
    if is_hx(comment) {
        TokenKind::Hx
    } else if inner.starts_with(b"hippocampus.md") {
        TokenKind::Header
    } else {
        TokenKind::Other
    }
}

fn is_hx(text: &[u8]) -> bool {
    text.strip_prefix(b"<!--")
        .is_some_and(|rest| trim(rest).starts_with(b"hx:"))
}

/// Trims white space from a span.
pub(super) fn within(text: &[u8], span: Range<usize>) -> Range<usize> {
    let part = &text[span.clone()];
    let trimmed = trim(part);
    if trimmed.is_empty() {
        return span.start..span.start;
    }
    let before = part.iter().take_while(|byte| is_space(**byte)).count();
    span.start + before..span.start + before + trimmed.len()
}
