//! Where does one line of the socket end and the next begin?

use std::mem;
use std::ops::Range;

/// Most bytes that one line may have, without its line feed: 16 MiB.
pub const MAX_LINE_BYTES: usize = 16 * 1024 * 1024;

/// A line of this many bytes is handed out without a copy.
const LARGE: usize = 64 * 1024;

/// What the reader found in the bytes pushed so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Frame {
    /// One line, without its line feed (and without a carriage return before it); never blank.
    Line(Vec<u8>),
    /// A line passed the limit. It is said once, as soon as it is known; the rest of the line is thrown away.
    TooLarge {
        /// The limit that was passed, in bytes.
        limit: usize,
    },
}

/// Cuts a stream of bytes into lines. It does no I/O itself: blocking and asynchronous code push what they read.
///
/// It holds at most one line of the limit plus what was pushed last, and no memory of a large line that is complete.
#[derive(Debug)]
pub struct FrameReader {
    limit: usize,
    buffer: Vec<u8>,
    /// Start of the current line in `buffer`.
    start: usize,
    /// Everything before this offset is known to hold no line feed of the current line.
    scanned: usize,
    /// Whether the rest of the current line is being thrown away.
    discarding: bool,
}

impl Default for FrameReader {
    fn default() -> Self {
        Self::new()
    }
}

impl FrameReader {
    /// A reader with the protocol's limit of [`MAX_LINE_BYTES`].
    pub fn new() -> Self {
        Self::with_limit(MAX_LINE_BYTES)
    }

    /// A reader with another limit, in bytes.
    pub fn with_limit(limit: usize) -> Self {
        Self {
            limit,
            buffer: Vec::new(),
            start: 0,
            scanned: 0,
            discarding: false,
        }
    }

