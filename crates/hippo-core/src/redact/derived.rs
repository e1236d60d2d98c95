//! What is shown of a text in pieces when it is told again: in summaries, topics and tags?

use std::borrow::Cow;
use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::known::{KEY_BLOCK, KEY_END, private_title};
use super::{REDACTED, redact};

/// What stands in derived text in the place of a secret: no word, so that no entry is known by what was left out.
const LEFT_OUT: &str = "…";
/// Least bytes of a line that is data; the lines of a key have 64, the last one fewer.
const DATA: usize = 60;
/// What both the first line of a key and the last one begin with.
static DASHES: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new("-----"));
/// The same where `…` says that a line was cut.
const CUT: usize = 32;

/// The text as it may be told again: without secrets, and without lines of data, which may be a part of a key.
#[must_use]
pub fn without_secrets(text: &str) -> Cow<'_, str> {
    piece_without_secrets(text, &mut false)
}

/// The same for one of several pieces of a text, in their order. `key` is whether a private key goes on from the pieces
/// before into this one, and then from this one into the next.
pub(crate) fn piece_without_secrets<'t>(piece: &'t str, key: &mut bool) -> Cow<'t, str> {
    let mut rest = piece;
    // Most pieces have nothing of a key in them.
    if *key || DASHES.find(piece.as_bytes()).is_some() {
        let Some(behind) = after_key(piece, *key) else {
            return Cow::Borrowed("");
        };
        *key = opens_key(behind);
        rest = behind;
    }
    let shown = match redact(rest) {
        Cow::Borrowed(text) => Cow::Borrowed(text),
        Cow::Owned(text) => Cow::Owned(text.replace(REDACTED, LEFT_OUT)),
    };
    if has_data(&shown) {
        let lines: Vec<&str> = shown.lines().filter(|line| !is_data(line)).collect();
        return Cow::Owned(lines.join("\n"));
    }
    shown
}

/// The same for a text whose lines are counted: `…` stands in the place of each line of data, and nothing in the place of the
/// lines of a key that began before the text.
#[must_use]
pub(crate) fn lines_without_secrets(text: &str) -> Cow<'_, str> {
    let rest = after_key(text, false).unwrap_or_default();
    let shown = match redact(rest) {
        Cow::Owned(text) => Cow::Owned(text.replace(REDACTED, LEFT_OUT)),
        shown => shown,
    };
    let before = text[..text.len() - rest.len()].matches('\n').count();
    if before == 0 && !has_data(&shown) {
        return shown;
    }
    let mut out = "\n".repeat(before);
    for line in shown.split_inclusive('\n') {
        let end = line.len() - line.trim_end_matches(['\n', '\r']).len();
        let line = if is_data(line) {
            (LEFT_OUT, &line[line.len() - end..])
        } else {
            (line, "")
        };
        out.push_str(line.0);
        out.push_str(line.1);
    }
    Cow::Owned(out)
}

/// A value as it may be told: as [`without_secrets`], and without words of data, for a value may be several lines put into
/// one. Empty where nothing else is left.
#[must_use]
pub(crate) fn value_without_secrets(value: &str) -> Cow<'_, str> {
    let shown = without_secrets(value);
    let tells = |text: &str| text.chars().any(char::is_alphanumeric);
    if shown.split_ascii_whitespace().any(is_data_word) {
        let words = shown.split_ascii_whitespace();
        let words: Vec<&str> = words
            .map(|word| if is_data_word(word) { LEFT_OUT } else { word })
            .collect();
        let words = words.join(" ");
        return Cow::Owned(if tells(&words) { words } else { String::new() });
    }
    match shown {
        Cow::Owned(shown) if !tells(&shown) => Cow::Borrowed(""),
        shown => shown,
    }
}

/// What follows a private key that began before the piece; `None` when the key goes on behind it. A key is known by its
/// last line as well, for a piece that is shown alone.
fn after_key(piece: &str, open: bool) -> Option<&str> {
    let end = piece.find(KEY_END);
    let begins = piece.find(KEY_BLOCK);
    match end {
        Some(end) if begins.is_none_or(|begins| end < begins) => {
            let last = end + KEY_END.len();
            let private = open || private_title(&piece[last..]).is_some();
            let behind = || piece[last..].split_once('\n').map_or("", |(_, rest)| rest);
            Some(if private { behind() } else { piece })
        }
        _ if open && begins.is_none() => None,
        // Another key begins, though the last one did not end.
        _ if open => begins.map(|begins| &piece[begins..]),
        _ => Some(piece),
    }
}

