//! Skipping of comments and of blocks that hippod generated.

use super::MarkdownParser;
use super::{MarkdownLine, indent, trim};
use crate::own_block;

/// Maximum number of fences for whose end the parser searches, because each search may read the whole file.
const FENCES: u8 = 32;

impl MarkdownParser<'_> {
    /// Skips a block that begins on this line and in which hippod repeats content of other files. Returns false if
    /// there is no such block. A block inside a closed code fence is an example and is not skipped. An unclosed block
    /// is not skipped either.
    pub(super) fn skip_generated_block(&mut self, line: MarkdownLine, text: &[u8]) -> bool {
        if !own_block::is_copy(text) || self.is_in_closed_fence() {
            return false;
        }
        let mut ahead = self.lines.clone();
        let mut below = ahead.by_ref().map(|next| trim(&self.bytes[next.start..next.end]));
        let next_mark = below.find(|next| own_block::is_end(next) || own_block::is_begin(next));
        if !next_mark.is_some_and(own_block::is_end) {
            return false;
        }
        self.close_block();
        self.chunks.separate();
        self.fence = None;
        self.fence_ends = None;
        self.lines = ahead;
        let next = self.lines.clone().next();
        let end = next.map_or(self.bytes.len(), |next| next.start);
        self.copies.push(line.start..end);
        true
    }

    /// Returns true if there is an open fence that is closed later.
    fn is_in_closed_fence(&mut self) -> bool {
        let Some(fence) = self.fence else { return false };
        if let Some(ends) = self.fence_ends {
            return ends;
        }
        if self.fences_followed >= FENCES {
            return true;
        }
        self.fences_followed += 1;
        let mut ahead = self.lines.clone();
        let ends = ahead.any(|line| fence.is_closed_by(trim(&self.bytes[line.start..line.end])));
        self.fence_ends = Some(ends);
        ends
    }

    /// Skips a comment that begins on this line and occupies whole lines. Returns false if there is no such comment.
    pub(super) fn skip_comment(&mut self, line: MarkdownLine) -> bool {
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
            self.close_block();
            while last.end < end {
                match self.lines.next() {
                    Some(next) => last = next,
                    None => return true,
                }
            }
        }
        let rest = trim(&self.bytes[end..last.end]);
        if rest.is_empty() {
            self.close_block();
            return true;
        }
        if last.number == line.number {
            return false;
        }
        // Text after a multi-line comment is kept, together with the end of the comment.
        let raw = &self.bytes[last.start..last.end];
        self.read_text(last, indent(raw), trim(raw));
        true
    }
}
