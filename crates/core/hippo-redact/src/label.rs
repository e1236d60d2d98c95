//! Labels before a secret, such as `password`, and the separators after a label.

use std::ops::Range;

use super::SecretCandidate;
use super::shape::is_random;
use super::value::Separator;
use super::words::{ENVIRONMENTS, OF_OTHERS, OF_SECRETS, contains_word};

/// Meaning of a label. The variants are in order: the later ones allow more values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum SecretLabel {
    /// `key`: may also belong to a piano, a map or a door, so the value must look random.
    Key,
    /// `token`: may also belong to a language model, a parser or a chain, so the value must look generated.
    Token,
    /// `secret`, `api key`: the value must have letters and digits, or must be long.
    Secret,
    /// `pass`: a password in `db_pass`, but otherwise perhaps the outcome of a test.
    Pass,
    /// `password`: the value may be a single word.
    Password,
    /// `passphrase`: the value may be several words.
    Phrase,
    /// `seed phrase`: the value is at least eight words.
    Seed,
}

/// Label words, with their meaning. The case of ASCII letters is ignored.
#[rustfmt::skip] // keep the list compact
pub(super) const LABELS: [(&str, SecretLabel); 62] = {
    use SecretLabel::{Key, Pass, Password, Phrase, Secret, Seed, Token};
    [
    ("key", Key), ("token", Token), ("secret", Secret), ("credential", Secret), ("authorization", Secret),
    ("psk", Secret), ("pass", Pass), ("pw", Password), ("pwd", Password), ("passwd", Password),
    ("password", Password), ("passcode", Password), ("passwort", Password), ("kennwort", Password),
    ("contraseña", Password), ("mot de passe", Password), ("пароль", Password), ("Пароль", Password),
    ("ПАРОЛЬ", Password), ("токен", Token), ("Токен", Token), ("секрет", Token), ("Секрет", Token),
    ("ключ", Key), ("Ключ", Key), ("schlüssel", Key), ("geheimnis", Secret), ("zugangstoken", Secret),
    ("senha", Password), ("wachtwoord", Password), ("密码", Password), ("密碼", Password), ("パスワード", Password),
    ("passphrase", Phrase), ("seed phrase", Seed), ("mnemonic", Seed), ("passord", Password),
    ("lösenord", Password), ("adgangskode", Password), ("kodeord", Password), ("salasana", Password),
    ("hasło", Password), ("heslo", Password), ("jelszó", Password), ("palavra-passe", Password),
    ("slaptažodis", Password), ("parool", Password), ("geslo", Password), ("lozinka", Password),
    ("şifre", Password), ("κωδικός", Password), ("парола", Password), ("mot-de-passe", Password),
    ("motdepasse", Password), ("parola", Token), ("recovery phrase", Seed), ("backup phrase", Seed),
    ("wallet phrase", Seed), ("seed words", Seed), ("recovery words", Seed), ("seedphrase", Seed),
    ("contribsys__com", Token),
    ]
};

/// Schemes of the `Authorization` header.
pub(super) const SCHEMES: [&str; 2] = ["bearer", "basic"];
/// Header that precedes a scheme or a token.
const HEADER: &[u8] = b"authorization: ";

/// Words that connect a label with a description, such as ` for ` in `password for the NAS`.
const LEADS: [&str; 19] = [
    " for ", " of ", " to ", " on ", " at ", " in ", " (", " für ", " fürs ", " zu ", " zum ", " vom ",
    " von ", " des ", " der ", " от ", " для ", " к ", " API",
];
/// Words that separate a label from its value, with the kind of separator.
#[rustfmt::skip] // keep the list compact
const VERBS: [(&str, Separator); 15] = [
    ("is ", Separator::Is), ("was ", Separator::Is), ("to ", Separator::To), ("ist ", Separator::Said),
    ("war ", Separator::Said), ("lautet ", Separator::Is), ("lautete ", Separator::Is),
    ("est ", Separator::Said), ("était ", Separator::Said), ("es ", Separator::Said), ("é ", Separator::Said),
    ("è ", Separator::Said), ("är ", Separator::Said), ("er ", Separator::Said), ("jest ", Separator::Said),
];

/// Maximum bytes between a label and its separator: `password for the NAS:`.
const BETWEEN: usize = 48;
/// Maximum bytes of a name before its label.
const NAME: usize = 32;

/// Label that denotes a secret, with its end in the text.
#[derive(Debug, Clone, Copy)]
pub(super) struct LabelMatch {
    pub label: SecretLabel,
    /// End of the name that contains the label.
    pub end: usize,
    /// True if a space is enough as separator, as after `--token` and `Authorization: token`.
    pub flag: bool,
}

