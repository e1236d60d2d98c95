//! Shapes of values in the protocol's schema.

use anyhow::{Context, Result, bail};
use serde_json::{Map, Value};

/// The allowed values of a type.
#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    /// Anything.
    Any,
    /// A string.
    Text,
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// True or false.
    Boolean,
    /// Null.
    Null,
    /// One of several strings.
    Words(Vec<String>),
    /// A list of values of this shape.
    List(Box<Shape>),
    /// An object with members of any name, whose values all have this shape.
    Table(Box<Shape>),
    /// An object with these members.
    Object(Vec<Member>),
    /// A reference to the definition with this name.
    Named(String),
    /// One of several shapes.
    OneOf(Vec<Shape>),
}

/// A member of an object.
#[derive(Debug, Clone, PartialEq)]
pub struct Member {
    /// Name of the member.
    pub name: String,
    /// `true` if the member may be missing.
    pub optional: bool,
    /// Description of the member, for people.
    pub what: String,
    /// Shape of the value.
    pub shape: Shape,
}

/// A definition of the schema.
pub struct Definition {
    /// Name of the definition.
    pub name: String,
    /// Description of the definition, for people.
    pub what: String,
    /// Allowed values.
    pub shape: Shape,
}

/// Returns all definitions, sorted by name.
///
/// # Errors
/// Fails if a definition has an unknown form.
pub fn definitions(schema: &Value) -> Result<Vec<Definition>> {
    let all = schema["$defs"].as_object().context("the schema has no $defs")?;
    let read = |(name, schema): (&String, &Value)| {
        Ok(Definition {
            name: name.clone(),
            what: what(schema),
            shape: shape(schema).with_context(|| format!("the definition {name}"))?,
        })
    };
    all.iter().map(read).collect()
}

/// Returns the members of an object definition.
///
/// # Errors
/// Fails if the definition is not an object.
pub fn members<'a>(definitions: &'a [Definition], name: &str) -> Result<&'a [Member]> {
    let found = definitions.iter().find(|one| one.name == name);
    match found.map(|one| &one.shape) {
        Some(Shape::Object(members)) => Ok(members),
        _ => bail!("{name} is no object"),
    }
}

fn what(schema: &Value) -> String {
    schema["description"].as_str().unwrap_or_default().to_owned()
}

fn shape(schema: &Value) -> Result<Shape> {
    let Some(said) = schema.as_object() else {
        return match schema {
            Value::Bool(true) => Ok(Shape::Any),
            other => bail!("no schema: {other}"),
        };
    };
    if let Some(reference) = said.get("$ref").and_then(Value::as_str) {
        let name = reference
            .strip_prefix("#/$defs/")
            .context("a reference elsewhere")?;
        return Ok(Shape::Named(name.to_owned()));
    }
    if let Some(word) = said.get("const").and_then(Value::as_str) {
        return Ok(Shape::Words(vec![word.to_owned()]));
    }
    if let Some(words) = said.get("enum").and_then(Value::as_array) {
        let words: Option<Vec<String>> = words.iter().map(|word| Some(word.as_str()?.to_owned())).collect();
        return words
            .map(Shape::Words)
            .context("an enum of other things than words");
    }
    if let Some(any) = said.get("oneOf").or(said.get("anyOf")).and_then(Value::as_array) {
        return Ok(one_of(any.iter().map(shape).collect::<Result<_>>()?));
    }
    match said.get("type") {
        None => Ok(Shape::Any),
        Some(Value::String(name)) => typed(name, said),
        Some(Value::Array(names)) => {
            let names = names.iter().filter_map(Value::as_str);
            Ok(one_of(
                names.map(|name| typed(name, said)).collect::<Result<_>>()?,
            ))
        }
        Some(other) => bail!("an unknown type: {other}"),
    }
}

/// Returns the union of shapes. If all alternatives are words, the union is one list of words.
fn one_of(shapes: Vec<Shape>) -> Shape {
    let words: Option<Vec<Vec<String>>> = shapes
        .iter()
        .map(|shape| match shape {
            Shape::Words(words) => Some(words.clone()),
            _ => None,
        })
        .collect();
    match words {
        Some(words) => Shape::Words(words.concat()),
        None => Shape::OneOf(shapes),
    }
}

fn typed(name: &str, said: &Map<String, Value>) -> Result<Shape> {
    Ok(match name {
        "string" => Shape::Text,
        "integer" => Shape::Integer,
        "number" => Shape::Number,
        "boolean" => Shape::Boolean,
        "null" => Shape::Null,
        "array" => Shape::List(Box::new(said.get("items").map_or(Ok(Shape::Any), shape)?)),
        "object" => match (said.get("properties"), said.get("additionalProperties")) {
            (Some(Value::Object(properties)), _) => object(properties, said)?,
            (None, Some(Value::Bool(false))) => Shape::Object(Vec::new()),
            (None, Some(values)) => Shape::Table(Box::new(shape(values)?)),
            _ => Shape::Table(Box::new(Shape::Any)),
        },
        other => bail!("an unknown type: {other}"),
    })
}

fn object(properties: &Map<String, Value>, said: &Map<String, Value>) -> Result<Shape> {
    let required = said.get("required").and_then(Value::as_array);
    let needed = |name: &str| required.is_some_and(|names| names.iter().any(|one| one == name));
    let member = |(name, schema): (&String, &Value)| {
        Ok(Member {
            name: name.clone(),
            optional: !needed(name),
            what: what(schema),
            shape: shape(schema).with_context(|| format!("the member {name}"))?,
        })
    };
    Ok(Shape::Object(
        properties.iter().map(member).collect::<Result<_>>()?,
    ))
}
