//! Secrets near their label, without a separator between the two.

use std::ops::Range;

use super::SecretCandidate;
use super::label::{LabelMatch, SecretLabel};
use super::shape::{self, CharacterShape, is_random};

/// Number of bytes after a label in which hippod searches for a random run of characters, which is then the secret.
const AFTER: usize = 48;
/// Maximum bytes from ` is ` to the label, as in ` is our deploy token`.
const SAID: usize = 32;
/// Number of bytes of a run that are examined.
const JUDGED: usize = 160;
/// Characters that end the search for a secret after a label.
const ENDS: &[u8] = b"\n{}[]<>|;\\";

pub(super) const fn is_run(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'+' | b'/' | b'=' | b'.' | b'~')
}

impl SecretCandidate<'_> {
    /// Finds a random run of characters after the label, or a secret before it, as in `hunter2 is the password`.
    pub(super) fn find_near(&self, named: LabelMatch) -> Option<Range<usize>> {
        self.find_after(named).or_else(|| self.find_before(named))
    }

    fn find_after(&self, named: LabelMatch) -> Option<Range<usize>> {
        let until = (named.end + AFTER).min(self.next_candidate(self.start));
        let mut at = named.end;
        while at < until {
            let is_between = |byte: u8| !byte.is_ascii_alphanumeric() && !ENDS.contains(&byte);
            at = self.run_end(at, until - at, is_between);
            if at >= until || ENDS.contains(&self.byte_at(at)) {
                return None;
            }
            let end = self.run_end(at, JUDGED, is_run);
            let text = self.slice(at..end).trim_end_matches(['.', '/', '-', '=']);
            if is_random(text) && !shape::is_placeholder(text) && !shape::is_location(text) {
                return Some(at..self.trimmed_run_end(at, is_run));
            }
            at = end;
        }
        None
    }

    /// Finds the secret in sentences such as `hunter2 is the password`.
    fn find_before(&self, named: LabelMatch) -> Option<Range<usize>> {
        if named.label < SecretLabel::Token || !matches!(self.byte_before(self.start), b' ' | b'_' | b'-') {
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
        let quote = |byte: &&u8| matches!(byte, b'`' | b'"' | b'\'');
        let closed = before.iter().rev().take_while(quote).count();
        let before = &before[..before.len() - closed];
        let run = |byte: &&u8| is_run(**byte) || b"!@#$%&*".contains(byte);
        let length = before.iter().rev().take_while(run).count();
        let end = from + before.len();
        let text = self.slice(end - length..end);
        let mixed = CharacterShape::measure(text).is_mixed()
            && text.len() >= 6
            && !shape::is_location(text)
            && !shape::is_number(text);
        let secret =
            is_random(text) || mixed && (named.label >= SecretLabel::Password || !shape::is_slug(text));
        (secret && !shape::is_placeholder(text)).then(|| end - length..end)
    }

    /// Finds the credentials after `Bearer` or `Basic`.
    pub(super) fn find_scheme_token(&self) -> Option<Range<usize>> {
        if !self.is_word_start() || !matches!(self.byte_at(self.end), b' ' | b':') {
            return None;
        }
        let from = self.run_end(self.end, 4, |byte| matches!(byte, b' ' | b':'));
        let end = self.run_end(from, JUDGED, is_run);
        let text = self.slice(from..end).trim_end_matches('.');
        if text.len() < 8 {
            return None;
        }
        let header = self.is_in_header(self.start) || self.byte_before(self.start) == b'"';
        let shape = CharacterShape::measure(text);
        let basic = self.slice(self.start..self.end).eq_ignore_ascii_case("basic");
        let secret = if basic {
            header && shape.is_mixed() || is_pair(text)
        } else {
            let made = shape.is_mixed() && !(shape::is_slug(text) && shape.digits < 3);
            is_random(text)
                || header && text.len() >= 16
                || made && !shape::is_location(text) && !shape::is_number(text)
        };
        (secret && !shape::is_placeholder(text)).then(|| from..self.trimmed_run_end(from, is_run))
    }
}

/// Returns true if the text is base64 of `user:password`.
fn is_pair(text: &str) -> bool {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let text = text.trim_end_matches('=').replace('-', "+").replace('_', "/");
    let (mut bits, mut colon) = (0, false);
    for (at, byte) in (1..).zip(text.bytes()) {
        let Some(digit) = memchr::memchr(byte, DIGITS) else {
            return false;
        };
        bits = (bits << 6 | digit) & 0xFFFF;
        let read = bits >> (6 * at % 8) & 0xFF;
        // The first of four base64 digits does not complete a byte.
        if at % 4 != 1 && !(0x20..0x7F).contains(&read) {
            return false;
        }
        colon |= at % 4 != 1 && read == usize::from(b':');
    }
    colon
}