impl SecretCandidate<'_> {
    /// Returns the secret to which a label belongs.
    pub(super) fn find_labelled(&self, label: SecretLabel) -> Option<Range<usize>> {
        // Notion tokens: `secret_` followed by random characters.
        if label == SecretLabel::Secret && self.byte_at(self.end) == b'_' {
            let end = self.run_end(self.end + 1, 64, |byte| byte.is_ascii_alphanumeric());
            if end - self.end > 40 && is_random(self.slice(self.end + 1..end)) {
                return Some(self.start..end);
            }
        }
        let named = self.match_label(label)?;
        let value = self.find_separator(named);
        let value = value.and_then(|(separator, at)| self.find_value(named, separator, at));
        value
            .or_else(|| self.find_near(named))
            .or_else(|| self.find_argument(named))
            .or_else(|| self.find_adjacent(named))
    }

    /// Returns the label if its name denotes a secret, such as `access_token`, but not `page_token`. The label must be
    /// the last word of the name.
    fn match_label(&self, label: SecretLabel) -> Option<LabelMatch> {
        let (start, end) = (self.start, self.end);
        let wide = self.byte_at(start) >= 0x80;
        let end = if wide { end } else { self.name_end(end)? };
        let name = self.name_before(start);
        let last = last_word(name.trim_end_matches(['_', '-', '.', ' ']));
        let camel = self.is_camel(start);
        let glued = !wide && self.byte_before(start).is_ascii_alphanumeric() && !camel;
        let long = label >= SecretLabel::Password && self.end - start > 4;
        if glued && !long && !contains_word(OF_SECRETS, last) {
            return None;
        }
        let flag = name.contains("--") || self.is_in_header(start);
        let label = match label {
            SecretLabel::Key | SecretLabel::Token => {
                if contains_word(OF_OTHERS, last) {
                    return None;
                }
                // A constant such as `DEPLOY_KEY` is a secret, not a key of a map.
                let constant = name.ends_with('_') && name.bytes().any(|byte| byte.is_ascii_uppercase());
                let of_secrets = glued || constant || flag || contains_word(OF_SECRETS, last);
                if of_secrets { SecretLabel::Secret } else { label }
            }
            SecretLabel::Pass if camel || glued || name.ends_with(['_', '-']) => SecretLabel::Password,
            SecretLabel::Pass => SecretLabel::Token,
            other => other,
        };
        Some(LabelMatch { label, end, flag })
    }

    /// Returns the end of a name whose last word is the label, such as `password2` or `API_KEY_PROD`. Returns `None`
    /// for other names, such as `token_count`, `keys` and `password.txt`.
    fn name_end(&self, end: usize) -> Option<usize> {
        let end = self.run_end(end, 2, |byte| byte.is_ascii_digit());
        let next = self.byte_at(end);
        if next.is_ascii_alphanumeric()
            || next >= 0x80 && !self.text_from(end).starts_with(['：', '→', '”', '’', '»', '」'])
        {
            return None;
        }
        if !(matches!(next, b'_' | b'-' | b'.' | b'/') && self.byte_at(end + 1).is_ascii_alphanumeric()) {
            return Some(end);
        }
        let after = self.run_end(end + 1, NAME, |byte| byte.is_ascii_alphanumeric());
        let other = self.byte_at(after) == b'_' || !contains_word(ENVIRONMENTS, self.slice(end + 1..after));
        (!other).then_some(after)
    }

    /// Returns true if a word inside a camel-case name begins at the offset, such as `Token` in `authToken`.
    fn is_camel(&self, at: usize) -> bool {
        let before = self.byte_before(at);
        self.byte_at(at).is_ascii_uppercase() && (before.is_ascii_lowercase() || before.is_ascii_digit())
    }

    /// Returns the part of a name before the label, such as `aws_`, `X-Api-` or `api `.
    fn name_before(&self, start: usize) -> &str {
        let bytes = &self.bytes()[start.saturating_sub(NAME).max(self.done)..start];
        let belongs = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
        let mut length = bytes.iter().rev().take_while(|byte| belongs(byte)).count();
        if length == 0 && bytes.ends_with(b" ") {
            // The word before the space belongs to the name, such as `API` in `API key`.
            let word = bytes.iter().rev().skip(1);
            length = 1 + word.take_while(|byte| belongs(byte)).count();
        }
        self.slice(start - length..start)
    }

    /// Returns true if `Authorization: ` precedes the offset.
    pub(super) fn is_in_header(&self, at: usize) -> bool {
        let at = at - usize::from(matches!(self.byte_before(at), b'"' | b'\'' | b'`'));
        let from = at.checked_sub(HEADER.len());
        let header = from.and_then(|from| self.bytes().get(from..at));
        header.is_some_and(|header| header.eq_ignore_ascii_case(HEADER))
    }

    /// Returns the separator after a label, and the start of the value.
    fn find_separator(&self, named: LabelMatch) -> Option<(Separator, usize)> {
        if let Some(direct) = self.parse_separator(named.end) {
            return Some(direct);
        }
        if self.byte_at(named.end) != b' ' {
            return None;
        }
        if named.flag {
            return Some((Separator::Space, named.end + 1));
        }
        // The text may describe the label first: `password for the NAS: …`, `API key (staging) = …`.
        let wide = self.byte_at(self.start) >= 0x80 || self.byte_at(self.end - 1) >= 0x80;
        if named.label < SecretLabel::Token && !wide {
            return None;
        }
        let until = (named.end + BETWEEN).min(self.text.len());
        // For passwords, other labels in the description are ignored, such as `key` in `passphrase of the key is …`.
        let until = match named.label < SecretLabel::Password {
            true => self.next_candidate(self.start).min(until).max(named.end),
            false => until,
        };
        let rest = self.bytes().get(named.end..until)?;
        if !LEADS.iter().any(|word| rest.starts_with(word.as_bytes())) {
            return None;
        }
        // Text in brackets belongs to the description, so skip separators inside the brackets.
        let mut open = rest[1] == b'(';
        for (at, byte) in rest.iter().enumerate() {
            match byte {
                b')' => open = false,
                b'\n' | b'[' | b'"' | b'`' | b',' | b';' | b'.' => return None,
                b':' | b'=' | b' ' if !open => {
                    let said = |(word, by): &(&str, Separator)| {
                        matches!(by, Separator::Is | Separator::Said)
                            && rest[at + 1..].starts_with(word.as_bytes())
                    };
                    let verb = *byte != b' ' || VERBS.iter().any(said);
                    if verb && let Some(found) = self.parse_separator(named.end + at) {
                        return Some(found);
                    }
                }
                _ => {}
            }
        }
        None
    }

    /// Returns the separator at an offset, and the start of the value. Markdown and quotes around the separator are
    /// ignored.
    fn parse_separator(&self, at: usize) -> Option<(Separator, usize)> {
        let mark = |byte: u8| matches!(byte, b'*' | b'_' | b'`' | b'"' | b'\'' | b'\\' | b']');
        let closed = self.run_end(at, 6, mark);
        let from = self.run_end(closed, 32, is_space);
        let spaced = from > closed;
        let next = self.byte_at(from + 1);
        let (separator, length) = match self.byte_at(from) {
            b':' if next == b'=' => (Separator::Equals, 2),
            b'=' if next == b'>' => (Separator::Equals, 2),
            b'-' if next == b'>' => (Separator::Arrow, 2),
            b':' => (Separator::Colon, 1),
            b'=' => (Separator::Equals, 1),
            b'|' => (Separator::Cell, 1),
            b'>' if !spaced => (Separator::Tag, 1),
            // XML attributes: `<add key="DbPassword" value="…"/>`
            b'v' if spaced && closed > at && self.text_from(from).starts_with("value=") => {
                (Separator::Equals, 6)
            }
            b'i' | b'w' | b't' | b'l' | b'e' | b'j' | 0xC3 if spaced => {
                let rest = self.text_from(from);
                let verb = VERBS.into_iter().find(|(word, _)| rest.starts_with(word));
                return verb.map(|(word, separator)| (separator, from + word.len()));
            }
            0xE2 if spaced && self.text_from(from).starts_with("— ") => (Separator::Said, 4),
            0xE2 if spaced && self.text_from(from).starts_with("– ") => (Separator::Said, 4),
            0xE2 if self.text_from(from).starts_with('→') => (Separator::Arrow, 3),
            0xEF if self.text_from(from).starts_with('：') => (Separator::Colon, 3),
            _ => return None,
        };
        // Operators such as `::`, `==` and `=~` are not separators.
        let end = from + length;
        let operator = length == 1 && matches!(self.byte_at(end), b'=' | b':' | b'~');
        (!operator).then_some((separator, end))
    }
}

pub(super) const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// Returns the last word of a name, such as `Api` in `xApi`. Punctuation marks and capitals separate words.
fn last_word(name: &str) -> &str {
    let bytes = name.as_bytes();
    let mut at = bytes.len();
    while at > 0 && bytes[at - 1].is_ascii_alphanumeric() {
        at -= 1;
        if at > 0 && bytes[at].is_ascii_uppercase() && bytes[at - 1].is_ascii_lowercase() {
            break;
        }
    }
    name.get(at..).unwrap_or_default()
}
