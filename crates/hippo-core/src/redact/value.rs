//! Is what stands after a label a secret, and how far does it go?

use std::ops::Range;

use super::label::{Label, Named};
use super::shape::{self, Shape};
use super::words::{is_grammar, is_label, is_speech};
use super::{Place, REDACTED};

/// What stands between a label and its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Separator {
    Colon,
    Equals,
    Arrow,
    /// ` is `
    Is,
    /// ` to `
    To,
    /// A space after `--token`.
    Space,
    /// `|` of a table.
    Cell,
    /// `>` of XML.
    Tag,
}

/// Bytes of a value that are judged.
const JUDGED: usize = 96;
/// Longest value in quotes.
const QUOTED: usize = 4_096;

/// A value as it stands in the text.
#[derive(Debug, Clone, Copy)]
struct Value<'t> {
    text: &'t str,
    start: usize,
    quoted: bool,
    separator: Separator,
    /// The label and the separator stand without spaces: `password=x`.
    tight: bool,
}

impl<'t> Place<'t> {
    /// The value from an offset on, if it is a secret.
    pub(super) fn value(&self, named: Named, separator: Separator, at: usize) -> Option<Range<usize>> {
        let space = |byte: u8| matches!(byte, b' ' | b'\t');
        let mark = |byte: u8| matches!(byte, b'*' | b'_');
        let from = self.run(at, 32, space);
        let from = if self.at(from) == b'_' {
            from
        } else {
            self.run(from, 3, mark)
        };
        let from = self.run(from, 4, space);
        let from = if self.at(from) == b'\\' { from + 1 } else { from };
        let tight = from == named.end + 1;
        let value = self.quoted(from).map_or_else(
            || self.bare(from, separator),
            |(start, text)| Value {
                text,
                start,
                quoted: true,
                separator,
                tight,
            },
        );
        let value = Value {
            separator,
            tight,
            ..value
        };
        if matches!(named.label, Label::Phrase | Label::Seed)
            && let Some(words) = self.words(&value, named.label)
        {
            return Some(words);
        }
        let judged = clip(value.text, JUDGED);
        // What is redacted in part was judged before.
        let follows =
            self.str(value.start + value.text.len()..value.start + value.text.len() + REDACTED.len());
        let secret = !judged.is_empty()
            && follows != REDACTED
            && !value.text.contains(REDACTED)
            && !shape::is_placeholder(judged)
            && self.is_secret(
                named.label,
                &Value {
                    text: judged,
                    ..value
                },
            );
        let mut end = value.start + value.text.len();
        if secret && !value.quoted && value.text.len() + 3 >= JUDGED {
            end = self.run(end, usize::MAX, |byte| {
                byte.is_ascii_graphic() && !matches!(byte, b'"' | b'`' | b'|' | b'<')
            });
        }
        secret.then_some(value.start..end)
    }

    /// What stands between quotes that begin at an offset.
    fn quoted(&self, at: usize) -> Option<(usize, &'t str)> {
        let rest = self.text.get(at..)?;
        let (open, close) = [
            ("\"", '"'),
            ("'", '\''),
            ("`", '`'),
            ("“", '”'),
            ("‘", '’'),
            ("«", '»'),
            ("「", '」'),
        ]
        .into_iter()
        .find(|(open, _)| rest.starts_with(open))?;
        let start = at + open.len();
        // ```` ``` ```` opens a block.
        let rest = self.text.get(start..)?;
        let rest = clip(rest, QUOTED);
        let end = rest.find([close, '\n'])?;
        let inner = rest[..end].trim_end_matches('\\');
        let closed = rest[end..].starts_with(close) && !inner.is_empty() && !inner.starts_with(close);
        closed.then_some((start, inner))
    }

