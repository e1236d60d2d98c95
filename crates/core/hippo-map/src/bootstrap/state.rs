//! Descriptions of state files (JSON, JSONL, text) without their values.

use serde_json::Value;

use hippo_redact::without_secrets;
use hippo_text::gist::line::clean;
use hippo_text::text::start;

/// Maximum number of field names shown.
const SHOWN: usize = 8;
/// Maximum number of bytes of a text that are examined.
const LOOKED_AT: usize = 8_192;
/// Maximum number of lines of a JSONL file considered.
const LINES: usize = 50;

/// Returns a one-line summary, and the field names as tags. Values are omitted, because they change and may be secrets.
pub(super) fn describe(path: &str, bytes: &[u8]) -> Option<(String, Vec<String>)> {
    let text = String::from_utf8_lossy(bytes);
    if text.trim().is_empty() {
        return None;
    }
    let lower = path.to_ascii_lowercase();
    if lower.ends_with(".jsonl") || lower.ends_with(".ndjson") {
        let lines = text.lines().filter(|line| !line.trim().is_empty());
        let fields = collect_field_names(
            lines
                .clone()
                .take(LINES)
                .filter_map(|line| serde_json::from_str(line).ok())
                .collect(),
        );
        return Some((describe_fields(lines.count(), "record", &fields), fields));
    }
    if lower.ends_with(".json") {
        return Some(match serde_json::from_slice::<Value>(bytes) {
            Ok(Value::Array(items)) => {
                let count = items.len();
                let fields = collect_field_names(items.into_iter().take(LINES).collect());
                (describe_fields(count, "item", &fields), fields)
            }
            Ok(Value::Object(object)) => {
                let fields: Vec<String> = object
                    .keys()
                    .filter(|name| is_shown(name))
                    .take(SHOWN)
                    .cloned()
                    .collect();
                (describe_fields(object.len(), "field", &fields), fields)
            }
            Ok(_) => ("A single JSON value".to_owned(), Vec::new()),
            Err(_) => ("Not valid JSON".to_owned(), Vec::new()),
        });
    }
    let text = without_secrets(start(&text, LOOKED_AT));
    let line = text.lines().map(clean).find(|line| line.len() > 3)?;
    let words: Vec<&str> = line
        .split(' ')
        .take(hippo_text::gist::summary::MOST_WORDS)
        .collect();
    Some((words.join(" ").replace('|', "/"), Vec::new()))
}

/// Returns the field names of objects in order of appearance.
fn collect_field_names(values: Vec<Value>) -> Vec<String> {
    let mut fields: Vec<String> = Vec::new();
    for value in values {
        let Value::Object(object) = value else { continue };
        for name in object.keys() {
            if fields.len() < SHOWN && !fields.contains(name) && is_shown(name) {
                fields.push(name.clone());
            }
        }
    }
    fields
}

/// Returns `true` if a field name is not a secret, such as a session id or key.
fn is_shown(name: &str) -> bool {
    without_secrets(name) == name
}

fn describe_fields(count: usize, what: &str, fields: &[String]) -> String {
    let plural = if count == 1 { "" } else { "s" };
    let names = fields.join(", ").replace('|', "/");
    if names.is_empty() {
        format!("{count} {what}{plural}")
    } else {
        format!("{count} {what}{plural}: {names}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn field_names_are_shown_and_values_are_not() {
        let table: [(&str, &[u8], Option<&str>); 11] = [
            (
                "a.json",
                br#"{"token":"hunter2","port":1}"#,
                Some("2 fields: port, token"),
            ),
            (
                "a.json",
                br#"[{"name":"x"},{"age":3}]"#,
                Some("2 items: name, age"),
            ),
            ("a.json", b"7", Some("A single JSON value")),
            ("a.json", b"{", Some("Not valid JSON")),
            ("a.jsonl", b"{\"id\":1}\n{\"id\":2}\n", Some("2 records: id")),
            ("a.txt", b"\n# Shopping list\nmilk", Some("Shopping list")),
            ("a.txt", b"  \n", None),
            ("a.txt", b"password=hunter2\n", Some("password=…")),
            (
                "a.txt",
                b"-----BEGIN EC PRIVATE KEY-----\nMHcCAQEE\n-----END EC PRIVATE KEY-----\n",
                None,
            ),
            (
                "a.json",
                br#"{"3f2a9c1d":1,"sk-ant-Zx81kQ9dPw72":2}"#,
                Some("2 fields: 3f2a9c1d"),
            ),
            ("a.txt", b"\x00\x01", None),
        ];
        for (path, bytes, expected) in table {
            let found = describe(path, bytes).map(|(summary, _)| summary);
            assert_eq!(found.as_deref(), expected, "{path}");
        }
    }
}
