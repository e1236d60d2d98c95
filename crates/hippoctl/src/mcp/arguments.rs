//! Validation of tool arguments against the schema.

use hippo_proto::{nearest, shorten};
use rmcp::model::{JsonObject, Tool};
use serde_json::Value;

use super::calls::CallFailure;

/// The validated arguments of one call.
#[derive(Debug, Clone)]
pub struct ToolArguments(JsonObject);

impl ToolArguments {
    /// Validates the arguments from a client. A null value counts as a missing argument.
    ///
    /// # Errors
    /// The error names the argument that is unknown or missing, or whose type or range is wrong.
    pub fn read(tool: &Tool, mut given: JsonObject) -> Result<Self, CallFailure> {
        given.retain(|_, value| !value.is_null());
        let none = JsonObject::new();
        let known = tool.input_schema.get("properties").and_then(Value::as_object);
        let known = known.unwrap_or(&none);
        for (name, value) in &given {
            let schema = known.get(name).ok_or_else(|| unknown(tool, known, name))?;
            check(name, schema, value)?;
        }
        let required = tool.input_schema.get("required").and_then(Value::as_array);
        let mut required = required.into_iter().flatten().filter_map(Value::as_str);
        match required.find(|name| !given.contains_key(*name)) {
            Some(missing) => Err(CallFailure::new(format!(
                "the argument \"{missing}\" of {} is missing",
                tool.name
            ))),
            None => Ok(Self(given)),
        }
    }

    /// Returns a string argument.
    pub fn text(&self, name: &str) -> Option<String> {
        self.0.get(name)?.as_str().map(str::to_owned)
    }

    /// Returns a count, limited to the largest value that the daemon accepts.
    pub fn count(&self, name: &str) -> Option<u32> {
        self.0.get(name)?.as_f64().map(|number| number as u32)
    }

    /// Returns a number, such as a minimum score.
    pub fn share(&self, name: &str) -> Option<f32> {
        self.0.get(name)?.as_f64().map(|number| number as f32)
    }

    /// Returns a list of strings.
    pub fn texts(&self, name: &str) -> Option<Vec<String>> {
        let texts = self.0.get(name)?.as_array()?.iter();
        texts.map(|text| text.as_str().map(str::to_owned)).collect()
    }
}

fn unknown(tool: &Tool, known: &JsonObject, name: &str) -> CallFailure {
    let trouble = CallFailure::new(format!("unknown argument \"{}\" of {}", shorten(name), tool.name));
    let names: Vec<&str> = known.keys().map(String::as_str).collect();
    trouble.hint(match nearest(name, names.iter().copied()) {
        Some(near) => format!("did you mean \"{near}\"?"),
        None if names.is_empty() => format!("{} takes no arguments", tool.name),
        None => format!("{} takes {}", tool.name, names.join(", ")),
    })
}

fn check(name: &str, schema: &Value, value: &Value) -> Result<(), CallFailure> {
    if fits(schema, value) {
        return Ok(());
    }
    let mut wanted = match schema["type"].as_str().unwrap_or_default() {
        "array" => "a list of strings".to_owned(),
        "integer" => "a whole number".to_owned(),
        "number" => "a number".to_owned(),
        _ => "a string".to_owned(),
    };
    if let Some(words) = schema["enum"].as_array() {
        let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
        wanted = format!("one of {}", words.join(", "));
    }
    match (schema["minimum"].as_f64(), schema["maximum"].as_f64()) {
        (Some(least), Some(most)) => wanted.push_str(&format!(" from {least} to {most}")),
        (Some(least), None) => wanted.push_str(&format!(", {least} or more")),
        _ => {}
    }
    Err(CallFailure::new(format!(
        "the argument \"{name}\" must be {wanted}"
    )))
}

fn fits(schema: &Value, value: &Value) -> bool {
    let words = schema["enum"].as_array();
    match schema["type"].as_str() {
        Some("array") => value
            .as_array()
            .is_some_and(|list| list.iter().all(Value::is_string)),
        Some(kind @ ("integer" | "number")) => value.as_f64().is_some_and(|number| {
            let at_least = schema["minimum"].as_f64().is_none_or(|least| number >= least);
            let at_most = schema["maximum"].as_f64().is_none_or(|most| number <= most);
            (kind == "number" || number.fract() == 0.0) && at_least && at_most
        }),
        _ => value.is_string() && words.is_none_or(|words| words.contains(value)),
    }
}
