//! Word splitter for the comparison of values.

/// Script of a character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Script {
    /// Chinese characters.
    Han,
    /// Japanese endings and particles.
    Hiragana,
    /// Japanese names and loanwords.
    Katakana,
    /// Scripts with spaces.
    Other,
}

/// Returns the script of a character.
pub(super) fn script(mark: char) -> Script {
    match mark {
        '\u{3041}'..='\u{309F}' => Script::Hiragana,
        '\u{30A0}'..='\u{30FF}' | '\u{31F0}'..='\u{31FF}' => Script::Katakana,
        '\u{3005}'..='\u{3007}'
        | '\u{3400}'..='\u{9FFF}'
        | '\u{F900}'..='\u{FAFF}'
        | '\u{20000}'..='\u{3FFFF}' => Script::Han,
        _ => Script::Other,
    }
}

/// Returns `true` if the script of a character has no spaces.
pub(super) fn is_unspaced(mark: char) -> bool {
    script(mark) != Script::Other
}

/// Returns `true` if a word is a path or URL, which is one name with all its punctuation.
pub(super) fn is_path(raw: &str) -> bool {
    let raw = raw.trim_start_matches(['(', '"', '\'', '`', '[', '<']);
    let path = raw.starts_with(['/', '~']) || raw.starts_with("./") || raw.matches('/').count() > 1;
    let file = raw.contains('/')
        && raw
            .trim_end_matches(['.', ',', ';', ':', ')', '`', '"'])
            .contains('.');
    (path || file || raw.contains("://")) && raw.contains(char::is_alphabetic) && !raw.contains(is_unspaced)
}

/// Splits a run of text that contains no spaces into words. A comma between digits does not separate words.
pub(super) fn split_words(raw: &str) -> impl Iterator<Item = &str> {
    let digit = |mark: Option<char>| mark.is_some_and(|mark| mark.is_ascii_digit());
    let mut rest = raw;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let parts = |&(at, mark): &(usize, char)| match mark {
            ',' => !(digit(rest[..at].chars().last()) && digit(rest[at + 1..].chars().next())),
            _ => "()\";/=[]{}<>“”„«»、。・「」".contains(mark),
        };
        let (end, next) = rest
            .char_indices()
            .find(parts)
            .map_or((rest.len(), rest.len()), |(at, mark)| (at, at + mark.len_utf8()));
        let piece = &rest[..end];
        rest = &rest[next..];
        Some(piece)
    })
}
