//! Which words announce a secret, and where does what they announce begin?

use std::ops::Range;

use super::Place;
use super::shape::is_random;
use super::value::Separator;
use super::words::{ENVIRONMENTS, OF_OTHERS, OF_SECRETS, has};

/// How much a label says of what follows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Label {
    /// `key`: of a piano, a map, a door; what follows must look random.
    Key,
    /// `token`: of language models, parsers, chains; what follows must look made by a machine.
    Token,
    /// `secret`, `api key`: what follows has digits in it, or is long.
    Secret,
    /// `pass`: a password in `db_pass`, and else what tests do.
    Pass,
    /// `password`: may be any word.
    Password,
    /// `passphrase`: may be several words.
    Phrase,
    /// `seed phrase`: many words.
    Seed,
}

/// Words, in any case, with what they mean.
pub(super) const LABELS: [(&str, Label); 62] = [
    ("key", Label::Key),
    ("token", Label::Token),
    ("secret", Label::Secret),
    ("credential", Label::Secret),
    ("authorization", Label::Secret),
    ("psk", Label::Secret),
    ("pass", Label::Pass),
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
    ("Пароль", Label::Password),
    ("ПАРОЛЬ", Label::Password),
    ("токен", Label::Token),
    ("Токен", Label::Token),
    ("секрет", Label::Token),
    ("Секрет", Label::Token),
    ("ключ", Label::Key),
    ("Ключ", Label::Key),
    ("schlüssel", Label::Key),
    ("geheimnis", Label::Secret),
    ("zugangstoken", Label::Secret),
    ("senha", Label::Password),
    ("wachtwoord", Label::Password),
    ("密码", Label::Password),
    ("密碼", Label::Password),
    ("パスワード", Label::Password),
    ("passphrase", Label::Phrase),
    ("seed phrase", Label::Seed),
    ("mnemonic", Label::Seed),
    ("passord", Label::Password),
    ("lösenord", Label::Password),
    ("adgangskode", Label::Password),
    ("kodeord", Label::Password),
    ("salasana", Label::Password),
    ("hasło", Label::Password),
    ("heslo", Label::Password),
    ("jelszó", Label::Password),
    ("palavra-passe", Label::Password),
    ("slaptažodis", Label::Password),
    ("parool", Label::Password),
    ("geslo", Label::Password),
    ("lozinka", Label::Password),
    ("şifre", Label::Password),
    ("κωδικός", Label::Password),
    ("парола", Label::Password),
    ("mot-de-passe", Label::Password),
    ("motdepasse", Label::Password),
    ("parola", Label::Token),
    ("recovery phrase", Label::Seed),
    ("backup phrase", Label::Seed),
    ("wallet phrase", Label::Seed),
    ("seed words", Label::Seed),
    ("recovery words", Label::Seed),
    ("seedphrase", Label::Seed),
    ("contribsys__com", Label::Token),
];

/// Schemes of the header `Authorization`.
pub(super) const SCHEMES: [&str; 2] = ["bearer", "basic"];
/// What stands before a scheme or a token.
const HEADER: &[u8] = b"authorization: ";

/// Words that lead from a label to what it is a label of: `password for the NAS`.
const LEADS: [&str; 19] = [
    " for ", " of ", " to ", " on ", " at ", " in ", " (", " für ", " fürs ", " zu ", " zum ", " vom ",
    " von ", " des ", " der ", " от ", " для ", " к ", " API",
];
/// Words between a label and its value, and what they are.
const VERBS: [(&str, Separator); 15] = [
    ("is ", Separator::Is),
    ("was ", Separator::Is),
    ("to ", Separator::To),
    ("ist ", Separator::Said),
    ("war ", Separator::Said),
    ("lautet ", Separator::Is),
    ("lautete ", Separator::Is),
    ("est ", Separator::Said),
    ("était ", Separator::Said),
    ("es ", Separator::Said),
    ("é ", Separator::Said),
    ("è ", Separator::Said),
    ("är ", Separator::Said),
    ("er ", Separator::Said),
    ("jest ", Separator::Said),
];

/// Bytes that may stand between a label and its separator: `password for the NAS:`.
const BETWEEN: usize = 48;
/// Bytes of a name before its label that are looked at.
const NAME: usize = 32;

