//! Where does one record of a transcript end and the next begin, in bytes that come in pieces?
//!
//! A transcript is one JSON value a line, or one JSON document with a list of messages in it. Of either, one record at a time is
//! held, up to [`LONGEST`]; a longer one is passed over and told.

mod document;

use document::Document;

/// Bytes of a record, at most.
pub const LONGEST: usize = 16 << 20;
/// What some programs write before anything else.
const MARK: &[u8] = b"\xef\xbb\xbf";

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

#[derive(Debug)]
enum Shape {
    Unknown(First),
    Lines,
    Document(Document),
}

impl Default for Shape {
    fn default() -> Self {
        Self::Unknown(First::default())
    }
}

impl Splitter {
    /// Whether the bytes so far are one document, whose records are not lines.
    pub fn is_document(&self) -> bool {
        matches!(self.shape, Shape::Document(_))
    }

    /// Takes the next bytes and hands on each record that is complete.
    pub fn feed(&mut self, bytes: &[u8], each: &mut dyn FnMut(Piece<'_>)) {
        match &mut self.shape {
            // Nearly always the first bytes tell, and nothing is copied.
            Shape::Unknown(first) if self.held.is_empty() => match first.decide(bytes) {
                Some(shape) => self.begin(shape, bytes, each),
                None => self.held.extend_from_slice(bytes),
            },
            Shape::Unknown(first) => {
                self.held.extend_from_slice(bytes);
                if let Some(shape) = first.decide(&self.held) {
                    let held = std::mem::take(&mut self.held);
                    self.begin(shape, &held, each);
                }
            }
            Shape::Lines => self.lines(bytes, each),
            Shape::Document(document) => document.feed(bytes, each),
        }
    }

    /// Hands on what is left.
    pub fn finish(mut self, each: &mut dyn FnMut(Piece<'_>)) {
        if let Shape::Unknown(first) = &self.shape {
            let held = std::mem::take(&mut self.held);
            let shape = first.at_the_end();
            self.begin(shape, &held, each);
        }
        match self.shape {
            Shape::Document(document) => document.finish(each),
            _ if self.skipping => each(Piece::TooLong(self.lines + 1)),
            _ => record(self.lines + 1, &self.held, each),
        }
    }

    fn begin(&mut self, shape: Shape, first: &[u8], each: &mut dyn FnMut(Piece<'_>)) {
        self.shape = shape;
        self.feed(first.strip_prefix(MARK).unwrap_or(first), each);
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

/// What the beginning of the input tells of its shape. The answer does not depend on the pieces in which it comes.
#[derive(Debug, Default)]
struct First {
    /// Bytes that were looked at.
    seen: usize,
    /// The brackets of the first line.
    document: Document,
    line: Line,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Line {
    /// Nothing but white space so far.
    #[default]
    Before,
    /// The first line, which begins here.
    Within(usize),
    /// It is over, and no JSON value of its own.
    Over,
}

impl First {
    /// Looks at all bytes so far; none while they do not tell. More than [`LONGEST`] of them are always enough.
    fn decide(&mut self, all: &[u8]) -> Option<Shape> {
        let end = all.len().min(LONGEST);
        if self.line == Line::Before {
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
                Some(b'[') => return Some(Shape::Document(Document::default())),
                Some(b'{') if self.seen < end => self.line = Line::Within(self.seen),
                Some(_) => return Some(Shape::Lines),
            }
        }
        if let Line::Within(start) = self.line {
            let new = all.get(self.seen..end).unwrap_or_default();
            let line_end = memchr::memchr(b'\n', new);
            let new = &new[..line_end.unwrap_or(new.len())];
            self.seen += new.len();
            if self.document.opens_list(new) {
                return Some(Shape::Document(Document::default()));
            }
            if line_end.is_some() {
                if serde_json::from_slice::<serde::de::IgnoredAny>(&all[start..self.seen]).is_ok() {
                    return Some(Shape::Lines);
                }
                self.line = Line::Over;
            }
        }
        if self.line == Line::Over {
            // Lines after a first one that was cut off begin a value each; those of a document do not.
            let rest = all.get(self.seen..end).unwrap_or_default();
            self.seen += rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            match all.get(self.seen) {
                Some(b'{') => return Some(Shape::Lines),
                Some(_) if self.seen < end => return Some(Shape::Document(Document::default())),
                _ => {}
            }
        }
        (all.len() >= LONGEST).then_some(Shape::Lines)
    }

    /// What it is when nothing follows.
    fn at_the_end(&self) -> Shape {
        match self.line {
            Line::Over => Shape::Document(Document::default()),
            _ => Shape::Lines,
        }
    }
}
