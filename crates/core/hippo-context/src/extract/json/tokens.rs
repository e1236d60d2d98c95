//! Tokenizer for JSON, including truncated and concatenated values.

/// A JSON token. Strings have no quotes, and their escapes are not resolved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::extract) enum JsonToken<'t> {
    /// `{`
    Object,
    /// `[`
    Array,
    /// `}` or `]`
    Close,
    /// The name of a field.
    Key(&'t str),
    /// A string.
    Text(&'t str),
    /// A number.
    Number(&'t str),
    /// `true`, `false` or `null`.
    Literal(&'t str),
    /// A run of characters that are not valid JSON.
    Junk,
}

/// Iterator over the tokens of a text. It never fails and takes linear time.
#[derive(Debug, Clone)]
pub(in crate::extract) struct JsonTokens<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> JsonTokens<'t> {
    pub fn new(text: &'t str) -> Self {
        Self { text, at: 0 }
    }

    fn run(&self, from: usize, wanted: impl Fn(u8) -> bool) -> usize {
        let rest = self.text.as_bytes().get(from..).unwrap_or_default();
        from + rest.iter().position(|&byte| !wanted(byte)).unwrap_or(rest.len())
    }

    /// Returns the position of the closing quote after `from`, or the end of the text.
    fn quote(&self, from: usize) -> usize {
        let bytes = self.text.as_bytes();
        let mut at = from;
        while let Some(&byte) = bytes.get(at) {
            match byte {
                b'"' => return at,
                b'\\' => at += 2,
                _ => at += 1,
            }
        }
        bytes.len()
    }

    fn slice(&self, from: usize, to: usize) -> &'t str {
        self.text.get(from..to).unwrap_or_default()
    }
}

impl<'t> Iterator for JsonTokens<'t> {
    type Item = JsonToken<'t>;

    fn next(&mut self) -> Option<JsonToken<'t>> {
        let at = self.run(self.at, |byte| {
            matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b',' | b':')
        });
        let byte = *self.text.as_bytes().get(at)?;
        self.at = at + 1;
        Some(match byte {
            b'{' => JsonToken::Object,
            b'[' => JsonToken::Array,
            b'}' | b']' => JsonToken::Close,
            b'"' => {
                let end = self.quote(at + 1);
                let text = self.slice(at + 1, end);
                self.at = end + 1;
                let next = self.run(self.at, |byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'));
                match self.text.as_bytes().get(next) {
                    Some(b':') => {
                        self.at = next + 1;
                        JsonToken::Key(text)
                    }
                    _ => JsonToken::Text(text),
                }
            }
            b'-' | b'0'..=b'9' => {
                self.at = self.run(at + 1, |b| {
                    matches!(b, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-')
                });
                JsonToken::Number(self.slice(at, self.at))
            }
            _ => {
                self.at = self.run(at, |b| {
                    !matches!(
                        b,
                        b'{' | b'}' | b'[' | b']' | b'"' | b',' | b':' | b'\n' | b' ' | b'\t' | b'\r'
                    )
                });
                match self.slice(at, self.at) {
                    word @ ("true" | "false" | "null") => JsonToken::Literal(word),
                    _ => JsonToken::Junk,
                }
            }
        })
    }
}

/// Returns true if a text looks like JSON, even if truncated: it starts with an object or a list, and few parts are
/// invalid.
pub(in crate::extract) fn is_json(text: &str) -> bool {
    let start = text.trim_start();
    if !start.starts_with(['{', '[']) {
        return false;
    }
    let head = hippo_text::text::start(start, 16_384);
    let (mut tokens, mut junk, mut keys, mut values) = (0_usize, 0_usize, 0_usize, 0_usize);
    for token in JsonTokens::new(head) {
        tokens += 1;
        junk += usize::from(token == JsonToken::Junk);
        keys += usize::from(matches!(token, JsonToken::Key(_)));
        values += usize::from(matches!(
            token,
            JsonToken::Text(_) | JsonToken::Number(_) | JsonToken::Literal(_)
        ));
    }
    let closed = start.starts_with('[') && values > 0;
    tokens > 2 && junk * 50 <= tokens && (keys > 0 || closed)
}

/// Returns a string with its escapes resolved. If an escape is invalid, returns the string as written.
pub(in crate::extract) fn unescaped(raw: &str) -> String {
    if !raw.contains('\\') {
        return raw.to_owned();
    }
    serde_json::from_str(&format!("\"{raw}\"")).unwrap_or_else(|_| raw.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complete_and_truncated_values_yield_tokens() {
        let tokens: Vec<_> = JsonTokens::new(r#"{"a\"b": [1, -2.5e3, true, "x", nul"#).collect();
        use JsonToken::{Array, Junk, Key, Literal, Number, Object, Text};
        assert_eq!(
            tokens,
            [
                Object,
                Key("a\\\"b"),
                Array,
                Number("1"),
                Number("-2.5e3"),
                Literal("true"),
                Text("x"),
                Junk
            ]
        );
        assert_eq!(JsonTokens::new(r#""\"#).collect::<Vec<_>>(), [Text("\\")]);
    }

    #[test]
    fn text_that_only_starts_like_json_is_not_json() {
        for (text, expected) in [
            (r#"{"a":1}"#, true),
            ("[1, 2, 3]", true),
            (r#"{"a": {"b": ["#, true),
            ("[main 76000c9] Add a thing\n 3 files changed", false),
            ("[2026-01-02 10:00:01] INFO started", false),
            ("{{ template }}", false),
            ("[]", false),
            ("plain", false),
        ] {
            assert_eq!(is_json(text), expected, "{text}");
        }
    }
}
