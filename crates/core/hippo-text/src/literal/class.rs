//! Character classes of bytes.

pub const LOWER: u16 = 1;
pub const UPPER: u16 = 2;
pub const DIGIT: u16 = 4;
pub const UNDER: u16 = 8;
pub const HYPHEN: u16 = 16;
pub const DOT: u16 = 32;
pub const SLASH: u16 = 64;
pub const AT: u16 = 128;
/// First byte of a non-ASCII letter.
pub const OTHER: u16 = 256;
/// First byte of a letter or punctuation mark of a script without spaces.
pub const CJK: u16 = 512;

/// Characters that, at the end of a word, belong to the sentence and not to the word.
pub const LOOSE: u16 = HYPHEN | DOT | AT;
pub const LETTERS: u16 = LOWER | UPPER | OTHER;

/// Class of a character, by its first byte; 0 if the character ends a word.
///
/// Beyond ASCII, too, the first byte decides: C2 starts symbols (`·`, `©`), E2 punctuation, arrows and lines, EF
/// full-width forms, F0 to F4 pictographs, E3 to E9 Chinese and Japanese.
pub const CLASSES: [u16; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte {
            0x61..=0x7a => LOWER,
            0x41..=0x5a => UPPER,
            0x30..=0x39 => DIGIT,
            0x5f => UNDER,
            0x2d => HYPHEN,
            0x2e => DOT,
            0x2f => SLASH,
            // @ and ~
            0x40 | 0x7e => AT,
            0xc3..=0xe1 | 0xea..=0xee => OTHER,
            0xe3..=0xe9 => CJK,
            _ => 0,
        };
        byte += 1;
    }
    classes
};

/// `true` for the first byte of each character that ends a URL.
pub const STOPS: [bool; 256] = {
    let mut stops = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        stops[byte] = match byte {
            0..=0x20 | 0x7f => true,
            0x22 | 0x27..=0x29 | 0x2c | 0x3b | 0x3c | 0x3e | 0x5b..=0x5d | 0x60 | 0x7b..=0x7d => true,
            0xc2..=0xff => CLASSES[byte] != OTHER,
            _ => false,
        };
        byte += 1;
    }
    stops
};

/// Returns the length in bytes of the character that starts with this byte.
pub const fn char_width(first: u8) -> usize {
    match first {
        0..=0x7f => 1,
        0x80..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xff => 4,
    }
}

/// Returns true for a punctuation mark of a script without spaces, such as `。` and `「` (U+3000 to U+303F).
pub fn is_mark(bytes: &[u8], at: usize) -> bool {
    bytes[at] == 0xe3 && bytes.get(at + 1) == Some(&0x80)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_byte_determines_the_class_of_a_character() {
        let class = |c: char| {
            let mut bytes = [0; 4];
            CLASSES[usize::from(c.encode_utf8(&mut bytes).as_bytes()[0])]
        };
        for c in ['ä', 'ß', 'Ж', 'λ', 'ש', 'ع', 'अ', 'ก', 'ế', '한'] {
            assert_eq!(class(c), OTHER, "{c}");
        }
        for c in ['日', 'の', '文', '。'] {
            assert_eq!(class(c), CJK, "{c}");
        }
        for c in [
            '·', '©', '\u{a0}', '“', '–', '…', '→', '│', '▸', '：', '\u{feff}', '🚢', '"', ' ', '\n',
        ] {
            assert_eq!(class(c), 0, "{c}");
        }
    }

    #[test]
    fn widths_match_the_characters() {
        for c in ['a', 'ä', 'ш', 'क', '日', '🚢', '\u{10ffff}'] {
            let mut bytes = [0; 4];
            let bytes = c.encode_utf8(&mut bytes).as_bytes();
            assert_eq!(char_width(bytes[0]), bytes.len());
        }
    }
}
