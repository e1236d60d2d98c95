//! Splitting of a byte stream into lines.

use std::mem;
use std::ops::Range;

/// Maximum length of a line without its line feed: 16 MiB.
pub const MAX_LINE_BYTES: usize = 16 * 1024 * 1024;

/// Minimum length in bytes of the lines that are returned without a copy.
const LARGE: usize = 64 * 1024;

/// The result of reading a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Frame {
    /// One line without its line feed and a preceding carriage return. Blank lines are skipped.
    Line(Vec<u8>),
    /// A line exceeded the limit. The error is returned once, as soon as the limit is exceeded. The rest of the line
    /// is discarded.
    TooLarge {
        /// The limit in bytes.
        limit: usize,
    },
}

/// Splitter of a byte stream into lines. It does no I/O: blocking and asynchronous callers read the bytes and push
/// them.
///
/// It buffers at most one line of the maximum length plus the bytes pushed last. After a large line is complete, it
/// releases the memory of that line.
#[derive(Debug)]
pub struct FrameReader {
    limit: usize,
    buffer: Vec<u8>,
    /// Start of the current line in `buffer`.
    start: usize,
    /// Offset in `buffer` before which the current line contains no line feed.
    scanned: usize,
    /// True if the rest of the current line is discarded.
    discarding: bool,
}

impl Default for FrameReader {
    fn default() -> Self {
        Self::new()
    }
}

impl FrameReader {
    /// Creates a reader with the limit of the protocol, [`MAX_LINE_BYTES`].
    pub fn new() -> Self {
        Self::with_limit(MAX_LINE_BYTES)
    }

    /// Creates a reader with another limit in bytes.
    pub fn with_limit(limit: usize) -> Self {
        Self {
            limit,
            buffer: Vec::new(),
            start: 0,
            scanned: 0,
            discarding: false,
        }
    }

    /// Adds bytes of the stream. Call [`FrameReader::next_frame`] afterwards until it returns `None`.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.start > 0 {
            self.buffer.drain(..self.start);
            self.scanned -= self.start;
            self.start = 0;
        }
        self.buffer.extend_from_slice(bytes);
    }

    /// Returns the next complete line or error, or `None` if more bytes are needed.
    pub fn next_frame(&mut self) -> Option<Frame> {
        loop {
            let Some(at) = self.buffer[self.scanned..].iter().position(|byte| *byte == b'\n') else {
                return self.check_partial_line();
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
            let mut line = self.take_line(line);
            line.pop_if(|byte| *byte == b'\r');
            if !line.iter().all(u8::is_ascii_whitespace) {
                return Some(Frame::Line(line));
            }
        }
    }

    /// Returns whether the buffer ends within a line.
    pub fn has_partial_line(&self) -> bool {
        self.discarding || self.start < self.buffer.len()
    }

    /// Returns the number of buffered bytes of the incomplete line.
    pub fn partial_len(&self) -> usize {
        self.buffer.len() - self.start
    }

    /// Discards the incomplete line. The rest of the line is discarded when it arrives.
    pub fn discard_line(&mut self) {
        self.discarding |= self.has_partial_line();
        self.buffer = Vec::new();
        self.start = 0;
        self.scanned = 0;
    }

    /// Returns a complete line. A large line takes over the buffer, and the bytes after it move into a new buffer.
    fn take_line(&mut self, line: Range<usize>) -> Vec<u8> {
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

    fn check_partial_line(&mut self) -> Option<Frame> {
        let too_large = !self.discarding && self.partial_len() > self.limit;
        if too_large || self.discarding {
            // Free the memory of a huge line at once.
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
    fn lines_are_split_independently_of_the_pushed_pieces() {
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
    fn a_long_line_is_refused_once_and_the_next_line_is_read() {
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
    fn a_large_complete_line_keeps_no_memory() {
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
    fn discarding_a_line_skips_to_its_end() {
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
        fn frames_do_not_depend_on_the_pushed_pieces(
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
