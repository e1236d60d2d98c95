//! Validation of JSON against docs/schema/protocol.schema.json.

use serde_json::{Value, json};

const SCHEMA: &str = include_str!("../../../../docs/schema/protocol.schema.json");

/// Panics if the JSON does not match the definition at this path below `$defs`.
pub fn conforms(definition: &str, text: &str) {
    let value: Value = serde_json::from_str(text).unwrap();
    if let Some(wrong) = wrong(definition, &value) {
        panic!("{wrong}: it is not {definition} of the schema: {text}");
    }
}

/// Returns the first validation error of a value, if there is one.
pub fn wrong(definition: &str, value: &Value) -> Option<String> {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    let part = json!({
        "$schema": schema["$schema"],
        "$defs": schema["$defs"],
        "$ref": format!("#/$defs/{definition}"),
    });
    let validator = jsonschema::validator_for(&part).unwrap();
    let mut errors = validator.iter_errors(value);
    let error = errors.next()?;
    Some(format!("{error} at \"{}\"", error.instance_path()))
}
