//! Classification of character runs: random, words, placeholders, code.

use super::words::{FILES, FILLER, PLACEHOLDER, contains_word, is_label};

/// Minimum bytes of a run of characters that may look random.
const RANDOM: usize = 20;

/// Statistics of the characters in a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct CharacterShape {
    pub lower: usize,
    pub upper: usize,
    pub digits: usize,
    /// Number of ASCII characters that are neither letters nor digits.
    pub marks: usize,
    /// Number of bytes in non-ASCII characters.
    pub wide: usize,
    /// Number of changes from lower to upper case, and between letters and digits.
    pub changes: usize,
}

impl CharacterShape {
    pub fn measure(text: &str) -> Self {
        let mut shape = Self::default();
        let mut before = 0;
        for &byte in text.as_bytes() {
            let (count, sort) = match byte {
                b'a'..=b'z' => (&mut shape.lower, 1),
                b'A'..=b'Z' => (&mut shape.upper, 2),
                b'0'..=b'9' => (&mut shape.digits, 3),
                0x80.. => (&mut shape.wide, 4),
                _ => (&mut shape.marks, 0),
            };
            *count += 1;
            shape.changes += usize::from(matches!((before, sort), (1, 2) | (1 | 2, 3) | (3, 1 | 2)));
            before = sort;
        }
        shape
    }

    pub const fn letters(&self) -> usize {
        self.lower + self.upper + self.wide
    }

    pub const fn length(&self) -> usize {
        self.letters() + self.digits + self.marks
    }

    /// Returns true if there are both letters and digits.
    pub const fn is_mixed(&self) -> bool {
        self.digits > 0 && self.letters() > 0
    }
}

/// Returns true for a word, a number, or a word followed by a short number, as people write them by hand.
pub(super) fn is_plain(part: &str) -> bool {
    let letters = part.trim_end_matches(|mark: char| mark.is_ascii_digit());
    let number = part.len() - letters.len();
    let wordy = letters.chars().all(char::is_alphabetic)
        && CharacterShape::measure(letters).changes * 4 <= letters.len();
    wordy && (number <= 4 || letters.is_empty())
}

/// Returns true for words and numbers joined by punctuation marks, such as `gpt-4o-mini`, `feature/login-2` or
/// `2026-03-18`.
pub(super) fn is_slug(text: &str) -> bool {
    let numbered = |part: &str| part.len() <= 4 && part.as_bytes()[0].is_ascii_digit();
    let marks = |mark: char| {
        mark.is_ascii() && !mark.is_ascii_alphanumeric() && !matches!(mark, '!' | '$' | '%' | '^' | '*')
    };
    let mut parts = text.split(marks).filter(|part| !part.is_empty());
    parts.all(|part| is_plain(part) || numbered(part))
}

/// Returns true for a run that looks generated: long, with all kinds of characters in random order.
pub(super) fn is_random(text: &str) -> bool {
    if text.len() < RANDOM {
        return false;
    }
    let shape = CharacterShape::measure(text);
    let all = shape.lower > 0 && shape.upper > 0 && shape.digits > 1 && shape.wide == 0;
    all && shape.changes * 10 >= shape.length() * 3 && !is_slug(text) && !is_public(text)
}

/// Returns true for hexadecimal digits that include both letters and decimal digits, as in hashes and many keys.
pub(super) fn is_hex(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_hexdigit()) && CharacterShape::measure(text).is_mixed()
}

/// Returns true for groups of 8, 4, 4, 4 and 12 hexadecimal digits.
pub(super) fn is_uuid(text: &str) -> bool {
    let mut parts = text.split('-');
    let fits = [8, 4, 4, 4, 12].into_iter().all(|length| {
        let part = parts.next();
        part.is_some_and(|part| part.len() == length && part.bytes().all(|byte| byte.is_ascii_hexdigit()))
    });
    fits && parts.next().is_none()
}

/// Returns true for public keys, checksums and inline data.
fn is_public(text: &str) -> bool {
    let starts = [
        "AAAAB3", "AAAAC3", "AAAAE2", "sha1-", "sha256-", "sha384-", "sha512-", "SHA256:", "data:",
    ];
    starts.iter().any(|start| text.starts_with(start)) || is_uuid(text) || text.contains("://")
}

/// Returns true for locations: URLs, paths, file names.
pub(super) fn is_location(text: &str) -> bool {
    let starts = ["~/", "./", "../", "C:\\"];
    let starts = starts.iter().any(|start| text.starts_with(start));
    let rooted = text.len() > 1 && text.starts_with('/') && !is_random(&text[1..]);
    let folders = text.contains('/') && !text.contains('+') && is_slug(text);
    // A host and a port: `php:9000`.
    let port = text.rsplit_once(':').is_some_and(|(host, port)| {
        let digits = (2..=5).contains(&port.len()) && port.bytes().all(|byte| byte.is_ascii_digit());
        digits && host.starts_with(|first: char| first.is_ascii_lowercase()) && is_slug(host)
    });
    let ending = text.rsplit_once('.').filter(|(stem, _)| !stem.is_empty());
    starts
        || rooted
        || folders
        || port
        || ending.is_some_and(|(_, ending)| contains_word(FILES, ending))
        || text.contains("://")
}