    /// Takes bytes as they come from the stream. Call [`FrameReader::next_frame`] until it answers `None`.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.start > 0 {
            self.buffer.drain(..self.start);
            self.scanned -= self.start;
            self.start = 0;
        }
        self.buffer.extend_from_slice(bytes);
    }

    /// The next complete line or refusal, or `None` until more bytes are pushed.
    pub fn next_frame(&mut self) -> Option<Frame> {
        loop {
            let Some(at) = self.buffer[self.scanned..].iter().position(|byte| *byte == b'\n') else {
                return self.unfinished();
            };
            let end = self.scanned + at;
            let line = self.start..end;
            self.start = end + 1;
            self.scanned = end + 1;
            if mem::take(&mut self.discarding) {
                continue;
            }
            if line.len() > self.limit {
                return Some(Frame::TooLarge { limit: self.limit });
            }
            let mut line = self.take(line);
            line.pop_if(|byte| *byte == b'\r');
            if !line.iter().all(u8::is_ascii_whitespace) {
                return Some(Frame::Line(line));
            }
        }
    }

    /// Whether the stream would end within a line if it ended now.
    pub fn has_partial_line(&self) -> bool {
        self.discarding || self.start < self.buffer.len()
    }

    /// Bytes held of the line that is not complete.
    pub fn partial_len(&self) -> usize {
        self.buffer.len() - self.start
    }

    /// Throws away the line that is not complete, and the rest of it once it comes.
    pub fn discard_line(&mut self) {
        self.discarding |= self.has_partial_line();
        self.buffer = Vec::new();
        self.start = 0;
        self.scanned = 0;
    }

    /// A complete line. A large one takes the buffer with it, and what follows gets a new one.
    fn take(&mut self, line: Range<usize>) -> Vec<u8> {
        if line.len() < LARGE || line.start > 0 {
            return self.buffer[line].to_vec();
        }
        let rest = self.buffer.split_off(self.start);
        let mut whole = mem::replace(&mut self.buffer, rest);
        self.start = 0;
        self.scanned = 0;
        whole.truncate(line.end);
        whole
    }

    fn unfinished(&mut self) -> Option<Frame> {
        let too_large = !self.discarding && self.partial_len() > self.limit;
        if too_large || self.discarding {
            // Frees the memory of a huge line at once.
            self.discard_line();
        }
        self.scanned = self.buffer.len();
        too_large.then_some(Frame::TooLarge { limit: self.limit })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn frames(reader: &mut FrameReader) -> Vec<Frame> {
        std::iter::from_fn(|| reader.next_frame()).collect()
    }

    fn line(text: &str) -> Frame {
        Frame::Line(text.as_bytes().to_vec())
    }

    #[test]
    fn lines_are_cut_whatever_the_pieces() {
        let mut reader = FrameReader::new();
        reader.push(b"{\"a\"");
        assert_eq!(frames(&mut reader), []);
        assert!(reader.has_partial_line());
        reader.push(b":1}\r\n\n  \n{}\n{\"b");
        assert_eq!(frames(&mut reader), [line("{\"a\":1}"), line("{}")]);
        reader.push(b"\":2}\n");
        assert_eq!(frames(&mut reader), [line("{\"b\":2}")]);
        assert!(!reader.has_partial_line());
    }

    #[test]
    fn a_long_line_is_refused_once_and_the_next_is_read() {
        let mut reader = FrameReader::with_limit(4);
        reader.push(b"12345");
        assert_eq!(frames(&mut reader), [Frame::TooLarge { limit: 4 }]);
        reader.push(b"678");
        assert_eq!(frames(&mut reader), []);
        assert!(reader.has_partial_line());
        reader.push(b"9\n1234\n12345\nok\n");
        assert_eq!(
            frames(&mut reader),
            [line("1234"), Frame::TooLarge { limit: 4 }, line("ok")]
        );
    }

    #[test]
    fn a_refused_line_keeps_no_memory() {
        let mut reader = FrameReader::with_limit(10);
        for _ in 0..100 {
            reader.push(&[b'x'; 1000]);
            frames(&mut reader);
            assert_eq!(reader.buffer.capacity(), 0);
        }
    }

    #[test]
    fn a_large_line_that_is_complete_keeps_no_memory() {
        let mut reader = FrameReader::new();
        let large = vec![b'x'; LARGE];
        reader.push(&[&large[..], b"\r\n{}\nab"].concat());
        assert_eq!(frames(&mut reader), [Frame::Line(large), line("{}")]);
        assert!(reader.buffer.capacity() < 100, "{}", reader.buffer.capacity());
        assert_eq!(reader.partial_len(), 2);
        reader.push(b"c\n");
        assert_eq!(frames(&mut reader), [line("abc")]);
    }

    #[test]
    fn a_discarded_line_is_thrown_away_to_its_end() {
        let mut reader = FrameReader::new();
        reader.push(b"first\nhalf");
        assert_eq!(frames(&mut reader), [line("first")]);
        reader.discard_line();
        reader.push(b" of a line\nsecond\n");
        assert_eq!(frames(&mut reader), [line("second")]);
        reader.discard_line();
        reader.push(b"third\n");
        assert_eq!(frames(&mut reader), [line("third")]);
    }

    proptest! {
        #[test]
        fn the_cut_does_not_depend_on_the_pieces(
            bytes in proptest::collection::vec(prop_oneof![Just(b'\n'), Just(b'\r'), Just(b' '), any::<u8>()], 0..200),
            cuts in proptest::collection::vec(0usize..200, 0..8),
            limit in 1usize..20,
        ) {
            let mut whole = FrameReader::with_limit(limit);
            whole.push(&bytes);
            let expected = frames(&mut whole);

            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            let mut pieces = FrameReader::with_limit(limit);
            let mut found = Vec::new();
            for pair in cuts.windows(2) {
                pieces.push(&bytes[pair[0]..pair[1]]);
                found.extend(frames(&mut pieces));
            }
            prop_assert_eq!(found, expected);
            prop_assert_eq!(pieces.has_partial_line(), whole.has_partial_line());
        }
    }
}
