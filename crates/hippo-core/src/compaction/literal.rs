//! Which words of a text must be known to the letter: paths, identifiers, numbers, addresses?

/// Bytes of such a word: below the least nothing is told apart, above the most it is data.
const LEAST: usize = 3;
const MOST: usize = 160;

/// What is found in a text.
pub trait Finds<'t> {
    /// A word begins at this byte.
    fn word(&mut self, at: usize);
    /// A word that must be known to the letter.
    fn literal(&mut self, literal: &'t str);
}

const LOWER: u8 = 1;
const UPPER: u8 = 2;
const DIGIT: u8 = 4;
const UNDER: u8 = 8;
const HYPHEN: u8 = 16;
const DOT: u8 = 32;
const SLASH: u8 = 64;
const AT: u8 = 128;

/// What each byte is to a word; 0 for what ends it.
const CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0;
    while byte < 128 {
        classes[byte] = match byte as u8 {
            b'a'..=b'z' => LOWER,
            b'A'..=b'Z' => UPPER,
            b'0'..=b'9' => DIGIT,
            b'_' => UNDER,
            b'-' => HYPHEN,
            b'.' => DOT,
            b'/' => SLASH,
            b'@' | b'~' => AT,
            _ => 0,
        };
        byte += 1;
    }
    classes
};

/// What may stand at the end of a word and belongs to the sentence.
const LOOSE: u8 = HYPHEN | DOT | AT;
const LETTERS: u8 = LOWER | UPPER;

/// Goes through the words of a text.
pub fn scan<'t>(text: &'t str, finds: &mut impl Finds<'t>) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if CLASSES[usize::from(bytes[at])] == 0 {
            at += 1;
            continue;
        }
        let start = at;
        finds.word(start);
        // Most words are nothing but small letters.
        while bytes.get(at).is_some_and(u8::is_ascii_lowercase) {
            at += 1;
        }
        let first = if at > start { LOWER } else { 0 };
        // Of the word without loose bytes at its end.
        let (mut classes, mut end) = (first, at);
        let (mut loose, mut before, mut humps) = (0_u8, first, false);
        while let Some(&byte) = bytes.get(at) {
            let class = CLASSES[usize::from(byte)];
            if class == 0 {
                break;
            }
            at += 1;
            if class & LOOSE == 0 {
                humps |= before == LOWER && class == UPPER;
                classes |= loose | class;
                (loose, end) = (0, at);
            } else {
                loose |= class;
            }
            before = class;
        }
        if classes & !LETTERS == 0 {
            if end == at && bytes[at..].starts_with(b"://") {
                at = address(text, at);
                finds.literal(text[start..at].trim_end_matches(['.', ':', '!', '?']));
            } else if classes != LOWER && (humps || classes == UPPER) && (4..=MOST).contains(&(end - start)) {
                finds.literal(&text[start..end]);
            }
            continue;
        }
        let word = text[start..end].trim_start_matches('-');
        if (LEAST..=MOST).contains(&word.len()) && is_literal(word, classes, humps) {
            finds.literal(word);
        }
    }
}

/// The end of an address whose `://` is here.
fn address(text: &str, from: usize) -> usize {
    let stops = |byte: &u8| byte.is_ascii_whitespace() || b"\"'`<>()[]{}|\\,;".contains(byte);
    let rest = &text.as_bytes()[from..];
    let mut end = from
        + rest
            .iter()
            .take(MOST)
            .position(stops)
            .unwrap_or(rest.len().min(MOST));
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    end
}

fn is_literal(word: &str, classes: u8, humps: bool) -> bool {
    let count = |class: u8| {
        word.bytes()
            .filter(|byte| CLASSES[usize::from(*byte)] & class != 0)
            .count()
    };
    if classes & LETTERS == 0 {
        // A number, a date, an address.
        return count(DIGIT) >= 3;
    }
    if classes & SLASH != 0 {
        // "and/or" is no path.
        let told = classes & (DOT | DIGIT | UNDER | HYPHEN | AT) != 0 || word.starts_with('/');
        let long = || word.split('/').all(|part| part.len() >= 3);
        return count(LETTERS) >= 3 && (told || count(SLASH) > 1 || long());
    }
    if classes & AT != 0 {
        return word.len() >= 5;
    }
    if classes & DOT != 0 {
        // "e.g" is no file.
        return (word.len() >= 5 || word.starts_with('.')) && count(LETTERS) >= 3;
    }
    if classes & UNDER != 0 {
        return count(LETTERS) >= 3;
    }
    if classes & DIGIT != 0 {
        return word.len() >= 4 || count(DIGIT) >= 2;
    }
    // Names of several parts.
    humps || count(HYPHEN) > 1
}
