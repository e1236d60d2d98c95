//! Removal of escape sequences and overwritten text from terminal output.

use std::borrow::Cow;

use memchr::{memchr_iter, memchr2_iter, memchr3_iter, memrchr};

const ESCAPE: u8 = 0x1b;
/// First UTF-8 byte of the control characters U+0080 to U+009F.
const LEAD: u8 = 0xc2;
/// Bytes that abort the payload of an escape sequence: CAN, SUB and newline.
const ENDS: [u8; 3] = [0x18, 0x1a, b'\n'];

/// Removes escape sequences: colours, cursor movements, titles, links, character sets, images.
///
/// The result contains neither ESC nor control characters from U+0080 to U+009F, except U+0085, which ends a line. Of
/// an invalid sequence, only the control character is removed. An unterminated payload is removed up to the end of its
/// line.
#[must_use]
pub fn without_escapes(text: &str) -> Cow<'_, str> {
    match has_escapes(text) {
        true => Cow::Owned(ControlReader::default().read(text)),
        false => Cow::Borrowed(text),
    }
}

/// Returns a text as a terminal shows it: without escape sequences, and without text that backspaces and carriage
/// returns overwrite. Of a progress display, only the final state remains.
#[must_use]
pub fn as_seen(text: &str) -> Cow<'_, str> {
    if has_escapes(text) || overwrites(text.as_bytes()) {
        let reader = ControlReader {
            overwrites: true,
            ..ControlReader::default()
        };
        return Cow::Owned(reader.read(text));
    }
    Cow::Borrowed(text)
}

fn has_escapes(text: &str) -> bool {
    let bytes = text.as_bytes();
    memchr2_iter(ESCAPE, LEAD, bytes).any(|at| bytes[at] == ESCAPE || control(&bytes[at..]).is_some())
}

/// Returns true if the text contains a backspace, or a carriage return within a line. Both overwrite text.
fn overwrites(bytes: &[u8]) -> bool {
    let goes_on = |at: usize| !matches!(bytes.get(at + 1), None | Some(b'\n' | b'\r'));
    memchr2_iter(b'\r', 0x08, bytes).any(|at| bytes[at] == 0x08 || goes_on(at))
}

/// If the bytes begin with a control character from U+0080 to U+009F, except U+0085, returns the second byte of that
/// character.
fn control(bytes: &[u8]) -> Option<u8> {
    match bytes {
        [LEAD, second @ 0x80..=0x9f, ..] if *second != 0x85 => Some(*second),
        _ => None,
    }
}

#[derive(Default)]
struct ControlReader {
    overwrites: bool,
    out: String,
}

impl ControlReader {
    fn read(mut self, text: &str) -> String {
        let bytes = text.as_bytes();
        self.out.reserve(text.len());
        let mut copied = 0;
        let backspace = if self.overwrites { 0x08 } else { ESCAPE };
        let mut others = memchr3_iter(ESCAPE, LEAD, backspace, bytes).peekable();
        let returned = if self.overwrites { bytes } else { &[] };
        let mut returns = memchr_iter(b'\r', returned)
            .filter(|at| bytes.get(at + 1) != Some(&b'\n'))
            .peekable();
        loop {
            while others.next_if(|at| *at < copied).is_some() {}
            while returns.next_if(|at| *at < copied).is_some() {}
            let found = match (others.peek(), returns.peek()) {
                (Some(other), Some(back)) if other < back => others.next(),
                (_, Some(_)) => returns.next(),
                _ => others.next(),
            };
            let Some(found) = found else { break };
            let behind = match bytes[found] {
                ESCAPE => found + 1 + escape(&bytes[found + 1..]),
                LEAD => match control(&bytes[found..]) {
                    Some(second) => found + 2 + single(second, &bytes[found + 2..]),
                    None => continue,
                },
                _ => found + 1,
            };
            self.copy(&text[copied..found]);
            match bytes[found] {
                0x08 if !self.out.ends_with(['\n', '\r']) => {
                    self.out.pop();
                }
                b'\r' => self.out.push('\r'),
                _ => {}
            }
            copied = behind;
        }
        self.copy(&text[copied..]);
        self.out
    }

    /// Appends text that contains no escape sequences. After a carriage return, the text replaces the current line.
    fn copy(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        if self.overwrites && self.out.ends_with('\r') && !text.starts_with(['\n', '\r']) {
            let line = memrchr(b'\n', self.out.as_bytes()).map_or(0, |end| end + 1);
            self.out.truncate(line);
        }
        self.out.push_str(text);
    }
}

/// Returns the length in bytes of an escape sequence, without its ESC.
fn escape(bytes: &[u8]) -> usize {
    match bytes.first() {
        Some(b'[') => 1 + sequence(&bytes[1..]),
        Some(b']' | b'P' | b'X' | b'^' | b'_') => {
            let rest = &bytes[1..];
            1 + payload(rest).unwrap_or_else(|| line(rest))
        }
        // Character sets and similar: intermediate bytes, then one final byte.
        Some(b' '..=b'/') => {
            let marks = run(bytes, b' '..=b'/');
            marks + usize::from(matches!(bytes.get(marks), Some(b'0'..=b'~')))
        }
        Some(b'0'..=b'~') => 1,
        _ => 0,
    }
}

/// Returns the length in bytes of a sequence that starts with a control character from U+0080 to U+009F, without that
/// character. Such a character is more often a wrongly encoded letter, so text that does not continue as a sequence is
/// kept.
fn single(control: u8, bytes: &[u8]) -> usize {
    match control {
        // CSI.
        0x9b if matches!(bytes.first(), Some(b'0'..=b'?' | b'm' | b'K')) => sequence(bytes),
        // DCS, SOS, OSC, PM, APC.
        0x90 | 0x98 | 0x9d..=0x9f => payload(bytes).unwrap_or(0),
        _ => 0,
    }
}

/// Returns the length in bytes of the parameters, intermediate bytes and final byte of a sequence.
fn sequence(bytes: &[u8]) -> usize {
    let parameters = run(bytes, b'0'..=b'?');
    let marks = parameters + run(&bytes[parameters..], b' '..=b'/');
    marks + usize::from(matches!(bytes.get(marks), Some(b'@'..=b'~')))
}

fn run(bytes: &[u8], range: std::ops::RangeInclusive<u8>) -> usize {
    bytes.iter().take_while(|byte| range.contains(byte)).count()
}

/// Returns the length in bytes of a payload including its terminator (BEL, ESC `\` or U+009C). Returns `None` if no
/// terminator follows on the same line.
fn payload(bytes: &[u8]) -> Option<usize> {
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            0x07 => return Some(at + 1),
            &ESCAPE if bytes.get(at + 1) == Some(&b'\\') => return Some(at + 2),
            &LEAD if bytes.get(at + 1) == Some(&0x9c) => return Some(at + 2),
            byte if ENDS.contains(byte) => return None,
            _ => {}
        }
    }
    None
}

/// Returns the number of bytes up to the end of the line, or up to a CAN or SUB byte.
fn line(bytes: &[u8]) -> usize {
    bytes
        .iter()
        .position(|byte| ENDS.contains(byte))
        .unwrap_or(bytes.len())
}

#[cfg(test)]
mod tests;
