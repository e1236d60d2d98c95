//! Recognition of markdown syntax in a single line.

/// Line of a file, without its line break.
#[derive(Debug, Clone, Copy)]
pub struct MarkdownLine {
    /// Line number, from 1.
    pub number: u32,
    /// Offset of its first byte.
    pub start: usize,
    /// Offset after its last byte, without `\n` or `\r\n`.
    pub end: usize,
}

/// Iterator over the lines of a file.
#[derive(Debug, Clone)]
pub struct MarkdownLines<'a> {
    bytes: &'a [u8],
    at: usize,
    number: u32,
}

impl<'a> MarkdownLines<'a> {
    /// Creates the iterator. A byte order mark is skipped.
    pub fn new(bytes: &'a [u8]) -> Self {
        let at = if bytes.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
        Self { bytes, at, number: 0 }
    }

    /// Returns the number of the last line returned; 0 before the first.
    pub const fn number(&self) -> u32 {
        self.number
    }
}

impl Iterator for MarkdownLines<'_> {
    type Item = MarkdownLine;

    fn next(&mut self) -> Option<MarkdownLine> {
        let rest = self.bytes.get(self.at..).filter(|rest| !rest.is_empty())?;
        let length = rest.iter().position(|&byte| byte == b'\n');
        let start = self.at;
        let mut end = start + length.unwrap_or(rest.len());
        self.at = end + usize::from(length.is_some());
        self.number = self.number.saturating_add(1);
        if end > start && self.bytes[end - 1] == b'\r' {
            end -= 1;
        }
        Some(MarkdownLine {
            number: self.number,
            start,
            end,
        })
    }
}

/// Returns true for white space in markdown.
pub const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | 0x0b | 0x0c)
}

/// Removes white space at both ends.
pub fn trim(mut text: &[u8]) -> &[u8] {
    while let [first, rest @ ..] = text
        && is_space(*first)
    {
        text = rest;
    }
    while let [rest @ .., last] = text
        && is_space(*last)
    {
        text = rest;
    }
    text
}

/// Returns the number of columns of indentation; a tab advances to the next multiple of 4.
pub fn indent(text: &[u8]) -> usize {
    let mut columns = 0;
    for byte in text {
        match byte {
            b' ' => columns += 1,
            b'\t' => columns = (columns / 4 + 1) * 4,
            _ => break,
        }
    }
    columns
}

/// Parses an ATX heading of a trimmed line into level (1 to 6) and text.
pub fn atx_heading(text: &[u8]) -> Option<(u8, &[u8])> {
    let level = text.iter().take_while(|&&byte| byte == b'#').count();
    let rest = &text[level..];
    if !(1..=6).contains(&level) || rest.first().is_some_and(|&byte| !is_space(byte)) {
        return None;
    }
    let title = trim(rest);
    let closed = title.len() - title.iter().rev().take_while(|&&byte| byte == b'#').count();
    let title = match closed.checked_sub(1) {
        None => &title[..0],
        Some(last) if closed < title.len() && is_space(title[last]) => trim(&title[..closed]),
        Some(_) => title,
    };
    Some((u8::try_from(level).unwrap_or(6), title))
}

/// Returns the level of the setext heading that this trimmed line underlines.
pub fn setext_level(text: &[u8]) -> Option<u8> {
    let all = |mark: u8| !text.is_empty() && text.iter().all(|&byte| byte == mark);
    if all(b'=') {
        Some(1)
    } else {
        (text.len() >= 2 && all(b'-')).then_some(2)
    }
}

/// Returns true for a horizontal rule: three or more `-`, `*` or `_`.
pub fn is_rule(text: &[u8]) -> bool {
    let Some(&mark) = text.first() else { return false };
    matches!(mark, b'-' | b'*' | b'_')
        && text.iter().all(|&byte| byte == mark || is_space(byte))
        && text.iter().filter(|&&byte| byte == mark).count() >= 3
}

/// Code fence: its character and length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fence {
    /// Character of the fence: `` ` `` or `~`.
    pub mark: u8,
    /// Number of characters of the opening fence.
    pub count: usize,
}

impl Fence {
    /// Parses the code fence that this trimmed line opens.
    pub fn parse(text: &[u8]) -> Option<Self> {
        let mark = *text.first().filter(|byte| matches!(byte, b'`' | b'~'))?;
        let count = text.iter().take_while(|&&byte| byte == mark).count();
        // A backtick in the info string means inline code.
        let info_fits = mark == b'~' || !text[count..].contains(&b'`');
        (count >= 3 && info_fits).then_some(Self { mark, count })
    }