/// Returns true for numbers, dates, versions and sizes.
pub(super) fn is_number(text: &str) -> bool {
    let digits = |byte: u8| byte.is_ascii_digit();
    let first = text.as_bytes().first().copied().unwrap_or(0);
    let is_mark = |byte: u8| b".,:-/+%x~_".contains(&byte);
    let marked = text.bytes().all(|byte| digits(byte) || is_mark(byte));
    let shape = CharacterShape::measure(text);
    let sized = digits(first) && shape.letters() <= 4 && shape.changes <= 2;
    let day = text.as_bytes().get(..10).unwrap_or_default();
    let dated =
        day.len() == 10 && day.iter().all(|&byte| digits(byte) || byte == b'-') && day.contains(&b'-');
    let version = text.strip_prefix(['v', 'V']).unwrap_or(text);
    let numbered = version.starts_with(|mark: char| mark.is_ascii_digit());
    let version = numbered && version.contains('.') && is_slug(text);
    marked || sized || dated || version
}

/// Returns true for a placeholder: `<your-key>`, `xxx`, `$ENV`, `${VAR}`, `****`, `changeme`, `…`.
pub(super) fn is_placeholder(text: &str) -> bool {
    let text = text.trim_matches(|mark: char| matches!(mark, '"' | '\'' | '`' | '*' | ' ' | '\\'));
    let Some(&first) = text.as_bytes().first() else {
        return true;
    };
    let variable = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
    let open =
        matches!(first, b'<' | b'{' | b'%' | b'[' | b'(') || text.starts_with("${") || text.starts_with("$(");
    if open || first == b'$' && text[1..].bytes().all(variable) {
        return true;
    }
    // A YAML tag: `!vault |`.
    let tag = text.strip_prefix('!').unwrap_or_default();
    if !tag.is_empty() && tag.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return true;
    }
    let omitted = ["...", "…", "***", "•••", "{{"];
    if omitted.iter().any(|mark| text.contains(mark)) {
        return true;
    }
    // Few distinct characters: `xxxx`, `------`, `00000000`, `abababab`.
    let lower = text.to_ascii_lowercase();
    let letters = || lower.chars().filter(|mark| mark.is_alphanumeric());
    let first = letters().next();
    let second = letters().find(|mark| Some(*mark) != first);
    let third = letters().find(|mark| Some(*mark) != first && Some(*mark) != second);
    let crossed = lower.matches('x').count();
    if second.is_none() || third.is_none() && text.len() >= 8 || crossed * 2 > text.len() && text.len() >= 3 {
        return true;
    }
    let is_between = |mark: char| !mark.is_alphanumeric();
    let parts = || lower.split(is_between).filter(|part| !part.is_empty());
    let several = parts().nth(1).is_some();
    let says = |part: &str| contains_word(FILLER, part);
    if several && parts().any(says) || parts().all(|part| contains_word(PLACEHOLDER, part) || is_label(part))
    {
        return true;
    }
    let starts = ["your", "insert", "replace", "dummy", "fake", "sample"];
    let made = starts.iter().any(|word| lower.starts_with(word));
    made && CharacterShape::measure(text).digits < 3
        || text.contains("xxxx")
        || text.contains("XXXX")
        || text.len() >= 16 && lower.contains("example")
}

/// Returns true for code that computes or references the value: `os.environ["X"]`, `config.password`, `getpass()`,
/// `&str`.
pub(super) fn is_expression(text: &str) -> bool {
    let first = text.as_bytes().first().copied().unwrap_or(0);
    if matches!(first, b'&' | b'(' | b'[' | b'{' | b'<' | b'@' | b'|' | b'=')
        || text.contains("::")
        || text.contains("->")
    {
        return true;
    }
    let called = text.find(['(', '[', '<', '{']).filter(|at| *at > 0);
    if called.is_some_and(|at| text[..at].split(['.', '?']).all(is_name)) {
        return true;
    }
    // A call of a method: `base64.b64encode(key)`.
    let method = |name: &str| name.contains('.') && !is_random(name) && name.split('.').all(is_identifier);
    if called.is_some_and(|at| text[at..].starts_with('(') && method(&text[..at])) {
        return true;
    }
    let members = text.contains('.') && text.split('.').all(is_name);
    let variables = ["$env:", "process.env", "os.environ"];
    members || variables.iter().any(|start| text.starts_with(start))
}

/// Returns true for a variable name that looks as if a person chose it.
fn is_name(part: &str) -> bool {
    is_identifier(part) && is_slug(part)
}

fn is_identifier(part: &str) -> bool {
    let first = part.as_bytes().first().copied().unwrap_or(0);
    let word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    (first.is_ascii_alphabetic() || first == b'_') && part.bytes().all(word)
}
