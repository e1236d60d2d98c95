//! Generation of the Python client's types and methods.

use std::fmt::Write;

use anyhow::{Context, Result};
use serde_json::Value;

use super::shape::{Member, Shape, definitions, members};

const TYPES_HEAD: &str = "\
\"\"\"Which types cross the socket of hippod? Made from docs/schema/protocol.schema.json by `cargo xtask schema`.\"\"\"

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict

if TYPE_CHECKING:
    from typing_extensions import NotRequired
";

const METHODS_HEAD: &str = "\
\"\"\"One function for each method of the protocol. Made from docs/schema/protocol.schema.json by `cargo xtask schema`.

A parameter that is None is not sent. One whose name Python keeps for itself has a low line behind it.
\"\"\"

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from . import protocol as p


def given(**parameters: object) -> dict[str, object]:
    \"\"\"The parameters that have a value, by their names on the wire.\"\"\"
    return {name.removesuffix(\"_\"): value for name, value in parameters.items() if value is not None}
";

/// Reserved words of Python, which cannot be names of members, methods or parameters.
const KEPT: [&str; 5] = ["from", "import", "in", "is", "class"];

/// Returns a type for each definition.
///
/// # Errors
/// Fails if the schema has an unknown form.
pub fn types(schema: &Value) -> Result<String> {
    let mut text = TYPES_HEAD.to_owned();
    // These two tables need no types, because each method becomes a function.
    let told = ["Methods", "Notifications"];
    for definition in definitions(schema)?
        .iter()
        .filter(|one| !told.contains(&&*one.name))
    {
        match &definition.shape {
            Shape::Object(members) => class(&mut text, &definition.name, &definition.what, members)?,
            other => {
                let name = &definition.name;
                let alias = alias(&mut text, name, other)?;
                write!(text, "\n\n#: {}\n{name}: TypeAlias = {alias}\n", definition.what)?;
            }
        }
    }
    Ok(text)
}

/// Returns the alias of a definition that is not an object. Before the alias, writes a class for each alternative
/// that is an object.
fn alias(text: &mut String, name: &str, shape: &Shape) -> Result<String> {
    let Shape::OneOf(shapes) = shape else {
        return Ok(match shape {
            Shape::Words(_) => named(shape)?,
            _ => format!("\"{}\"", named(shape)?),
        });
    };
    let mut names = Vec::new();
    for one in shapes {
        let Shape::Object(members) = one else {
            names.push(named(one)?);
            continue;
        };
        let word = members.iter().find_map(|member| match &member.shape {
            Shape::Words(words) if words.len() == 1 => words.first(),
            _ => None,
        });
        let (first, rest) = word
            .and_then(|word| word.split_at_checked(1))
            .context("an alternative without a name")?;
        let class_name = format!("{name}{}{rest}", first.to_uppercase());
        class(text, &class_name, "", members)?;
        names.push(class_name);
    }
    Ok(format!("\"{}\"", names.join(" | ")))
}

fn class(text: &mut String, name: &str, what: &str, members: &[Member]) -> Result<()> {
    let what = if what.is_empty() { "One of several." } else { what };
    if members.iter().any(|member| KEPT.contains(&&*member.name)) {
        write!(
            text,
            "\n\n#: {what}\n{name} = TypedDict(\n    \"{name}\",\n    {{\n"
        )?;
        for member in members {
            writeln!(text, "        # {}", member.what)?;
            let kept = annotation(member)?.replace('"', "'");
            writeln!(text, "        \"{}\": \"{kept}\",", member.name)?;
        }
        text.push_str("    },\n)\n");
        return Ok(());
    }
    write!(
        text,
        "\n\nclass {name}(TypedDict):\n    \"\"\"{}\"\"\"\n",
        what.replace("\n\n", "\n\n    ")
    )?;
    for member in members {
        if !member.what.is_empty() {
            write!(text, "\n    #: {}", member.what)?;
        }
        write!(text, "\n    {}: {}\n", member.name, annotation(member)?)?;
    }
    Ok(())
}

fn annotation(member: &Member) -> Result<String> {
    let shape = named(&member.shape)?;
    Ok(if member.optional {
        format!("NotRequired[{shape}]")
    } else {
        shape
    })
}

fn named(shape: &Shape) -> Result<String> {
    Ok(match shape {
        Shape::Any => "Any".to_owned(),
        Shape::Text => "str".to_owned(),
        Shape::Integer => "int".to_owned(),
        Shape::Number => "float".to_owned(),
        Shape::Boolean => "bool".to_owned(),
        Shape::Null => "None".to_owned(),
        Shape::Words(words) => {
            let words: Vec<String> = words.iter().map(|word| format!("{word:?}")).collect();
            format!("Literal[{}]", words.join(", "))
        }
        Shape::List(inner) => format!("list[{}]", named(inner)?),
        Shape::Table(inner) => format!("dict[str, {}]", named(inner)?),
        Shape::Object(members) if members.is_empty() => "dict[str, Any]".to_owned(),
        Shape::Object(_) => anyhow::bail!("an object within an object has no name"),
        Shape::Named(name) => name.clone(),
        Shape::OneOf(shapes) => {
            let shapes: Result<Vec<String>> = shapes.iter().map(named).collect();
            shapes?.join(" | ")
        }
    })
}

/// Returns a blocking function and an async function for each method.
///
/// # Errors
/// Fails if the schema has an unknown form.
pub fn methods(schema: &Value) -> Result<String> {
    let mut text = METHODS_HEAD.to_owned();
    let definitions = definitions(schema)?;
    for (class, what, kind, wait) in [
        ("Methods", "The methods, for callers that wait.", "def", ""),
        (
            "AsyncMethods",
            "The methods, for callers that await.",
            "async def",
            "await ",
        ),
    ] {
        write!(
            text,
            "\n\nclass {class}(ABC):\n    \"\"\"{what}\"\"\"\n\n    @abstractmethod\n    {kind} call(\n        self, method: str, params: Mapping[str, object] | None = None, *, timeout: float | None = None\n    ) -> Any:\n        \"\"\"Asks, and gives the answer.\"\"\"\n"
        )?;
        for method in members(&definitions, "Methods")? {
            let Shape::Object(sides) = &method.shape else {
                anyhow::bail!("{} is no object", method.name);
            };
            let side = |name: &str| match sides
                .iter()
                .find(|side| side.name == name)
                .map(|side| &side.shape)
            {
                Some(Shape::Named(name)) => Ok(name.clone()),
                _ => anyhow::bail!("{} has no {name}", method.name),
            };
            let params = members(&definitions, &side("params")?)?;
            let answer = format!("p.{}", side("result")?);
            function(&mut text, [kind, wait], method, params, &answer)?;
        }
    }
    Ok(text)
}

fn function(
    text: &mut String,
    [kind, wait]: [&str; 2],
    method: &Member,
    params: &[Member],
    answer: &str,
) -> Result<()> {
    let mut needed: Vec<&Member> = params.iter().collect();
    needed.sort_by_key(|member| member.optional);
    let own = |member: &Member| match KEPT.contains(&&*member.name) {
        true => format!("{}_", member.name),
        false => member.name.replace('.', "_"),
    };
    let name = own(method);
    write!(text, "\n    {kind} {name}(\n        self,\n")?;
    if !needed.is_empty() {
        text.push_str("        *,\n");
    }
    for member in &needed {
        let shape = parameter(&member.shape)?;
        let shape = shape.strip_suffix(" | None").unwrap_or(&shape);
        let or = if member.optional { " | None = None" } else { "" };
        writeln!(text, "        {}: {shape}{or},", own(member))?;
    }
    write!(text, "    ) -> {answer}:\n        \"\"\"{}\"\"\"\n", method.what)?;
    let passed: Vec<String> = needed
        .iter()
        .map(|member| format!("{0}={0}", own(member)))
        .collect();
    let params = format!("given({})", passed.join(", "));
    write!(
        text,
        "        answer: {answer} = {wait}self.call(\"{}\", {params})\n        return answer\n",
        method.name
    )?;
    Ok(())
}

/// Returns a type for use outside the types module, in which a parameter may be any sequence or mapping.
fn parameter(shape: &Shape) -> Result<String> {
    Ok(match shape {
        Shape::Named(name) => format!("p.{name}"),
        Shape::List(inner) => format!("Sequence[{}]", parameter(inner)?),
        Shape::Table(inner) => format!("Mapping[str, {}]", parameter(inner)?),
        Shape::OneOf(shapes) => {
            let shapes: Result<Vec<String>> = shapes.iter().map(parameter).collect();
            shapes?.join(" | ")
        }
        other => named(other)?,
    })
}
