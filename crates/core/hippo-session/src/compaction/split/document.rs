//! Extraction of the messages from one JSON document.
//!
//! The messages are the elements of the outermost list, or of a list with a known name.

use super::{LONGEST, TranscriptPiece};

/// Names of lists that contain messages.
const LISTS: [&[u8]; 5] = [b"messages", b"history", b"conversation", b"transcript", b"input"];
/// Maximum bytes of a name that are kept.
const NAME: usize = 16;

/// Parser state of a document.
#[derive(Debug, Default)]
pub(super) struct JsonDocument {
    /// Number of open brackets.
    depth: usize,
    /// Depth of the list elements; 0 before the list begins.
    elements: usize,
    /// Inside a string, and after a backslash in one.
    string: bool,
    escaped: bool,
    /// The last string at depth 1: the name of a list, if a list follows.
    name: Vec<u8>,
    /// Line on which the current element began.
    begun: Option<u64>,
    element: Vec<u8>,
    too_long: bool,
    lines: u64,
    /// The list of this value has ended.
    over: bool,
    /// Line on which this value begins, and number of complete values.
    value: u64,
    values: u64,
}

impl JsonDocument {
    /// Reads the next bytes of a line. Returns true once a list of messages has opened.
    pub(super) fn opens_list(&mut self, bytes: &[u8]) -> bool {
        let mut at = 0;
        while at < bytes.len() && self.elements == 0 {
            if self.string {
                at = self.skip_string(bytes, at);
            } else {
                self.track_byte(bytes[at]);
                at += 1;
            }
        }
        self.elements > 0
    }

    pub(super) fn feed(&mut self, bytes: &[u8], each: &mut dyn FnMut(TranscriptPiece<'_>)) {
        // Offset at which the current element continues in these bytes.
        let mut from = 0;
        let mut at = 0;
        while at < bytes.len() {
            if self.string {
                at = self.skip_string(bytes, at);
                continue;
            }
            let byte = bytes[at];
            if byte == b'\n' {
                self.lines += 1;
            }
            let listed = self.elements > 0 && !self.over && self.depth == self.elements;
            if listed && matches!(byte, b',' | b']') {
                self.end_element(&bytes[from..at], each);
                self.over = byte == b']';
            } else if listed && self.begun.is_none() && !byte.is_ascii_whitespace() {
                self.begun = Some(self.lines + 1);
                from = at;
            }
            let (depth, listless) = (self.depth, self.elements == 0);
            self.track_byte(byte);
            if depth == 0 && self.depth == 1 {
                self.value = self.lines + 1;
            } else if depth == 1 && self.depth == 0 {
                // Report a value without messages after one with messages as an unreadable record.
                if listless && self.values > 0 {
                    each(TranscriptPiece::Record(self.value, &[]));
                }
                self.values += 1;
            }
            at += 1;
        }
        if self.begun.is_some() {
            self.store(&bytes[from.min(at)..at]);
        }
    }

    pub(super) fn finish(self, each: &mut dyn FnMut(TranscriptPiece<'_>)) {
        if let Some(line) = self.begun {
            each(TranscriptPiece::Cut(line));
        } else if self.depth > 0 {
            each(TranscriptPiece::Cut(self.lines + 1));
        }
    }

    /// Advances to the end of the string, or of the bytes.
    fn skip_string(&mut self, bytes: &[u8], from: usize) -> usize {
        if self.escaped {
            self.escaped = false;
            return from + 1;
        }
        let rest = &bytes[from..];
        let found = memchr::memchr2(b'"', b'\\', rest);
        let passed = &rest[..found.unwrap_or(rest.len())];
        if self.depth == 1 && self.elements == 0 {
            let room = NAME.saturating_sub(self.name.len());
            self.name.extend_from_slice(&passed[..passed.len().min(room)]);
        }
        // Line breaks are invalid in a JSON string; count them anyway, so that line numbers stay correct.
        self.lines += u64::try_from(memchr::memchr_iter(b'\n', passed).count()).unwrap_or(0);
        match found {
            Some(found) => {
                self.escaped = rest[found] == b'\\';
                self.string = self.escaped;
                from + found + 1
            }
            None => bytes.len(),
        }
    }

    fn track_byte(&mut self, byte: u8) {
        match byte {
            b'"' => {
                self.string = true;
                self.name.clear();
            }
            b'[' | b'{' => {
                self.depth += 1;
                let named = self.depth == 2 && LISTS.contains(&self.name.as_slice());
                if self.elements == 0 && byte == b'[' && (self.depth == 1 || named) {
                    self.elements = self.depth;
                }
                self.name.clear();
            }
            b']' | b'}' => {
                self.depth = self.depth.saturating_sub(1);
                if self.depth == 0 {
                    // Another value may follow.
                    (self.elements, self.over) = (0, false);
                }
            }
            b',' => self.name.clear(),
            _ => {}
        }
    }

    /// Stores a part of the current element.
    fn store(&mut self, bytes: &[u8]) {
        if self.too_long || self.element.len() + bytes.len() > LONGEST {
            self.too_long = true;
            self.element = Vec::new();
        } else {
            self.element.extend_from_slice(bytes);
        }
    }

    fn end_element(&mut self, last: &[u8], each: &mut dyn FnMut(TranscriptPiece<'_>)) {
        let Some(line) = self.begun.take() else { return };
        if self.too_long || self.element.len() + last.len() > LONGEST {
            each(TranscriptPiece::TooLong(line));
        } else if self.element.is_empty() {
            each(TranscriptPiece::Record(line, last.trim_ascii_end()));
        } else {
            self.element.extend_from_slice(last);
            each(TranscriptPiece::Record(line, self.element.trim_ascii_end()));
        }
        self.too_long = false;
        self.element.clear();
    }
}
