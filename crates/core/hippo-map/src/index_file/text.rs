//! Escaping of text on one line of the index file.

pub(super) use hippo_text::text::one_line;
pub(super) use memchr::memmem::find as find_bytes;

use std::borrow::Cow;

use hippo_text::chunk::line::{Fence, atx_heading, is_rule, list_marker, trim};

/// Arrow before pointers.
pub(super) const ARROW: &str = "→";

/// Returns the length of the arrow at the start of the text; 0 if there is none.
pub(super) fn arrow_len(text: &[u8]) -> usize {
    let mark = [ARROW, "->"]
        .into_iter()
        .find(|mark| text.starts_with(mark.as_bytes()));
    mark.map_or(0, str::len)
}

/// Returns the offset and length of the last arrow. `->` counts only after white space.
pub(super) fn find_last_arrow(text: &[u8]) -> Option<(usize, usize)> {
    (0..text.len()).rev().find_map(|at| {
        let length = arrow_len(&text[at..]);
        let counts =
            length == ARROW.len() || at.checked_sub(1).is_some_and(|at| text[at].is_ascii_whitespace());
        (length > 0 && counts).then_some((at, length))
    })
}

/// Returns `true` if a line is a markdown or index construct and cannot be plain summary text.
pub(super) fn is_construct(text: &[u8]) -> bool {
    let text = trim(text);
    arrow_len(text) > 0
        || text.starts_with(b"<!--")
        || matches!(text.first(), Some(b'>' | b'|'))
        || atx_heading(text).is_some()
        || list_marker(text).is_some()
        || Fence::parse(text).is_some()
        || is_rule(text)
        || parse_facts(text).is_some()
}

/// Parses a line such as `strength: 0.92 | tags: deploy` (v1 §4.2). Returns the values with their `hx` keys.
pub(super) fn parse_facts(text: &[u8]) -> Option<Vec<(&'static str, String)>> {
    if !trim(text).starts_with(b"strength:") {
        return None;
    }
    let text = std::str::from_utf8(text).ok()?;
    let fact = |part: &str| {
        let (name, value) = part.split_once(':')?;
        let key = match name.trim() {
            "strength" => "str",
            "tags" => "tags",
            "created" => "created",
            "last_accessed" => "accessed",
            "access_count" => "hits",
            "priority" => "pri",
            "related" => "rel",
            _ => return None,
        };
        Some((key, value.trim().to_owned()))
    };
    text.split('|').map(fact).collect()
}

/// Escapes a summary with a backslash if it would be read as another construct.
pub(super) fn escape_summary(text: &str) -> String {
    escape_start(&escape_comments(text), |text| is_construct(text.as_bytes()))
}

/// Reverses [`escape_summary`], for one line or several.
pub(super) fn unescape_summary(text: &str) -> String {
    let special = |text: &str| is_construct(text.as_bytes());
    unescape_comments(&unescape_start(&one_line(text), special))
}

/// Escapes the topic of a heading. If the topic ends in `#`, closing marks are added after it.
pub(super) fn escape_heading(text: &str) -> String {
    let mut text = escape_comments(text);
    if text.ends_with('#') {
        text.push_str(" #");
    }
    text
}

/// Reads the topic of a heading without closing marks.
pub(super) fn unescape_heading(text: &str) -> String {
    unescape_comments(&one_line(text))
}

/// Escapes the topic of a list item before its arrow.
pub(super) fn escape_item(text: &str) -> String {
    escape_start(&escape_comments(text), |text| arrow_len(text.as_bytes()) > 0)
}

/// Reverses [`escape_item`].
pub(super) fn unescape_item(text: &str) -> String {
    let special = |text: &str| arrow_len(text.as_bytes()) > 0;
    unescape_comments(&unescape_start(&one_line(text), special))
}

/// Adds a backslash at the start if `special` is true for the text without its leading backslashes.
fn escape_start(text: &str, special: impl Fn(&str) -> bool) -> String {
    let mark = if special(text.trim_start_matches('\\')) {
        "\\"
    } else {
        ""
    };
    format!("{mark}{text}")
}

fn unescape_start(text: &str, special: impl Fn(&str) -> bool) -> String {
    match text.strip_prefix('\\') {
        Some(rest) if special(rest.trim_start_matches('\\')) => rest.to_owned(),
        _ => text.to_owned(),
    }
}

/// Adds a backslash inside each `<!--` and `-->`: `<\!--` starts no comment and `--\>` ends none.
pub(super) fn escape_comments(text: &str) -> String {
    map_comment_slashes(text, |slashes| slashes + 1)
}

fn unescape_comments(text: &str) -> String {
    map_comment_slashes(text, |slashes| slashes.saturating_sub(1))
}

