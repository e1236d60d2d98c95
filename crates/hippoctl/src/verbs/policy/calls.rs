//! Names of the tools that a transcript calls, by the ids of the calls.

use std::collections::HashMap;

use serde_json::{Map, Value};

/// Returns the tool names of all calls in a transcript, by the ids of the calls.
///
/// In every format, a call is an object with an id and a tool name, either directly or in its `function`. Ids of other
/// objects do no harm, because they are never looked up.
pub fn names(transcript: &[u8]) -> HashMap<String, String> {
    let mut names = HashMap::new();
    if let Ok(document) = serde_json::from_slice::<Value>(transcript) {
        walk(&document, &mut names);
        return names;
    }
    for line in transcript.split(|byte| *byte == b'\n') {
        if let Ok(record) = serde_json::from_slice::<Value>(line) {
            walk(&record, &mut names);
        }
    }
    names
}

/// Collects calls recursively; the parser limits the depth.
fn walk(value: &Value, names: &mut HashMap<String, String>) {
    match value {
        Value::Array(values) => values.iter().for_each(|value| walk(value, names)),
        Value::Object(object) => {
            if let Some((id, name)) = call(object) {
                names.insert(id.to_owned(), name.to_owned());
            }
            object.values().for_each(|value| walk(value, names));
        }
        _ => {}
    }
}

fn call(object: &Map<String, Value>) -> Option<(&str, &str)> {
    let text = |object: &'_ Map<String, Value>, key: &str| object.get(key).is_some_and(Value::is_string);
    let keys = ["call_id", "callId", "id"];
    let id = keys
        .into_iter()
        .find(|key| text(object, key))
        .and_then(|key| object.get(key)?.as_str())?;
    let function = object
        .get("function")
        .and_then(Value::as_object)
        .unwrap_or(object);
    let name = function.get("name").and_then(Value::as_str);
    let by_type = || match object.get("type").and_then(Value::as_str) {
        Some("local_shell_call") => Some("shell"),
        Some("web_search_call") => Some("web_search"),
        _ => None,
    };
    Some((id, name.or_else(by_type)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_of_each_program_are_found() {
        let lines = [
            r#"{"message":{"content":[{"type":"tool_use","id":"toolu_1","name":"Bash","input":{"a":1}}]}}"#,
            "no JSON",
            r#"{"role":"assistant","tool_calls":[{"id":"call_1","type":"function","function":{"name":"read","arguments":"{}"}}]}"#,
            r#"{"type":"response_item","payload":{"type":"function_call","id":"fc_1","call_id":"call_2","name":"exec"}}"#,
            r#"{"payload":{"type":"local_shell_call","call_id":"call_3","action":{}}}"#,
            r#"{"id":"x","text":"no call"}"#,
        ];
        let names = names(lines.join("\n").as_bytes());
        let mut found: Vec<_> = names
            .iter()
            .map(|(id, name)| (id.as_str(), name.as_str()))
            .collect();
        found.sort_unstable();
        let expected = [
            ("call_1", "read"),
            ("call_2", "exec"),
            ("call_3", "shell"),
            ("toolu_1", "Bash"),
        ];
        assert_eq!(found, expected);
        assert!(super::names(b"").is_empty());
    }
}
