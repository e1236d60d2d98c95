//! Records of a transcript for the policies.

use std::collections::HashMap;

use hippo_context::policy::PolicyRecord;
use hippo_session::compaction::{CompactionOptions, CompactionPass, Compactor, Message, Role};
use hippo_types::context::ContextKind;
use hippo_types::transcript::TranscriptFormat;

use super::calls;

/// Passes all records to `take` in their order. The input is a list or lines of records, or else a transcript, whose
/// messages become the records.
pub fn each(bytes: &[u8], format: TranscriptFormat, take: &mut dyn FnMut(Vec<PolicyRecord>)) {
    if format == TranscriptFormat::Auto
        && let Some(records) = listed(bytes)
    {
        return take(records);
    }
    let names = calls::names(bytes);
    let options = CompactionOptions {
        format,
        ..CompactionOptions::default()
    };
    let mut records = Vec::new();
    let mut compactor = Compactor::new(options.clone());
    loop {
        compactor.feed_with(bytes, |_, message| records.push(record(message, &names)));
        match compactor.finish_with(|_, message| records.push(record(message, &names))) {
            CompactionPass::Done(_) => return take(records),
            // Abandoned branches do not belong to the session.
            CompactionPass::Again(selection) => {
                records.clear();
                compactor = Compactor::with_selection(options.clone(), selection);
            }
        }
    }
}

/// Parses a list or lines of records. Returns `None` if any item is not a record.
fn listed(bytes: &[u8]) -> Option<Vec<PolicyRecord>> {
    if let Ok(records) = serde_json::from_slice(bytes) {
        return Some(records);
    }
    let text = std::str::from_utf8(bytes).ok()?;
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    lines.map(|line| serde_json::from_str(line).ok()).collect()
}

fn record(message: &Message<'_>, names: &HashMap<String, String>) -> PolicyRecord {
    let tool = message.role == Role::Tool;
    let named = match names.get(message.name.as_ref()) {
        Some(name) if message.by_call => name.as_str(),
        None if message.by_call => "",
        _ => message.name.as_ref(),
    };
    let source = match (message.role, named) {
        (Role::User, _) => "user",
        (Role::Assistant, _) => "assistant",
        (Role::Tool, "") => "tool",
        (Role::Tool, named) => named,
        // Roles for instructions all get the same name here.
        (Role::Other, "" | "developer") => "system",
        (Role::Other, named) => named,
    };
    PolicyRecord {
        kind: if tool {
            ContextKind::ToolResult
        } else {
            ContextKind::Message
        },
        priority: None,
        source: source.to_owned(),
        content: message.content().into_owned(),
        tokens: None,
        error: message.error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Vec<(ContextKind, String, bool)> {
        let mut all = Vec::new();
        each(text.as_bytes(), TranscriptFormat::Auto, &mut |records| {
            all.extend(
                records
                    .into_iter()
                    .map(|record| (record.kind, record.source, record.error)),
            );
        });
        all
    }

    #[test]
    fn messages_become_records_with_type_and_source() {
        let transcript = r#"[
            {"role": "developer", "content": "be brief"},
            {"role": "user", "content": "run it"},
            {"role": "assistant", "content": "", "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "exec", "arguments": "{}"}}]},
            {"role": "tool", "tool_call_id": "c1", "content": "done"},
            {"role": "tool", "tool_call_id": "c9", "content": "who asked?"}
        ]"#;
        let message = |source: &str| (ContextKind::Message, source.to_owned(), false);
        let result = |source: &str| (ContextKind::ToolResult, source.to_owned(), false);
        assert_eq!(
            of(transcript),
            [
                message("system"),
                message("user"),
                message("assistant"),
                result("exec"),
                result("tool")
            ]
        );
    }

    #[test]
    fn lines_with_records_are_used_unchanged() {
        let lines =
            "{\"type\":\"state\"}\n\n{\"type\":\"tool_result\",\"source.type\":\"exec\",\"error\":true}\n";
        let records = [
            (ContextKind::State, String::new(), false),
            (ContextKind::ToolResult, "exec".to_owned(), true),
        ];
        assert_eq!(of(lines), records);
        let list = r#"[{"type":"state"},{"type":"tool_result","source.type":"exec","error":true}]"#;
        assert_eq!(of(list), records);
        assert!(of("{\"type\":\"thought\"}").is_empty() && of("").is_empty());
    }
}
