//! Values after a label: where they end, and whether they are secrets.

use std::ops::Range;

use super::label::{LabelMatch, SecretLabel, is_space};
use super::shape::{self, CharacterShape};
use super::start as start_of;
use super::words::{GRAMMAR, TECHNIQUES, contains_word, is_label, is_speech, words_of};
use super::{REDACTED, SecretCandidate};

/// Separator between a label and its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Separator {
    Colon,
    Equals,
    Arrow,
    /// ` is `
    Is,
    /// ` ist `, ` — `: any word of a sentence may follow.
    Said,
    /// ` to `
    To,
    /// A space after `--token`.
    Space,
    /// `|` between the cells of a table.
    Cell,
    /// `>` of XML.
    Tag,
}

impl Separator {
    /// Returns true if the text after the separator is often not a value.
    const fn is_loose(self) -> bool {
        matches!(self, Self::Is | Self::Said | Self::To | Self::Space | Self::Cell)
    }
}

/// Number of bytes at the start of a value that are examined.
const JUDGED: usize = 128;
/// Maximum bytes of a quoted value.
const QUOTED: usize = 4_096;
/// Number of bytes after a value that are examined.
const AFTER: usize = 24;

/// Value after a label.
#[derive(Debug, Clone, Copy)]
struct LabelledValue<'t> {
    text: &'t str,
    start: usize,
    quoted: bool,
    separator: Separator,
    /// True if only the separator is between the label and the value: `password=x`.
    tight: bool,
}

impl LabelledValue<'_> {
    const fn end(&self) -> usize {
        self.start + self.text.len()
    }
}

impl<'t> SecretCandidate<'t> {
    /// Returns the range of the value at an offset if the value is a secret.
    pub(super) fn find_value(
        &self,
        named: LabelMatch,
        separator: Separator,
        at: usize,
    ) -> Option<Range<usize>> {
        let from = self.run_end(at, 32, is_space);
        let from = self.run_end(from, 3, |byte| byte == b'*');
        let from = self.run_end(from, 4, is_space);
        let from = from + usize::from(self.byte_at(from) == b'\\');
        let (start, text, quoted) = match self.read_quoted(from) {
            Some((start, text)) => (start, text, true),
            None => (from, self.read_bare(from, separator), false),
        };
        let tight = from == named.end + 1;
        let value = LabelledValue {
            text,
            start,
            quoted,
            separator,
            tight,
        };
        if named.label >= SecretLabel::Phrase
            && let Some(words) = self.read_phrase(&value, named.label)
        {
            return Some(words);
        }
        // An earlier pass already examined this value, because a part of it is redacted.
        if text.is_empty() || text.contains(REDACTED) {
            return None;
        }
        let judged = LabelledValue {
            text: start_of(text, JUDGED),
            ..value
        };
        if !self.is_secret(named.label, &judged) || shape::is_placeholder(judged.text) {
            return None;
        }
        let end = if quoted || text.len() + 4 < JUDGED {
            value.end()
        } else {
            self.run_end(value.end(), usize::MAX, |byte| {
                byte.is_ascii_graphic() && !b"\"`|<,;&".contains(&byte)
            })
        };
        Some(start..end)
    }

    /// Returns the start of a quoted text, and the text without its quotes. The opening quote is at the offset.
    fn read_quoted(&self, at: usize) -> Option<(usize, &'t str)> {
        let rest = self.text_from(at);
        let open = rest.chars().next()?;
        let close = match open {
            '"' | '\'' | '`' => open,
            '“' => '”',
            '‘' => '’',
            '«' => '»',
            '「' => '」',
            _ => return None,
        };
        let start = at + open.len_utf8();
        let rest = start_of(self.text_from(start), QUOTED);
        let end = rest.find([close, '\n'])?;
        let inner = rest[..end].trim_end_matches('\\');
        (rest[end..].starts_with(close) && !inner.is_empty()).then_some((start, inner))
    }

