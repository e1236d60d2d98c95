//! Which lines are no text: comments, and what hippod wrote that stands elsewhere as well?

use super::Parser;
use super::{Line, indent, trim};
use crate::own_block;

/// Fences with a block in them whose ends are looked for: more would make the time of some files grow with its square.
const FENCES: u8 = 32;

impl Parser<'_> {
    /// Skips a block of hippod that stands elsewhere as well; whether there was one. One in fenced code is an example, unless the fence
    /// never ends, and one that is not closed hides nothing.
    pub(super) fn skip_own(&mut self, line: Line, text: &[u8]) -> bool {
        if !own_block::is_copy(text) || self.in_code() {
            return false;
        }
        let mut ahead = self.lines.clone();
        let closed = ahead.by_ref().find_map(|next| {
            let next = trim(&self.bytes[next.start..next.end]);
            own_block::is_end(next)
                .then_some(true)
                .or_else(|| own_block::is_begin(next).then_some(false))
        });
        if closed != Some(true) {
            return false;
        }
        self.close();
        self.chunks.part();
        self.fence = None;
        self.fence_ends = None;
        self.lines = ahead;
        let next = self
            .lines
            .clone()
            .next()
            .map_or(self.bytes.len(), |next| next.start);
        self.copies.push(line.start..next);
        true
    }

    /// Whether a fence is open that is closed further below.
    fn in_code(&mut self) -> bool {
        let Some(fence) = self.fence else { return false };
        if let Some(ends) = self.fence_ends {
            return ends;
        }
        if self.fences_followed >= FENCES {
            return true;
        }
        self.fences_followed += 1;
        let mut ahead = self.lines.clone();
        let ends = ahead.any(|line| fence.closed_by(trim(&self.bytes[line.start..line.end])));
        self.fence_ends = Some(ends);
        ends
    }

    /// Skips a comment that has its lines for itself; whether there was one.
    pub(super) fn skip_comment(&mut self, line: Line) -> bool {
        if self.no_comment_end {
            return false;
        }
        let from = self.text_start(line) + 4;
        let length = self.bytes[from..].windows(3).position(|window| window == b"-->");
        let Some(end) = length.map(|length| from + length + 3) else {
            self.no_comment_end = true;
            return false;
        };
        let mut last = line;
        if end > line.end {
            self.close();
            while last.end < end {
                match self.lines.next() {
                    Some(next) => last = next,
                    None => return true,
                }
            }
        }
        let rest = trim(&self.bytes[end..last.end]);
        if rest.is_empty() {
            self.close();
            return true;
        }
        if last.number == line.number {
            return false;
        }
        // Text behind a comment of several lines is text, with the end of the comment in front of it.
        let raw = &self.bytes[last.start..last.end];
        self.text(last, indent(raw), trim(raw));
        true
    }
}
