//! Which words announce a secret, and where does what they announce begin?

use std::ops::Range;

use super::Place;
use super::value::Separator;
use super::words::{ENVIRONMENTS, OF_OTHERS, OF_SECRETS};

/// How much a label says of what follows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Label {
    /// `key`: of a piano, a map, a door; what follows must look random.
    Key,
    /// `token`: of language models, parsers, chains; what follows must look made by a machine.
    Token,
    /// `secret`, `api key`: what follows has digits in it, or is long.
    Secret,
    /// `password`: may be any word.
    Password,
    /// `passphrase`: may be several words.
    Phrase,
    /// `seed phrase`: many words.
    Seed,
}

/// Words, in any case, with what they mean.
pub(super) const LABELS: [(&str, Label); 23] = [
    ("key", Label::Key),
    ("token", Label::Token),
    ("secret", Label::Secret),
    ("credential", Label::Secret),
    ("authorization", Label::Secret),
    ("pass", Label::Secret),
    ("psk", Label::Secret),
    ("pw", Label::Password),
    ("pwd", Label::Password),
    ("passwd", Label::Password),
    ("password", Label::Password),
    ("passcode", Label::Password),
    ("passwort", Label::Password),
    ("kennwort", Label::Password),
    ("contraseña", Label::Password),
    ("mot de passe", Label::Password),
    ("пароль", Label::Password),
    ("密码", Label::Password),
    ("密碼", Label::Password),
    ("パスワード", Label::Password),
    ("passphrase", Label::Phrase),
    ("seed phrase", Label::Seed),
    ("mnemonic", Label::Seed),
];

/// Schemes of the header `Authorization`.
pub(super) const SCHEMES: [&str; 2] = ["bearer", "basic"];

/// Bytes that may stand between a label and its separator: `password for the NAS:`.
const BETWEEN: usize = 48;
/// Bytes of a name that are looked at.
const NAME: usize = 48;

/// A label in its place.
#[derive(Debug, Clone, Copy)]
pub(super) struct Named {
    pub label: Label,
    /// Where its name starts: `AWS_` of `AWS_SECRET`.
    pub start: usize,
    /// Where its name ends.
    pub end: usize,
    /// `--token`, `Authorization: token`: a space is enough before the value.
    pub flag: bool,
}

