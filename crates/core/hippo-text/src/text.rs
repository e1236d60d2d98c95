//! Text utilities: cutting at character boundaries, joining lines, XML escapes.

/// Character that replaces omitted text.
const LEFT_OUT: char = '…';
/// Maximum bytes of input to read for each byte of output.
const LOOKED_AT: usize = 4;

/// Returns the start of a text: at most `most` bytes, cut at a character boundary.
#[must_use]
pub fn start(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most)]
}

/// Returns the first `most` characters of a text.
#[must_use]
pub fn characters(text: &str, most: usize) -> &str {
    text.char_indices().nth(most).map_or(text, |(at, _)| &text[..at])
}

/// Returns the end of a text: at most `most` bytes, cut at a character boundary.
#[must_use]
pub fn end(text: &str, most: usize) -> &str {
    &text[text.ceil_char_boundary(text.len().saturating_sub(most))..]
}

/// Splits a text at white space and control characters.
fn split_pieces(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|piece| !piece.is_empty())
}

/// Returns a text as one line, with each run of white space and control characters replaced by one space. Stops soon
/// after `most` bytes of output, or after a few times as many bytes of input, because long runs of white space carry no
/// information.
#[must_use]
pub fn squeeze(text: &str, most: usize) -> String {
    let mut out = String::with_capacity(text.len().min(most));
    let end = text.floor_char_boundary(most.saturating_mul(LOOKED_AT).max(64));
    for piece in split_pieces(&text[..end]) {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(piece);
        if out.len() > most {
            break;
        }
    }
    if end < text.len() && out.len() <= most {
        out.push(LEFT_OUT);
    }
    out
}

/// Returns the start of a text as one line of at most `most` characters, without a mark for omitted text.
#[must_use]
pub fn first_characters(text: &str, most: usize) -> String {
    // Eight bytes per character: twice the size of the largest character, which leaves room for white space.
    let looked_at = start(text, most.saturating_mul(8));
    let mut out = String::new();
    let mut left = most;
    for piece in split_pieces(looked_at) {
        if !out.is_empty() && left > 0 {
            out.push(' ');
            left -= 1;
        }
        let piece = characters(piece, left);
        out.push_str(piece);
        left -= piece.chars().count();
    }
    out
}

/// Returns the start of a text as one line of at most `most` bytes. If text was omitted, the line ends with `…`, which
/// counts towards `most`. Cuts the text between words if possible.
#[must_use]
pub fn clip(text: &str, most: usize) -> String {
    let line = squeeze(text, most.saturating_add(1));
    if line.len() <= most {
        return line;
    }
    let room = most.saturating_sub(LEFT_OUT.len_utf8());
    let end = line.floor_char_boundary(room);
    let word = line[..end].rfind(' ').filter(|at| at * 3 > end * 2);
    let kept = line[..word.unwrap_or(end)].trim_end_matches([' ', ',', ';', ':', '·']);
    if most < LEFT_OUT.len_utf8() {
        return String::new();
    }
    format!("{kept}{LEFT_OUT}")
}

/// Subtracts `bytes` from `room`. If they exceed `room`, leaves `room` unchanged and returns `false`.
pub fn take_room(room: &mut usize, bytes: usize) -> bool {
    let left = room.checked_sub(bytes);
    *room = left.unwrap_or(*room);
    left.is_some()
}

/// Formats a count with its noun: "1 file", "2 files", "3 entries", "4 accesses".
#[must_use]
pub fn plural(count: u64, noun: &str) -> String {
    match (count, noun.strip_suffix('y')) {
        (1, _) => format!("1 {noun}"),
        (_, Some(stem)) => format!("{count} {stem}ies"),
        _ if noun.ends_with('s') => format!("{count} {noun}es"),
        _ => format!("{count} {noun}s"),
    }
}

/// Returns the words of a text, separated by single spaces.
#[must_use]
pub fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Escapes a text for an XML element or a double-quoted attribute.
#[must_use]
pub fn escape_xml(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn escaped_text_contains_no_markup() {
        assert_eq!(escape_xml("<a href=\"x\">&"), "&lt;a href=&quot;x&quot;&gt;&amp;");
    }

    #[test]
    fn cuts_are_at_character_boundaries() {
        for (text, most, first, last) in [
            ("abc", 2, "ab", "bc"),
            ("日本", 0, "", ""),
            ("日本", 1, "", ""),
            ("日本", 5, "日", "本"),
            ("日本", 9, "日本", "日本"),
            ("🚢", 3, "", ""),
        ] {
            assert_eq!(
                (start(text, most), end(text, most)),
                (first, last),
                "{text} {most}"
            );
        }
        assert_eq!((start("日本", 4), end("日本", 4)), ("日", "本"));
        assert_eq!((start("ab", 9), end("ab", 9)), ("ab", "ab"));
    }

    #[test]
    fn a_clip_is_one_line_of_whole_words_within_its_bytes() {
        for (text, most, expected) in [
            ("one two", 7, "one two"),
            ("one\n\ttwo  ", 40, "one two"),
            ("one two three four", 13, "one two…"),
            ("abcdefghijkl", 8, "abcde…"),
            ("日本語日本語", 10, "日本…"),
            ("abc", 0, ""),
        ] {
            let clipped = clip(text, most);
            assert_eq!(clipped, expected);
            assert!(clipped.len() <= most);
        }
    }

    #[test]
    fn first_characters_are_counted_as_characters() {
        for (text, most, expected) in [
            ("one two", 40, "one two"),
            (" one\n\n two\u{7}three ", 9, "one two t"),
            ("one two", 4, "one "),
            ("one two", 3, "one"),
            ("日本語 日本語", 5, "日本語 日"),
            ("abc", 0, ""),
        ] {
            assert_eq!(first_characters(text, most), expected, "{text} {most}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_text_is_cut_within_its_bounds(text in "\\PC{0,40}[ \n\t]{0,9}\\PC{0,40}", most in 0_usize..120) {
            prop_assert!(start(&text, most).len() <= most && end(&text, most).len() <= most);
            prop_assert!(text.starts_with(start(&text, most)) && text.ends_with(end(&text, most)));
            prop_assert!(text.len() <= most || start(&text, most).len() + 3 >= most);
            prop_assert!(clip(&text, most).len() <= most);
            prop_assert!(first_characters(&text, most).chars().count() <= most);
            for line in [clip(&text, most), squeeze(&text, most), first_characters(&text, most)] {
                prop_assert!(!line.contains("  ") && !line.contains(['\n', '\t']) && !line.starts_with(' '));
            }
        }
    }
}
