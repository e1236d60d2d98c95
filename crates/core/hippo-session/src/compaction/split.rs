//! Splitting of transcript bytes into records.
//!
//! A transcript is either one JSON value per line, or one JSON document over several lines. The splitter holds at most
//! one line in RAM. It skips and reports a line longer than [`LONGEST`]. It holds a document as a whole.

use crate::json::Json;

/// Maximum length of a line in bytes.
pub const LONGEST: usize = 16 << 20;
/// Maximum length of a document in bytes.
const DOCUMENT: usize = 64 << 20;
/// Names of the JSON fields that contain a list of messages.
pub const LISTS: [&str; 5] = ["messages", "history", "conversation", "transcript", "input"];
/// UTF-8 byte order mark.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// Part of a transcript, as the splitter returns it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TranscriptPiece<'a> {
    /// A line, after its number. The first line has the number 1.
    Line(u64, &'a [u8]),
    /// A JSON document.
    Document(&'a [u8]),
    /// A line or document that was skipped because it is too long: its line number and the reason.
    TooLong(u64, &'static str),
}

/// Splitter of bytes into records.
#[derive(Debug, Default)]
pub struct Splitter {
    shape: InputShape,
    /// The last, incomplete line. If the input is a document, or its shape is not known yet, all bytes so far.
    held: Vec<u8>,
    /// Number of bytes that were read when the shape was last checked, without a result.
    probed: usize,
    /// Number of complete lines so far.
    lines: u64,
    /// True while the remaining bytes of a line or document that is too long are skipped.
    skipping: bool,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum InputShape {
    #[default]
    Unknown,
    Lines,
    Document,
}

impl Splitter {
    /// Returns true if the input is one JSON document instead of one record per line.
    pub fn is_document(&self) -> bool {
        self.shape == InputShape::Document
    }

    /// Reads the next bytes and passes on each complete record.
    pub fn feed(&mut self, bytes: &[u8], each: &mut dyn FnMut(TranscriptPiece<'_>)) {
        match self.shape {
            InputShape::Unknown => {
                self.held.extend_from_slice(bytes);
                // Each check reads all bytes again, so the next check waits until their number has doubled.
                if self.held.len() < 2 * self.probed && self.held.len() < LONGEST {
                    return;
                }
                self.probed = self.held.len();
                self.settle(each);
            }
            InputShape::Lines => self.feed_lines(bytes, each),
            InputShape::Document => self.hold(bytes, DOCUMENT),
        }
    }

    /// Detects if the input consists of lines or is a document. If the bytes so far are enough to decide, passes on
    /// their complete records.
    pub fn settle(&mut self, each: &mut dyn FnMut(TranscriptPiece<'_>)) {
        if self.shape == InputShape::Unknown
            && let Some(shape) = detect_shape(&self.held, false)
        {
            self.set_shape(shape, each);
        }
    }

    /// Passes on the last record, which ends at the end of the input.
    pub fn finish(mut self, each: &mut dyn FnMut(TranscriptPiece<'_>)) {
        if self.shape == InputShape::Unknown {
            let shape = detect_shape(&self.held, true);
            self.set_shape(shape.unwrap_or(InputShape::Lines), each);
        }
        match self.shape {
            InputShape::Document if self.skipping => each(TranscriptPiece::TooLong(1, "longer than 64 MiB")),
            InputShape::Document => each(TranscriptPiece::Document(&self.held)),
            _ if self.skipping => each(TranscriptPiece::TooLong(self.lines + 1, LONG)),
            _ => emit_line(self.lines + 1, &self.held, each),
        }
    }

    fn set_shape(&mut self, shape: InputShape, each: &mut dyn FnMut(TranscriptPiece<'_>)) {
        self.shape = shape;
        let held = std::mem::take(&mut self.held);
        self.feed(held.strip_prefix(MARK).unwrap_or(&held), each);
    }

    /// Holds the next bytes of a line or a document. If the line or document is too long, discards it.
    fn hold(&mut self, bytes: &[u8], most: usize) {
        if self.skipping || self.held.len() + bytes.len() > most {
            self.skipping = true;
            self.held = Vec::new();
        } else {
            self.held.extend_from_slice(bytes);
        }
    }

    fn feed_lines(&mut self, bytes: &[u8], each: &mut dyn FnMut(TranscriptPiece<'_>)) {
        let mut rest = bytes;
        while let Some(end) = memchr::memchr(b'\n', rest) {
            self.lines += 1;
            if self.held.is_empty() && !self.skipping && end <= LONGEST {
                emit_line(self.lines, &rest[..end], each);
            } else {
                self.hold(&rest[..end], LONGEST);
                match self.skipping {
                    true => each(TranscriptPiece::TooLong(self.lines, LONG)),
                    false => emit_line(self.lines, &self.held, each),
                }
            }
            self.skipping = false;
            self.held.clear();
            rest = &rest[end + 1..];
        }
        self.hold(rest, LONGEST);
    }
}

/// Reason that is reported for a skipped line.
const LONG: &str = "longer than 16 MiB";

fn emit_line(line: u64, bytes: &[u8], each: &mut dyn FnMut(TranscriptPiece<'_>)) {
    let bytes = bytes.trim_ascii();
    if !bytes.is_empty() {
        each(TranscriptPiece::Line(line, bytes));
    }
}

/// Returns the shape of an input that starts with these bytes. If `end` is true, the bytes are the whole input. Returns
/// `None` if the bytes are not enough to decide. So the result does not depend on how the input is divided into pieces.
fn detect_shape(bytes: &[u8], end: bool) -> Option<InputShape> {
    let end = end || bytes.len() >= LONGEST;
    let bytes = &bytes[..bytes.len().min(LONGEST)];
    if !end && MARK.starts_with(bytes) {
        return None;
    }
    let text = bytes.strip_prefix(MARK).unwrap_or(bytes).trim_ascii_start();
    match text.first() {
        None if !end => return None,
        Some(b'[') => return Some(InputShape::Document),
        Some(b'{') => {}
        _ => return Some(InputShape::Lines),
    }
    let line = memchr::memchr(b'\n', text);
    if line.is_none() && !end {
        return None;
    }
    let (line, rest) = text.split_at(line.unwrap_or(text.len()));
    if Json::parse(line).is_ok() {
        return Some(InputShape::Lines);
    }
    // A line that ends with one of these marks belongs to a document, whatever the next line begins with.
    if !rest.is_empty()
        && line
            .trim_ascii_end()
            .last()
            .is_some_and(|mark| b",:[{".contains(mark))
    {
        return Some(InputShape::Document);
    }
    // If the first line is a truncated record, the next line begins with an object. In a document, it does not.
    match rest.trim_ascii_start().first() {
        Some(b'{') => Some(InputShape::Lines),
        None if !end => None,
        None if rest.is_empty() => Some(InputShape::Lines),
        _ => Some(InputShape::Document),
    }
}
