//! Text of a chunk as shown to readers and to models.

use std::borrow::Cow;

/// Removes HTML comments. Agents use comments for ids and marks, and a rendered file does not show them. Keeps an
/// unclosed comment, and a text that consists only of comments.
#[must_use]
pub fn strip_comments(text: &str) -> Cow<'_, str> {
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
        // Keep the space on one side of the comment only.
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

/// Removes comments, emphasis and list marks from the input of an embedding model, because markup uses tokens of the
/// model without adding meaning.
#[must_use]
pub fn strip_markup(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in strip_comments(text).lines() {
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
    fn comments_are_not_visible() {
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
            assert_eq!(strip_comments(text), seen, "{text}");
        }
    }

    #[test]
    fn markup_is_removed_for_models() {
        let cases = [
            ("- **Caroline:** Hey Mel! <!-- D1:1 -->", "Caroline: Hey Mel!"),
            ("- [x] pay\n\t+ __two__ parts", "pay\ntwo parts"),
            ("> quoted *text*", "quoted *text*"),
            ("2 * 3 - 1", "2 * 3 - 1"),
        ];
        for (text, words) in cases {
            assert_eq!(strip_markup(text), words, "{text}");
        }
    }

    proptest! {
        #[test]
        fn only_comments_are_removed(text in "[a-z<>!\\- \n]{0,60}") {
            let seen = strip_comments(&text);
            prop_assert!(seen.len() <= text.len());
            if !text.contains("<!--") {
                prop_assert_eq!(&*seen, text.as_str());
            }
            prop_assert_eq!(strip_comments(&seen).into_owned(), seen.clone().into_owned());
            prop_assert!(strip_markup(&text).len() <= text.len());
        }
    }
}
