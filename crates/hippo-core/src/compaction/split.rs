//! Where does one record of a transcript end and the next begin, in bytes that come in pieces?
//!
//! A transcript is one JSON value a line, or one JSON document with a list of messages in it. Of either, one record at a time is
//! held, up to [`LONGEST`]; a longer one is passed over and told.

mod document;

use document::Document;

/// Bytes of a record, at most.
pub const LONGEST: usize = 16 << 20;
/// Bytes that are looked at to tell a document from lines.
const FIRST: usize = 64 << 10;

/// What was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'a> {
    /// A record, and the line on which it begins, from 1.
    Record(u64, &'a [u8]),
    /// A record that is too long.
    TooLong(u64),
    /// The input ends within a record.
    Cut(u64),
}

/// Cuts bytes into records.
#[derive(Debug, Default)]
pub struct Splitter {
    shape: Shape,
    /// What was read of a record, or before the shape was known.
    held: Vec<u8>,
    /// Lines that are over.
    lines: u64,
    /// The record is too long: the rest of it is passed over.
    skipping: bool,
}

#[derive(Debug, Default)]
enum Shape {
    #[default]
    Unknown,
    Lines,
    Document(Document),
}

impl Splitter {
    /// Takes the next bytes and hands on each record that is complete.
    pub fn feed(&mut self, bytes: &[u8], each: &mut dyn FnMut(Piece<'_>)) {
        match &mut self.shape {
            Shape::Unknown => {
                self.held.extend_from_slice(bytes);
                if self.held.len() >= FIRST {
                    self.decide(each);
                }
            }
            Shape::Lines => self.lines(bytes, each),
            Shape::Document(document) => document.feed(bytes, each),
        }
    }

    /// Hands on what is left.
    pub fn finish(mut self, each: &mut dyn FnMut(Piece<'_>)) {
        if matches!(self.shape, Shape::Unknown) {
            self.decide(each);
        }
        match self.shape {
            Shape::Document(document) => document.finish(each),
            _ if self.skipping => each(Piece::TooLong(self.lines + 1)),
            _ => record(self.lines + 1, &self.held, each),
        }
    }

    fn decide(&mut self, each: &mut dyn FnMut(Piece<'_>)) {
        let first = std::mem::take(&mut self.held);
        let rest = first.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&first);
        self.shape = if is_document(rest) {
            Shape::Document(Document::default())
        } else {
            Shape::Lines
        };
        self.feed(rest, each);
    }

    fn lines(&mut self, bytes: &[u8], each: &mut dyn FnMut(Piece<'_>)) {
        let mut rest = bytes;
        while let Some(end) = memchr::memchr(b'\n', rest) {
            let line = &rest[..end];
            self.lines += 1;
            if self.skipping || self.held.len() + line.len() > LONGEST {
                each(Piece::TooLong(self.lines));
            } else if self.held.is_empty() {
                record(self.lines, line, each);
            } else {
                self.held.extend_from_slice(line);
                record(self.lines, &self.held, each);
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

fn record(line: u64, bytes: &[u8], each: &mut dyn FnMut(Piece<'_>)) {
    let bytes = bytes.trim_ascii();
    if !bytes.is_empty() {
        each(Piece::Record(line, bytes));
    }
}

/// Whether it is one document with a list of messages, by its beginning.
fn is_document(bytes: &[u8]) -> bool {
    let bytes = bytes.trim_ascii_start();
    match bytes.first() {
        Some(b'[') => true,
        Some(b'{') => {
            let end = memchr::memchr(b'\n', bytes);
            let line = &bytes[..end.unwrap_or(bytes.len())];
            let whole = serde_json::from_slice::<serde::de::IgnoredAny>(line).is_ok();
            // Lines after a first one that was cut off begin a value each; those of a document do not.
            let next = end.and_then(|end| bytes[end..].trim_ascii_start().first());
            let spread = !whole && end.is_some() && next != Some(&b'{');
            spread || Document::opens_list(line)
        }
        _ => false,
    }
}