    /// Returns an unquoted value. It ends at the next space, or where another name with a value begins.
    fn read_bare(&self, from: usize, separator: Separator) -> &'t str {
        let ends = |byte: u8| {
            byte <= b' '
                || matches!(byte, b'"' | b'`' | b'|' | 0x7F)
                || byte == b'<' && separator == Separator::Tag
        };
        // If the text contains another label after a punctuation mark, the value ends before the label.
        let next = self.next_candidate(from);
        let joined = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'/');
        let most = match joined(self.byte_before(next)) {
            true => JUDGED,
            false => JUDGED.min(next - from),
        };
        let end = self.run_end(from, most, |byte| !ends(byte));
        let text = start_of(self.text_from(from), end - from);
        // If the value begins with a name and `=`, keep only the name: `key` in `?next=key=x`.
        let is_name = |byte: char| byte.is_ascii_alphabetic() || matches!(byte, '_' | '-' | '.');
        let rest = text.trim_start_matches(is_name).strip_prefix('=');
        let text = match rest.filter(|rest| rest.starts_with(|next: char| next.is_ascii_alphanumeric())) {
            Some(rest) => &text[..text.len() - rest.len() - 1],
            None => text,
        };
        let text = &text[..find_next_item(text.as_bytes()).unwrap_or(text.len())];
        let trimmed = text.trim_end_matches(|mark: char| ".,;:?)]}>'*_~\\。，；、！？）」】".contains(mark));
        // Remove `!` from the end of a word without digits: it more often ends a sentence than a password.
        match trimmed.bytes().any(|byte| byte.is_ascii_digit()) {
            true => trimmed,
            false => trimmed.trim_end_matches('!'),
        }
    }

    fn is_secret(&self, label: SecretLabel, value: &LabelledValue<'t>) -> bool {
        let text = value.text;
        if text.contains([' ', '\t']) {
            let named =
                label >= SecretLabel::Password || label == SecretLabel::Secret && self.is_named_secret(value);
            return named && value.quoted && is_phrase(text);
        }
        if label >= SecretLabel::Password {
            return self.is_password(value);
        }
        let shape = CharacterShape::measure(text);
        let long = text.len() >= 16 && shape.upper > 0 && shape.lower > 0 && shape.changes * 6 >= text.len();
        if !(shape.is_mixed() || long && label == SecretLabel::Secret) || text.len() < 6 {
            return false;
        }
        let named = shape::is_expression(text) || shape::is_location(text);
        if named || shape::is_number(text) || text.contains('@') {
            return false;
        }
        if text.starts_with("0x") {
            return label == SecretLabel::Secret && text.len() > 32;
        }
        let uuid = shape::is_uuid(text);
        let random = shape::is_random(text) || shape::is_hex(text) && text.len() >= 32;
        let mixed = shape.is_mixed() && !shape::is_slug(text);
        match label {
            SecretLabel::Key => random && !uuid,
            SecretLabel::Token => {
                let made = shape.changes >= 2 && text.len() >= 8 && !value.separator.is_loose();
                random || uuid || mixed && (text.len() >= 16 || made)
            }
            _ => {
                // A single word such as `hunter2` is a secret if the separator shows that a value follows.
                let single =
                    shape.letters() > 2 && !value.separator.is_loose() && !text.contains(['-', '_', '.']);
                random || uuid || mixed || long || single
            }
        }
    }

    /// Returns true if a value of several words is assigned to a name that ends in `secret`: `session_secret: "…"`.
    fn is_named_secret(&self, value: &LabelledValue<'t>) -> bool {
        let name = self.slice(self.start..self.end).eq_ignore_ascii_case("secret");
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte == b' ';
        let set = matches!(value.separator, Separator::Equals | Separator::Colon);
        name && set && matches!(self.byte_before(self.start), b'_' | b'-') && value.text.bytes().all(plain)
    }

    /// Returns true if a word after `password` is a password.
    fn is_password(&self, value: &LabelledValue<'t>) -> bool {
        let text = value.text;
        if text.len() < 3
            || text.contains("://")
            || words_of(TECHNIQUES).any(|name| starts_with_word(text, name))
        {
            return false;
        }
        // `hashedPassword123` is a variable name, not a password.
        let stem = text.trim_end_matches(|mark: char| mark.is_ascii_digit());
        if (starts_with_word(text, "hashed") || starts_with_word(text, "encrypted")) && is_label(stem) {
            return false;
        }
        let letters = !text.bytes().any(|byte| byte.is_ascii_digit());
        if letters && (is_speech(text) || is_label(text)) {
            return false;
        }
        if value.quoted {
            return !shape::is_location(text) || !text.contains(['/', '.']);
        }
        let after = start_of(self.text_from(value.end()), AFTER);
        let numeric = |byte: u8| byte.is_ascii_digit() || b".,+-%".contains(&byte);
        if text.bytes().all(numeric) {
            let counts = [
                " char", " digit", " letter", " word", " bit", " byte", " to ", " or ", " day", " month",
                " time", " symbol", "/", "-",
            ];
            return text.len() >= 4 && !counts.iter().any(|word| after.starts_with(word));
        }
        if shape::is_expression(text) || shape::is_location(text) {
            return false;
        }
        let plain = |byte: &u8| byte.is_ascii_alphabetic() || *byte >= 0x80 || b"-_.'/:,()".contains(byte);
        if !text.as_bytes().iter().all(plain) {
            return text.len() >= 4 && !(value.separator.is_loose() && shape::is_number(text));
        }
        !text.contains(['(', '/', ':']) && ends_statement(value, after)
    }

    /// Returns the words of a passphrase, up to the end of the sentence.
    fn read_phrase(&self, value: &LabelledValue<'t>, label: SecretLabel) -> Option<Range<usize>> {
        let plain = |byte: u8| byte.is_ascii_lowercase() || matches!(byte, b' ' | b'-');
        let line = if value.quoted {
            value.text
        } else {
            let end = self.run_end(value.start, 2 * JUDGED, plain);
            let stops = self.byte_at(end) == 0 || b"\r\n.,;(\"[|".contains(&self.byte_at(end));
            let line = self.slice(value.start..end);
            if stops {
                line.trim_end()
            } else if label == SecretLabel::Seed {
                // Leave out the last word, because it may be the start of a name after the phrase.
                line.rsplit_once(' ').map_or("", |(words, _)| words.trim_end())
            } else {
                ""
            }
        };
        let least = if label == SecretLabel::Seed { 8 } else { 3 };
        let several = line.split([' ', '-']).filter(|word| !word.is_empty()).count() >= least;
        let fits = line.bytes().all(plain) && several && (label == SecretLabel::Seed || is_phrase(line));
        fits.then(|| value.start..value.start + line.len())
    }
}

