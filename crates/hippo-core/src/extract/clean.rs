//! What of some bytes does a reader see: no escape sequences, no progress that was written over, no secrets?

use std::borrow::Cow;

use super::Kind;
use super::draft::Draft;
use crate::redact;

/// Bytes that decide whether a content is text.
const LOOKED_AT: usize = 8_192;

/// First bytes of well-known formats.
const MAGIC: [(&[u8], &str); 12] = [
    (b"\x89PNG", "PNG image"),
    (b"\xFF\xD8\xFF", "JPEG image"),
    (b"GIF8", "GIF image"),
    (b"RIFF", "RIFF file (WebP, WAV or AVI)"),
    (b"%PDF", "PDF document"),
    (b"PK\x03\x04", "ZIP archive"),
    (b"\x1F\x8B", "gzip data"),
    (b"\x28\xB5\x2F\xFD", "zstd data"),
    (b"\x7FELF", "ELF binary"),
    (b"\xCF\xFA\xED\xFE", "Mach-O binary"),
    (b"SQLite format 3", "SQLite database"),
    (b"\0asm", "WebAssembly module"),
];

/// Whether the first bytes are no text: a byte of 0, or many that are neither printed nor UTF-8.
pub(super) fn is_binary(content: &[u8]) -> bool {
    let head = content.get(..LOOKED_AT).unwrap_or(content);
    if head.starts_with(b"%PDF") || head.contains(&0) {
        return true;
    }
    let strange = String::from_utf8_lossy(head)
        .chars()
        .filter(|&c| {
            c == '\u{fffd}' || (c.is_control() && !matches!(c, '\n' | '\r' | '\t' | '\x08' | '\x0c' | '\x1b'))
        })
        .count();
    strange > 4 && strange * 10 > head.len()
}

/// What can be told of bytes that are no text.
pub(super) fn binary(content: &[u8]) -> Draft {
    let format = MAGIC.iter().find(|(start, _)| content.starts_with(start));
    let format = format.map_or("binary data", |(_, name)| name);
    let mut draft = Draft::new(Kind::Binary, format!("{format}, {} bytes", content.len()));
    draft.one("bytes", content.len());
    draft
}

/// The text as it is seen, without secrets.
pub(super) fn shown(content: &[u8]) -> Cow<'_, str> {
    let content = content.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(content);
    let text = String::from_utf8_lossy(content);
    let text = if content.iter().any(|&byte| matches!(byte, 0x1b | 0x08)) || overwrites(content) {
        Cow::Owned(without_control(&text))
    } else {
        text
    };
    match redact::redact(&text) {
        Cow::Borrowed(_) => text,
        Cow::Owned(redacted) => Cow::Owned(redacted),
    }
}

/// Whether a line is written over: a carriage return that ends no line.
fn overwrites(content: &[u8]) -> bool {
    content
        .windows(2)
        .any(|two| two[0] == b'\r' && !matches!(two[1], b'\n' | b'\r'))
}

/// Without escape sequences, with what backspaces and carriage returns took away gone.
fn without_control(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut line = 0;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\x1b' => match chars.next() {
                Some('[') => {
                    // Parameters and intermediate bytes, then one final byte.
                    while chars.next_if(|c| matches!(c, ' '..='?')).is_some() {}
                    chars.next_if(|c| matches!(c, '@'..='~'));
                }
                Some(']') => {
                    // A title or a link, up to BEL or ESC \; one that never ends is cut at the line.
                    while let Some(c) = chars.next_if(|&c| c != '\n') {
                        if c == '\x07' || (c == '\x1b' && chars.next_if_eq(&'\\').is_some()) {
                            break;
                        }
                    }
                }
                Some('\n') => {
                    out.push('\n');
                    line = out.len();
                }
                _ => {}
            },
            '\x08' => {
                if out.len() > line {
                    out.pop();
                }
            }
            '\r' if !matches!(chars.peek(), Some('\n' | '\r') | None) => out.truncate(line),
            '\n' => {
                out.push('\n');
                line = out.len();
            }
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_sees_neither_escapes_nor_what_was_written_over() {
        for (bytes, seen) in [
            (&b"\x1b[31mFAILED\x1b[0m a"[..], "FAILED a"),
            (b"10%\r50%\r100%\ndone", "100%\ndone"),
            (b"- \x08\\ \x08done\r\n", "-\\done\r\n"),
            (b"\xEF\xBB\xBFx", "x"),
            (b"\x1b]0;title\x07prompt$", "prompt$"),
            (b"\x1b]0;never\nnext", "\nnext"),
            (b"a\x1b\nb", "a\nb"),
            (b"\xff\xfe text", "\u{fffd}\u{fffd} text"),
        ] {
            assert_eq!(shown(bytes), seen);
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_named_by_their_start() {
        assert!(is_binary(b"\x89PNG\r\n\x1a\n\0\0\0"));
        assert!(is_binary(b"a\0b"));
        assert!(!is_binary("Grüße, 日本".as_bytes()));
        assert!(!is_binary(b""));
        let draft = binary(b"\x7FELF\0").within(40, 2);
        assert_eq!(draft.summary, "ELF binary, 5 bytes");
    }
}