    /// A run without quotes, to the next space or the next name with a value of its own.
    fn bare(&self, from: usize, separator: Separator) -> Value<'t> {
        let stop = |byte: u8| {
            byte.is_ascii_whitespace()
                || byte.is_ascii_control()
                || matches!(byte, b'"' | b'`')
                || byte == b'|'
                || byte == b'<' && separator == Separator::Tag
        };
        // Another label in it, with a mark before, begins something else.
        let block = self
            .str(self.next..self.next + super::known::KEY_BLOCK.len().min(self.text.len() - self.next))
            == super::known::KEY_BLOCK;
        let parted = self.next > from && (block || b":=,;&?/{(".contains(&self.before(self.next)));
        let most = if parted { self.next - from } else { JUDGED };
        let mut end = self.run(from, most.min(JUDGED), |byte| !stop(byte));
        while !self.text.is_char_boundary(end) {
            end -= 1;
        }
        let mut text = self.str(from..end);
        for (at, _) in text
            .char_indices()
            .filter(|(_, mark)| matches!(mark, ',' | ';' | '&'))
        {
            let name = text[at + 1..]
                .bytes()
                .take(32)
                .take_while(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(byte))
                .count();
            if name > 0 && matches!(text.as_bytes().get(at + 1 + name), Some(b'=' | b':')) {
                text = &text[..at];
                break;
            }
        }
        let marks = |mark: char| ".,;:?)]}>'*_~。，；、！？）」】".contains(mark);
        let mut trimmed = text.trim_end_matches(marks);
        // `!` ends more sentences than passwords, unless there are marks in it.
        if trimmed.ends_with('!') && Shape::of(trimmed).digits == 0 {
            trimmed = trimmed.trim_end_matches('!');
        }
        if separator == Separator::Is || separator == Separator::To {
            trimmed = trimmed.trim_end_matches('\\');
        }
        Value {
            text: trimmed,
            start: from,
            quoted: false,
            separator,
            tight: false,
        }
    }

    fn is_secret(&self, label: Label, value: &Value<'t>) -> bool {
        let text = value.text;
        if text.contains([' ', '\t']) {
            return label >= Label::Password && is_phrase(text) && value.quoted;
        }
        let loose = matches!(
            value.separator,
            Separator::Is | Separator::To | Separator::Cell | Separator::Space
        );
        if shape::is_expression(text) && !(value.quoted && label >= Label::Password) {
            return false;
        }
        if label >= Label::Password {
            return self.is_password(value);
        }
        if shape::is_thing(text) || text.contains('@') {
            return false;
        }
        if text.starts_with("0x") {
            return label == Label::Secret && text.len() > 32;
        }
        let shape = Shape::of(text);
        let random = shape::is_random(text) || shape::is_hex(text) && text.len() >= 32;
        let mixed = shape.digits > 0 && shape.letters() > 0 && !shape::is_slug(text);
        match label {
            Label::Key => random && !shape::is_uuid(text),
            Label::Token => {
                let long = mixed && text.len() >= 16 || shape::is_uuid(text);
                random || long || mixed && text.len() >= 8 && shape.changes >= 2 && !loose
            }
            _ => {
                let short = mixed && text.len() >= 6;
                let by_hand = shape.digits > 0
                    && shape.letters() > 2
                    && text.len() >= 6
                    && !loose
                    && !text.contains(['-', '_', '.']);
                let letters = shape.digits == 0
                    && text.len() >= 16
                    && shape.upper > 0
                    && shape.lower > 0
                    && shape.changes * 6 >= text.len();
                let marked = shape.digits > 0
                    && shape.marks > 0
                    && text.len() >= 8
                    && text.contains(['!', '@', '#', '$', '%', '^', '&', '*', '+', '=']);
                random
                    || short
                    || by_hand
                    || letters
                    || marked
                    || shape::is_uuid(text)
                    || shape::is_hex(text) && text.len() >= 16
            }
        }
    }

    /// Whether a word after `password` is one.
    fn is_password(&self, value: &Value<'t>) -> bool {
        let text = value.text;
        let shape = Shape::of(text);
        let loose = matches!(
            value.separator,
            Separator::Is | Separator::To | Separator::Cell | Separator::Space
        );
        if is_speech(text) || is_label(text) || text.contains("://") {
            return false;
        }
        let after = self.str(value.start + text.len()..(value.start + text.len() + 24).min(self.text.len()));
        let after = if after.is_empty() {
            self.text
                .get(value.start + text.len()..)
                .map_or("", |rest| clip(rest, 24))
        } else {
            after
        };
        if text
            .bytes()
            .all(|byte| byte.is_ascii_digit() || b".,+-%".contains(&byte))
        {
            let counts = [
                " char", " digit", " letter", " word", " bit", " byte", "-", " to ", " or ", " day",
                " month", " time", "/", " symbol",
            ];
            return text.len() >= 4 && !counts.iter().any(|word| after.starts_with(word));
        }
        if !value.quoted
            && (text.starts_with('/')
                || text.starts_with("~/")
                || text.starts_with("./")
                || text.starts_with("C:\\"))
        {
            return false;
        }
        let file = text.rsplit_once('.').is_some_and(|(_, ending)| {
            matches!(
                ending,
                "md" | "txt" | "json" | "env" | "py" | "ts" | "js" | "yaml" | "yml" | "toml" | "rs" | "sh"
            )
        });
        if file {
            return false;
        }
        let tech = [
            "1password",
            "sha256",
            "sha512",
            "sha1",
            "md5",
            "base64",
            "oauth2",
            "argon2",
            "argon2id",
            "pbkdf2",
            "2fa",
            "utf8",
            "aes256",
            "bcrypt",
            "scrypt",
        ];
        if tech.iter().any(|word| {
            text.len() >= word.len()
                && text.is_char_boundary(word.len())
                && text[..word.len()].eq_ignore_ascii_case(word)
        }) {
            return false;
        }
        if value.quoted {
            return text.len() >= 3;
        }
        let marks = shape.marks > text.bytes().filter(|byte| b"-_.'/:,()".contains(byte)).count();
        if shape.digits > 0 || marks {
            return text.len() >= 4 && (!loose || !shape::is_thing(text));
        }
        if shape::is_thing(text) || text.contains(['(', '/', ':']) {
            return false;
        }
        // Letters alone: where the sentence or the line ends with them.
        let rest = after.trim_start_matches([
            '"', '\'', '`', '*', '.', ',', ';', '!', ')', '}', ']', '<', '|', '\\',
        ]);
        let ends = rest.is_empty()
            || rest.starts_with(['\n', '\r'])
            || rest.trim_start().starts_with(['#', '(', '\n', '|']);
        let argument =
            after.starts_with(')') || after.starts_with(", ") && value.separator == Separator::Equals;
        let listed = value.separator == Separator::Equals && value.tight && !argument;
        let next = rest.trim_start();
        let other = next.split([' ', '\n']).next().unwrap_or_default();
        let pair = other.ends_with(':') && other.len() > 1 || other.contains('=') && !other.starts_with('=');
        let sentence = after.starts_with([',', '.', ';', '/']) && value.separator != Separator::Equals;
        match value.separator {
            Separator::Cell => false,
            Separator::To | Separator::Space => ends && text.len() >= 5,
            _ => {
                !argument
                    && text.len() >= 3
                    && (ends || listed || pair || sentence && value.separator != Separator::Equals)
            }
        }
    }

    /// The words of a passphrase, to the end of the sentence.
    fn words(&self, value: &Value<'t>, label: Label) -> Option<Range<usize>> {
        let line = if value.quoted {
            value.text
        } else {
            let rest = self.text.get(value.start..).map_or("", |rest| clip(rest, JUDGED));
            rest.split(['\n', '.', ',', ';', '(', '"', '[', '|'])
                .next()
                .unwrap_or_default()
                .trim_end()
        };
        let least = if label == Label::Seed { 8 } else { 3 };
        let words = line.split([' ', '-']).filter(|word| !word.is_empty()).count();
        let plain = line
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte == b' ' || byte == b'-');
        let fits = words >= least && plain && (label == Label::Seed || is_phrase(line));
        fits.then(|| value.start..value.start + line.len())
    }
}

/// Words that somebody chose, and no sentence.
fn is_phrase(text: &str) -> bool {
    let words = || text.split([' ', '-', '\t']).filter(|word| !word.is_empty());
    words().count() >= 3
        && !words().any(|word| is_grammar(word) || is_label(word))
        && !text.ends_with(['.', '!', '?', ':'])
}

/// The first bytes of a text, whole characters.
pub(super) fn clip(text: &str, most: usize) -> &str {
    let end = (0..=most.min(text.len()))
        .rev()
        .find(|end| text.is_char_boundary(*end));
    &text[..end.unwrap_or(0)]
}
