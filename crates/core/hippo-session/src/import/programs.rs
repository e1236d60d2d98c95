//! Fields of the records of each program.

use std::collections::HashSet;

use super::Memory;
use crate::json::Json;
use hippo_text::text::one_line;

/// Fields of a session summary of claude-mem, in their order in the text.
#[rustfmt::skip] // keep the list compact
const SUMMARY: [&str; 6] = ["request", "investigated", "learned", "completed", "next_steps", "notes"];

/// Converts a record of claude-mem: an observation, or the summary of a session.
pub(super) fn claude_mem(group: &str, record: &Json<'_>) -> Result<Memory, &'static str> {
    // In a file with one record per line, a record has no group name. A summary is recognised by the field
    // `investigated`.
    let unnamed = group.is_empty() && record.value(&["investigated"]).is_some();
    let summary = group == "summaries" || unnamed;
    let title = text(record, if summary { "request" } else { "title" }).map(one_line);
    let (kind, edited, text) = if summary {
        let lines = SUMMARY.iter().filter_map(|name| {
            let label = name.replace('_', " ");
            Some(format!("- {label}: {}", one_line(text(record, name)?)))
        });
        ("summary", "files_edited", lines.collect::<Vec<_>>().join("\n"))
    } else {
        let facts = words(record, &["facts"]);
        let facts: Vec<String> = facts.iter().map(|fact| format!("- {}", one_line(fact))).collect();
        let texts =
            ["subtitle", "narrative", "text"].map(|name| text(record, name).unwrap_or_default().trim());
        let parts = texts.into_iter().map(str::to_owned).chain([facts.join("\n")]);
        let parts: Vec<String> = parts.filter(|part| !part.is_empty()).collect();
        let kind = text(record, "type").unwrap_or("observation");
        (kind, "files_modified", parts.join("\n\n"))
    };
    let (tags, files) = (
        words(record, &["concepts"]),
        words(record, &["files_read", edited]),
    );
    // Some observations have only a title.
    let text = if text.is_empty() {
        title.clone()
    } else {
        Some(text)
    };
    Ok(Memory {
        kind: one_line(kind),
        title,
        text: text.ok_or("the record has no title and no text")?,
        topic_type: Some("project"),
        details: details(record, tags, &[("Project", "project")], files),
        ..Memory::default()
    })
}

/// Converts a record of mem0, in the form that its function `get_all` returns.
pub(super) fn mem0(record: &Json<'_>) -> Result<Memory, &'static str> {
    let names = ["memory", "text", "content", "data"];
    let text = names.iter().find_map(|name| text(record, name));
    let mut tags = words(record, &["categories"]);
    if let Some(metadata) = record.object("metadata") {
        tags.extend(words(metadata, &["category", "tags"]));
    }
    // A memory that has the id of an agent is not a statement by the user.
    let by_user = record.has_text("user_id") && !record.has_text("agent_id");
    let owners = [("User", "user_id"), ("Agent", "agent_id"), ("Run", "run_id")];
    Ok(Memory {
        kind: "memory".to_owned(),
        text: text
            .ok_or("the record has no text under \"memory\"")?
            .trim()
            .to_owned(),
        topic_type: by_user.then_some("user"),
        details: details(record, tags, &owners, Vec::new()),
        ..Memory::default()
    })
}

/// Returns the named details of a memory, without empty ones.
fn details(
    record: &Json<'_>,
    tags: Vec<String>,
    texts: &[(&'static str, &str)],
    files: Vec<String>,
) -> Vec<(&'static str, String)> {
    let texts = texts
        .iter()
        .map(|(label, name)| (*label, text(record, name).unwrap_or_default().to_owned()));
    let all = [("Tags", join(tags))]
        .into_iter()
        .chain(texts)
        .chain([("Files", join(files))]);
    all.filter(|(_, value)| !value.is_empty()).collect()
}

/// Joins the words with commas, each word once.
fn join(mut words: Vec<String>) -> String {
    let mut seen = HashSet::new();
    words.retain(|word| seen.insert(word.clone()));
    words.join(", ")
}

/// Returns the text of a field, unless it is blank.
fn text<'r>(record: &'r Json<'_>, name: &str) -> Option<&'r str> {
    record.find_text(&[name]).filter(|text| !text.trim().is_empty())
}

/// Returns the words in these fields. A field contains a list, a JSON list inside a text, or one word.
fn words(record: &Json<'_>, names: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for value in names.iter().filter_map(|name| record.value(&[name])) {
        let inner = value.parse_inner();
        let items = match inner.as_ref().unwrap_or(value) {
            Json::List(items) => &items[..],
            _ => std::slice::from_ref(value),
        };
        let texts = items.iter().filter(|item| matches!(item, Json::Text(_)));
        let texts = texts.map(|text| text.said().trim());
        found.extend(texts.filter(|text| !text.is_empty()).map(str::to_owned));
    }
    found
}
