//! Redaction and shortening of summaries and key data.

use serde_json::{Map, Value};

use super::shows_secret;
use crate::extract::MOST_TOKENS;
use crate::render::format_block;
use hippo_redact::REDACTED;
use hippo_text::fence::without_sections;
use hippo_text::text;
use hippo_types::context::ContextEntry;
use hippo_types::tokens;

/// Maximum bytes of a string in the caller's key data.
const MOST_VALUE: usize = 400;
/// Maximum number of values of a list or an object in the caller's key data.
const MOST_VALUES: usize = 100;

/// Redacts a summary, joins its lines and limits its length. The text is the caller's summary, or short content.
pub(super) fn clean_summary(text: &str) -> String {
    let text = without_sections(text);
    text::clip(&hippo_redact::redact(&text), MOST_TOKENS * 4)
}

/// Returns the sentences of a message that contain lasting instructions, cut to at most `bytes` bytes. The result is
/// empty if there are no such sentences.
pub(super) fn find_instructions(text: &str, bytes: usize) -> String {
    const WORDS: [&str; 4] = ["remember", "always", "never", "important"];
    let shown = hippo_redact::redact(text);
    let lasting = |sentence: &&str| {
        let lower = sentence.to_ascii_lowercase();
        let mut words = lower.split(|mark: char| !mark.is_alphanumeric());
        words.any(|word| WORDS.iter().any(|lasting| word.starts_with(lasting)))
    };
    let sentences = shown.split_inclusive(['\n', '.', '!', '?']).map(str::trim);
    let said: Vec<&str> = sentences.filter(lasting).take(MOST_VALUES).collect();
    text::clip(&said.join(" "), bytes)
}

/// Redacts the key data given by the caller and shortens long values.
pub(super) fn clean_data(given: &Map<String, Value>) -> Map<String, Value> {
    let mut shown = Map::new();
    for (name, value) in given.iter().take(MOST_VALUES) {
        let name = text::clip(&hippo_redact::redact(name), MOST_VALUE);
        let value = clean_value(value);
        // A value such as `hunter2` is recognised as a secret only together with its name.
        let secret = !name.is_empty() && pair_shows_secret(&name, &value);
        let value = if secret { Value::from(REDACTED) } else { value };
        shown.insert(name, value);
    }
    shown
}

fn clean_value(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::from(text::clip(&hippo_redact::redact(text), MOST_VALUE)),
        Value::Array(items) => items.iter().take(MOST_VALUES).map(clean_value).collect(),
        Value::Object(inner) => Value::Object(clean_data(inner)),
        other => other.clone(),
    }
}

/// Removes values that, together with their name, contain a secret. If only several values together contain a secret,
/// removes the last ones.
pub(crate) fn drop_secrets(data: &mut Map<String, Value>) {
    while shows_secret(&to_json(data)) {
        let alone = data.iter().find(|(name, value)| pair_shows_secret(name, value));
        let suspect = alone.or_else(|| data.iter().next_back());
        let Some(name) = suspect.map(|(name, _)| name.clone()) else {
            break;
        };
        data.remove(&name);
    }
}

/// Returns true if a name and its value together contain a secret.
pub(crate) fn pair_shows_secret(name: &str, value: &Value) -> bool {
    shows_secret(&pair_to_json(name, value))
}

/// Removes secrets that are recognised only when all parts of the entry are combined.
pub(super) fn hide_secrets(entry: &mut ContextEntry) {
    if let Some(data) = &mut entry.key_data {
        drop_secrets(data);
    }
    if shows_secret(&format_block(entry)) {
        entry.key_data = None;
        entry.summary = hippo_redact::redact(&entry.summary).into_owned();
    }
    // One part of the entry may look like the label of a secret in the next part, such as `password:`.
    if shows_secret(&format_block(entry)) {
        entry.source.reference = REDACTED.to_owned();
    }
    if shows_secret(&format_block(entry)) {
        entry.summary = REDACTED.to_owned();
    }
    entry.key_data = entry.key_data.take().filter(|data| !data.is_empty());
}

/// Shortens the longest values, then the summary, until the entry has at most `most` tokens.
pub(super) fn shrink_to(entry: &mut ContextEntry, most: usize) {
    while count_tokens(entry) > most {
        let Some(data) = &mut entry.key_data else { break };
        let size = |(name, value): &(&String, &Value)| pair_to_json(name, value).len();
        let Some((name, _)) = data.iter().max_by_key(size) else {
            break;
        };
        let name = name.clone();
        if !data.get_mut(&name).is_some_and(shorten) {
            data.remove(&name);
        }
        entry.key_data = entry.key_data.take().filter(|data| !data.is_empty());
    }
    let mut bytes = entry.summary.len();
    while count_tokens(entry) > most && bytes > 8 {
        bytes -= (bytes / 8).max(4);
        entry.summary = text::clip(&entry.summary, bytes.max(8));
    }
    // A shortened text may look like a secret if a label precedes it.
    let shows = |data: &Map<String, Value>| shows_secret(&to_json(data));
    if shows_secret(&format_block(entry)) || entry.key_data.as_ref().is_some_and(shows) {
        entry.key_data = None;
    }
}

/// Removes the last eighth of the values of a list or an object. The first values are kept, because they matter most.
/// Returns false if nothing could be removed.
fn shorten(value: &mut Value) -> bool {
    let fewer = |count: usize| count - count.div_ceil(8);
    match value {
        Value::Array(items) if items.len() > 1 => items.truncate(fewer(items.len())),
        Value::Object(inner) if inner.len() > 1 => {
            let kept = fewer(inner.len());
            *inner = std::mem::take(inner).into_iter().take(kept).collect();
        }
        Value::Array(items) => return items.first_mut().is_some_and(shorten),
        Value::Object(inner) => return inner.values_mut().next().is_some_and(shorten),
        _ => return false,
    }
    true
}

/// Counts the tokens of an entry as rendered, or as JSON if the JSON is longer and can be shortened.
pub(super) fn count_tokens(entry: &ContextEntry) -> usize {
    let rendered = tokens::of(&format_block(entry));
    let wire = serde_json::to_string(entry).map_or(0, |text| tokens::of(&text));
    let names: usize = entry.modifiers.associations.iter().map(String::len).sum();
    // Names and references are given by the caller and cannot be shortened.
    let fixed = (names + entry.id.len() + entry.source.reference.len()) / 4;
    match fixed + 150 > MOST_TOKENS {
        true => rendered,
        false => rendered.max(wire),
    }
}

pub(crate) fn to_json(data: &Map<String, Value>) -> String {
    serde_json::to_string(data).unwrap_or_default()
}

fn pair_to_json(name: &str, value: &Value) -> String {
    to_json(&[(name.to_owned(), value.clone())].into_iter().collect())
}
