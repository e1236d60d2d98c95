//! Extraction of names, counts and identifiers from JSON.

mod shape;
pub(super) mod tokens;

use serde_json::Value;

use super::draft::Draft;
use super::lines::NumberedText;
use super::{ContentKind, counted, values};
use hippo_redact::value_without_secrets;
use hippo_text::text::clip;
use shape::{PathValues, Shape};
use tokens::unescaped;

/// Maximum number of field names in the headline.
const NAMED: usize = 10;
/// Maximum number of further fields whose values are listed if there is room.
const FURTHER: usize = 24;
/// Maximum bytes of a string in the key data.
const TEXT: usize = 80;

/// Field names that serve as identifiers, with their weights.
#[rustfmt::skip] // keep the list compact
const IDS: [(&str, usize); 24] = [
    ("id", 6), ("uuid", 6), ("key", 4), ("number", 5), ("code", 4), ("sku", 5), ("slug", 4), ("sha", 5),
    ("ref", 4), ("path", 5), ("file", 4), ("filename", 4), ("url", 4), ("html_url", 4), ("href", 4),
    ("email", 4), ("name", 4), ("title", 3), ("login", 4), ("user", 2), ("error", 4), ("message", 2),
    ("version", 2), ("date", 2),
];

pub(super) fn draft(text: &NumberedText<'_>) -> Option<Draft> {
    let shape = Shape::of(text.all);
    let root = &shape.places[0];
    if root.kids.is_empty() {
        return None;
    }
    let mut draft = Draft::new(ContentKind::Json, headline(&shape, root));
    if shape.depth > 6 {
        draft.say(format!("{} levels deep", shape.depth));
    }
    // Fields that occur once describe the whole value, so list their values. For repeated objects, list only their
    // identifiers.
    let mut once: Vec<(usize, String, Value)> = Vec::new();
    let mut columns: Vec<(usize, usize)> = Vec::new();
    for (at, place) in shape.places.iter().enumerate().skip(1) {
        if place.texts + place.numbers == 0 && place.scalars.is_empty() {
            continue;
        }
        if !shape.is_repeated(at) {
            if let Some(value) = place.scalars.first().filter(|_| place.seen == 1) {
                let rank = worth(place.name) + usize::from(place.numbers > 0);
                let rank = (20 + rank).saturating_sub(3 * shape.level(at));
                once.push((rank, path(&shape, at), value_of(place, value)));
            }
        } else if place.is_distinct() || worth(named(&shape, at).name) > 3 {
            columns.push((column_worth(&shape, at), at));
        }
    }
    once.sort_by_key(|(rank, ..)| std::cmp::Reverse(*rank));
    columns.sort_by_key(|(rank, at)| (std::cmp::Reverse(*rank), *at));
    let mut lists = columns.iter().filter(|(rank, _)| *rank > 3);
    let list = |draft: &mut Draft, at: usize, least| {
        let texts = shape.places[at].scalars.iter().map(|text| unescaped(text));
        draft.list(column(&shape, at), texts, least);
    };
    if let Some((_, at)) = lists.next() {
        list(&mut draft, *at, 4);
    }
    for (_, name, value) in once.into_iter().take(24) {
        draft.one(&name, value);
    }
    draft.list("keys", map_keys(&shape), 4);
    ranges(&mut draft, &shape);
    for (_, at) in lists.take(3) {
        list(&mut draft, *at, 1);
    }
    choices(&mut draft, &shape);
    for (_, at) in columns.iter().take(FURTHER) {
        list(&mut draft, *at, 0);
    }
    Some(draft)
}

fn headline(shape: &Shape<'_>, root: &PathValues<'_>) -> String {
    let mut counts = Vec::new();
    if shape.values > 1 {
        counts.push(format!("{} JSON values", shape.values));
    }
    let mut place = root;
    // Descend nested lists to their element type.
    while place.lists > 0 && place.objects == 0 {
        let Some(item) = shape.kid(place, "") else { break };
        let what = match (item.objects, item.lists, item.texts, item.numbers) {
            (1.., ..) => "object",
            (_, 1.., ..) => "list",
            (_, _, 1.., 0) => "text",
            (_, _, 0, 1..) => "number",
            _ => "value",
        };
        counts.push(counted(item.seen, what));
        place = item;
    }
    counts.reverse();
    let mut said = counts.join(" in ");
    if place.objects == 0 {
        return said;
    }
    if said.is_empty() {
        said.push_str("object");
    }
    said.push_str(": ");
    let names = place.kids.iter().take(NAMED).map(|&kid| &shape.places[kid]);
    let names = names.map(|kid| match shape.kid(kid, "").filter(|_| kid.lists > 0) {
        Some(item) => format!("{}[{}]", unescaped(kid.name), item.seen),
        None => unescaped(kid.name),
    });
    said.push_str(&names.collect::<Vec<_>>().join(", "));
    let rest = (place.kids.len() + place.further).saturating_sub(NAMED);
    if rest > 0 {
        said.push_str(&format!(" and {}", counted(rest, "more field")));
    }
    if shape.open > 0 {
        said.push_str(" (cut off)");
    }
    said
}

