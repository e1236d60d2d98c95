//! What is each byte to a word that must be known to the letter?

pub const LOWER: u16 = 1;
pub const UPPER: u16 = 2;
pub const DIGIT: u16 = 4;
pub const UNDER: u16 = 8;
pub const HYPHEN: u16 = 16;
pub const DOT: u16 = 32;
pub const SLASH: u16 = 64;
pub const AT: u16 = 128;
/// The first byte of a letter beyond ASCII.
pub const OTHER: u16 = 256;
/// The first byte of a letter of a script without spaces, or of one of its marks.
pub const CJK: u16 = 512;

/// What may stand at the end of a word and belongs to the sentence.
pub const LOOSE: u16 = HYPHEN | DOT | AT;
pub const LETTERS: u16 = LOWER | UPPER | OTHER;

/// What each first byte of a character is to a word; 0 for what ends it.
///
/// Beyond ASCII the first byte decides: C2 begins symbols (`·`, `©`), E2 punctuation, arrows and lines, EF forms of full width,
/// F0 to F4 pictures; E3 to E9 begin Chinese and Japanese.
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

/// Which first bytes end an address.
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

/// Bytes of the character that begins with this one.
pub const fn width(first: u8) -> usize {
    match first {
        0..=0x7f => 1,
        0x80..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xff => 4,
    }
}

/// Whether the character of a script without spaces that begins here is a mark, as `。` and `「` are (U+3000 to U+303F).
pub fn is_mark(bytes: &[u8], at: usize) -> bool {
    bytes[at] == 0xe3 && bytes.get(at + 1) == Some(&0x80)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_character_is_follows_from_its_first_byte() {
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
    fn widths_are_those_of_the_characters() {
        for c in ['a', 'ä', 'ш', 'क', '日', '🚢', '\u{10ffff}'] {
            let mut bytes = [0; 4];
            let bytes = c.encode_utf8(&mut bytes).as_bytes();
            assert_eq!(width(bytes[0]), bytes.len());
        }
    }
}
