//! Neutralization of delimiters that end a section or hide text.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization as _;

/// Returns a text as one line that can neither open nor close a comment or a fenced block.
pub fn to_safe_line(text: &str) -> Cow<'_, str> {
    let plain = text.is_ascii() && !text.contains(['<', '>', '`', '~', '&']);
    if plain && !text.contains(is_line_break) {
        return Cow::Borrowed(text);
    }
    let seen: String = text.chars().filter(|mark| !is_hidden(*mark)).collect();
    let words: Vec<&str> = seen
        .split(is_line_break)
        .map(str::trim)
        .filter(|word| !word.is_empty())
        .collect();
    let line = words.join(" ");
    Cow::Owned(
        neutralize_marks(&line)
            .replace("```", "'''")
            .replace("~~~", "'''"),
    )
}

/// Neutralizes comment delimiters and anything that looks like a delimiter of hippod or of a chat format.
///
/// Inserts a space into each comment delimiter. If the line still resembles a delimiter, for example because of
/// look-alike or hidden characters, replaces its angle brackets by parentheses.
pub(super) fn neutralize_marks(line: &str) -> Cow<'_, str> {
    if line.is_ascii() && !line.contains(['<', '>']) && !line.contains("&lt") && !line.contains("&gt") {
        return Cow::Borrowed(line);
    }
    let parted = line
        .replace("<!--", "<! --")
        .replace("-->", "-- >")
        .replace("--!>", "--! >");
    if !looks_like_a_mark(&parted) {
        return Cow::Owned(parted);
    }
    let round = |mark: char| match ascii_lookalike(mark) {
        '<' => '(',
        '>' => ')',
        _ => mark,
    };
    let parted = parted.replace("&lt;", "(").replace("&gt;", ")");
    Cow::Owned(parted.chars().map(round).collect())
}

/// Starts of delimiters in chat formats, in lower case and without spaces.
#[rustfmt::skip] // keep the list compact
const CHATS: [&str; 7] = [
    "<system", "</system", "<|im_", "<|system", "<<sys", "<</sys", "</function",
];

/// Returns true if a part of the line resembles a delimiter of hippod or of a chat format.
fn looks_like_a_mark(line: &str) -> bool {
    let line = line.replace("&lt;", "<").replace("&gt;", ">");
    let bare = normalize_lookalikes(&line);
    let angles = bare.contains(['<', '>']);
    let comment = bare.contains("<!") || bare.contains("-->") || bare.contains("!>");
    angles && (bare.contains("hippod") && comment || bare.contains("/hippod"))
        || CHATS.iter().any(|mark| bare.contains(mark))
}

/// Returns the visible characters of a text in lower case, without white space and with look-alikes mapped to ASCII.
pub(super) fn normalize_lookalikes(text: &str) -> String {
    // Some scripts need joiners inside words. The text keeps its joiners; only this comparison ignores them.
    let joins = |mark: char| matches!(mark, '\u{200c}' | '\u{200d}' | '\u{fe00}'..='\u{fe0f}');
    text.nfkc()
        .filter(|mark| !mark.is_whitespace() && !is_hidden(*mark) && !joins(*mark))
        .map(ascii_lookalike)
        .flat_map(char::to_lowercase)
        .collect()
}

/// Maps a look-alike character to ASCII; returns other characters unchanged.
fn ascii_lookalike(mark: char) -> char {
    match mark {
        '\u{ff1c}' | '\u{2039}' | '\u{27e8}' | '\u{2329}' | '\u{3008}' | '\u{fe64}' | '\u{276e}'
        | '\u{2770}' => '<',
        '\u{ff1e}' | '\u{203a}' | '\u{27e9}' | '\u{232a}' | '\u{3009}' | '\u{fe65}' | '\u{276f}'
        | '\u{2771}' => '>',
        '\u{ff01}' | '\u{1c3}' | '\u{fe57}' | '\u{2d51}' | '\u{a1}' => '!',
        '\u{2010}'..='\u{2015}'
        | '\u{2043}'
        | '\u{2212}'
        | '\u{2500}'
        | '\u{2501}'
        | '\u{fe58}'
        | '\u{fe63}'
        | '\u{ff0d}' => '-',
        '\u{2044}' | '\u{2215}' | '\u{29f8}' | '\u{ff0f}' | '\u{2571}' => '/',
        '\u{4bb}' | '\u{570}' => 'h',
        '\u{456}' | '\u{406}' | '\u{3b9}' | '\u{131}' | '\u{4c0}' => 'i',
        '\u{440}' | '\u{420}' | '\u{3c1}' => 'p',
        '\u{43e}' | '\u{41e}' | '\u{3bf}' | '\u{585}' => 'o',
        '\u{501}' | '\u{56a}' => 'd',
        other => other,
    }
}

/// Returns true for a character that some programs treat as a line break.
fn is_line_break(mark: char) -> bool {
    mark.is_control() || matches!(mark, '\u{2028}' | '\u{2029}')
}

/// Returns true for an invisible character, and for one that changes the order in which text is displayed.
pub(crate) fn is_hidden(mark: char) -> bool {
    matches!(mark, '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{feff}' | '\u{202a}'..='\u{202e}'
        | '\u{2066}'..='\u{206f}' | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{3164}' | '\u{ffa0}' | '\u{e0000}'..='\u{e01ef}')
}
