//! Which lines of an index file are headings, and which are to be left alone?

use super::{Diagnostic, Problem};
use crate::chunk::line::{self, Fence, atx_heading, indent, trim};

/// A line of the file with its line end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line {
    /// Counts from 1.
    pub number: u32,
    /// Offset of its first byte.
    pub start: usize,
    /// Offset after its last byte before the line end.
    pub end: usize,
    /// Offset of the next line.
    pub next: usize,
    /// What it is.
    pub shape: Shape,
}

/// What a line is, as far as it can be told without its neighbours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// A heading of this level.
    Heading(u8),
    /// In a fenced block.
    Fenced,
    /// In a block that hippod makes; `true` on its first line.
    Generated(bool),
    /// Any other.
    Plain,
}

/// First line of a generated block: this, its name, ` -->`.
pub(crate) const BEGIN: &str = "<!-- hippod: ";
/// First line of a generated block that is empty, and only parts what stands above and below it.
pub(super) const WALL: &str = "<!-- hippod: nothing -->";
/// Last line of a generated block.
pub(crate) const END: &str = "<!-- /hippod -->";

/// All lines, the first with this number.
///
/// A fence or a generated block that is not closed is none: it must not hide the entries below it, which would then
/// look as if somebody had removed them.
pub(super) fn read(text: &[u8], first: u32, diagnostics: &mut Vec<Diagnostic>) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    for line in line::MarkdownLines::new(text) {
        if let Some(before) = lines.last_mut() {
            before.next = line.start;
        }
        lines.push(Line {
            number: first.saturating_add(line.number - 1),
            start: line.start,
            end: line.end,
            next: text.len(),
            shape: Shape::Plain,
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
            Shape::Fenced
        } else if block {
            block = trimmed != END.as_bytes();
            Shape::Generated(false)
        } else if let Some(open) = Fence::parse(trimmed) {
            if fences[at] {
                fence = Some(open);
                Shape::Fenced
            } else {
                problem = Some(Problem::OpenFence);
                Shape::Plain
            }
        } else if begins(trimmed) {
            block = blocks[at];
            if block {
                Shape::Generated(true)
            } else {
                problem = Some(Problem::OpenGenerated);
                Shape::Plain
            }
        } else {
            match atx_heading(trimmed) {
                Some((level, _)) if indent(content) < 4 => Shape::Heading(level),
                _ => Shape::Plain,
            }
        };
        diagnostics.extend(problem.map(|problem| Diagnostic {
            line: line.number,
            problem,
        }));
    }
    lines
}

/// Whether a trimmed line begins a generated block.
fn begins(trimmed: &[u8]) -> bool {
    trimmed.starts_with(BEGIN.as_bytes()) && trimmed.ends_with(b"-->")
}

/// For each line, whether a fence that it opens is closed further down.
fn closed_fences(text: &[u8], lines: &[Line]) -> Vec<bool> {
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

/// For each line, whether a generated block that it begins ends before another one, or an entry's comment, begins.
fn closed_blocks(text: &[u8], lines: &[Line]) -> Vec<bool> {
    let mut closed = vec![false; lines.len()];
    let mut ends = false;
    for (at, line) in lines.iter().enumerate().rev() {
        let trimmed = trim(&text[line.start..line.end]);
        closed[at] = ends;
        if trimmed == END.as_bytes() {
            ends = true;
        } else if begins(trimmed) || super::text::find(trimmed, b"<!-- hx:").is_some() {
            ends = false;
        }
    }
    closed
}
