//! How is a piece of text made short and put into one line?

/// The start of a text, at most `most` bytes of it, `…` included where something was left out; whole words where it can.
pub(crate) fn clip(text: &str, most: usize) -> String {
    let line = squeeze(text, most.saturating_add(1));
    if line.len() <= most {
        return line;
    }
    let room = most.saturating_sub('…'.len_utf8());
    let end = floor(&line, room);
    let word = line[..end].rfind(' ').filter(|at| at * 3 > end * 2);
    let kept = line[..word.unwrap_or(end)].trim_end_matches([' ', ',', ';', ':', '·']);
    if most < '…'.len_utf8() {
        return String::new();
    }
    format!("{kept}…")
}

/// White space and control characters become single spaces; looks no further than `most` bytes of the result.
pub(crate) fn squeeze(text: &str, most: usize) -> String {
    let mut out = String::with_capacity(text.len().min(most));
    // A long run of white space says nothing, and is not to be walked through for every piece.
    let end = floor(text, most.saturating_mul(4).max(64));
    for word in text[..end].split(|c: char| c.is_whitespace() || c.is_control()) {
        if word.is_empty() {
            continue;
        }
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
        if out.len() > most {
            break;
        }
    }
    if end < text.len() && out.len() <= most {
        out.push('…');
    }
    out
}

/// The last place at or before `at` that is between two characters.
pub(crate) fn floor(text: &str, at: usize) -> usize {
    // A character has at most four bytes.
    let at = at.min(text.len());
    (at.saturating_sub(3)..=at)
        .rev()
        .find(|&at| text.is_char_boundary(at))
        .unwrap_or(0)
}

/// The first `most` bytes of a text, whole characters.
pub(crate) fn start(text: &str, most: usize) -> &str {
    &text[..floor(text, most)]
}

/// A count with the thing that is counted: `1 file`, `3 files`.
pub(in crate::extract) fn counted(count: usize, what: &str) -> String {
    let plural = match what.as_bytes() {
        _ if count == 1 => "",
        [.., b's' | b'x'] | [.., b'c' | b's', b'h'] => "es",
        _ => "s",
    };
    match what.strip_suffix('y').filter(|_| count != 1) {
        Some(stem) => format!("{count} {stem}ies"),
        None => format!("{count} {what}{plural}"),
    }
}

/// The last part of a path.
pub(in crate::extract) fn name_of(path: &str) -> &str {
    path.trim_end_matches(['/', '\\'])
        .rsplit(['/', '\\'])
        .next()
        .unwrap_or(path)
}

/// The ending of a name in lower case without its dot; empty where there is none.
pub(in crate::extract) fn extension(path: &str) -> String {
    match name_of(path).rsplit_once('.') {
        Some((stem, ending))
            if !stem.is_empty()
                && ending.len() <= 10
                && ending.bytes().all(|b| b.is_ascii_alphanumeric()) =>
        {
            ending.to_ascii_lowercase()
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn names_endings_and_counts() {
        assert_eq!(name_of("a/b/c.rs"), "c.rs");
        assert_eq!(extension("a.d/readme"), "");
        assert_eq!(extension(".env"), "");
        assert_eq!(extension("A.TAR.GZ"), "gz");
        assert_eq!(counted(1, "entry"), "1 entry");
        assert_eq!(counted(2, "entry"), "2 entries");
        assert_eq!(counted(2, "match"), "2 matches");
    }
}
