//! Line splitter of the index file: headings, fences and generated blocks.

use super::text::find_bytes;
use hippo_text::chunk::line::{self, Fence, atx_heading, indent, trim};
use hippo_text::own_block::{BEGIN, END};

/// Line of the file with its byte range.
#[derive(Debug, Clone, Copy)]
pub(super) struct IndexLine {
    /// Offset of its first byte.
    pub start: usize,
    /// Offset just past its last byte, excluding the line ending.
    pub end: usize,
    /// Offset of the next line.
    pub next: usize,
    /// Kind of line.
    pub shape: LineShape,
}

/// Kind of a line. Only fences and generated blocks depend on other lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineShape {
    /// Heading of this level.
    Heading(u8),
    /// Line of a fenced block.
    Fenced,
    /// Line of a generated block; `true` for its first line.
    Generated(bool),
    /// Any other line.
    Plain,
}

/// First line of an empty generated block, which only separates the text above and below it.
pub(super) const WALL: &str = "<!-- hippod: nothing -->";

/// Splits the text into lines. Returns `true` if a fence or a generated block is not closed.
///
/// An unclosed fence or generated block is read as text. Otherwise, the entries below would be hidden and would count
/// as removed.
pub(super) fn read_lines(text: &[u8]) -> (Vec<IndexLine>, bool) {
    let lines = line::MarkdownLines::new(text).map(|line| IndexLine {
        start: line.start,
        end: line.end,
        next: text.len(),
        shape: LineShape::Plain,
    });
    let mut lines: Vec<IndexLine> = lines.collect();
    for at in 1..lines.len() {
        lines[at - 1].next = lines[at].start;
    }
    let mut has_open_marks = false;
    let fences = closed_fences(text, &lines);
    let blocks = closed_blocks(text, &lines);
    let (mut fence, mut block): (Option<Fence>, bool) = (None, false);
    // Last line of the comment that is open. No fence starts inside a comment.
    let mut commented: Option<usize> = None;
    for at in 0..lines.len() {
        let inside = commented.is_some_and(|end| at <= end);
        let line = &mut lines[at];
        let content = &text[line.start..line.end];
        let trimmed = trim(content);
        line.shape = if let Some(open) = fence {
            if open.is_closed_by(trimmed) {
                fence = None;
            }
            LineShape::Fenced
        } else if block {
            block = trimmed != END.as_bytes();
            LineShape::Generated(false)
        } else if let Some(open) = Fence::parse(trimmed).filter(|_| !inside) {
            fence = Some(open).filter(|_| fences[at]);
            has_open_marks |= fence.is_none();
            fence.map_or(LineShape::Plain, |_| LineShape::Fenced)
        } else if begins_block(trimmed) {
            block = blocks[at];
            has_open_marks |= !block;
            match block {
                true => LineShape::Generated(true),
                false => LineShape::Plain,
            }
        } else {
            match atx_heading(trimmed) {
                Some((level, _)) if indent(content) < 4 => LineShape::Heading(level),
                _ => LineShape::Plain,
            }
        };
        let is_text = matches!(line.shape, LineShape::Plain | LineShape::Heading(_));
        if is_text && commented.is_none_or(|end| at >= end) {
            commented = find_comment_end(text, &lines[at..]).map(|more| at + more);
        }
    }
    (lines, has_open_marks)
}

/// Returns `true` if a trimmed line starts a generated block.
fn begins_block(trimmed: &[u8]) -> bool {
    trimmed.starts_with(BEGIN.as_bytes()) && trimmed.ends_with(b"-->")
}

/// If the first of these lines leaves a comment open, returns the index of the line that ends the comment. Returns
/// `None` if a heading or another comment starts first.
fn find_comment_end(text: &[u8], lines: &[IndexLine]) -> Option<usize> {
    let content = |line: &IndexLine| &text[line.start..line.end];
    let first = content(lines.first()?);
    let open = first.windows(4).rposition(|part| part == b"<!--")?;
    if find_bytes(&first[open..], b"-->").is_some() {
        return None;
    }
    for (at, line) in lines.iter().enumerate().skip(1) {
        let line = content(line);
        let end = find_bytes(line, b"-->");
        let start = find_bytes(line, b"<!--");
        if start.is_some_and(|start| end.is_none_or(|end| start < end))
            || (atx_heading(trim(line)).is_some() && indent(line) < 4)
        {
            return None;
        }
        if end.is_some() {
            return Some(at);
        }
    }
    None
}

/// Returns for each line `true` if the line opens a fence that a later line closes.
fn closed_fences(text: &[u8], lines: &[IndexLine]) -> Vec<bool> {
    let mut closed = vec![false; lines.len()];
    // Lengths of the longest closing fences below the current line: one length for backticks, one for tildes.
    let mut longest = [0, 0];
    for (at, line) in lines.iter().enumerate().rev() {
        let trimmed = trim(&text[line.start..line.end]);
        let Some(fence) = Fence::parse(trimmed) else {
            continue;
        };
        let longest = &mut longest[usize::from(fence.mark == b'~')];
        closed[at] = *longest >= fence.count;
        if fence.count == trimmed.len() {
            *longest = (*longest).max(fence.count);
        }
    }
    closed
}

/// Returns for each line `true` if a generated block that starts on this line would end before another block or an `hx`
/// comment starts.
fn closed_blocks(text: &[u8], lines: &[IndexLine]) -> Vec<bool> {
    let mut closed = vec![false; lines.len()];
    let mut ends = false;
    for (at, line) in lines.iter().enumerate().rev() {
        let trimmed = trim(&text[line.start..line.end]);
        closed[at] = ends;
        if trimmed == END.as_bytes() {
            ends = true;
        } else if begins_block(trimmed) || find_bytes(trimmed, b"<!-- hx:").is_some() {
            ends = false;
        }
    }
    closed
}
