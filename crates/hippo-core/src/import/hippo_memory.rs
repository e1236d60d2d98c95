//! What is a memory of hippo-memory: a row of its database, or the markdown file beside it?

use serde_json::Value;

use super::{Fields, Memory, Trouble, front_matter, id, moment, text, words};

/// One row of `memories`.
pub(super) fn row(row: &Fields) -> Result<Memory, String> {
    let content = text(row, "content").ok_or("it has no content")?;
    let pinned = row.get("pinned").and_then(Value::as_i64) == Some(1);
    Ok(memory(row, content, words(row, "tags_json"), pinned))
}

/// One file of `episodic/` or `semantic/`.
pub(super) fn file(text: &str) -> Result<Memory, Trouble> {
    let (fields, body) = front_matter::split(text)?;
    if id(&fields, "id").is_empty() {
        return Err(Trouble::at(1, "it has no front matter with an id"));
    }
    if body.trim().is_empty() {
        return Err(Trouble::at(1, "it has no content"));
    }
    let pinned = fields.get("pinned").and_then(Value::as_bool) == Some(true);
    Ok(memory(&fields, body, words(&fields, "tags"), pinned))
}

fn memory(fields: &Fields, content: &str, tags: Vec<String>, pinned: bool) -> Memory {
    let mut details = Vec::new();
    // What was checked is the rule, and needs no line.
    if let Some(confidence) = text(fields, "confidence").filter(|confidence| *confidence != "verified") {
        details.push(("Confidence", confidence.to_owned()));
    }
    if pinned {
        details.push(("Pinned", "yes".to_owned()));
    }
    Memory {
        id: id(fields, "id"),
        kind: text(fields, "layer").unwrap_or("memory").to_owned(),
        text: content.trim().to_owned(),
        created: moment(fields.get("created")),
        tags,
        details,
        ..Memory::default()
    }
}