/// Returns the start of the next list item: `b=` in `a,b=c`.
fn find_next_item(text: &[u8]) -> Option<usize> {
    let is_name = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_-".contains(byte);
    let mut marks = (0..text.len()).filter(|at| matches!(text[*at], b',' | b';' | b'&'));
    marks.find(|at| {
        let rest = &text[at + 1..];
        let name = rest.iter().take_while(is_name).count();
        name > 0 && matches!(rest.get(name), Some(b'=' | b':'))
    })
}

/// Returns true if a value is at the end of a line, a sentence or a list item. The value has only letters.
fn ends_statement(value: &LabelledValue<'_>, after: &str) -> bool {
    let close = |mark: char| "\"'`*.,;!)}]<|\\。".contains(mark);
    let rest = after.trim_start_matches(close);
    let next = rest.trim_start_matches([' ', '\t']);
    let ends = next.is_empty() || next.starts_with(['\n', '\r', '#', '(', '|']);
    let word = next.split([' ', '\n']).next().unwrap_or_default();
    let pair = word.len() > 1 && word.ends_with(':') || word.contains('=') && !word.starts_with('=');
    // In code, such as `login(user, password=word)`, the word is a variable.
    let equals = value.separator == Separator::Equals;
    let argument = after.starts_with(')') || equals && after.starts_with(", ");
    match value.separator {
        Separator::Cell | Separator::Said => false,
        Separator::To | Separator::Space => ends && value.text.len() >= 5,
        _ => {
            !argument
                && (ends || pair || equals && value.tight || !equals && after.starts_with([',', '.', ';']))
        }
    }
}

/// Returns true for words that form a passphrase rather than a sentence.
fn is_phrase(text: &str) -> bool {
    let words = || text.split([' ', '-', '\t']).filter(|word| !word.is_empty());
    let sentence = text.ends_with(['.', '!', '?', ':'])
        || words().any(|word| contains_word(GRAMMAR, word) || is_label(word));
    words().nth(2).is_some() && !sentence
}

fn starts_with_word(text: &str, word: &str) -> bool {
    let start = text.get(..word.len());
    start.is_some_and(|start| start.eq_ignore_ascii_case(word))
}
