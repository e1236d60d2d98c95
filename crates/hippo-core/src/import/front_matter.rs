//! What does the block of YAML at the beginning of a markdown file say?

use serde_json::Value;

use super::{Fields, Trouble};
use crate::yaml::{self, Data, Node, Scalar};

/// A file cut into what its front matter says and what follows it; no fields where it has none.
///
/// # Errors
/// The block is not closed, or is no YAML; with the line of the file.
pub(super) fn split(text: &str) -> Result<(Fields, &str), Trouble> {
    let Some(rest) = text.strip_prefix("---\n") else {
        return Ok((Fields::new(), text));
    };
    let Some((block, body)) = cut(rest) else {
        return Err(Trouble::at(1, "the front matter has no end"));
    };
    let documents = yaml::load(block).map_err(|error| {
        let line = u32::try_from(error.line).unwrap_or(u32::MAX);
        // The block begins on the second line of the file.
        Trouble::at(
            line.saturating_add(1),
            format!("the front matter is no YAML: {}", error.what),
        )
    })?;
    let mut fields = Fields::new();
    if let Some(Data::Mapping(pairs)) = documents.first().map(|document| &document.data) {
        for (key, value) in pairs {
            if let Some(key) = key.data.as_str() {
                fields.insert(key.to_owned(), value_of(value));
            }
        }
    }
    Ok((fields, body))
}

/// The block up to the line that closes it, and what follows that line.
fn cut(rest: &str) -> Option<(&str, &str)> {
    if let Some(body) = rest.strip_prefix("---\n") {
        return Some(("", body));
    }
    if let Some((block, body)) = rest.split_once("\n---\n") {
        return Some((block, body));
    }
    rest.strip_suffix("\n---").map(|block| (block, ""))
}

fn value_of(node: &Node<'_>) -> Value {
    match &node.data {
        Data::Sequence(items) => items.iter().map(value_of).collect(),
        Data::Value(Scalar::Boolean(truth)) => Value::from(*truth),
        Data::Value(Scalar::Integer(number)) => Value::from(number.to_string()),
        Data::Value(Scalar::String(text)) => Value::from(text.as_ref()),
        _ => Value::Null,
    }
}
