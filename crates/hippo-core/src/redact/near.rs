//! Is a secret written beside its label, without a mark between them?

use std::ops::Range;

use super::Place;
use super::label::{Label, Named};
use super::shape::{self, Shape, is_random};
use super::value::clip;

/// Bytes after a label within which a random run is its secret.
const AFTER: usize = 48;
/// Bytes before a label that are looked at.
const BEFORE: usize = 200;
/// What ends the sentence that a label stands in.
const ENDS: &[u8] = b"\n{}[]<>|;\\";
/// Bytes of a run that are judged.
const JUDGED: usize = 256;

const fn is_run(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'+' | b'/' | b'=' | b'.' | b'~')
}

impl Place<'_> {
    /// A random run right after the label, or one of which the text says that it is the label's.
    pub(super) fn near(&self, named: Named) -> Option<Range<usize>> {
        self.following(named).or_else(|| self.preceding(named))
    }

    fn following(&self, named: Named) -> Option<Range<usize>> {
        let until = (named.end + AFTER).min(self.next);
        let mut at = named.end;
        while at < until {
            at = self.run(at, until - at, |byte| !is_run(byte) && !ENDS.contains(&byte));
            if at >= until || ENDS.contains(&self.at(at)) {
                return None;
            }
            let end = self.run(at, JUDGED, is_run);
            let text = self.str(at..end).trim_end_matches(['.', '/', '-', '=']);
            if is_random(text) && !shape::is_placeholder(text) && !shape::is_thing(text) {
                return Some(at..self.whole(at, is_run));
            }
            at = end;
        }
        None
    }

    /// `hunter2 is the password`.
    fn preceding(&self, named: Named) -> Option<Range<usize>> {
        let from = named.start.saturating_sub(BEFORE).max(self.done);
        let words = self.text.get(from..self.start).or_else(|| {
            self.text
                .get(self.done.max(self.start.saturating_sub(8))..self.start)
        })?;
        let (before, said) = words.rsplit_once(" is ")?;
        let article = ["the ", "my ", "our ", "your ", "their "]
            .iter()
            .any(|word| said.starts_with(word));
        let plain = said
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b' ' | b'_' | b'-'));
        if !article || !plain || said.split(' ').count() > 6 || named.label < Label::Token {
            return None;
        }
        let before = before.trim_end_matches(['`', '"', '\'']);
        let end = self.start - words.len() + before.len();
        let run = self.bytes().get(end - before.len()..end)?;
        let length = run
            .iter()
            .rev()
            .take_while(|byte| is_run(**byte) || b"!@#$%&*".contains(byte))
            .count();
        let text = clip(self.str(end - length..end), JUDGED);
        let shape = Shape::of(text);
        let mixed = shape.digits > 0 && shape.letters() > 0 && text.len() >= 6 && !shape::is_thing(text);
        let secret = is_random(text) || mixed && (named.label >= Label::Password || !shape::is_slug(text));
        (secret && !shape::is_placeholder(text)).then(|| end - length..end)
    }

    /// What follows `Bearer` or `Basic`.
    pub(super) fn scheme(&self) -> Option<Range<usize>> {
        let alone = !(self.before(self.start).is_ascii_alphanumeric() || self.before(self.start) == b'_');
        if !alone || !matches!(self.at(self.end), b' ' | b':') {
            return None;
        }
        let from = self.run(self.end, 4, |byte| matches!(byte, b' ' | b':'));
        let end = self.run(from, JUDGED, is_run);
        let text = self.str(from..end).trim_end_matches('.');
        let shape = Shape::of(text);
        let header = self.str(self.start.saturating_sub(24)..self.start);
        let header = header.to_ascii_lowercase().contains("authorization");
        let digits = shape.digits > 0 && shape.letters() > 0;
        let secret = if self.str(self.start..self.end).eq_ignore_ascii_case("basic") {
            text.len() >= 8 && (header && digits || is_pair(text))
        } else {
            let plain = shape::is_slug(text) && shape.digits < 3;
            text.len() >= 8
                && (digits && !plain && !shape::is_thing(text)
                    || is_random(text)
                    || header && text.len() >= 16)
        };
        (secret && !shape::is_placeholder(text)).then(|| from..self.whole(from, is_run))
    }
}

/// Whether base64 says `user:password`.
fn is_pair(text: &str) -> bool {
    let mut bits = 0_u32;
    let mut held = 0;
    let (mut colon, mut printable) = (false, true);
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
            colon |= read == u32::from(b':');
            printable &= (0x20..0x7F).contains(&read);
        }
    }
    colon && printable
}