impl Place<'_> {
    /// The secret that a label announces.
    pub(super) fn labelled(&self, label: Label) -> Option<Range<usize>> {
        let named = self.named(label)?;
        if let Some((separator, at)) = self.separator(named)
            && let Some(value) = self.value(named, separator, at)
        {
            return Some(value);
        }
        self.near(named)
    }

    /// The label, if the word is the last one of a name, and the name one of a secret.
    fn named(&self, label: Label) -> Option<Named> {
        let (start, end) = (self.start, self.end);
        let wide = self.at(start) >= 0x80;
        let glued = !wide && self.before(start).is_ascii_alphanumeric() && !self.is_camel(start);
        let before = self.name_before(start);
        let any_name = label >= Label::Password && end - start > 4;
        if glued && !any_name && !ends_in(before, OF_SECRETS, true) {
            return None;
        }
        // `password2`, `API_KEY_PROD`; but `token_count`, `keys` and `password.txt` are other words.
        let digits = self.run(end, 2, |byte| byte.is_ascii_digit());
        let next = self.at(digits);
        let mut after = digits;
        if !wide && (next.is_ascii_alphanumeric() || next >= 0x80) {
            return None;
        }
        if matches!(next, b'_' | b'-' | b'.' | b'/') && self.at(digits + 1).is_ascii_alphanumeric() {
            after = self.run(digits + 1, NAME, |byte| byte.is_ascii_alphanumeric());
            let ending = self.str(digits + 1..after).to_ascii_lowercase();
            if !ENVIRONMENTS.contains(&&*ending) || self.at(after) == b'_' {
                return None;
            }
        }
        let dashes = before.contains("--");
        let header = self
            .str(start.saturating_sub(15)..start)
            .trim_end()
            .to_ascii_lowercase();
        let capitals = before.ends_with('_') && before.bytes().any(|byte| byte.is_ascii_uppercase());
        let label = match label {
            Label::Key | Label::Token => {
                if ends_in(before, OF_OTHERS, false) {
                    return None;
                }
                let of_secrets = glued || capitals || dashes || ends_in(before, OF_SECRETS, false);
                if of_secrets { Label::Secret } else { label }
            }
            // `tests pass: 12`, but `db_pass`.
            Label::Secret if self.end - self.start == 4 => {
                if before.ends_with(['_', '-']) || glued || self.is_camel(start) {
                    Label::Password
                } else {
                    Label::Token
                }
            }
            // `wpw` and `pw` are rarely anything else, but short.
            other => other,
        };
        Some(Named {
            label,
            start: start - before.len(),
            end: after,
            flag: dashes || header.ends_with("uthorization:"),
        })
    }

    /// Whether a word of a name in camel case begins here: `authToken`.
    fn is_camel(&self, at: usize) -> bool {
        let before = self.before(at);
        self.at(at).is_ascii_uppercase() && (before.is_ascii_lowercase() || before.is_ascii_digit())
    }

    /// What stands right before a label and belongs to its name: `aws_`, `X-Api-`, `the api `.
    fn name_before(&self, start: usize) -> &str {
        let from = start.saturating_sub(NAME).max(self.done);
        let bytes = &self.bytes()[from..start];
        let belongs = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
        let mut length = bytes.iter().rev().take_while(|byte| belongs(byte)).count();
        if length == 0 && bytes.ends_with(b" ") {
            // A word before, such as `API`.
            length = 1 + bytes[..bytes.len() - 1]
                .iter()
                .rev()
                .take_while(|byte| belongs(byte))
                .count();
        }
        self.str(start - length..start)
    }

    /// What announces a value after a label, and where the value begins.
    fn separator(&self, named: Named) -> Option<(Separator, usize)> {
        let direct = self.separator_at(named.end);
        if direct.is_some() {
            return direct;
        }
        if named.flag && self.at(named.end) == b' ' {
            return Some((Separator::Space, named.end + 1));
        }
        // `password for the NAS: …`, `API key (staging) = …`
        let rest = self.str(named.end..self.next.min(named.end + BETWEEN).max(named.end));
        let rest = rest
            .split(['\n', '[', '"', '`', ',', ';', '.', '→'])
            .next()
            .unwrap_or_default();
        let about = [" for ", " of ", " to ", " on ", " at ", " (", " in "]
            .iter()
            .any(|word| rest.starts_with(word));
        if !about || named.label < Label::Token {
            return None;
        }
        // What is in brackets is about the label; what follows them is the value.
        let skipped = if rest.starts_with(" (") {
            rest.find(')')?
        } else {
            0
        };
        let marks = rest.char_indices().filter(|(at, mark)| {
            let verb = || [" is ", " was "].iter().any(|verb| rest[*at..].starts_with(verb));
            *at >= skipped && (matches!(mark, ':' | '=') || verb())
        });
        marks
            .map(|(at, _)| named.end + at)
            .find_map(|at| self.separator_at(at))
    }

    /// The separator that stands at an offset, marks of markdown and quotes around it left out.
    fn separator_at(&self, at: usize) -> Option<(Separator, usize)> {
        let mark = |byte: u8| matches!(byte, b'*' | b'_' | b'`' | b'"' | b'\'' | b'\\' | b']');
        let space = |byte: u8| matches!(byte, b' ' | b'\t');
        let closed = self.run(at, 6, mark);
        let from = self.run(closed, 32, space);
        let rest = self.str(from..(from + 8).min(self.text.len()));
        let rest = if rest.is_empty() {
            self.text.get(from..).unwrap_or_default()
        } else {
            rest
        };
        let table = [
            (":=", Separator::Equals),
            ("=>", Separator::Equals),
            ("->", Separator::Arrow),
            ("→", Separator::Arrow),
            ("：", Separator::Colon),
            (":", Separator::Colon),
            ("=", Separator::Equals),
            ("|", Separator::Cell),
            (">", Separator::Tag),
        ];
        let spaced = from > closed;
        for (mark, separator) in table {
            if rest.starts_with(mark) {
                let end = from + mark.len();
                let more = self.at(end);
                // `::`, `==`, `:=`, `=~` and the like are operators; tags close right behind their names.
                if matches!(more, b'=' | b':' | b'~') && separator != Separator::Arrow
                    || separator == Separator::Tag && spaced
                {
                    return None;
                }
                return Some((separator, end));
            }
        }
        for word in ["is", "was", "to"] {
            let after = from + word.len();
            if spaced && rest.starts_with(word) && space(self.at(after)) {
                let separator = if word == "to" {
                    Separator::To
                } else {
                    Separator::Is
                };
                return Some((separator, after + 1));
            }
        }
        None
    }
}

/// Whether the last word of a name is one of these; `glued`: with nothing between it and what follows.
fn ends_in(before: &str, words: &[&str], glued: bool) -> bool {
    let name = if glued {
        before
    } else {
        before.trim_end_matches(['_', '-', '.', ' '])
    };
    let bytes = name.as_bytes();
    words.iter().any(|word| {
        let Some(at) = bytes.len().checked_sub(word.len()) else {
            return false;
        };
        let first = bytes[at];
        let starts = at == 0
            || !bytes[at - 1].is_ascii_alphanumeric()
            || bytes[at - 1].is_ascii_lowercase() && first.is_ascii_uppercase();
        starts && bytes[at..].eq_ignore_ascii_case(word.as_bytes())
    })
}
