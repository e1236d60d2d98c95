//! Tokenizer for words, identifiers and paths.

use super::fold::is_word;

/// A run of letters and digits, including marks between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TermToken<'a> {
    pub text: &'a str,
    /// True if the token contains non-ASCII characters.
    pub foreign: bool,
    /// True if the token contains marks such as `_`, `-`, `.` or `/` between letters.
    pub joined: bool,
    /// True if the token contains a capital after a lower-case letter.
    pub camel: bool,
}

/// Calls `each` with every token of the text, in order.
pub(super) fn scan<'a>(text: &'a str, mut each: impl FnMut(TermToken<'a>)) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        if byte.is_ascii_alphanumeric() {
            let token = token_at(text, at);
            at += token.text.len();
            each(token);
        } else if byte.is_ascii() {
            at += 1;
        } else {
            let character = char_at(text, at);
            if is_word(character) {
                let token = token_at(text, at);
                at += token.text.len();
                each(token);
            } else {
                at += character.len_utf8();
            }
        }
    }
}

fn token_at(text: &str, start: usize) -> TermToken<'_> {
    let bytes = text.as_bytes();
    let (mut foreign, mut joined, mut camel) = (false, false, false);
    let mut small = false;
    let mut at = start;
    while let Some(&byte) = bytes.get(at) {
        if byte.is_ascii_alphanumeric() {
            camel |= small && byte.is_ascii_uppercase();
            small = byte.is_ascii_lowercase();
            at += 1;
        } else if byte.is_ascii() {
            let length = mark_at(text, at);
            if length == 0 {
                break;
            }
            joined = true;
            small = false;
            at += length;
        } else {
            let character = char_at(text, at);
            let width = character.len_utf8();
            if character == '’' && word_at(text, at + width) {
                joined = true;
            } else if !is_word(character) {
                break;
            }
            foreign = true;
            small = false;
            at += width;
        }
    }
    // Keep the marks at the end of names such as `C++` and `F#`.
    if at - start <= 2 && !joined && !foreign {
        let marks = if bytes[at..].starts_with(b"++") {
            2
        } else {
            usize::from(bytes[at..].starts_with(b"#"))
        };
        if marks > 0 && bytes[start].is_ascii_alphabetic() && !word_at(text, at + marks) {
            at += marks;
            joined = true;
        }
    }
    TermToken {
        text: &text[start..at],
        foreign,
        joined,
        camel,
    }
}

/// Returns the length in bytes of the mark at `at` if the mark joins the characters around it, otherwise 0.
fn mark_at(text: &str, at: usize) -> usize {
    let bytes = text.as_bytes();
    let length = match bytes[at] {
        b':' if bytes[at..].starts_with(b"://") => 3,
        b':' if bytes[at..].starts_with(b"::") => 2,
        // `1,000`
        b',' => {
            let digits = bytes[at + 1..]
                .iter()
                .take_while(|byte| byte.is_ascii_digit())
                .count();
            usize::from(digits == 3 && bytes[at - 1].is_ascii_digit())
        }
        b'_' | b'-' | b'.' | b'/' | b'\\' | b'@' | b':' | b'\'' => 1,
        _ => 0,
    };
    if length > 0 && word_at(text, at + length) {
        length
    } else {
        0
    }
}

fn word_at(text: &str, at: usize) -> bool {
    match text.as_bytes().get(at) {
        None => false,
        Some(byte) if byte.is_ascii() => byte.is_ascii_alphanumeric(),
        Some(_) => is_word(char_at(text, at)),
    }
}

/// Returns the non-ASCII character at the byte offset `at`, which must lie within the text.
fn char_at(text: &str, at: usize) -> char {
    text[at..].chars().next().unwrap_or(char::REPLACEMENT_CHARACTER)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_split_into_tokens() {
        let table: [(&str, &[&str]); 14] = [
            ("Hello, world!", &["Hello", "world"]),
            ("max_connections=5", &["max_connections", "5"]),
            ("v1.24.4.", &["v1.24.4"]),
            ("wait...what -- no", &["wait", "what", "no"]),
            ("see https://a.org/x?y=1", &["see", "https://a.org/x", "y", "1"]),
            ("std::fs::read()", &["std::fs::read"]),
            ("a@b.org;", &["a@b.org"]),
            ("don't Ada’s", &["don't", "Ada’s"]),
            ("1,000 and 1,2", &["1,000", "and", "1", "2"]),
            ("C++, C# and #tag", &["C++", "C#", "and", "tag"]),
            ("_private_ -x", &["private", "x"]),
            ("日本語 text。", &["日本語", "text"]),
            ("at 10:30: go", &["at", "10:30", "go"]),
            ("“quoted” – dash", &["quoted", "dash"]),
        ];
        for (text, expected) in table {
            let mut found = Vec::new();
            scan(text, |token| found.push(token.text));
            assert_eq!(found, expected, "{text}");
        }
    }
}
