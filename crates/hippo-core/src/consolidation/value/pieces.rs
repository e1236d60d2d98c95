//! Where does one word of a text end and the next one begin?

/// Kinds of script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Script {
    /// Chinese characters.
    Han,
    /// Japanese endings and particles.
    Hiragana,
    /// Japanese names and foreign words.
    Katakana,
    /// Scripts with spaces.
    Other,
}

/// Of which script a character is, as far as words are concerned.
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

/// Whether a character is of a script without spaces.
pub(super) fn is_unspaced(mark: char) -> bool {
    script(mark) != Script::Other
}

/// Whether a word is a path or an address, which is one name with all its marks.
pub(super) fn is_place(raw: &str) -> bool {
    let raw = raw.trim_start_matches(['(', '"', '\'', '`', '[', '<']);
    let path = raw.starts_with(['/', '~']) || raw.starts_with("./") || raw.matches('/').count() > 1;
    let file = raw.contains('/')
        && raw
            .trim_end_matches(['.', ',', ';', ':', ')', '`', '"'])
            .contains('.');
    (path || file || raw.contains("://")) && raw.contains(char::is_alphabetic) && !raw.contains(is_unspaced)
}

/// The words of what stands between two spaces. A comma between digits does not part them.
pub(super) fn pieces(raw: &str) -> impl Iterator<Item = &str> {
    let digit = |mark: Option<char>| mark.is_some_and(|mark| mark.is_ascii_digit());
    let mut rest = raw;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let parts = |(at, mark): &(usize, char)| match mark {
            ',' => !(digit(rest[..*at].chars().last()) && digit(rest[at + 1..].chars().next())),
            _ => matches!(
                mark,
                '(' | ')'
                    | '"'
                    | ';'
                    | '/'
                    | '='
                    | '['
                    | ']'
                    | '{'
                    | '}'
                    | '<'
                    | '>'
                    | '“'
                    | '”'
                    | '„'
                    | '«'
                    | '»'
                    | '、'
                    | '。'
                    | '・'
                    | '「'
                    | '」'
            ),
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
