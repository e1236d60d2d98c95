//! Text that is safe on a terminal.
//!
//! Untrusted files can contain escape sequences that move the cursor, set the title, or write to the clipboard. On a
//! terminal, every control character except tab and line feed is replaced by its code, such as `\x1b`. Unicode marks
//! that change the direction of text are replaced, too. Output into a pipe or a file is not changed.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::path::Path;

/// The colour codes of [`Style`](super::Style). Only escape sequences with these codes, and links
/// to files, may be written to a terminal.
const OWN: [&str; 6] = ["1", "2", "31", "32", "36", "0"];

/// The notation for the code of an escaped character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Notation {
    /// The notation `\x1b` or `\u{202e}`.
    Text,
    /// The notation `\u001b`, which keeps JSON valid.
    Json,
}

/// Returns a text with its control characters escaped. If `styled` is true, the colour sequences of
/// [`Style`](super::Style) remain.
#[must_use]
pub fn safe(text: &str, notation: Notation, styled: bool) -> Cow<'_, str> {
    if !text.contains(is_control) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut rest = text;
    while let Some(at) = rest.find(is_control) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        if let Some(own) = own(rest).filter(|_| styled) {
            out.push_str(own);
            rest = &rest[own.len()..];
            continue;
        }
        let Some(mark) = rest.chars().next() else { break };
        rest = &rest[mark.len_utf8()..];
        if mark == '\r' && rest.starts_with('\n') {
            continue;
        }
        let code = u32::from(mark);
        // Writing to a `String` cannot fail.
        let _ = match notation {
            Notation::Json => write!(out, "\\u{code:04x}"),
            Notation::Text if code <= 0xff => write!(out, "\\x{code:02x}"),
            Notation::Text => write!(out, "\\u{{{code:x}}}"),
        };
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// Returns bytes as text, with control characters escaped. Bytes that are not valid UTF-8 are escaped as well, such as
/// `\xff`.
#[must_use]
pub fn safe_bytes(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    for piece in bytes.utf8_chunks() {
        out.push_str(&safe(piece.valid(), Notation::Text, false));
        for byte in piece.invalid() {
            let _ = write!(out, "\\x{byte:02x}");
        }
    }
    out
}

fn is_control(mark: char) -> bool {
    mark.is_control() && !matches!(mark, '\n' | '\t')
        || matches!(mark, '\u{200e}' | '\u{200f}' | '\u{061c}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Returns the URI of a file of this machine. Its path must be absolute.
pub fn file_uri(path: &Path) -> String {
    let host = rustix::system::uname();
    let uri = [host.nodename().to_bytes(), path.as_os_str().as_encoded_bytes()].concat();
    let uri = uri.into_iter().map(|byte| match byte {
        b'-' | b'.' | b'_' | b'~' | b'/' => char::from(byte).to_string(),
        _ if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    });
    format!("file://{}", uri.collect::<String>())
}

/// Returns the colour sequence of [`Style`](super::Style), or the beginning or end of a link to a file of this
/// machine, at the beginning of a text, if any.
fn own(text: &str) -> Option<&str> {
    if let Some(link) = text.strip_prefix("\x1b]8;;") {
        let (uri, _) = link.split_once("\x1b\\")?;
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/%:".contains(&byte);
        let is_own =
            uri.is_empty() || uri.starts_with(&file_uri(Path::new("/"))) && uri.bytes().all(is_plain);
        return is_own.then(|| &text[..uri.len() + 7]);
    }
    let (code, _) = text.strip_prefix("\x1b[")?.split_once('m')?;
    OWN.contains(&code).then(|| &text[..code.len() + 3])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_control_character_reaches_a_terminal() {
        let all: String = (0..0x3000).filter_map(char::from_u32).collect();
        for notation in [Notation::Text, Notation::Json] {
            let shown = safe(&all, notation, true);
            assert!(!shown.contains(is_control));
            assert_eq!(safe(&shown, notation, true), shown);
        }
        assert_eq!(
            safe(
                "\x1b]0;title\x07a\tb\r\nc\rd\u{9b}2J\u{202e}",
                Notation::Text,
                false
            ),
            "\\x1b]0;title\\x07a\tb\nc\\x0dd\\x9b2J\\u{202e}"
        );
        assert_eq!(safe_bytes(b"a\x9bb\xff\xc3"), "a\\x9bb\\xff\\xc3");
    }

    #[test]
    fn only_our_own_sequences_are_printed() {
        let ours = super::super::Style { colour: true }.path("a");
        assert_eq!(safe(&ours, Notation::Text, true), ours);
        assert_eq!(safe(&ours, Notation::Text, false), "\\x1b[36ma\\x1b[0m");
        let uri = file_uri(Path::new("/a b.md"));
        let link = format!("\x1b]8;;{uri}\x1b\\a b\x1b]8;;\x1b\\");
        assert_eq!(safe(&link, Notation::Text, true), link);
        for other in ["https://a.example", "file://a b", "file://a\x07", "file://a"] {
            let other = format!("\x1b]8;;{other}");
            assert!(!safe(&other, Notation::Text, true).contains('\x1b'), "{other:?}");
            assert!(
                !safe(&format!("{other}\x07"), Notation::Text, true).contains('\x1b'),
                "{other:?}"
            );
        }
        for other in ["https://a.example", "file://a.example/b", "file:///b"] {
            let link = format!("\x1b]8;;{other}\x1b\\");
            assert!(!safe(&link, Notation::Text, true).contains('\x1b'), "{other}");
        }
        assert_eq!(safe("\x1b[8mhidden", Notation::Text, true), "\\x1b[8mhidden");
    }

    #[test]
    fn escaped_json_is_still_valid_json() {
        let text = serde_json::to_string("\x1b[2J \u{9b}1m \u{7f} \u{202e}").unwrap();
        let shown = safe(&text, Notation::Json, false);
        let again: String = serde_json::from_str(&shown).unwrap();
        assert_eq!(again, "\x1b[2J \u{9b}1m \u{7f} \u{202e}");
    }
}