/// A label in its place.
#[derive(Debug, Clone, Copy)]
pub(super) struct Named {
    pub label: Label,
    /// Where its name ends.
    pub end: usize,
    /// `--token`, `Authorization: token`: a space is enough before the value.
    pub flag: bool,
}

impl Place<'_> {
    /// The secret that a label announces.
    pub(super) fn labelled(&self, label: Label) -> Option<Range<usize>> {
        // As Notion writes them: `secret_` and then nothing that is a name.
        if label == Label::Secret && self.at(self.end) == b'_' {
            let end = self.run(self.end + 1, 64, |byte| byte.is_ascii_alphanumeric());
            if end - self.end > 40 && is_random(self.str(self.end + 1..end)) {
                return Some(self.start..end);
            }
        }
        let named = self.named(label)?;
        let value = self.separator(named);
        let value = value.and_then(|(separator, at)| self.value(named, separator, at));
        value
            .or_else(|| self.near(named))
            .or_else(|| self.argument(named))
            .or_else(|| self.beside(named))
    }

    /// The label, if the word is the last one of a name, and the name one of a secret.
    fn named(&self, label: Label) -> Option<Named> {
        let (start, end) = (self.start, self.end);
        let wide = self.at(start) >= 0x80;
        let end = if wide { end } else { self.name_end(end)? };
        let name = self.name_before(start);
        let last = last_word(name.trim_end_matches(['_', '-', '.', ' ']));
        let camel = self.is_camel(start);
        let glued = !wide && self.before(start).is_ascii_alphanumeric() && !camel;
        let long = label >= Label::Password && self.end - start > 4;
        if glued && !long && !has(OF_SECRETS, last) {
            return None;
        }
        let flag = name.contains("--") || self.in_header(start);
        let label = match label {
            Label::Key | Label::Token => {
                if has(OF_OTHERS, last) {
                    return None;
                }
                // `DEPLOY_KEY` is no key of a map.
                let constant = name.ends_with('_') && name.bytes().any(|byte| byte.is_ascii_uppercase());
                let of_secrets = glued || constant || flag || has(OF_SECRETS, last);
                if of_secrets { Label::Secret } else { label }
            }
            Label::Pass if camel || glued || name.ends_with(['_', '-']) => Label::Password,
            Label::Pass => Label::Token,
            other => other,
        };
        Some(Named { label, end, flag })
    }

    /// Where a name ends whose label does: `password2`, `API_KEY_PROD`; but `token_count`, `keys` and `password.txt` are
    /// other names.
    fn name_end(&self, end: usize) -> Option<usize> {
        let end = self.run(end, 2, |byte| byte.is_ascii_digit());
        let next = self.at(end);
        if next.is_ascii_alphanumeric()
            || next >= 0x80 && !self.rest(end).starts_with(['：', '→', '”', '’', '»', '」'])
        {
            return None;
        }
        if !(matches!(next, b'_' | b'-' | b'.' | b'/') && self.at(end + 1).is_ascii_alphanumeric()) {
            return Some(end);
        }
        let after = self.run(end + 1, NAME, |byte| byte.is_ascii_alphanumeric());
        let other = self.at(after) == b'_' || !has(ENVIRONMENTS, self.str(end + 1..after));
        (!other).then_some(after)
    }

    /// Whether a word of a name in camel case begins here: `authToken`.
    fn is_camel(&self, at: usize) -> bool {
        let before = self.before(at);
        self.at(at).is_ascii_uppercase() && (before.is_ascii_lowercase() || before.is_ascii_digit())
    }

    /// What stands right before a label and belongs to its name: `aws_`, `X-Api-`, `api `.
    fn name_before(&self, start: usize) -> &str {
        let bytes = &self.bytes()[start.saturating_sub(NAME).max(self.done)..start];
        let belongs = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
        let mut length = bytes.iter().rev().take_while(|byte| belongs(byte)).count();
        if length == 0 && bytes.ends_with(b" ") {
            // A word before, such as `API`.
            length = 1 + bytes
                .iter()
                .rev()
                .skip(1)
                .take_while(|byte| belongs(byte))
                .count();
        }
        self.str(start - length..start)
    }

    /// Whether `Authorization: ` stands right before.
    pub(super) fn in_header(&self, at: usize) -> bool {
        let at = at - usize::from(matches!(self.before(at), b'"' | b'\'' | b'`'));
        let header = at
            .checked_sub(HEADER.len())
            .and_then(|from| self.bytes().get(from..at));
        header.is_some_and(|header| header.eq_ignore_ascii_case(HEADER))
    }

    /// What announces a value after a label, and where the value begins.
    fn separator(&self, named: Named) -> Option<(Separator, usize)> {
        if let Some(direct) = self.separator_at(named.end) {
            return Some(direct);
        }
        if self.at(named.end) != b' ' {
            return None;
        }
        if named.flag {
            return Some((Separator::Space, named.end + 1));
        }
        // `password for the NAS: …`, `API key (staging) = …`
        let wide = self.at(self.start) >= 0x80 || self.at(self.end - 1) >= 0x80;
        if named.label < Label::Token && !wide {
            return None;
        }
        let until = self.next(self.start).min(named.end + BETWEEN).max(named.end);
        // `passphrase of the key is …`: that of the first one, for a password may be any word.
        let until = if named.label < Label::Password {
            until
        } else {
            (named.end + BETWEEN).min(self.text.len())
        };
        let rest = self.bytes().get(named.end..until)?;
        if !LEADS.iter().any(|word| rest.starts_with(word.as_bytes())) {
            return None;
        }
        // What is in brackets is about the label; what follows them is the value.
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
                    if verb && let Some(found) = self.separator_at(named.end + at) {
                        return Some(found);
                    }
                }
                _ => {}
            }
        }
        None
    }

    /// The separator that stands at an offset, marks of markdown and quotes around it left out.
    fn separator_at(&self, at: usize) -> Option<(Separator, usize)> {
        let mark = |byte: u8| matches!(byte, b'*' | b'_' | b'`' | b'"' | b'\'' | b'\\' | b']');
        let closed = self.run(at, 6, mark);
        let from = self.run(closed, 32, is_space);
        let spaced = from > closed;
        let next = self.at(from + 1);
        let (separator, length) = match self.at(from) {
            b':' if next == b'=' => (Separator::Equals, 2),
            b'=' if next == b'>' => (Separator::Equals, 2),
            b'-' if next == b'>' => (Separator::Arrow, 2),
            b':' => (Separator::Colon, 1),
            b'=' => (Separator::Equals, 1),
            b'|' => (Separator::Cell, 1),
            b'>' if !spaced => (Separator::Tag, 1),
            // `<add key="DbPassword" value="…"/>`
            b'v' if spaced && closed > at && self.rest(from).starts_with("value=") => (Separator::Equals, 6),
            b'i' | b'w' | b't' | b'l' | b'e' | b'j' | 0xC3 if spaced => {
                let rest = self.rest(from);
                return VERBS
                    .into_iter()
                    .find(|(word, _)| rest.starts_with(word))
                    .map(|(word, separator)| (separator, from + word.len()));
            }
            0xE2 if spaced && self.rest(from).starts_with("— ") => (Separator::Said, 4),
            0xE2 if spaced && self.rest(from).starts_with("– ") => (Separator::Said, 4),
            0xE2 if self.rest(from).starts_with('→') => (Separator::Arrow, 3),
            0xEF if self.rest(from).starts_with('：') => (Separator::Colon, 3),
            _ => return None,
        };
        // `::`, `==`, `=~` and the like are operators.
        let end = from + length;
        let operator = length == 1 && matches!(self.at(end), b'=' | b':' | b'~');
        (!operator).then_some((separator, end))
    }
}

pub(super) const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// The last word of a name, by its marks or its capitals: `Api` of `xApi`.
fn last_word(name: &str) -> &str {
    let bytes = name.as_bytes();
    let mut at = bytes.len();
    while at > 0 && bytes[at - 1].is_ascii_alphanumeric() {
        at -= 1;
        let begins = bytes[at].is_ascii_uppercase()
            && at
                .checked_sub(1)
                .is_some_and(|before| bytes[before].is_ascii_lowercase());
        if begins {
            break;
        }
    }
    name.get(at..).unwrap_or_default()
}