/// Returns the keys of objects that are used as maps: objects with many keys, whose values have the same type.
fn map_keys(shape: &Shape<'_>) -> Vec<String> {
    let maps = shape.places.iter().filter(|place| {
        let kids = place.kids.iter().map(|&kid| &shape.places[kid]);
        let mut sorts = kids.map(|kid| (kid.objects > 0, kid.numbers > 0));
        let first = sorts.next();
        place.kids.len() >= 12 && sorts.all(|sort| Some(sort) == first)
    });
    let largest = maps.max_by_key(|place| place.kids.len());
    let kids = largest.into_iter().flat_map(|place| &place.kids);
    kids.map(|&kid| unescaped(shape.places[kid].name)).collect()
}

/// Adds the smallest and largest number of each repeated numeric field.
fn ranges(draft: &mut Draft, shape: &Shape<'_>) {
    let measures = shape.places.iter().enumerate().filter(|(at, place)| {
        place.numbers > 2 && shape.is_repeated(*at) && worth(named(shape, *at).name) < 4
    });
    let found = measures.filter_map(|(at, place)| {
        let (least, most) = place.range.filter(|(least, most)| least != most)?;
        Some((column(shape, at).to_owned(), format!("{least}–{most}")))
    });
    let mut found: Vec<_> = found.collect();
    // List prices first, because agents need them more often than other numbers.
    let prices = ["price", "cost", "amount", "total"];
    found.sort_by_key(|(name, _)| !prices.iter().any(|word| name.contains(word)));
    draft.pairs("range", found, 1);
}

/// Adds fields with few distinct texts.
fn choices(draft: &mut Draft, shape: &Shape<'_>) {
    let few = shape.places.iter().enumerate().filter(|(at, place)| {
        place.texts > 3
            && (1..=5).contains(&place.scalars.len())
            && place.scalars.len() * 2 <= place.texts
            && !place.overflow
            && shape.is_repeated(*at)
    });
    let found = few.map(|(at, place)| {
        let values: Vec<String> = place.scalars.iter().map(|value| unescaped(value)).collect();
        (column(shape, at).to_owned(), clip(&values.join("|"), TEXT))
    });
    draft.pairs("values", found, 0);
}

/// Returns the values at a path if the field there has a name, otherwise at the nearest parent path with a name. For an
/// element of a list, this is the path of the list.
fn named<'s, 't>(shape: &'s Shape<'t>, mut at: usize) -> &'s PathValues<'t> {
    while at != 0 && shape.places[at].name.is_empty() {
        at = shape.places[at].parent;
    }
    &shape.places[at]
}

fn column<'t>(shape: &Shape<'t>, at: usize) -> &'t str {
    match named(shape, at).name {
        "" => "items",
        name => name,
    }
}

fn worth(name: &str) -> usize {
    let lower = name.to_ascii_lowercase();
    let last = lower.rsplit(['_', '-', '.']).next().unwrap_or_default();
    let camel = name.ends_with("Id") || name.ends_with("ID");
    let known = IDS.iter().filter(|(word, _)| *word == lower || *word == last);
    let known = known.map(|(_, worth)| *worth).max();
    known.unwrap_or(if camel { 6 } else { 0 })
}

fn column_worth(shape: &Shape<'_>, at: usize) -> usize {
    let place = &shape.places[at];
    let codes = place.scalars.iter().filter(|value| values::is_code(value));
    let coded = if codes.count() * 2 > place.scalars.len() {
        3
    } else {
        0
    };
    let distinct = if place.is_distinct() { 3 } else { 0 };
    let shallow = 6_usize.saturating_sub(shape.level(at));
    // Measurements and timestamps are rarely used as keys for a lookup.
    let named = worth(named(shape, at).name);
    let is_measure = named == 0 && place.numbers > place.texts;
    (named * 2 + coded + distinct + shallow).saturating_sub(if is_measure { 6 } else { 0 })
}

/// Returns the names from the top to a place, joined by dots.
fn path(shape: &Shape<'_>, mut at: usize) -> String {
    let mut names = Vec::new();
    while at != 0 {
        names.push(unescaped(shape.places[at].name));
        at = shape.places[at].parent;
    }
    names.reverse();
    names.join(".")
}

fn value_of(place: &PathValues<'_>, written: &str) -> Value {
    if place.texts > 0 {
        return Value::from(clip(&value_without_secrets(&unescaped(written)), TEXT));
    }
    serde_json::from_str(written).unwrap_or_else(|_| Value::from(written))
}
