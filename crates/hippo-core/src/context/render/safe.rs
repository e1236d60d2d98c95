//! How does a text come into a section without leaving it, or hiding anything from who reads it?

use std::borrow::Cow;

use serde_json::Value;

/// A text in one line, with nothing in it that opens or closes a comment or a fenced block.
pub(in crate::context) fn line(text: &str) -> Cow<'_, str> {
    if !text.contains(|mark| parts(mark) || is_hidden(mark)) && !text.contains(['<', '>', '`', '~']) {
        return Cow::Borrowed(text);
    }
    let seen: String = text.chars().filter(|mark| !is_hidden(*mark)).collect();
    let words: Vec<&str> = seen
        .split(parts)
        .map(str::trim)
        .filter(|word| !word.is_empty())
        .collect();
    let line = words.join(" ");
    // A space within parts each mark, and makes no new one.
    let line = line
        .replace("<!--", "<! --")
        .replace("-->", "-- >")
        .replace("--!>", "--! >");
    Cow::Owned(line.replace("```", "'''").replace("~~~", "'''"))
}

/// All texts of a value so.
pub(super) fn value(of: &Value) -> Value {
    match of {
        Value::String(text) => Value::from(line(text).into_owned()),
        Value::Array(items) => items.iter().map(value).collect(),
        Value::Object(inner) => Value::Object(
            inner
                .iter()
                .map(|(name, inner)| (line(name).into_owned(), value(inner)))
                .collect(),
        ),
        other => other.clone(),
    }
}

/// Ends a line, for one reader or another.
fn parts(mark: char) -> bool {
    mark.is_control() || matches!(mark, '\u{2028}' | '\u{2029}')
}

/// Not seen by people though models read it, or changes the order in which a text is seen.
pub(super) fn is_hidden(mark: char) -> bool {
    matches!(mark, '\u{200b}' | '\u{2060}' | '\u{feff}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        | '\u{e0000}'..='\u{e007f}')
}
