//! JSON Schema of the protocol, generated from the types.

use schemars::generate::{SchemaGenerator, SchemaSettings};
use serde_json::{Map, Value, json};

use hippo_proto::{
    Event, MAX_BODY_BYTES, MAX_CONTENT_BYTES, MAX_ENTRIES, MAX_JOBS, MAX_LIMIT, MAX_RUNS, MAX_SCORES,
    MAX_TEXT_BYTES, PROTOCOL, Progress, RpcError, describe,
};

/// The constants to which doc comments link, with their values.
const LIMITS: [(&str, usize); 8] = [
    ("MAX_BODY_BYTES", MAX_BODY_BYTES),
    ("MAX_CONTENT_BYTES", MAX_CONTENT_BYTES),
    ("MAX_ENTRIES", MAX_ENTRIES as usize),
    ("MAX_JOBS", MAX_JOBS as usize),
    ("MAX_LIMIT", MAX_LIMIT as usize),
    ("MAX_RUNS", MAX_RUNS as usize),
    ("MAX_SCORES", MAX_SCORES),
    ("MAX_TEXT_BYTES", MAX_TEXT_BYTES),
];

/// Returns the schema of the whole protocol, draft 2020-12.
///
/// `methods` has one property per method with its `params` and its `result`. `notifications` has one property per
/// notification with its parameters. `error` is the member `error` of an answer.
///
/// Parameters are described as the daemon reads them: unknown members are forbidden, and members with a default are
/// optional. Answers are described as the daemon writes them: an optional member is omitted instead of null, and
/// unknown members are allowed.
pub fn document() -> Value {
    let settings = SchemaSettings::draft2020_12();
    let mut read = SchemaGenerator::new(settings.clone().for_deserialize());
    let mut written = SchemaGenerator::new(settings.for_serialize());
    let methods = describe(&mut read, &mut written);
    #[rustfmt::skip] // keep the list compact
    let notifications = [
        (Event::METHOD, "An event that the daemon sends after `subscribe`.", written.subschema_for::<Event>()),
        (Progress::METHOD, "Progress of a request.", written.subschema_for::<Progress>()),
    ];
    let error = written.subschema_for::<RpcError>();
    let mut params = read.take_definitions(true);
    let mut definitions = written.take_definitions(true);
    for (_, request) in params.iter_mut().filter(|(name, _)| name.ends_with("Request")) {
        request["additionalProperties"] = false.into();
        if request["properties"]["agent"].is_null() {
            request["properties"]["agent"] = json!({
                "description": "The agent that asks. The answer then also contains the texts that only this agent may read.",
                "type": ["string", "null"],
            });
        }
    }
    params.values_mut().for_each(|schema| clean_up(schema, true));
    definitions
        .values_mut()
        .for_each(|schema| clean_up(schema, false));
    let renamed = rename_conflicts(&mut params, &definitions);
    definitions.append(&mut params);

    let exchange = |what: &str, [params, result]: [schemars::Schema; 2]| {
        let mut params = params.to_value();
        update_references(&mut params, &renamed);
        json!({
            "type": "object",
            "description": what.trim(),
            "required": ["params", "result"],
            "properties": {"params": params, "result": result},
        })
    };
    let methods: Vec<_> = methods
        .into_iter()
        .map(|(name, what, sides)| (name, exchange(what, sides)))
        .collect();
    let notifications = notifications.map(|(name, what, params)| {
        let mut params = params.to_value();
        params["description"] = what.into();
        (name, params)
    });
    definitions.insert(
        "Methods".into(),
        object_schema("The parameters and the answer of each method.", methods),
    );
    definitions.insert(
        "Notifications".into(),
        object_schema("Notifications (lines without an id), by method.", notifications),
    );
    let mut document = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "protocol.schema.json",
        "title": format!("hippod protocol {PROTOCOL}"),
        "description": "The messages on the socket of hippod; see docs/protocol.md for their meaning. Generated from the types by `cargo xtask schema`.",
        "type": "object",
        "required": ["methods", "notifications", "error"],
        "properties": {
            "methods": {"$ref": "#/$defs/Methods"},
            "notifications": {"$ref": "#/$defs/Notifications"},
            "error": error,
        },
        "$defs": definitions,
    });
    // This order is stable, whatever map type this build uses.
    document.sort_all_objects();
    document
}

