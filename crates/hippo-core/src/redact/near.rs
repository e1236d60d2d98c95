//! Is a secret written beside its label, without a mark between them?

use std::ops::Range;

use super::Place;
use super::label::{Label, Named};
use super::shape::{self, Shape, is_random};

/// Bytes after a label within which a random run is its secret.
const AFTER: usize = 48;
/// Bytes from ` is ` to the label: `is the password`, `is our deploy token`.
const SAID: usize = 32;
/// Bytes of a run that are judged.
const JUDGED: usize = 160;
/// What ends the sentence that a label stands in.
const ENDS: &[u8] = b"\n{}[]<>|;\\";

pub(super) const fn is_run(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'+' | b'/' | b'=' | b'.' | b'~')
}

impl Place<'_> {
    /// A random run right after the label, or one of which the text says that it is the label's.
    pub(super) fn near(&self, named: Named) -> Option<Range<usize>> {
        self.following(named).or_else(|| self.preceding(named))
    }

    fn following(&self, named: Named) -> Option<Range<usize>> {
        let until = (named.end + AFTER).min(self.next(self.start));
        let mut at = named.end;
        while at < until {
            at = self.run(at, until - at, |byte| {
                !byte.is_ascii_alphanumeric() && !ENDS.contains(&byte)
            });
            if at >= until || ENDS.contains(&self.at(at)) {
                return None;
            }
            let end = self.run(at, JUDGED, is_run);
            let text = self.str(at..end).trim_end_matches(['.', '/', '-', '=']);
            if is_random(text) && !shape::is_placeholder(text) && !shape::is_place(text) {
                return Some(at..self.whole(at, is_run));
            }
            at = end;
        }
        None
    }

    /// `hunter2 is the password`.
    fn preceding(&self, named: Named) -> Option<Range<usize>> {
        if named.label < Label::Token || !matches!(self.before(self.start), b' ' | b'_' | b'-') {
            return None;
        }
        let from = self.start.saturating_sub(SAID).max(self.done);
        let words = self.bytes().get(from..self.start)?;
        let at = words.windows(4).rposition(|window| window == b" is ")?;
        let said = &words[at + 4..];
        let article: [&[u8]; 5] = [b"the ", b"my ", b"our ", b"your ", b"their "];
        let plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b' ' | b'_' | b'-');
        if !article.iter().any(|word| said.starts_with(word)) || !said.iter().all(plain) {
            return None;
        }
        let from = (from + at).saturating_sub(JUDGED).max(self.done);
        let before = self.bytes().get(from..from.max(self.start - words.len() + at))?;
        let closed = before
            .iter()
            .rev()
            .take_while(|byte| matches!(byte, b'`' | b'"' | b'\''))
            .count();
        let before = &before[..before.len() - closed];
        let run = |byte: &&u8| is_run(**byte) || b"!@#$%&*".contains(byte);
        let length = before.iter().rev().take_while(run).count();
        let end = from + before.len();
        let text = self.str(end - length..end);
        let mixed = Shape::of(text).is_mixed()
            && text.len() >= 6
            && !shape::is_place(text)
            && !shape::is_number(text);
        let secret = is_random(text) || mixed && (named.label >= Label::Password || !shape::is_slug(text));
        (secret && !shape::is_placeholder(text)).then(|| end - length..end)
    }

    /// What follows `Bearer` or `Basic`.
    pub(super) fn scheme(&self) -> Option<Range<usize>> {
        if !self.stands_alone() || !matches!(self.at(self.end), b' ' | b':') {
            return None;
        }
        let from = self.run(self.end, 4, |byte| matches!(byte, b' ' | b':'));
        let end = self.run(from, JUDGED, is_run);
        let text = self.str(from..end).trim_end_matches('.');
        if text.len() < 8 {
            return None;
        }
        let header = self.in_header(self.start) || self.before(self.start) == b'"';
        let shape = Shape::of(text);
        let basic = self.str(self.start..self.end).eq_ignore_ascii_case("basic");
        let secret = if basic {
            header && shape.is_mixed() || is_pair(text)
        } else {
            let made = shape.is_mixed() && !(shape::is_slug(text) && shape.digits < 3);
            is_random(text)
                || header && text.len() >= 16
                || made && !shape::is_place(text) && !shape::is_number(text)
        };
        (secret && !shape::is_placeholder(text)).then(|| from..self.whole(from, is_run))
    }
}

/// Whether base64 says `user:password`.
fn is_pair(text: &str) -> bool {
    let (mut bits, mut held) = (0_u32, 0);
    let mut colon = false;
    for byte in text.trim_end_matches('=').bytes() {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return false,
        };
        bits = (bits << 6 | u32::from(value)) & 0xFFFF;
        held += 6;
        if held >= 8 {
            held -= 8;
            let read = (bits >> held) & 0xFF;
            if !(0x20..0x7F).contains(&read) {
                return false;
            }
            colon |= read == u32::from(b':');
        }
    }
    colon
}
