//! What is a memory of mem0: a record of `get_all`, or what its history ends with?

use std::collections::HashMap;

use serde_json::Value;

use super::{Fields, Found, Memory, Trouble, id, in_row, moment, named, text, words};

/// One record of an export.
pub(super) fn memory(fields: &Fields) -> Result<Memory, String> {
    let said = ["memory", "text", "content", "data"]
        .iter()
        .find_map(|name| text(fields, name))
        .ok_or("the record has no text under \"memory\"")?;
    let mut tags = words(fields, "categories");
    if let Some(Value::Object(metadata)) = fields.get("metadata") {
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
    let about_user = fields.get("user_id").is_some_and(Value::is_string);
    // What an agent says beside is not what the user said.
    let by_agent = fields.get("agent_id").is_some_and(Value::is_string);
    Ok(Memory {
        id: id(fields, "id"),
        kind: "memory".to_owned(),
        text: said.trim().to_owned(),
        created: moment(fields.get("created_at")),
        topic_type: (about_user && !by_agent).then_some("user"),
        tags,
        details,
        ..Memory::default()
    })
}

/// What the rows of its history leave of each memory: the last text, unless it was deleted.
pub(super) fn history(rows: &[Fields]) -> Found {
    let mut found = Found::default();
    let mut order: Vec<String> = Vec::new();
    let mut last: HashMap<String, Option<Memory>> = HashMap::new();
    for (number, row) in rows.iter().enumerate() {
        let of = id(row, "memory_id");
        let deleted = text(row, "event").is_some_and(|event| event.eq_ignore_ascii_case("delete"));
        let said = text(row, "new_memory");
        if of.is_empty() || (said.is_none() && !deleted) {
            let trouble = in_row(number, "history", &of, "it has no memory".to_owned());
            found.troubles.push(trouble);
            continue;
        }
        if !last.contains_key(&of) {
            order.push(of.clone());
        }
        let before = last.get(&of).and_then(Option::as_ref);
        let created = before.and_then(|before| before.created);
        let now = said.filter(|_| !deleted).map(|said| Memory {
            id: of.clone(),
            kind: "memory".to_owned(),
            text: said.trim().to_owned(),
            created: created.or_else(|| moment(row.get("created_at"))),
            ..Memory::default()
        });
        last.insert(of, now);
    }
    for of in order {
        let memory = last.remove(&of).flatten();
        found.take(Ok(memory), |what| Trouble {
            line: None,
            what: named("history", &of, what),
        });
    }
    found
}
