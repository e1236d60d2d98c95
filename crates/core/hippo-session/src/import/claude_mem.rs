//! Observations and session summaries of claude-mem.

use super::{Memory, text, words};
use crate::json::Json;
use hippo_text::text::one_line;

/// Fields of a summary in order, with their labels.
const SUMMARY: [(&str, &str); 6] = [
    ("request", "request"),
    ("investigated", "investigated"),
    ("learned", "learned"),
    ("completed", "completed"),
    ("next_steps", "next steps"),
    ("notes", "notes"),
];

/// Returns the memory of a record in this group, or `None` for other records.
pub(super) fn memory(group: &str, fields: &Json<'_>) -> Result<Option<Memory>, String> {
    match group {
        "observations" => observation(fields).map(Some),
        "summaries" => summary(fields).map(Some),
        "sessions" | "prompts" => Ok(None),
        // A JSON line does not name its group, so the group is recognised by its fields.
        _ if fields.value(&["investigated"]).is_some() => summary(fields).map(Some),
        _ => observation(fields).map(Some),
    }
}

fn observation(fields: &Json<'_>) -> Result<Memory, String> {
    let mut parts: Vec<String> = Vec::new();
    for name in ["subtitle", "narrative", "text"] {
        if let Some(said) = text(fields, name) {
            parts.push(said.trim().to_owned());
        }
    }
    let facts = words(fields, "facts");
    if !facts.is_empty() {
        let list: Vec<String> = facts.iter().map(|fact| format!("- {}", one_line(fact))).collect();
        parts.push(list.join("\n"));
    }
    let title = text(fields, "title").map(one_line);
    if parts.is_empty() {
        // Some observations have only a title.
        parts.extend(title.clone());
    }
    if parts.is_empty() {
        return Err("the observation has no title and no text".to_owned());
    }
    let kind = text(fields, "type").unwrap_or("observation");
    Ok(Memory {
        kind: one_line(kind),
        title,
        text: parts.join("\n\n"),
        tags: words(fields, "concepts"),
        details: details(fields, &["files_read", "files_modified"]),
        ..dated(fields)
    })
}

fn summary(fields: &Json<'_>) -> Result<Memory, String> {
    let lines: Vec<String> = SUMMARY
        .iter()
        .filter_map(|(name, called)| Some(format!("- {called}: {}", one_line(text(fields, name)?))))
        .collect();
    if lines.is_empty() {
        return Err("the summary is empty".to_owned());
    }
    Ok(Memory {
        kind: "summary".to_owned(),
        title: text(fields, "request").map(one_line),
        text: lines.join("\n"),
        details: details(fields, &["files_read", "files_edited"]),
        ..dated(fields)
    })
}

fn dated(fields: &Json<'_>) -> Memory {
    let created = fields
        .time(&["created_at_epoch"])
        .or_else(|| fields.time(&["created_at"]));
    Memory {
        id: fields.text("id").to_owned(),
        created,
        topic_type: Some("project"),
        ..Memory::default()
    }
}

fn details(fields: &Json<'_>, files: &[&str]) -> Vec<(&'static str, String)> {
    let mut details = Vec::new();
    if let Some(project) = text(fields, "project") {
        details.push(("Project", one_line(project)));
    }
    let mut named: Vec<String> = files.iter().flat_map(|name| words(fields, name)).collect();
    let mut seen = std::collections::HashSet::new();
    named.retain(|file| seen.insert(file.clone()));
    if !named.is_empty() {
        details.push(("Files", named.join(", ")));
    }
    details
}
