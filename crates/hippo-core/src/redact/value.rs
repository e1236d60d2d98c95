//! Is what stands after a label a secret, and how far does it go?

use std::ops::Range;

use super::label::{Label, Named, is_space};
use super::shape::{self, Shape};
use super::words::{TECHNIQUES, is_grammar, is_label, is_speech};
use super::{Place, REDACTED};
use crate::text::start as start_of;

/// What stands between a label and its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Separator {
    Colon,
    Equals,
    Arrow,
    /// ` is `
    Is,
    /// ` ist `, ` — `: before any word of a sentence.
    Said,
    /// ` to `
    To,
    /// A space after `--token`.
    Space,
    /// `|` of a table.
    Cell,
    /// `>` of XML.
    Tag,
}

impl Separator {
    /// Whether it stands before many things that are no values.
    const fn is_loose(self) -> bool {
        matches!(self, Self::Is | Self::Said | Self::To | Self::Space | Self::Cell)
    }
}

/// Bytes of a value that are judged.
const JUDGED: usize = 128;
/// Longest value in quotes.
const QUOTED: usize = 4_096;
/// Bytes after a value that are looked at.
const AFTER: usize = 24;

/// A value as it stands in the text.
#[derive(Debug, Clone, Copy)]
struct Value<'t> {
    text: &'t str,
    start: usize,
    quoted: bool,
    separator: Separator,
    /// It follows its label with nothing but the separator between them: `password=x`.
    tight: bool,
}

impl Value<'_> {
    const fn end(&self) -> usize {
        self.start + self.text.len()
    }
}

impl<'t> Place<'t> {
    /// The value from an offset on, if it is a secret.
    pub(super) fn value(&self, named: Named, separator: Separator, at: usize) -> Option<Range<usize>> {
        let from = self.run(at, 32, is_space);
        let from = self.run(from, 3, |byte| byte == b'*');
        let from = self.run(from, 4, is_space);
        let from = from + usize::from(self.at(from) == b'\\');
        let (start, text, quoted) = match self.quoted(from) {
            Some((start, text)) => (start, text, true),
            None => (from, self.bare(from, separator), false),
        };
        let tight = from == named.end + 1;
        let value = Value {
            text,
            start,
            quoted,
            separator,
            tight,
        };
        if named.label >= Label::Phrase
            && let Some(words) = self.words(&value, named.label)
        {
            return Some(words);
        }
        // What is redacted in part was judged before.
        if text.is_empty() || text.contains(REDACTED) {
            return None;
        }
        let judged = Value {
            text: start_of(text, JUDGED),
            ..value
        };
        if !self.is_secret(named.label, &judged) || shape::is_placeholder(judged.text) {
            return None;
        }
        let end = if quoted || text.len() + 4 < JUDGED {
            value.end()
        } else {
            self.run(value.end(), usize::MAX, |byte| {
                byte.is_ascii_graphic() && !b"\"`|<,;&".contains(&byte)
            })
        };
        Some(start..end)
    }

    /// What stands between quotes that begin at an offset.
    fn quoted(&self, at: usize) -> Option<(usize, &'t str)> {
        let rest = self.rest(at);
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
        let rest = start_of(self.rest(start), QUOTED);
        let end = rest.find([close, '\n'])?;
        let inner = rest[..end].trim_end_matches('\\');
        (rest[end..].starts_with(close) && !inner.is_empty()).then_some((start, inner))
    }

