//! Properties, required fields and allowed values in a JSON Schema.

use serde_json::Value;

use super::shape::{PathValues, Shape};
use super::tokens::unescaped;
use crate::extract::ContentKind;
use crate::extract::draft::Draft;
use crate::extract::words::counted;
use hippo_text::text::clip;

/// Returns true if a value is a schema: it has `$schema` and properties, or typed properties.
pub(super) fn is_schema(shape: &Shape<'_>) -> bool {
    let Some(root) = shape.get(0) else { return false };
    if shape.kid(root, "$schema").is_some() {
        return properties(shape).next().is_some();
    }
    let Some(own) = shape.kid(root, "properties") else {
        return false;
    };
    let mut kids = own
        .kids
        .iter()
        .filter_map(|&kid| shape.get(kid))
        .take(20)
        .peekable();
    kids.peek().is_some()
        && kids.all(|kid| {
            ["type", "$ref", "anyOf", "oneOf", "allOf", "enum", "properties"]
                .iter()
                .any(|name| shape.kid(kid, name).is_some())
        })
}

/// Returns all places that list properties, outer places first.
fn properties<'s, 't>(shape: &'s Shape<'t>) -> impl Iterator<Item = (usize, &'s PathValues<'t>)> {
    let mut found: Vec<_> = shape
        .places
        .iter()
        .enumerate()
        .filter(|(_, place)| place.name == "properties" && place.objects > 0)
        .collect();
    found.sort_by_key(|(at, _)| (shape.level(*at), *at));
    found.into_iter()
}

pub(super) fn draft(shape: &Shape<'_>) -> Draft {
    let text = |place: &PathValues<'_>, name: &str| {
        let kid = shape.kid(place, name)?;
        Some(unescaped(kid.scalars.first()?))
    };
    let root = &shape.places[0];
    let (mut count, mut types, mut enums, mut required) = (0_usize, Vec::new(), Vec::new(), Vec::new());
    for (at, group) in properties(shape) {
        count += group.kids.len() + group.further;
        let owner = &shape.places[group.parent];
        let prefix = prefix(shape, at);
        if let Some(items) = shape.kid(owner, "required").and_then(|list| shape.kid(list, "")) {
            required.extend(
                items
                    .scalars
                    .iter()
                    .map(|name| format!("{prefix}{}", unescaped(name))),
            );
        }
        for kid in group.kids.iter().filter_map(|&kid| shape.get(kid)) {
            let name = format!("{prefix}{}", unescaped(kid.name));
            let kind = text(kid, "type").or_else(|| {
                text(kid, "$ref").map(|path| path.rsplit('/').next().unwrap_or_default().to_owned())
            });
            if let Some(values) = shape.kid(kid, "enum").and_then(|list| shape.kid(list, "")) {
                let values: Vec<String> = values.scalars.iter().map(|value| unescaped(value)).collect();
                enums.push((name.clone(), clip(&values.join("|"), 100)));
            }
            types.push((name, kind.unwrap_or_else(|| "any".to_owned())));
        }
    }
    let title = text(root, "title").or_else(|| text(root, "$id"));
    let title = title.map_or_else(String::new, |title| format!(" “{title}”"));
    let mut draft = Draft::new(
        ContentKind::JsonSchema,
        format!(
            "JSON Schema{title}: {}, {} required",
            counted(count, "property"),
            required.len()
        ),
    );
    if let Some(about) = text(root, "description") {
        draft.say(clip(&about, 160));
    }
    let definitions = ["definitions", "$defs"]
        .iter()
        .filter_map(|name| shape.kid(root, name));
    let names = definitions
        .flat_map(|place| &place.kids)
        .filter_map(|&kid| shape.get(kid));
    let names: Vec<String> = names.map(|place| unescaped(place.name)).collect();
    let outer = shape.kid(root, "properties").map_or(0, |own| own.kids.len());
    draft.list("required", required, 6);
    draft.pairs("properties", types, outer.clamp(4, 12));
    draft.pairs("enums", enums, 3);
    draft.list("definitions", names, 4);
    draft.one("count", Value::from(count));
    draft
}

/// Returns the names of the enclosing properties of a group, each followed by a dot.
fn prefix(shape: &Shape<'_>, group: usize) -> String {
    let mut names = Vec::new();
    let mut at = shape.places[group].parent;
    while at != 0 {
        let place = &shape.places[at];
        if matches!(
            shape.places[place.parent].name,
            "properties" | "definitions" | "$defs"
        ) {
            names.push(unescaped(place.name));
        }
        at = place.parent;
    }
    names.reverse();
    names.iter().map(|name| format!("{name}.")).collect()
}
