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
        let (mut classes, mut before, mut humps) = (0_u8, 0_u8, false);
        while let Some(&byte) = bytes.get(at)
            && CLASSES[usize::from(byte)] != 0
        {
            let class = CLASSES[usize::from(byte)];
            humps |= before == LOWER && class == UPPER;
            classes |= class;
            before = class;
            at += 1;
        }
        if classes & !(LOWER | UPPER) == 0 && bytes[at..].starts_with(b"://") {
            let stops = |byte: &u8| byte.is_ascii_whitespace() || b"\"'`<>()[]{}|\\,;".contains(byte);
            let length = bytes[at..].iter().take(MOST).position(stops);
            at = (at + length.unwrap_or(MOST)).min(bytes.len());
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            finds.literal(text[start..at].trim_end_matches(['.', ':', '!', '?']));
            continue;
        }
        if classes == LOWER || (classes & !(LOWER | UPPER) == 0 && !humps && bytes[start + 1..at].iter().any(u8::is_ascii_lowercase)) {
            continue;
        }
        let word = text[start..at].trim_end_matches(['.', '-', '@', '~']).trim_start_matches('-');
        if (LEAST..=MOST).contains(&word.len()) && is_literal(word, humps) {
            finds.literal(word);
        }
    }
}

fn is_literal(word: &str, humps: bool) -> bool {
    let (mut letters, mut digits, mut upper, mut dots, mut hyphens, mut slashes, mut unders) = (0, 0, 0, 0, 0, 0, 0);
    for byte in word.bytes() {
        match CLASSES[usize::from(byte)] {
            LOWER => letters += 1,
            UPPER => (letters, upper) = (letters + 1, upper + 1),
            DIGIT => digits += 1,
            UNDER => unders += 1,
            HYPHEN => hyphens += 1,
            DOT => dots += 1,
            SLASH => slashes += 1,
            _ => {}
        }
    }
    if letters == 0 {
        // A number, a date, an address.
        return digits >= 3;
    }
    if slashes > 0 {
        // "and/or" is no path.
        let rooted = word.starts_with(['/', '.', '~', '@']);
        let short = word.split('/').any(|part| part.len() < 3);
        return letters >= 3 && (rooted || slashes > 1 || dots + digits + unders + hyphens > 0 || !short);
    }
    if word.contains('@') {
        return word.len() >= 5;
    }
    if dots > 0 {
        // "e.g" is no file.
        return word.len() >= 5 && !word.starts_with('.') && letters >= 3 || word.starts_with('.') && letters >= 3;
    }
    if unders > 0 {
        return letters >= 3;
    }
    if digits > 0 {
        return word.len() >= 4 || (digits >= 2 && hyphens == 0);
    }
    if humps {
        return word.len() >= 4;
    }
    // WORDS_IN_CAPITALS, and names of several parts.
    hyphens > 1 || (upper == letters && letters >= 4)
}
