//! What of a chunk's text does a reader see, and what of it does a model need?

use std::borrow::Cow;

/// The text without HTML comments, which no reader of the rendered file sees: agents keep ids and marks in them.
/// Everything else stays as it is on disk. An opened comment that is not closed is text.
#[must_use]
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains("<!--") {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(open) = rest.find("<!--") {
        let Some(length) = rest[open..].find("-->") else {
            break;
        };
        out.push_str(&rest[..open]);
        rest = &rest[open + length + 3..];
        // The space on one side of the comment is enough.
        if out.is_empty() || out.ends_with([' ', '\n']) {
            rest = rest.trim_start_matches(' ');
        }
        if rest.is_empty() || rest.starts_with(['\n', '\r']) {
            out.truncate(out.trim_end_matches(' ').len());
        }
    }
    out.push_str(rest);
    if out.trim().is_empty() {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(out)
    }
}

/// The visible text without marks of emphasis and lists, as an embedding model is best given it: word pieces spent
/// on markup carry no meaning.
#[must_use]
pub fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in visible(text).lines() {
        let line = line.trim_start_matches([' ', '\t', '>']);
        let line = ["- [ ] ", "- [x] ", "- ", "* ", "+ "]
            .iter()
            .find_map(|mark| line.strip_prefix(mark))
            .unwrap_or(line);
        if !out.is_empty() {
            out.push('\n');
        }
        let mut rest = line;
        while let Some(at) = rest.find("**").into_iter().chain(rest.find("__")).min() {
            out.push_str(&rest[..at]);
            rest = &rest[at + 2..];
        }
        out.push_str(rest);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn comments_are_not_seen() {
        let cases = [
            (
                "- **Caroline:** Hey Mel! <!-- D1:1 -->",
                "- **Caroline:** Hey Mel!",
            ),
            ("<!-- m116 --> **User:** I'm done", "**User:** I'm done"),
            ("one <!-- a --> two <!-- b --> three", "one two three"),
            ("one <!-- a -->\nand two", "one\nand two"),
            ("not closed <!-- here", "not closed <!-- here"),
            ("no comment at all", "no comment at all"),
            ("<!-- nothing else -->", "<!-- nothing else -->"),
        ];
        for (text, seen) in cases {
            assert_eq!(visible(text), seen, "{text}");
        }
    }

    #[test]
    fn a_model_is_given_words() {
        let cases = [
            ("- **Caroline:** Hey Mel! <!-- D1:1 -->", "Caroline: Hey Mel!"),
            ("- [x] pay\n\t+ __two__ parts", "pay\ntwo parts"),
            ("> quoted *text*", "quoted *text*"),
            ("2 * 3 - 1", "2 * 3 - 1"),
        ];
        for (text, words) in cases {
            assert_eq!(plain(text), words, "{text}");
        }
    }

    proptest! {
        #[test]
        fn nothing_but_comments_goes(text in "[a-z<>!\\- \n]{0,60}") {
            let seen = visible(&text);
            prop_assert!(seen.len() <= text.len());
            if !text.contains("<!--") {
                prop_assert_eq!(&*seen, text.as_str());
            }
            prop_assert_eq!(visible(&seen).into_owned(), seen.clone().into_owned());
            prop_assert!(plain(&text).len() <= text.len());
        }
    }
}
