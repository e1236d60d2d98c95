//! Redaction of excerpts for summaries, topics and tags.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::known::{KEY_BLOCK, KEY_END, private_title};
use super::{REDACTED, redact, redact_lines};

/// Replacement of a secret in derived text. It is not a word, so that no search matches it.
const LEFT_OUT: &str = "…";
/// Minimum bytes of a line that counts as data. The lines of a private key have 64 bytes, except for the last one.
const DATA: usize = 60;
/// Start of the first and the last line of a key in PEM format.
static DASHES: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new("-----"));
/// Minimum bytes of a run of data whose end was cut off and replaced by `…`.
const CUT: usize = 32;
/// Minimum average distance in bytes between the slashes of base64 data.
const PART: usize = 12;

/// Redacts a text for display: replaces secrets by `…`, and removes lines of data that may be parts of a private key.
#[must_use]
pub fn without_secrets(text: &str) -> Cow<'_, str> {
    piece_without_secrets(text, &mut false)
}

/// Redacts one of several consecutive pieces of a text, like [`without_secrets`]. `key` is true if a private key began
/// in an earlier piece and continues in this one. The function updates `key` for the next piece.
pub fn piece_without_secrets<'t>(piece: &'t str, key: &mut bool) -> Cow<'t, str> {
    let mut rest = piece;
    // Most pieces contain no part of a key.
    if *key || DASHES.find(piece.as_bytes()).is_some() {
        let Some(behind) = skip_key(piece, *key) else {
            return Cow::Borrowed("");
        };
        *key = opens_key(behind);
        rest = behind;
    }
    let shown = leave_out(redact(rest));
    if has_data(&shown) {
        let lines: Vec<&str> = shown.lines().filter(|line| !is_data(line)).collect();
        return Cow::Owned(lines.join("\n"));
    }
    shown
}

/// Redacts a text without changing its number of lines. `…` replaces each line or run of data. The lines of a private
/// key that began before the text become empty. `clean` is true if the caller knows that [`redact`] does not change the
/// text.
#[must_use]
pub fn lines_without_secrets(text: &str, clean: bool) -> Cow<'_, str> {
    let rest = skip_key(text, false).unwrap_or_default();
    let shown = match clean && rest.len() == text.len() {
        true => Cow::Borrowed(rest),
        false => redact_lines(rest),
    };
    let shown = replace_data_runs(leave_out(shown));
    let before = text[..text.len() - rest.len()].matches('\n').count();
    if before == 0 && !has_data(&shown) {
        return shown;
    }
    let mut out = "\n".repeat(before);
    for line in shown.split_inclusive('\n') {
        let end = line.trim_end_matches(['\n', '\r']).len();
        let (shown, end) = match is_data(line) {
            true => (LEFT_OUT, &line[end..]),
            false => (line, ""),
        };
        out.push_str(shown);
        out.push_str(end);
    }
    Cow::Owned(out)
}

/// Redacts a value, like [`without_secrets`]. Also replaces runs of data inside lines, because the value may consist of
/// several joined lines or cells. Returns an empty text if no word remains.
#[must_use]
pub fn value_without_secrets(value: &str) -> Cow<'_, str> {
    let shown = replace_data_runs(without_secrets(value));
    match shown {
        Cow::Owned(shown) if !shown.chars().any(char::is_alphanumeric) => Cow::Borrowed(""),
        shown => shown,
    }
}

/// Replaces [`REDACTED`] by `…`. A borrowed text is unchanged, because it contained no secret.
fn leave_out(shown: Cow<'_, str>) -> Cow<'_, str> {
    match shown {
        Cow::Owned(text) => Cow::Owned(text.replace(REDACTED, LEFT_OUT)),
        shown => shown,
    }
}

/// Replaces each run of data by `…`.
fn replace_data_runs(text: Cow<'_, str>) -> Cow<'_, str> {
    let (mut out, mut done) = (String::new(), 0);
    for run in base64_runs(&text, CUT) {
        if is_data_run(&text[run.clone()], text[run.end..].starts_with(LEFT_OUT)) {
            out.push_str(&text[done..run.start]);
            out.push_str(LEFT_OUT);
            done = run.end;
        }
    }
    if done == 0 {
        return text;
    }
    out.push_str(&text[done..]);
    Cow::Owned(out)
}

/// Iterates over the runs of at least `least` base64 characters. For speed, examines only every `least`-th byte until
/// it finds a base64 character.
fn base64_runs(text: &str, least: usize) -> impl Iterator<Item = Range<usize>> {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let probe = at + least - 1;
            if !is_base64(*bytes.get(probe)?) {
                at = probe + 1;
                continue;
            }
            let before = bytes[at..probe].iter().rposition(|byte| !is_base64(*byte));
            let from = before.map_or(at, |before| at + before + 1);
            let length = bytes[probe..].iter().position(|byte| !is_base64(*byte));
            at = length.map_or(bytes.len(), |length| probe + length);
            if at - from >= least {
                return Some(from..at);
            }
        }
    })
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