    /// A run without quotes, to the next space or the next name with a value of its own.
    fn bare(&self, from: usize, separator: Separator) -> &'t str {
        let ends = |byte: u8| {
            byte <= b' '
                || matches!(byte, b'"' | b'`' | b'|' | 0x7F)
                || byte == b'<' && separator == Separator::Tag
        };
        // Another label in it, with a mark before, begins something else.
        let next = self.next(from);
        let joined = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'/');
        let most = if joined(self.before(next)) {
            JUDGED
        } else {
            JUDGED.min(next - from)
        };
        let end = self.run(from, most, |byte| !ends(byte));
        let text = start_of(self.rest(from), end - from);
        // A name with a value of its own: `?next=key=x`.
        let name = text
            .bytes()
            .take_while(|byte| byte.is_ascii_alphabetic() || b"_-.".contains(byte))
            .count();
        let named = text.as_bytes().get(name) == Some(&b'=')
            && text
                .as_bytes()
                .get(name + 1)
                .is_some_and(u8::is_ascii_alphanumeric);
        let text = if named { &text[..name] } else { text };
        let text = &text[..end_of_item(text.as_bytes()).unwrap_or(text.len())];
        let trimmed = text.trim_end_matches(|mark: char| ".,;:?)]}>'*_~\\。，；、！？）」】".contains(mark));
        // `!` ends more sentences than passwords.
        let said = trimmed.ends_with('!') && !trimmed.bytes().any(|byte| byte.is_ascii_digit());
        if said {
            trimmed.trim_end_matches('!')
        } else {
            trimmed
        }
    }

    fn is_secret(&self, label: Label, value: &Value<'t>) -> bool {
        let text = value.text;
        if text.contains([' ', '\t']) {
            let named = label >= Label::Password || label == Label::Secret && self.is_named_secret(value);
            return named && value.quoted && is_phrase(text);
        }
        if label >= Label::Password {
            return self.is_password(value);
        }
        let shape = Shape::of(text);
        let long = text.len() >= 16 && shape.upper > 0 && shape.lower > 0 && shape.changes * 6 >= text.len();
        if !(shape.is_mixed() || long && label == Label::Secret) || text.len() < 6 {
            return false;
        }
        if shape::is_expression(text) || shape::is_place(text) || shape::is_number(text) || text.contains('@')
        {
            return false;
        }
        if text.starts_with("0x") {
            return label == Label::Secret && text.len() > 32;
        }
        let uuid = shape::is_uuid(text);
        let random = shape::is_random(text) || shape::is_hex(text) && text.len() >= 32;
        let mixed = shape.is_mixed() && !shape::is_slug(text);
        match label {
            Label::Key => random && !uuid,
            Label::Token => {
                let made = shape.changes >= 2 && text.len() >= 8 && !value.separator.is_loose();
                random || uuid || mixed && (text.len() >= 16 || made)
            }
            _ => {
                // `hunter2`, in a place where nothing but a value stands.
                let single =
                    shape.letters() > 2 && !value.separator.is_loose() && !text.contains(['-', '_', '.']);
                random || uuid || mixed || long || single
            }
        }
    }

    /// Whether words are set as one: `session_secret: "…"`.
    fn is_named_secret(&self, value: &Value<'t>) -> bool {
        let name = self.str(self.start..self.end).eq_ignore_ascii_case("secret");
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte == b' ';
        let set = matches!(value.separator, Separator::Equals | Separator::Colon);
        name && set && matches!(self.before(self.start), b'_' | b'-') && value.text.bytes().all(plain)
    }

    /// Whether a word after `password` is one.
    fn is_password(&self, value: &Value<'t>) -> bool {
        let text = value.text;
        if text.len() < 3 || text.contains("://") || TECHNIQUES.iter().any(|name| starts(text, name)) {
            return false;
        }
        // `hashedPassword123` says what it stands for.
        let stem = text.trim_end_matches(|mark: char| mark.is_ascii_digit());
        if (starts(text, "hashed") || starts(text, "encrypted")) && is_label(stem) {
            return false;
        }
        let letters = !text.bytes().any(|byte| byte.is_ascii_digit());
        if letters && (is_speech(text) || is_label(text)) {
            return false;
        }
        if value.quoted {
            return !shape::is_place(text) || !text.contains(['/', '.']);
        }
        let after = start_of(self.rest(value.end()), AFTER);
        if text
            .bytes()
            .all(|byte| byte.is_ascii_digit() || b".,+-%".contains(&byte))
        {
            let counts = [
                " char", " digit", " letter", " word", " bit", " byte", " to ", " or ", " day", " month",
                " time", " symbol", "/", "-",
            ];
            return text.len() >= 4 && !counts.iter().any(|word| after.starts_with(word));
        }
        if shape::is_expression(text) || shape::is_place(text) {
            return false;
        }
        let plain = |byte: &u8| byte.is_ascii_alphabetic() || *byte >= 0x80 || b"-_.'/:,()".contains(byte);
        if !text.as_bytes().iter().all(plain) {
            return text.len() >= 4 && !(value.separator.is_loose() && shape::is_number(text));
        }
        !text.contains(['(', '/', ':']) && ends_there(value, after)
    }

    /// The words of a passphrase, to the end of the sentence.
    fn words(&self, value: &Value<'t>, label: Label) -> Option<Range<usize>> {
        let line = if value.quoted {
            value.text
        } else {
            let end = self.run(value.start, 2 * JUDGED, |byte| {
                byte.is_ascii_lowercase() || matches!(byte, b' ' | b'-')
            });
            let stops = self.at(end) == 0 || b"\r\n.,;(\"[|".contains(&self.at(end));
            let line = self.str(value.start..end);
            if stops {
                line.trim_end()
            } else if label == Label::Seed {
                // What is said behind the words may end in a name.
                line.rsplit_once(' ').map_or("", |(words, _)| words.trim_end())
            } else {
                ""
            }
        };
        let least = if label == Label::Seed { 8 } else { 3 };
        let plain = line
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte == b' ' || byte == b'-');
        let words = || line.split([' ', '-']).filter(|word| !word.is_empty());
        let fits = plain && words().nth(least - 1).is_some() && (label == Label::Seed || is_phrase(line));
        fits.then(|| value.start..value.start + line.len())
    }
}

/// Where the next one of a list begins: `b=` in `a,b=c`.
fn end_of_item(text: &[u8]) -> Option<usize> {
    let marks = text
        .iter()
        .enumerate()
        .filter(|(_, byte)| matches!(byte, b',' | b';' | b'&'));
    marks.map(|(at, _)| at).find(|at| {
        let rest = &text[at + 1..];
        let name = rest
            .iter()
            .take_while(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(byte))
            .count();
        name > 0 && matches!(rest.get(name), Some(b'=' | b':'))
    })
}

/// Whether letters alone are a value: the line, the sentence or the item ends with them.
fn ends_there(value: &Value<'_>, after: &str) -> bool {
    let close = |mark: char| "\"'`*.,;!)}]<|\\。".contains(mark);
    let rest = after.trim_start_matches(close);
    let next = rest.trim_start_matches([' ', '\t']);
    let ends = next.is_empty() || next.starts_with(['\n', '\r', '#', '(', '|']);
    let word = next.split([' ', '\n']).next().unwrap_or_default();
    let pair = word.len() > 1 && word.ends_with(':') || word.contains('=') && !word.starts_with('=');
    // `login(user, password=word)` is code.
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

/// Words that somebody chose, and no sentence.
fn is_phrase(text: &str) -> bool {
    let words = || text.split([' ', '-', '\t']).filter(|word| !word.is_empty());
    let sentence =
        text.ends_with(['.', '!', '?', ':']) || words().any(|word| is_grammar(word) || is_label(word));
    words().nth(2).is_some() && !sentence
}

fn starts(text: &str, word: &str) -> bool {
    let start = text.get(..word.len());
    start.is_some_and(|start| start.eq_ignore_ascii_case(word))
}