    /// Returns true if this trimmed line closes the fence.
    pub fn is_closed_by(self, text: &[u8]) -> bool {
        text.len() >= self.count && text.iter().all(|&byte| byte == self.mark)
    }
}

/// Returns the length in bytes of the list marker of a trimmed line, with the space after it.
pub fn list_marker(text: &[u8]) -> Option<usize> {
    let marker = match text.first()? {
        b'-' | b'*' | b'+' => 1,
        byte if byte.is_ascii_digit() => {
            let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
            if digits > 9 || !matches!(text.get(digits), Some(b'.' | b')')) {
                return None;
            }
            digits + 1
        }
        _ => return None,
    };
    match text.get(marker) {
        None => Some(marker),
        Some(&byte) if is_space(byte) => Some(marker + 1),
        Some(_) => None,
    }
}

/// Returns true for the delimiter row below a table header.
pub fn is_table_delimiter(text: &[u8]) -> bool {
    text.contains(&b'-')
        && text.contains(&b'|')
        && text
            .iter()
            .all(|&byte| matches!(byte, b'-' | b'|' | b':') || is_space(byte))
}

/// Returns true for a text that consists only of embedded files, such as `![[photo.png]]` or `![](photo.png)`. An image
/// with a caption of several words is a text.
pub(super) fn is_only_embeds(text: &[u8]) -> bool {
    let mut rest = trim(&text[list_marker(text).unwrap_or(0)..]);
    let is_any = !rest.is_empty();
    while let Some(embed) = rest.strip_prefix(b"!") {
        let (open, close): (_, &[u8]) = if embed.starts_with(b"[[") {
            (2, b"]]")
        } else {
            (1, b"](")
        };
        let Some(end) = embed.windows(2).position(|pair| pair == close) else {
            return false;
        };
        let is_file = open == 2;
        let has_caption = || trim(embed.get(open..end).unwrap_or_default()).contains(&b' ');
        if !embed.starts_with(b"[") || embed[..end].contains(&b'\n') || !is_file && has_caption() {
            return false;
        }
        let after = &embed[end + 2..];
        let length = match is_file {
            true => 0,
            false => match after.iter().position(|&byte| byte == b')') {
                Some(at) => at + 1,
                None => return false,
            },
        };
        rest = trim(&after[length..]);
    }
    is_any && rest.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_at_lf_and_crlf() {
        let bytes = b"\xEF\xBB\xBFone\r\ntwo\n\nlast\r";
        let lines: Vec<&[u8]> = MarkdownLines::new(bytes)
            .map(|line| &bytes[line.start..line.end])
            .collect();
        assert_eq!(lines, [&b"one"[..], b"two", b"", b"last"]);
        assert_eq!(MarkdownLines::new(b"").count(), 0);
        assert_eq!(MarkdownLines::new(b"\n").count(), 1);
    }

    #[test]
    fn headings_are_recognised() {
        assert_eq!(atx_heading(b"# One"), Some((1, &b"One"[..])));
        assert_eq!(atx_heading(b"###### Six ##"), Some((6, &b"Six"[..])));
        assert_eq!(atx_heading(b"## C#"), Some((2, &b"C#"[..])));
        assert_eq!(atx_heading(b"#"), Some((1, &b""[..])));
        assert_eq!(atx_heading(b"## ##"), Some((2, &b""[..])));
        assert_eq!(atx_heading(b"#tag"), None);
        assert_eq!(atx_heading(b"####### seven"), None);
        assert_eq!(setext_level(b"==="), Some(1));
        assert_eq!(setext_level(b"--"), Some(2));
        assert_eq!(setext_level(b"-"), None);
        assert_eq!(setext_level(b"- -"), None);
    }

    #[test]
    fn fences_rules_and_markers_are_recognised() {
        assert!(Fence::parse(b"```rust").is_some_and(|fence| fence.is_closed_by(b"````")));
        assert!(Fence::parse(b"~~~~").is_some_and(|fence| !fence.is_closed_by(b"~~~")));
        assert_eq!(Fence::parse(b"```inline```"), None);
        assert!(is_rule(b"- - -") && is_rule(b"***") && !is_rule(b"--") && !is_rule(b"- -x"));
        assert_eq!(list_marker(b"- x"), Some(2));
        assert_eq!(list_marker(b"12. x"), Some(4));
        assert_eq!(list_marker(b"1) x"), Some(3));
        assert_eq!(list_marker(b"-x"), None);
        assert_eq!(list_marker(b"1.5 x"), None);
        assert_eq!(list_marker(b"**bold**"), None);
        assert_eq!(list_marker(b"2026"), None);
        assert!(is_table_delimiter(b"|---|:-:|") && !is_table_delimiter(b"---"));
        assert_eq!(indent(b" \tx"), 4);
    }
}
