//! Tests that Rust, JSON Schema and TypeScript define the same fields.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::block;
use hippo_types::context::{ContextEncoding, ContextEntry, ContextKind, ContextPriority};

const SCHEMA: &str = include_str!("../../../../../docs/schema/context-entry.schema.json");

pub(super) fn schema() -> Value {
    serde_json::from_str(SCHEMA).unwrap()
}

/// Returns an entry with every field.
pub(super) fn whole() -> Value {
    json!({
        "id": "a", "type": "state", "source": {"type": "exec", "ref": "b", "turn": 1, "retrievable": false, "stale": true}, "summary": "c",
        "key_data": {"d": [1, "e", null]}, "strength": 0.5, "decay": {"rate": 0.25, "floor": 0.125, "last_access": 2},
        "modifiers": {"priority": "low", "encoding": "manual", "associations": ["f"]},
        "lifecycle": {"created": 3, "expires": 4, "persist": true},
    })
}

/// Validates a value with the JSON Schema keywords that the file uses. Any other keyword is an error.
pub(super) fn wrong(value: &Value, schema: &Value, at: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (word, said) in schema.as_object().unwrap() {
        let holds = match word.as_str() {
            "$schema" | "$id" | "title" | "description" => true,
            "type" => match said.as_str().unwrap() {
                "object" => value.is_object(),
                "array" => value.is_array(),
                "string" => value.is_string(),
                "boolean" => value.is_boolean(),
                "integer" => value.is_u64() || value.is_i64(),
                "number" => value.is_number(),
                _ => false,
            },
            "enum" => said.as_array().unwrap().contains(value),
            "minimum" => value.as_f64() >= said.as_f64(),
            "maximum" => value.as_f64() <= said.as_f64(),
            "required" => {
                let names = said.as_array().unwrap();
                names
                    .iter()
                    .all(|name| value.get(name.as_str().unwrap()).is_some())
            }
            "items" => {
                let items = value.as_array().into_iter().flatten();
                found.extend(items.flat_map(|item| wrong(item, said, at)));
                true
            }
            "properties" => {
                for (name, said) in said.as_object().unwrap() {
                    let inner = value
                        .get(name)
                        .map(|inner| wrong(inner, said, &format!("{at}.{name}")));
                    found.extend(inner.unwrap_or_default());
                }
                true
            }
            _ => false,
        };
        if !holds {
            found.push(format!("{at}: {word} {said}"));
        }
    }
    found
}

/// For each path of a field: `true` if the field is optional, and the type of the field.
type Shape = BTreeMap<String, (bool, String)>;

fn shape_of_schema(schema: &Value, at: &str, shape: &mut Shape) {
    for (name, said) in schema["properties"].as_object().unwrap() {
        let path = format!("{at}{name}");
        let required = schema["required"].as_array().unwrap().contains(&json!(name));
        let holds = match (said["enum"].as_array(), said["type"].as_str().unwrap()) {
            (Some(names), _) => names.iter().map(Value::to_string).collect::<Vec<_>>().join(" | "),
            (None, "array") => format!("{}[]", said["items"]["type"].as_str().unwrap()),
            (None, "integer") => "number".to_owned(),
            (None, "object") if said.get("properties").is_none() => "Record<string, unknown>".to_owned(),
            (None, "object") => {
                shape_of_schema(said, &format!("{path}."), shape);
                "{".to_owned()
            }
            (None, other) => other.to_owned(),
        };
        shape.insert(path, (!required, holds));
    }
}

fn shape_of_typescript(text: &str) -> Shape {
    let (mut shape, mut inside) = (Shape::new(), String::new());
    for line in text.lines().skip(1) {
        let line = line.split("//").next().unwrap().trim();
        if line == "};" {
            inside.clear();
        }
        let Some((name, holds)) = line.split_once(": ") else {
            continue;
        };
        let path = format!("{inside}{}", name.trim_end_matches('?'));
        let holds = holds.trim_end_matches(';');
        if holds == "{" {
            inside = format!("{path}.");
        }
        shape.insert(path, (name.ends_with('?'), holds.to_owned()));
    }
    shape
}

fn paths(value: &Value, at: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (name, inner) in value.as_object().unwrap() {
        let path = format!("{at}{name}");
        if inner.is_object() && name != "key_data" {
            found.extend(paths(inner, &format!("{path}.")));
        }
        found.insert(path);
    }
    found
}

#[test]
fn rust_types_json_schema_and_typescript_agree() {
    let mut shape = Shape::new();
    shape_of_schema(&schema(), "", &mut shape);
    assert_eq!(shape_of_typescript(block("typescript")), shape);
    let entry: ContextEntry = serde_json::from_value(whole()).unwrap();
    assert_eq!(serde_json::to_value(&entry).unwrap(), whole());
    assert_eq!(
        paths(&whole(), ""),
        shape.keys().cloned().collect::<BTreeSet<_>>()
    );
    for (path, (optional, holds)) in &shape {
        let pointer = |value: &mut Value, new: Option<Value>| {
            let (above, name) = path.rsplit_once('.').unwrap_or(("", path));
            let above = if above.is_empty() {
                String::new()
            } else {
                format!("/{above}")
            };
            let fields = value.pointer_mut(&above).unwrap().as_object_mut().unwrap();
            match new {
                Some(new) => fields.insert(name.to_owned(), new),
                None => fields.remove(name),
            };
        };
        let mut without = whole();
        pointer(&mut without, None);
        let read = serde_json::from_value::<ContextEntry>(without.clone());
        assert_eq!(read.is_ok(), *optional, "{path}");
        assert_eq!(wrong(&without, &schema(), "").is_empty(), *optional, "{path}");
        if let Ok(entry) = read {
            assert_eq!(
                serde_json::to_value(entry).unwrap(),
                without,
                "{path} is not written when there is none"
            );
        }
        let mut other = whole();
        pointer(
            &mut other,
            Some(json!(if holds == "string" {
                json!(1)
            } else {
                json!("other")
            })),
        );
        assert!(
            serde_json::from_value::<ContextEntry>(other.clone()).is_err(),
            "{path}"
        );
        assert!(!wrong(&other, &schema(), "").is_empty(), "{path}");
    }
    let names = |all: &[&str]| {
        all.iter()
            .map(|name| format!("\"{name}\""))
            .collect::<Vec<_>>()
            .join(" | ")
    };
    assert_eq!(shape["type"].1, names(&ContextKind::ALL.map(ContextKind::name)));
    assert_eq!(
        shape["modifiers.priority"].1,
        names(&ContextPriority::ALL.map(ContextPriority::name))
    );
    for (path, values) in [
        ("type", ContextKind::ALL.map(|kind| json!(kind)).to_vec()),
        (
            "modifiers.priority",
            ContextPriority::ALL.map(|priority| json!(priority)).to_vec(),
        ),
        (
            "modifiers.encoding",
            vec![json!(ContextEncoding::Manual), json!(ContextEncoding::Auto)],
        ),
    ] {
        let written = values
            .iter()
            .map(Value::to_string)
            .collect::<Vec<_>>()
            .join(" | ");
        assert_eq!(shape[path].1, written, "{path}");
    }
}