/// Whether a private key begins in a piece and does not end in it.
fn opens_key(piece: &str) -> bool {
    let ended = piece.rfind(KEY_END).map_or(0, |end| end + KEY_END.len());
    let mut begins = piece[ended..].match_indices(KEY_BLOCK);
    begins.any(|(at, _)| private_title(&piece[ended + at + KEY_BLOCK.len()..]).is_some())
}

/// Whether one of the lines is data. Most lines are too short.
fn has_data(text: &str) -> bool {
    let ends = memchr::memchr_iter(b'\n', text.as_bytes()).chain([text.len()]);
    let mut from = 0;
    for end in ends {
        if end - from >= DATA && is_data(&text[from..end]) {
            return true;
        }
        from = end + 1;
    }
    false
}

/// Whether a line is one run of base64, in large and small letters: nothing to read.
fn is_data(line: &str) -> bool {
    let line = line.trim();
    let base64 = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    let both = || line.contains(char::is_uppercase) && line.contains(char::is_lowercase);
    line.len() >= DATA && line.bytes().all(base64) && both()
}

/// Whether a word is a line of data, or the beginning of one that was cut.
fn is_data_word(word: &str) -> bool {
    let outside = |c: char| !(c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '='));
    let bare = word.trim_matches(outside);
    let cut = word.ends_with('…') && (CUT..DATA).contains(&bare.len());
    is_data(bare) || cut && is_data(&bare.repeat(2))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const FIRST: &str = "-----BEGIN OPENSSH PRIVATE KEY-----\n";
    const LAST: &str = "-----END OPENSSH PRIVATE KEY-----\n";

    #[test]
    fn a_piece_from_within_a_key_is_not_shown() {
        let data = "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2\n";
        let table = [
            (format!("{data}{data}"), ""),
            (format!("{data}c2gtZWQy\n{LAST}after"), "after"),
            (format!("before\n{FIRST}{data}"), "before\n…"),
            (format!("{FIRST}{data}{LAST}after"), "…\nafter"),
            (format!("before\n{data}after"), "before\nafter"),
            (
                "-----END CERTIFICATE-----\nafter".to_owned(),
                "-----END CERTIFICATE-----\nafter",
            ),
        ];
        for (piece, shown) in table {
            assert_eq!(without_secrets(&piece).trim_end(), shown, "{piece}");
        }
    }

    #[test]
    fn lines_stay_where_they_are_counted() {
        let data = "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2";
        for (text, shown) in [
            (format!("a\n{data}\r\n{data}\nb"), "a\n…\r\n…\nb".to_owned()),
            (
                format!("{data}\nc2gtZWQy\n{LAST}after\n"),
                "\n\n\nafter\n".to_owned(),
            ),
            (
                "password: hunter2 lantern\nb".to_owned(),
                "password: … lantern\nb".to_owned(),
            ),
            ("plain\ntext".to_owned(), "plain\ntext".to_owned()),
        ] {
            assert_eq!(lines_without_secrets(&text), shown, "{text}");
        }
    }

    #[test]
    fn a_value_of_several_lines_shows_none_of_data() {
        let data = "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2";
        for (value, shown) in [
            (format!("{data} {data}"), String::new()),
            (format!("key {data} of ada"), "key … of ada".to_owned()),
            (format!("{data}\nada"), "ada".to_owned()),
            (format!("\"{data}\";"), String::new()),
            (format!("{}… of ada", &data[..40]), "… of ada".to_owned()),
            ("ada lovelace".to_owned(), "ada lovelace".to_owned()),
            ("->".to_owned(), "->".to_owned()),
        ] {
            assert_eq!(value_without_secrets(&value), shown, "{value}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn no_line_of_a_key_is_shown_wherever_the_text_is_cut(
            lengths in prop::collection::vec(1_usize..65, 1..12),
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
        ) {
            let mut lines = vec!["before".to_owned(), FIRST.trim_end().to_owned()];
            lines.extend(lengths.iter().map(|length| "Kq7".repeat(22)[..*length].to_owned()));
            lines.extend([LAST.trim_end().to_owned(), "after".to_owned()]);
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(lines.len())).collect();
            cuts.extend([0, lines.len()]);
            cuts.sort_unstable();
            let mut key = false;
            let mut shown = String::new();
            for cut in cuts.windows(2) {
                let piece = lines[cut[0]..cut[1]].join("\n");
                shown.push_str(&piece_without_secrets(&piece, &mut key));
                shown.push('\n');
            }
            prop_assert!(!key && !shown.contains('K'), "{}", shown);
            prop_assert!(shown.contains("before") && shown.contains("after"), "{}", shown);
        }
    }
}
