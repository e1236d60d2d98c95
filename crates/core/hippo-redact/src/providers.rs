//! Prefixes and formats of the secrets of providers.

use std::sync::LazyLock;

/// Prefix of the secrets of one provider.
pub(super) struct ProviderPrefix {
    pub mark: &'static str,
    /// Minimum number of characters after the prefix.
    pub least: usize,
    /// Kind of the characters after the prefix.
    pub body: SecretBody,
}

/// Kind of the characters that follow a prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SecretBody {
    /// Letters and digits.
    Word,
    /// Letters, digits, and the characters `-`, `_`, `.`, `=`, `+` and `/`.
    Any,
    /// Exactly [`ProviderPrefix::least`] capitals and digits.
    Capitals,
    /// Hexadecimal digits. Their number must be exactly `least`.
    Hex,
    /// Exactly [`ProviderPrefix::least`] letters and digits that look random.
    Exact,
    /// URL characters; the prefix is the start of the URL and is not redacted.
    Path,
    /// Parts of limited length, in the notation of [`find_shape_end`].
    Shape(&'static str),
}

impl ProviderPrefix {
    fn parse(line: &'static str) -> Option<Self> {
        let mut words = line.split(' ');
        Some(Self {
            mark: words.next()?,
            least: words.next()?.parse().ok()?,
            body: match words.next()? {
                "word" => SecretBody::Word,
                "any" => SecretBody::Any,
                "capitals" => SecretBody::Capitals,
                "hex" => SecretBody::Hex,
                "exact" => SecretBody::Exact,
                "path" => SecretBody::Path,
                shape => SecretBody::Shape(shape.strip_prefix('"')?.strip_suffix('"')?),
            },
        })
    }
}

/// The prefixes of all providers.
pub(super) static PREFIXES: LazyLock<Vec<ProviderPrefix>> = LazyLock::new(|| {
    let lines = include_str!("providers.txt").lines();
    lines.filter_map(ProviderPrefix::parse).collect()
});

/// Returns the end of the text that matches a shape, starting at an offset; `None` if the text does not match.
///
/// A shape is a list of parts. A part is `'` with a literal character, or a letter for a character class with the
/// number of characters: `w20` is exactly 20, `w5-30` is 5 to 30, and `w40-0` is at least 40. The classes are `h`
/// (hexadecimal digit), `d` (digit), `A` (capital or digit), `w` (letter or digit), `b` (letter, digit, `-` or `_`),
/// `s` (either alphabet of base64) and `c` (letter, digit or `%`). No letter or digit may follow the last part.
pub(super) fn find_shape_end(shape: &str, text: &[u8], from: usize) -> Option<usize> {
    let (mut shape, mut at) = (shape.as_bytes(), from);
    while let [class, rest @ ..] = shape {
        if *class == b'\'' {
            let [mark, rest @ ..] = rest else { return None };
            if text.get(at) != Some(mark) {
                return None;
            }
            (shape, at) = (rest, at + 1);
            continue;
        }
        let (fewest, rest) = parse_number(rest);
        let (most, rest) = match rest {
            [b'-', rest @ ..] => parse_number(rest),
            _ => (fewest, rest),
        };
        let most = if most == 0 { usize::MAX } else { most };
        let wanted = |byte: &&u8| is_in_class(*class, **byte);
        let there = text.get(at..).unwrap_or_default();
        let length = there.iter().take(most).take_while(wanted).count();
        if length < fewest {
            return None;
        }
        (shape, at) = (rest, at + length);
    }
    let next = text.get(at).copied().unwrap_or(b' ');
    (!next.is_ascii_alphanumeric()).then_some(at)
}

const fn is_in_class(class: u8, byte: u8) -> bool {
    match class {
        b'h' => byte.is_ascii_hexdigit(),
        b'd' => byte.is_ascii_digit(),
        b'A' => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
        b'b' => byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'),
        b's' => byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'+' | b'/' | b'=' | b','),
        b'c' => byte.is_ascii_alphanumeric() || byte == b'%',
        _ => byte.is_ascii_alphanumeric(),
    }
}

fn parse_number(shape: &[u8]) -> (usize, &[u8]) {
    let (digits, rest) = shape.split_at(shape.iter().take_while(|byte| byte.is_ascii_digit()).count());
    let number = digits
        .iter()
        .fold(0, |number, byte| number * 10 + usize::from(byte - b'0'));
    (number, rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_list_is_a_prefix() {
        let lines = include_str!("providers.txt").lines();
        assert_eq!(
            lines.filter(|line| !line.starts_with('#')).count(),
            PREFIXES.len()
        );
    }
}
