//! Splitting of transcript bytes into records.
//!
//! A transcript is either one JSON value per line, or one JSON document that contains a list of messages. Only one
//! record is held in memory, up to [`LONGEST`]; a longer one is skipped and reported.

mod document;

use document::JsonDocument;

/// Maximum length of a record in bytes.
pub const LONGEST: usize = 16 << 20;
/// UTF-8 byte order mark.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// Output of the splitter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TranscriptPiece<'a> {
    /// A record, and the line on which it begins, from 1.
    Record(u64, &'a [u8]),
    /// A record that is too long.
    TooLong(u64),
    /// The input ends inside a record.
    Cut(u64),
}

/// Splitter of bytes into records.
#[derive(Debug, Default)]
pub struct Splitter {
    shape: InputShape,
    /// Bytes of an incomplete record, or all bytes while the shape is unknown.
    held: Vec<u8>,
    /// Complete lines so far.
    lines: u64,
    /// The record is too long; its remaining bytes are skipped.
    skipping: bool,
}

#[derive(Debug)]
enum InputShape {
    Unknown(ShapeProbe),
    Lines,
    Document(JsonDocument),
}

impl Default for InputShape {
    fn default() -> Self {
        Self::Unknown(ShapeProbe::default())
    }
}

impl Splitter {
    /// Returns true if the bytes so far are one document, whose records are not lines.
    pub fn is_document(&self) -> bool {
        matches!(self.shape, InputShape::Document(_))
    }

    /// Reads the next bytes and passes on each complete record.
    pub fn feed(&mut self, bytes: &[u8], each: &mut dyn FnMut(TranscriptPiece<'_>)) {
        match &mut self.shape {
            // The first bytes nearly always determine the shape, so nothing is copied.
            InputShape::Unknown(first) if self.held.is_empty() => match first.detect(bytes) {
                Some(shape) => self.set_shape(shape, bytes, each),
                None => self.held.extend_from_slice(bytes),
            },
            InputShape::Unknown(first) => {
                self.held.extend_from_slice(bytes);
                if let Some(shape) = first.detect(&self.held) {
                    let held = std::mem::take(&mut self.held);
                    self.set_shape(shape, &held, each);
                }
            }
            InputShape::Lines => self.feed_lines(bytes, each),
            InputShape::Document(document) => document.feed(bytes, each),
        }
    }

    /// Passes on the remaining record.
    pub fn finish(mut self, each: &mut dyn FnMut(TranscriptPiece<'_>)) {
        if let InputShape::Unknown(first) = &self.shape {
            let held = std::mem::take(&mut self.held);
            let shape = first.at_end();
            self.set_shape(shape, &held, each);
        }
        match self.shape {
            InputShape::Document(document) => document.finish(each),
            _ if self.skipping => each(TranscriptPiece::TooLong(self.lines + 1)),
            _ => emit_record(self.lines + 1, &self.held, each),
        }
    }

    fn set_shape(&mut self, shape: InputShape, first: &[u8], each: &mut dyn FnMut(TranscriptPiece<'_>)) {
        self.shape = shape;
        self.feed(first.strip_prefix(MARK).unwrap_or(first), each);
    }

    fn feed_lines(&mut self, bytes: &[u8], each: &mut dyn FnMut(TranscriptPiece<'_>)) {
        let mut rest = bytes;
        while let Some(end) = memchr::memchr(b'\n', rest) {
            let line = &rest[..end];
            self.lines += 1;
            if self.skipping || self.held.len() + line.len() > LONGEST {
                each(TranscriptPiece::TooLong(self.lines));
            } else if self.held.is_empty() {
                emit_record(self.lines, line, each);
            } else {
                self.held.extend_from_slice(line);
                emit_record(self.lines, &self.held, each);
            }
            self.skipping = false;
            self.held.clear();
            rest = &rest[end + 1..];
        }
        if self.skipping || self.held.len() + rest.len() > LONGEST {
            self.skipping = true;
            self.held = Vec::new();
        } else {
            self.held.extend_from_slice(rest);
        }
    }
}

fn emit_record(line: u64, bytes: &[u8], each: &mut dyn FnMut(TranscriptPiece<'_>)) {
    let bytes = bytes.trim_ascii();
    if !bytes.is_empty() {
        each(TranscriptPiece::Record(line, bytes));
    }
}

/// Detection of the shape from the start of the input. The result does not depend on how the input is divided.
#[derive(Debug, Default)]
struct ShapeProbe {
    /// Bytes that were examined.
    seen: usize,
    /// The brackets of the first line.
    document: JsonDocument,
    line: FirstLine,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum FirstLine {
    /// Only white space so far.
    #[default]
    Before,
    /// Inside the first line, which begins at this offset.
    Within(usize),
    /// After a first line that is not a complete JSON value.
    Over,
}

impl ShapeProbe {
    /// Examines all bytes so far. Returns `None` while they do not determine the shape; [`LONGEST`] bytes always do.
    fn detect(&mut self, all: &[u8]) -> Option<InputShape> {
        let end = all.len().min(LONGEST);
        if self.line == FirstLine::Before {
            if all.len() < MARK.len() && MARK.starts_with(all) {
                return None;
            }
            let marked = if all.starts_with(MARK) { MARK.len() } else { 0 };
            let from = self.seen.max(marked);
            self.seen = from
                + all
                    .get(from..end)?
                    .iter()
                    .take_while(|byte| byte.is_ascii_whitespace())
                    .count();
            match all.get(self.seen) {
                None => return None,
                Some(b'[') => return Some(InputShape::Document(JsonDocument::default())),
                Some(b'{') if self.seen < end => self.line = FirstLine::Within(self.seen),
                Some(_) => return Some(InputShape::Lines),
            }
        }
        if let FirstLine::Within(start) = self.line {
            let new = all.get(self.seen..end).unwrap_or_default();
            let line_end = memchr::memchr(b'\n', new);
            let new = &new[..line_end.unwrap_or(new.len())];
            self.seen += new.len();
            if self.document.opens_list(new) {
                return Some(InputShape::Document(JsonDocument::default()));
            }
            if line_end.is_some() {
                if serde_json::from_slice::<serde::de::IgnoredAny>(&all[start..self.seen]).is_ok() {
                    return Some(InputShape::Lines);
                }
                self.line = FirstLine::Over;
            }
        }
        if self.line == FirstLine::Over {
            // After a truncated first line, each further line begins with an object; the lines of a document do not.
            let rest = all.get(self.seen..end).unwrap_or_default();
            self.seen += rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            match all.get(self.seen) {
                Some(b'{') => return Some(InputShape::Lines),
                Some(_) if self.seen < end => return Some(InputShape::Document(JsonDocument::default())),
                _ => {}
            }
        }
        (all.len() >= LONGEST).then_some(InputShape::Lines)
    }

    /// Returns the shape if the input ends here.
    fn at_end(&self) -> InputShape {
        match self.line {
            FirstLine::Over => InputShape::Document(JsonDocument::default()),
            _ => InputShape::Lines,
        }
    }
}
