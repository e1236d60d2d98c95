//! Which tags and words does a markup text have, however broken it is?

use crate::text::floor;

/// Bytes of a tag that are looked at.
const TAG: usize = 4_096;

/// A piece of markup, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece<'t> {
    /// A tag that opens, or one that is closed in itself.
    Open(Tag<'t>),
    /// The name of a tag that closes.
    Close(&'t str),
    /// Words between tags; never those of scripts and styles.
    Text(&'t str),
}

/// A tag with its attributes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Tag<'t> {
    pub name: &'t str,
    rest: &'t str,
    /// Closed in itself: `<br/>`.
    pub closed: bool,
}

impl<'t> Tag<'t> {
    /// The value of an attribute.
    pub fn value(&self, wanted: &str) -> Option<&'t str> {
        let mut rest = self.rest;
        loop {
            rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == '/');
            let end = rest.find(|c: char| c.is_whitespace() || matches!(c, '=' | '/' | '>'));
            let name = &rest[..end.unwrap_or(rest.len())];
            rest = rest[name.len()..].trim_start();
            let value = match rest.strip_prefix('=') {
                None => "",
                Some(after) => {
                    let after = after.trim_start();
                    let (value, next) = match after.as_bytes().first() {
                        Some(&quote @ (b'"' | b'\'')) => {
                            let inner = &after[1..];
                            let end = inner.find(char::from(quote)).unwrap_or(inner.len());
                            (&inner[..end], inner.get(end + 1..).unwrap_or_default())
                        }
                        _ => {
                            let end = after.find(char::is_whitespace).unwrap_or(after.len());
                            (&after[..end], &after[end..])
                        }
                    };
                    rest = next;
                    value
                }
            };
            if name.eq_ignore_ascii_case(wanted) {
                return Some(value.trim()).filter(|value| !value.is_empty());
            }
            if name.is_empty() && value.is_empty() {
                // Something that is no attribute: one character is passed over.
                let mut chars = rest.chars();
                chars.next()?;
                rest = chars.as_str();
            }
        }
    }
}

/// The pieces of a text; takes time linear in it.
pub(super) fn pieces(text: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        loop {
            if rest.is_empty() {
                return None;
            }
            if !rest.starts_with('<') {
                let end = rest.find('<').unwrap_or(rest.len());
                let words = &rest[..end];
                rest = &rest[end..];
                if words.trim().is_empty() {
                    continue;
                }
                return Some(Piece::Text(words));
            }
            if let Some(comment) = rest.strip_prefix("<!--") {
                rest = comment.find("-->").map_or("", |end| &comment[end + 3..]);
                continue;
            }
            let after = &rest[1..];
            let closes = after.starts_with('/');
            let body = after.trim_start_matches('/');
            if !body.starts_with(|c: char| c.is_ascii_alphabetic()) {
                // A declaration, or a `<` that is no tag.
                rest = match after.strip_prefix(['!', '?']) {
                    Some(_) => after.find('>').map_or("", |end| &after[end + 1..]),
                    None => after,
                };
                continue;
            }
            let (end, next) = end_of(body);
            let inner = &body[..end];
            rest = &body[next..];
            let length = inner
                .find(|c: char| c.is_whitespace() || c == '/')
                .unwrap_or(inner.len());
            let name = &inner[..length];
            if closes {
                return Some(Piece::Close(name));
            }
            if ["script", "style"]
                .iter()
                .any(|quiet| name.eq_ignore_ascii_case(quiet))
                && !inner.ends_with('/')
            {
                // What is not closed is left out to the end.
                let close = format!("</{name}");
                rest = rest.find(&close).map_or("", |end| &rest[end..]);
                continue;
            }
            return Some(Piece::Open(Tag {
                name,
                rest: &inner[length..floor(inner, TAG.max(length))],
                closed: inner.ends_with('/'),
            }));
        }
    })
}

/// Where what a tag holds ends, and where the text after it begins; a `>` within quotes ends nothing.
fn end_of(body: &str) -> (usize, usize) {
    let bytes = body.as_bytes();
    let mut quote = None;
    for (at, &byte) in bytes.iter().enumerate() {
        match (quote, byte) {
            (None, b'>') => return (at, at + 1),
            // A tag that begins within another one: the first was broken.
            (None, b'<') => return (at, at),
            (None, b'"' | b'\'') if at.checked_sub(1).is_some_and(|before| bytes[before] == b'=') => {
                quote = Some(byte);
            }
            (Some(open), byte) if open == byte => quote = None,
            // A quote that is never closed ends with what is looked at.
            (Some(_), b'>') if at > TAG => return (at, at + 1),
            _ => {}
        }
    }
    (body.len(), body.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn broken_markup_has_pieces() {
        let names = |text: &str| -> Vec<String> {
            pieces(text)
                .map(|piece| match piece {
                    Piece::Open(tag) => format!("<{}", tag.name),
                    Piece::Close(name) => format!("/{name}"),
                    Piece::Text(words) => words.trim().to_owned(),
                })
                .collect()
        };
        assert_eq!(names("<p>a<br/>b</p>"), ["<p", "a", "<br", "b", "/p"]);
        assert_eq!(names("<!doctype html><!-- <p> --><b"), ["<b"]);
        assert_eq!(names("<script>if (a<b) {}</script>x"), ["/script", "x"]);
        assert_eq!(names("a < b <"), ["a", "b"]);
        assert_eq!(names("<a href=\"x>y\">z"), ["<a", "z"]);
        assert_eq!(names("<é><日本"), ["é>", "日本"]);
    }

    #[test]
    fn attributes_are_read_as_they_are_written() {
        let Some(Piece::Open(tag)) = pieces("<input id=a  name='b c' checked data-x = \"é\" />").next()
        else {
            panic!()
        };
        assert_eq!(tag.value("ID"), Some("a"));
        assert_eq!(tag.value("name"), Some("b c"));
        assert_eq!(tag.value("data-x"), Some("é"));
        assert_eq!(tag.value("checked"), None);
        assert_eq!(tag.value("other"), None);
    }
}
