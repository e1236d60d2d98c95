//! How do summary and key data come to show no secret, and to fit into the tokens of an entry?

use serde_json::{Map, Value};

use super::shows_secret;
use crate::context::ContextEntry;
use crate::context::render::{block, without_sections};
use crate::extract::MOST_TOKENS;
use crate::redact::{self, REDACTED};
use crate::{text, tokens};

/// Bytes of one text in key data that a caller gave, at most.
const MOST_VALUE: usize = 400;
/// Values of a list or an object that a caller gave, at most.
const MOST_VALUES: usize = 100;

/// A summary that a caller gave, or a short content: without secrets, in one line.
pub(super) fn summary(text: &str) -> String {
    let text = without_sections(text);
    text::clip(&redact::redact(&text), MOST_TOKENS * 4)
}

/// The sentences of a message that ask for something once and for all, within some bytes; empty when there are none.
pub(super) fn instructions(text: &str, bytes: usize) -> String {
    const WORDS: [&str; 4] = ["remember", "always", "never", "important"];
    let shown = redact::redact(text);
    let lasting = |sentence: &&str| {
        let mut words = sentence.split(|mark: char| !mark.is_alphanumeric());
        words.any(|word| WORDS.iter().any(|lasting| begins(word, lasting)))
    };
    let sentences = shown.split_inclusive(['\n', '.', '!', '?']).map(str::trim);
    let said: Vec<&str> = sentences.filter(lasting).take(MOST_VALUES).collect();
    text::clip(&said.join(" "), bytes)
}

fn begins(word: &str, lasting: &str) -> bool {
    let start = word.as_bytes().get(..lasting.len());
    start.is_some_and(|start| start.eq_ignore_ascii_case(lasting.as_bytes()))
}

/// Key data that a caller gave, without secrets and without what is far too long.
pub(super) fn data(given: &Map<String, Value>) -> Map<String, Value> {
    let mut shown = Map::new();
    for (name, value) in given.iter().take(MOST_VALUES) {
        let name = text::clip(&redact::redact(name), MOST_VALUE);
        let value = value_of(value);
        // Only beside its name is `hunter2` a secret.
        let secret = !name.is_empty() && shows_secret(&json_of(&name, &value));
        let value = if secret { Value::from(REDACTED) } else { value };
        shown.insert(name, value);
    }
    shown
}

fn value_of(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::from(text::clip(&redact::redact(text), MOST_VALUE)),
        Value::Array(items) => items.iter().take(MOST_VALUES).map(value_of).collect(),
        Value::Object(inner) => Value::Object(data(inner)),
        other => other.clone(),
    }
}

/// Takes out what is seen to be a secret once everything stands side by side.
pub(super) fn hide_secrets(entry: &mut ContextEntry) {
    if let Some(data) = &mut entry.key_data {
        while shows_secret(&json(data)) {
            let alone = data
                .iter()
                .find(|(name, value)| shows_secret(&json_of(name, value)));
            let Some(name) = alone
                .or_else(|| data.iter().next_back())
                .map(|(name, _)| name.clone())
            else {
                break;
            };
            data.remove(&name);
        }
    }
    if shows_secret(&block(entry)) {
        entry.key_data = None;
        entry.summary = redact::redact(&entry.summary).into_owned();
    }
    // Each is clean alone; side by side one may be the name of the other.
    if shows_secret(&block(entry)) {
        entry.source.reference = REDACTED.to_owned();
    }
    if shows_secret(&block(entry)) {
        entry.summary = REDACTED.to_owned();
    }
    entry.key_data = entry.key_data.take().filter(|data| !data.is_empty());
}

/// Takes from the end of the longest values, then from that of the summary, until the entry has at most so many tokens.
pub(super) fn fit(entry: &mut ContextEntry, most: usize) {
    while size(entry) > most {
        let Some(data) = &mut entry.key_data else { break };
        let longest = data.iter().max_by_key(|(name, value)| json_of(name, value).len());
        let Some(name) = longest.map(|(name, _)| name.clone()) else {
            break;
        };
        if !data.get_mut(&name).is_some_and(shorten) {
            data.remove(&name);
        }
        entry.key_data = entry.key_data.take().filter(|data| !data.is_empty());
    }
    let mut bytes = entry.summary.len();
    while size(entry) > most && bytes > 8 {
        bytes -= (bytes / 8).max(4);
        entry.summary = text::clip(&entry.summary, bytes.max(8));
    }
    // What was cut may stand beside another thing now, and be seen to be its value.
    let shows = |data: &Map<String, Value>| shows_secret(&json(data));
    if shows_secret(&block(entry)) || entry.key_data.as_ref().is_some_and(shows) {
        entry.key_data = None;
    }
}

/// Takes the last eighth of a list or an object: what stands first matters most. Whether there was something to take.
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

/// Tokens of an entry: as it is rendered, or on the wire where that is more and can be less.
pub(super) fn size(entry: &ContextEntry) -> usize {
    let rendered = tokens::of(&block(entry));
    let wire = serde_json::to_string(entry).map_or(0, |text| tokens::of(&text));
    let names: usize = entry.modifiers.associations.iter().map(String::len).sum();
    // Names and references are the caller's, and cannot be made shorter here.
    let fixed = (names + entry.id.len() + entry.source.reference.len()) / 4;
    if fixed + 150 > MOST_TOKENS {
        rendered
    } else {
        rendered.max(wire)
    }
}

fn json(data: &Map<String, Value>) -> String {
    serde_json::to_string(data).unwrap_or_default()
}

fn json_of(name: &str, value: &Value) -> String {
    json(&[(name.to_owned(), value.clone())].into_iter().collect())
}
