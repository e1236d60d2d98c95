//! Generation of the TypeScript client's types.

use std::fmt::Write;

use anyhow::Result;
use serde_json::Value;

use super::shape::{Member, Shape, definitions};

const HEAD: &str = "\
/** Which types cross the socket of hippod? Made from docs/schema/protocol.schema.json by `cargo xtask schema`. */
";

/// Returns a type for each definition.
///
/// # Errors
/// Fails if the schema has an unknown form.
pub fn types(schema: &Value) -> Result<String> {
    let mut text = HEAD.to_owned();
    for definition in definitions(schema)? {
        text.push('\n');
        comment(&mut text, "", &definition.what)?;
        match &definition.shape {
            Shape::Object(members) if !members.is_empty() => {
                writeln!(
                    text,
                    "export interface {} {}",
                    definition.name,
                    object(members, "")?
                )?;
            }
            other => writeln!(text, "export type {} = {};", definition.name, named(other, "")?)?,
        }
    }
    Ok(text)
}

fn comment(text: &mut String, indent: &str, what: &str) -> Result<()> {
    if !what.is_empty() {
        writeln!(
            text,
            "{indent}/** {} */",
            what.replace("\n\n", " ").replace("*/", "*\u{200b}/")
        )?;
    }
    Ok(())
}

fn object(members: &[Member], indent: &str) -> Result<String> {
    let mut text = "{".to_owned();
    let inner = format!("{indent}  ");
    for (nth, member) in members.iter().enumerate() {
        if nth == 0 {
            text.push('\n');
        }
        comment(&mut text, &inner, &member.what)?;
        let name = match member.name.contains('.') {
            true => format!("{:?}", member.name),
            false => member.name.clone(),
        };
        let mark = if member.optional { "?" } else { "" };
        // A client may set an optional member to `undefined`. In this case, the member is not sent.
        let or = if member.optional { " | undefined" } else { "" };
        writeln!(
            text,
            "{inner}{name}{mark}: {}{or};",
            named(&member.shape, &inner)?
        )?;
    }
    if !members.is_empty() {
        text.push_str(indent);
    }
    text.push('}');
    Ok(text)
}

fn named(shape: &Shape, indent: &str) -> Result<String> {
    Ok(match shape {
        Shape::Any => "unknown".to_owned(),
        Shape::Text => "string".to_owned(),
        Shape::Integer | Shape::Number => "number".to_owned(),
        Shape::Boolean => "boolean".to_owned(),
        Shape::Null => "null".to_owned(),
        Shape::Words(words) => {
            let words: Vec<String> = words.iter().map(|word| format!("{word:?}")).collect();
            words.join(" | ")
        }
        Shape::List(inner) => match inner.as_ref() {
            Shape::Words(_) | Shape::OneOf(_) => format!("({})[]", named(inner, indent)?),
            _ => format!("{}[]", named(inner, indent)?),
        },
        Shape::Table(inner) => format!("Record<string, {}>", named(inner, indent)?),
        Shape::Object(members) if members.is_empty() => "Record<string, never>".to_owned(),
        Shape::Object(members) => object(members, indent)?,
        Shape::Named(name) => name.clone(),
        Shape::OneOf(shapes) => {
            let shapes: Result<Vec<String>> = shapes.iter().map(|shape| named(shape, indent)).collect();
            shapes?.join(" | ")
        }
    })
}
