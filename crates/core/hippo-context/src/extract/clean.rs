//! Visible text of raw bytes, without escape sequences and secrets.

use std::borrow::Cow;

use super::ContentKind;
use super::draft::Draft;
use hippo_redact::lines_without_secrets;
use hippo_text::control::as_seen;

/// Number of bytes examined to detect binary content.
const LOOKED_AT: usize = 8_192;

/// First bytes of well-known formats.
#[rustfmt::skip] // keep the list compact
const MAGIC: [(&[u8], &str); 12] = [
    (b"\x89PNG", "PNG image"), (b"\xFF\xD8\xFF", "JPEG image"), (b"GIF8", "GIF image"),
    (b"RIFF", "RIFF file (WebP, WAV or AVI)"), (b"%PDF", "PDF document"), (b"PK\x03\x04", "ZIP archive"),
    (b"\x1F\x8B", "gzip data"), (b"\x28\xB5\x2F\xFD", "zstd data"), (b"\x7FELF", "ELF binary"),
    (b"\xCF\xFA\xED\xFE", "Mach-O binary"), (b"SQLite format 3", "SQLite database"),
    (b"\0asm", "WebAssembly module"),
];

/// Returns true if the first bytes are not text: they contain a zero byte, or many unprintable or invalid characters.
pub(super) fn is_binary(content: &[u8]) -> bool {
    let head = content.get(..LOOKED_AT).unwrap_or(content);
    if head.starts_with(b"%PDF") || head.contains(&0) {
        return true;
    }
    let is_usual = |c: char| matches!(c, '\n' | '\r' | '\t' | '\x08' | '\x0c' | '\x1b');
    let is_strange = |c: &char| *c == '\u{fffd}' || c.is_control() && !is_usual(*c);
    let strange = String::from_utf8_lossy(head).chars().filter(is_strange).count();
    strange > 4 && strange * 10 > head.len()
}

/// Returns a draft for bytes that are not text.
pub(super) fn binary(content: &[u8]) -> Draft {
    let format = MAGIC.iter().find(|(start, _)| content.starts_with(start));
    let format = format.map_or("binary data", |(_, name)| name);
    let mut draft = Draft::new(ContentKind::Binary, format!("{format}, {} bytes", content.len()));
    draft.one("bytes", content.len());
    draft
}

/// Returns the visible text without secrets. Lines keep their numbers. If `clean` is true, the content is known to
/// contain no secrets.
pub(super) fn shown(content: &[u8], clean: bool) -> Cow<'_, str> {
    let marked = content.strip_prefix(b"\xEF\xBB\xBF");
    let clean = clean && marked.is_none();
    let content = marked.unwrap_or(content);
    // Checking valid UTF-8 is faster than replacing invalid sequences.
    let text = std::str::from_utf8(content).map_or_else(|_| String::from_utf8_lossy(content), Cow::Borrowed);
    let seen = match text {
        Cow::Borrowed(text) => as_seen(text),
        Cow::Owned(text) => Cow::Owned(as_seen(&text).into_owned()),
    };
    match seen {
        Cow::Borrowed(text) => lines_without_secrets(text, clean),
        Cow::Owned(text) => Cow::Owned(lines_without_secrets(&text, false).into_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_sequences_and_overwritten_text_are_not_shown() {
        for (bytes, seen) in [
            (&b"\x1b[31mFAILED\x1b[0m a"[..], "FAILED a"),
            (b"10%\r50%\r100%\ndone", "100%\ndone"),
            (b"- \x08\\ \x08done\r\n", "-\\done\r\n"),
            (b"\xEF\xBB\xBFx", "x"),
            (b"\x1b]0;title\x07prompt$", "prompt$"),
            (b"\x1b]0;never\nnext", "\nnext"),
            (b"a\x1b\nb", "a\nb"),
            (b"\x1b(B\x1bPq~~\x1b\\\xc2\x9b31mplain", "plain"),
            (
                b"x\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2\ny",
                "x\n\u{2026}\ny",
            ),
            (b"\xff\xfe text", "\u{fffd}\u{fffd} text"),
        ] {
            assert_eq!(shown(bytes, false), seen);
        }
    }

    #[test]
    fn binary_formats_are_named_by_their_first_bytes() {
        assert!(is_binary(b"\x89PNG\r\n\x1a\n\0\0\0"));
        assert!(is_binary(b"a\0b"));
        assert!(!is_binary("Grüße, 日本".as_bytes()));
        assert!(!is_binary(b""));
        let draft = binary(b"\x7FELF\0").within(40, 2);
        assert_eq!(draft.summary, "ELF binary, 5 bytes");
    }
}