/// Returns true if a run of base64 characters is data and not, for example, a path: paths have more slashes. `cut` is
/// true if the end of the run was cut off.
fn is_data_run(run: &str, cut: bool) -> bool {
    let has = |what: fn(&u8) -> bool| run.as_bytes().iter().any(what);
    run.len() >= if cut { CUT } else { DATA }
        && has(u8::is_ascii_uppercase)
        && has(u8::is_ascii_lowercase)
        && has(u8::is_ascii_digit)
        && run.matches('/').count() * PART <= run.len()
}

/// Returns the text after a private key that began before the piece, or `None` if the key does not end in the piece.
/// `open` is true if such a key is known. Otherwise, the key is recognised by its last line, because a piece may be
/// displayed alone.
fn skip_key(piece: &str, open: bool) -> Option<&str> {
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
        // The key has no end, but another key begins.
        _ if open => begins.map(|begins| &piece[begins..]),
        _ => Some(piece),
    }
}

/// Returns true if a private key begins in the piece and does not end in it.
fn opens_key(piece: &str) -> bool {
    let ended = piece.rfind(KEY_END).map_or(0, |end| end + KEY_END.len());
    let mut begins = piece[ended..].match_indices(KEY_BLOCK);
    begins.any(|(at, _)| private_title(&piece[ended + at + KEY_BLOCK.len()..]).is_some())
}

/// Returns true if any line of the text is data.
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

/// Returns true if a line is a single run of base64 with letters of both cases.
fn is_data(line: &str) -> bool {
    let line = line.trim();
    let both = || line.contains(char::is_uppercase) && line.contains(char::is_lowercase);
    line.len() >= DATA && line.bytes().all(is_base64) && both()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const FIRST: &str = "-----BEGIN OPENSSH PRIVATE KEY-----\n";
    const LAST: &str = "-----END OPENSSH PRIVATE KEY-----\n";

    #[test]
    fn a_part_of_a_key_is_not_shown() {
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
    fn redaction_by_line_keeps_the_number_of_lines() {
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
            (
                format!("a\n{FIRST}c2gtZWQy\nc2gtZWQy\n{LAST}after\n"),
                "a\n…\n\n\n\nafter\n".to_owned(),
            ),
            ("plain\ntext".to_owned(), "plain\ntext".to_owned()),
        ] {
            assert_eq!(lines_without_secrets(&text, false), shown, "{text}");
        }
    }

    #[test]
    fn a_value_joined_from_several_lines_shows_no_data() {
        let data = "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2";
        for (value, shown) in [
            (format!("{data} {data}"), String::new()),
            (format!("{data}|{}…", &data[..40]), String::new()),
            (format!("KEY=\"{data}\";"), "KEY=\"…\";".to_owned()),
            (format!("key {data} of ada"), "key … of ada".to_owned()),
            (format!("{data}\nada"), "ada".to_owned()),
            (format!("\"{data}\";"), String::new()),
            (format!("{}… of ada", &data[..40]), "…… of ada".to_owned()),
            ("ada lovelace".to_owned(), "ada lovelace".to_owned()),
            ("->".to_owned(), "->".to_owned()),
            (
                "src/main/java/org/example/Harbour2/berths/BerthBookingServiceImplementation.java".to_owned(),
                "src/main/java/org/example/Harbour2/berths/BerthBookingServiceImplementation.java".to_owned(),
            ),
        ] {
            assert_eq!(value_without_secrets(&value), shown, "{value}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn base64_runs_are_found_at_every_offset(text in "([ab+/]{0,9}|[ .é]{0,3}){0,12}", least in 1_usize..8) {
            let found: Vec<&str> = base64_runs(&text, least).map(|run| &text[run]).collect();
            let parts = text.split(|c: char| !c.is_ascii() || !is_base64(c as u8));
            prop_assert_eq!(found, parts.filter(|run| run.len() >= least).collect::<Vec<_>>());
        }

        #[test]
        fn no_line_of_a_key_is_shown_however_the_text_is_divided(
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
