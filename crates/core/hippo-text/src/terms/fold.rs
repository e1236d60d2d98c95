//! Normalization of characters for the index.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::{canonical_combining_class, is_combining_mark};

/// Returns true if the script of this character is written without spaces. The index stores words of such scripts as
/// pairs of characters.
pub const fn is_unspaced(character: char) -> bool {
    matches!(
        character,
        '\u{e00}'..='\u{eff}'            // Thai, Lao
        | '\u{1000}'..='\u{109f}'        // Myanmar
        | '\u{1780}'..='\u{17ff}'        // Khmer
        | '\u{3005}'..='\u{3007}'        // 々〆〇
        | '\u{3040}'..='\u{30fa}'        // Hiragana, Katakana
        | '\u{30fc}'..='\u{30ff}'
        | '\u{3100}'..='\u{318f}'        // Bopomofo, Hangul letters
        | '\u{31f0}'..='\u{31ff}'
        | '\u{3400}'..='\u{4dbf}'        // ideographs
        | '\u{4e00}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7af}'        // Hangul syllables
        | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}'
    )
}

/// Returns true if a non-ASCII character belongs to a word.
pub(super) fn is_word(character: char) -> bool {
    character.is_alphanumeric() || is_combining_mark(character) || is_joiner(character)
}

/// Returns true for invisible characters within words: joiners and soft hyphens.
const fn is_joiner(character: char) -> bool {
    matches!(character, '\u{ad}' | '\u{200c}' | '\u{200d}' | '\u{2060}')
}

/// Appends `text` to `out` in lower case, without accents and with compatibility forms replaced.
pub(super) fn fold(text: &str, out: &mut String) {
    for character in text.nfc() {
        if character.is_ascii() {
            out.push(character.to_ascii_lowercase());
        } else if is_unspaced(character) {
            out.push(character);
        } else {
            fold_character(character, out);
        }
    }
}

fn fold_character(character: char, out: &mut String) {
    if character == '’' {
        out.push('\'');
        return;
    }
    for part in std::iter::once(character).nfkd().flat_map(char::to_lowercase) {
        match part {
            'ß' => out.push_str("ss"),
            'æ' => out.push_str("ae"),
            'œ' => out.push_str("oe"),
            'ø' => out.push('o'),
            'ł' => out.push('l'),
            'đ' | 'ð' => out.push('d'),
            'þ' => out.push_str("th"),
            'ı' => out.push('i'),
            'ς' => out.push('σ'),
            // Case and compatibility mappings can introduce spaces and marks that are not part of a word.
            _ if canonical_combining_class(part) != 0 || is_joiner(part) => {}
            _ if part.is_alphanumeric() || is_combining_mark(part) => out.push(part),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equivalent_spellings_fold_to_the_same_text() {
        let table = [
            ("Café", "cafe"),
            ("Cafe\u{301}", "cafe"),
            ("STRASSE", "strasse"),
            ("Straße", "strasse"),
            ("Ærøskøbing", "aeroskobing"),
            ("Łódź", "lodz"),
            ("İstanbul", "istanbul"),
            ("Ёлка", "елка"),
            ("ΟΔΟΣ", "οδοσ"),
            ("οδος", "οδοσ"),
            ("ﬁle", "file"),
            ("Ｗｉｄｅ", "wide"),
            ("が", "が"),
            ("か\u{3099}", "が"),
            ("\u{1112}\u{1161}\u{11ab}", "한"),
            ("co\u{ad}operate", "cooperate"),
            ("\u{fdfa}", "صلىاللهعليهوسلم"),
        ];
        for (text, expected) in table {
            let mut out = String::new();
            fold(text, &mut out);
            assert_eq!(out, expected, "{text}");
        }
    }
}