/// Creates the schema of an object with these required members.
fn object_schema(what: &str, members: impl IntoIterator<Item = (&'static str, Value)>) -> Value {
    let properties: Map<String, Value> = members
        .into_iter()
        .map(|(name, schema)| (name.to_owned(), schema))
        .collect();
    let names: Vec<&String> = properties.keys().collect();
    json!({"type": "object", "description": what, "required": names, "properties": properties})
}

/// Cleans up a definition for clients: removes Rust names and null defaults. In an answer, also removes the null type
/// of optional members, because the daemon omits them instead.
fn clean_up(schema: &mut Value, read: bool) {
    match schema {
        Value::Object(members) => {
            if let Some(Value::String(text)) = members.get_mut("description") {
                *text = plain_text(text);
            }
            if members.get("default") == Some(&Value::Null) {
                members.remove("default");
            }
            if !read {
                if members.get("additionalProperties") == Some(&Value::Bool(false)) {
                    members.remove("additionalProperties");
                }
                remove_null_of_optional(members);
            }
            members.values_mut().for_each(|inner| clean_up(inner, read));
        }
        Value::Array(items) => items.iter_mut().for_each(|inner| clean_up(inner, read)),
        _ => {}
    }
}

/// Removes the null type from the optional members of an object.
fn remove_null_of_optional(members: &mut Map<String, Value>) {
    let required = members.get("required").cloned().unwrap_or_default();
    let Some(Value::Object(properties)) = members.get_mut("properties") else {
        return;
    };
    for (name, schema) in properties {
        let needed = required
            .as_array()
            .is_some_and(|names| names.iter().any(|one| one == name));
        if !needed {
            remove_null(schema);
        }
    }
}

fn remove_null(schema: &mut Value) {
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = types.as_slice() {
            schema["type"] = only.clone();
        }
    }
    let Some(Value::Array(mut any)) = schema.as_object_mut().and_then(|members| members.remove("anyOf"))
    else {
        return;
    };
    any.retain(|one| one["type"] != "null");
    if let ([Value::Object(only)], Value::Object(members)) = (any.as_slice(), schema) {
        members.extend(only.clone());
    }
}

/// Converts a doc comment to plain text without line breaks and links.
fn plain_text(text: &str) -> String {
    let mut text = text
        .replace("\n\n", "\u{0}")
        .replace('\n', " ")
        .replace('\u{0}', "\n\n");
    for (name, value) in LIMITS {
        text = text.replace(&format!("[`{name}`]"), &value.to_string());
    }
    text.replace("[`crate::", "`")
        .replace("[`", "`")
        .replace("`]", "`")
}

/// Renames each parameter definition that has the same name as a different answer definition. Returns the pairs of
/// old and new names.
fn rename_conflicts(params: &mut Map<String, Value>, answers: &Map<String, Value>) -> Vec<(String, String)> {
    let differ = |name: &String, schema: &Value| answers.get(name).is_some_and(|other| other != schema);
    let renamed: Vec<(String, String)> = params
        .iter()
        .filter(|(name, schema)| differ(name, schema))
        .map(|(name, _)| (name.clone(), format!("{name}Input")))
        .collect();
    for (old, new) in &renamed {
        if let Some(schema) = params.remove(old) {
            params.insert(new.clone(), schema);
        }
    }
    params
        .values_mut()
        .for_each(|schema| update_references(schema, &renamed));
    renamed
}

/// Updates references to renamed definitions.
fn update_references(schema: &mut Value, renamed: &[(String, String)]) {
    match schema {
        Value::Object(members) => {
            if let Some(Value::String(reference)) = members.get_mut("$ref") {
                let is = |old: &String| reference.strip_prefix("#/$defs/") == Some(old);
                if let Some((_, new)) = renamed.iter().find(|(old, _)| is(old)) {
                    *reference = format!("#/$defs/{new}");
                }
            }
            members
                .values_mut()
                .for_each(|inner| update_references(inner, renamed));
        }
        Value::Array(items) => items
            .iter_mut()
            .for_each(|inner| update_references(inner, renamed)),
        _ => {}
    }
}
