//! Line splitter of the index file: headings, fences and generated blocks.

use super::{IndexDiagnostic, IndexProblem};
use hippo_text::chunk::line::{self, Fence, atx_heading, indent, trim};
use hippo_text::own_block::{BEGIN, END};

/// Line of the file with its byte range.
#[derive(Debug, Clone, Copy)]
pub(super) struct IndexLine {
    /// Line number, counted from 1.
    pub number: u32,
    /// Offset of its first byte.
    pub start: usize,
    /// Offset just past its last byte, excluding the line ending.
    pub end: usize,
    /// Offset of the next line.
    pub next: usize,
    /// Kind of line.
    pub shape: LineShape,
}

/// Kind of a line, independent of the lines around it except for fences and generated blocks.
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

/// Splits the text into lines, numbered from `first`.
///
/// An unclosed fence or generated block is read as text. Otherwise, it would hide the entries below it, which would
/// then count as removed.
pub(super) fn read_lines(text: &[u8], first: u32, diagnostics: &mut Vec<IndexDiagnostic>) -> Vec<IndexLine> {
    let mut lines: Vec<IndexLine> = Vec::new();
    for line in line::MarkdownLines::new(text) {
        if let Some(before) = lines.last_mut() {
            before.next = line.start;
        }
        lines.push(IndexLine {
            number: first.saturating_add(line.number - 1),
            start: line.start,
            end: line.end,
            next: text.len(),
            shape: LineShape::Plain,
        });
    }
    let fences = closed_fences(text, &lines);
    let blocks = closed_blocks(text, &lines);
    let (mut fence, mut block): (Option<Fence>, bool) = (None, false);
    for (at, line) in lines.iter_mut().enumerate() {
        let content = &text[line.start..line.end];
        let trimmed = trim(content);
        let mut problem = None;
        line.shape = if let Some(open) = fence {
            if open.is_closed_by(trimmed) {
                fence = None;
            }
            LineShape::Fenced
        } else if block {
            block = trimmed != END.as_bytes();
            LineShape::Generated(false)
        } else if let Some(open) = Fence::parse(trimmed) {
            if fences[at] {
                fence = Some(open);
                LineShape::Fenced
            } else {
                problem = Some(IndexProblem::OpenFence);
                LineShape::Plain
            }
        } else if begins_block(trimmed) {
            block = blocks[at];
            if block {
                LineShape::Generated(true)
            } else {
                problem = Some(IndexProblem::OpenGenerated);
                LineShape::Plain
            }
        } else {
            match atx_heading(trimmed) {
                Some((level, _)) if indent(content) < 4 => LineShape::Heading(level),
                _ => LineShape::Plain,
            }
        };
        diagnostics.extend(problem.map(|problem| IndexDiagnostic {
            line: line.number,
            problem,
        }));
    }
    lines
}

/// Returns `true` if a trimmed line starts a generated block.
fn begins_block(trimmed: &[u8]) -> bool {
    trimmed.starts_with(BEGIN.as_bytes()) && trimmed.ends_with(b"-->")
}

/// Returns for each line `true` if a fence that opens on it is closed further down.
fn closed_fences(text: &[u8], lines: &[IndexLine]) -> Vec<bool> {
    let mut closed = vec![false; lines.len()];
    let (mut backticks, mut tildes) = (0, 0);
    for (at, line) in lines.iter().enumerate().rev() {
        let trimmed = trim(&text[line.start..line.end]);
        let Some(fence) = Fence::parse(trimmed) else {
            continue;
        };
        let longest = if fence.mark == b'`' {
            &mut backticks
        } else {
            &mut tildes
        };
        closed[at] = *longest >= fence.count;
        if fence.count == trimmed.len() {
            *longest = (*longest).max(fence.count);
        }
    }
    closed
}

/// Returns for each line `true` if a generated block that starts on it ends before another block or an `hx`
/// comment starts.
fn closed_blocks(text: &[u8], lines: &[IndexLine]) -> Vec<bool> {
    let mut closed = vec![false; lines.len()];
    let mut ends = false;
    for (at, line) in lines.iter().enumerate().rev() {
        let trimmed = trim(&text[line.start..line.end]);
        closed[at] = ends;
        if trimmed == END.as_bytes() {
            ends = true;
        } else if begins_block(trimmed) || super::text::find_bytes(trimmed, b"<!-- hx:").is_some() {
            ends = false;
        }
    }
    closed
}