/// Changes the number of backslashes between `<` and `!--`, and between `--` and `>`. `number` maps the old count to
/// the new one.
fn map_comment_slashes(text: &str, number: impl Fn(usize) -> usize) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['<', '\\', '>']) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let open = rest.starts_with('<');
        if open {
            out.push('<');
            rest = &rest[1..];
        }
        let after = rest.trim_start_matches('\\');
        let slashes = rest.len() - after.len();
        let mark = open && after.starts_with("!--") || !open && after.starts_with('>') && out.ends_with("--");
        let slashes = if mark { number(slashes) } else { slashes };
        (0..slashes).for_each(|_| out.push('\\'));
        rest = after;
        if !open && let Some(after) = rest.strip_prefix('>') {
            out.push('>');
            rest = after;
        }
    }
    out.push_str(rest);
    out
}

/// Encodes special characters, control characters and ambiguous `%` as `%XX` of their UTF-8 bytes.
pub(super) fn encode(text: &str, special: impl Fn(char) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    let hex = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_hexdigit);
    for (at, character) in text.char_indices() {
        let bytes = text.as_bytes();
        let ambiguous = character == '%' && hex(bytes.get(at + 1)) && hex(bytes.get(at + 2));
        if ambiguous || character.is_control() || special(character) {
            let bytes = character.to_string().into_bytes();
            out.extend(bytes.iter().map(|byte| format!("%{byte:02X}")));
        } else {
            out.push(character);
        }
    }
    out
}

/// Reverses [`encode`]. If the result is not UTF-8, returns the text unchanged.
pub(super) fn decode(text: &str) -> String {
    let decoded = percent_encoding::percent_decode_str(text).decode_utf8();
    decoded.map_or_else(|_| text.to_owned(), Cow::into_owned)
}

/// Returns an id for an entry without one: lower-case letters and digits of the topic, words joined by `-`.
#[must_use]
pub fn slug(topic: &str) -> String {
    let mut out = String::new();
    for character in topic.chars().flat_map(char::to_lowercase) {
        if character.is_alphanumeric() {
            out.push(character);
        } else if !out.is_empty() && !out.ends_with('-') {
            out.push('-');
        }
        if out.len() >= 64 {
            break;
        }
    }
    match out.trim_end_matches('-') {
        "" => "entry".to_owned(),
        slug => slug.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn slugs_are_lower_case_words_with_hyphens() {
        let table = [
            ("Acme API — Deployment", "acme-api-deployment"),
            ("Éclair & Co.", "éclair-co"),
            ("日記 2026", "日記-2026"),
            ("→ →", "entry"),
            ("", "entry"),
        ];
        for (topic, expected) in table {
            assert_eq!(slug(topic), expected);
        }
        assert!(slug(&"long ".repeat(100)).len() <= 68);
    }

    #[test]
    fn constructs_are_not_summary_text() {
        for text in [
            "# x",
            "→ x",
            "-> x",
            "- x",
            "1. x",
            "> x",
            "| x",
            "<!-- x",
            "---",
            "strength: 0.5 | tags: a",
        ] {
            assert!(is_construct(text.as_bytes()), "{text}");
        }
        for text in [
            "x",
            "**bold** word",
            "#tag",
            "-x",
            "a → b",
            "strength: of steel | or: not",
            "`code`",
        ] {
            assert!(!is_construct(text.as_bytes()), "{text}");
        }
    }

    fn nasty() -> impl Strategy<Value = String> {
        let part = prop::sample::select(vec![
            "\\",
            "<",
            "!--",
            "<!--",
            "-->",
            "→",
            "->",
            "- ",
            "# ",
            "#",
            "%",
            "%7C",
            "%e2",
            "|",
            " ",
            "é",
            "§",
            "\u{0}",
            "1. ",
            "--",
            ">",
            "> ",
            "```",
            "a",
            "strength: 0.5",
        ]);
        prop::collection::vec(part, 0..8).prop_map(|parts| parts.concat())
    }

    proptest! {
        #[test]
        fn escaped_text_is_read_back(text in nasty()) {
            let text = one_line(&text);
            prop_assert_eq!(&unescape_summary(&escape_summary(&text)), &text);
            prop_assert!(text.is_empty() || !is_construct(escape_summary(&text).as_bytes()));
            prop_assert_eq!(&unescape_item(&escape_item(&text)), &text);
            prop_assert!(!escape_summary(&text).contains("<!--") && !escape_summary(&text).contains("-->"));
            let line = format!("## {}", escape_heading(&text));
            let (_, title) = atx_heading(trim(line.as_bytes())).unwrap();
            prop_assert_eq!(&unescape_heading(std::str::from_utf8(title).unwrap()), &text);
        }

        #[test]
        fn encoded_text_is_decoded(text in nasty()) {
            let encoded = encode(&text, |character| "|>→".contains(character));
            let left = encoded.contains(['|', '>', '→', '\u{0}']);
            prop_assert!(!left);
            prop_assert_eq!(decode(&encoded), text);
        }
    }
}
