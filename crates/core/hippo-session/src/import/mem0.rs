//! Memories of mem0: the records of `get_all`.

use super::{Memory, text, words};
use crate::json::Json;

/// Returns the memory of a record.
pub(super) fn memory(fields: &Json<'_>) -> Result<Memory, String> {
    let said = ["memory", "text", "content", "data"]
        .iter()
        .find_map(|name| text(fields, name))
        .ok_or("the record has no text under \"memory\"")?;
    let mut tags = words(fields, "categories");
    if let Some(metadata) = fields.object("metadata") {
        for name in ["category", "tags"] {
            tags.extend(words(metadata, name));
        }
    }
    let mut seen = std::collections::HashSet::new();
    tags.retain(|tag| seen.insert(tag.clone()));
    let mut details = Vec::new();
    for (called, name) in [("User", "user_id"), ("Agent", "agent_id"), ("Run", "run_id")] {
        if let Some(who) = text(fields, name) {
            details.push((called, who.to_owned()));
        }
    }
    let about_user = fields.has_text("user_id");
    // Metadata written by an agent is not a statement by the user.
    let by_agent = fields.has_text("agent_id");
    Ok(Memory {
        id: fields.text("id").to_owned(),
        kind: "memory".to_owned(),
        text: said.trim().to_owned(),
        created: fields.time(&["created_at"]),
        topic_type: (about_user && !by_agent).then_some("user"),
        tags,
        details,
        ..Memory::default()
    })
}
