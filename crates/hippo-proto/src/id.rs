//! Request ids, returned exactly as they were sent.

use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};

/// The id of a request and of its answer.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Id {
    /// A number, returned as it was sent.
    Number(#[cfg_attr(feature = "schema", schemars(with = "Number"))] IdNumber),
    /// A string.
    String(String),
    /// Null; also the id of an answer to a line whose id could not be parsed.
    Null,
}

/// A number with its original digits: `1e3`, `-0`, numbers of any length.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "Number", into = "Number")]
pub struct IdNumber {
    number: Number,
    text: String,
}

impl From<Number> for IdNumber {
    fn from(number: Number) -> Self {
        let text = number.to_string();
        Self { number, text }
    }
}

impl From<IdNumber> for Number {
    fn from(id: IdNumber) -> Self {
        id.number
    }
}

impl From<u64> for Id {
    fn from(number: u64) -> Self {
        Id::Number(Number::from(number).into())
    }
}

impl Id {
    /// Returns the id of a request, or `None` if the id has an invalid type. `line` is the original text of the
    /// request.
    pub(crate) fn of(value: &Value, line: &[u8]) -> Option<Self> {
        match value {
            Value::Number(number) => Some(Id::Number(IdNumber {
                number: number.clone(),
                text: number_as_sent(line).unwrap_or_else(|| number.to_string()),
            })),
            Value::String(string) => Some(Id::String(string.clone())),
            Value::Null => Some(Id::Null),
            _ => None,
        }
    }

    /// Encodes the id as JSON.
    pub(crate) fn to_json(&self) -> Result<Vec<u8>, serde_json::Error> {
        match self {
            Id::Number(number) => Ok(number.text.clone().into_bytes()),
            Id::String(string) => serde_json::to_vec(string),
            Id::Null => Ok(b"null".to_vec()),
        }
    }
}

/// Returns the original text of the last `id` member of a JSON object if it is a number. The line must be valid JSON.
fn number_as_sent(line: &[u8]) -> Option<String> {
    let (mut at, mut depth, mut found) = (0, 0u32, None);
    while at < line.len() {
        match line[at] {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'"' => {
                let end = end_of_string(line, at)?;
                let colon = end + line[end..].iter().position(|byte| !byte.is_ascii_whitespace())?;
                let name: Result<String, _> = serde_json::from_slice(&line[at..end]);
                if depth == 1 && line[colon] == b':' && name.is_ok_and(|name| name == "id") {
                    found = number_at(&line[colon + 1..]);
                }
                at = end;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    found
}

/// Returns the offset after the closing quote of the string that starts at `start`.
fn end_of_string(line: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    loop {
        match line.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

fn number_at(rest: &[u8]) -> Option<String> {
    let rest = rest.trim_ascii_start();
    let belongs = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E');
    let end = rest.iter().position(|byte| !belongs(byte)).unwrap_or(rest.len());
    let text = std::str::from_utf8(&rest[..end]).ok()?;
    (!text.is_empty()).then(|| text.to_owned())
}
