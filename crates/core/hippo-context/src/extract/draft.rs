//! Packing of extracted facts into the tokens of an entry.

use serde_json::{Map, Value};

use super::{ContentKind, Extract};
use crate::capture::clean::{drop_secrets, pair_shows_secret};
use hippo_redact::value_without_secrets;
use hippo_text::text::clip;
use hippo_types::tokens;

/// Maximum bytes of a value.
const VALUE: usize = 160;
/// Maximum number of candidate values kept per fact.
pub(super) const KEPT: usize = 400;
/// Minimum bytes of a shortened text.
const SHORT: usize = 30;
/// Number of consecutive values that may fail to fit before a fact is skipped.
const MISSED: usize = 6;

/// The result of an extractor, with the most important parts first.
#[derive(Debug, Clone)]
pub(super) struct Draft {
    kind: ContentKind,
    headline: String,
    more: Vec<String>,
    facts: Vec<DraftFact>,
}

#[derive(Debug, Clone)]
struct DraftFact {
    key: String,
    items: Items,
    /// Number of values of this fact that take precedence over the further values of earlier facts.
    least: usize,
}

#[derive(Debug, Clone)]
enum Items {
    One(Value),
    List(Vec<String>),
    Pairs(Vec<(String, Value)>),
}

impl Items {
    fn len(&self) -> usize {
        match self {
            Self::One(_) => 1,
            Self::List(items) => items.len(),
            Self::Pairs(items) => items.len(),
        }
    }
}

impl Draft {
    pub fn new(kind: ContentKind, headline: impl Into<String>) -> Self {
        Self {
            kind,
            headline: headline.into(),
            more: Vec::new(),
            facts: Vec::new(),
        }
    }

    /// Adds a sentence to the summary.
    pub fn say(&mut self, sentence: impl Into<String>) {
        let sentence = sentence.into();
        if !sentence.trim().is_empty() {
            self.more.push(sentence);
        }
    }

    /// Adds a single value.
    pub fn one(&mut self, key: &str, value: impl Into<Value>) {
        self.fact(key, Items::One(value.into()), 1);
    }

    /// Adds a list of texts. Its first `least` texts take precedence over the further values of earlier facts.
    pub fn list(&mut self, key: &str, items: impl IntoIterator<Item = String>, least: usize) {
        let items: Vec<String> = items
            .into_iter()
            .filter(|item| !item.trim().is_empty())
            .take(KEPT)
            .collect();
        self.fact(key, Items::List(items), least);
    }

    /// Adds values by name.
    pub fn pairs<V: Into<Value>>(
        &mut self,
        key: &str,
        items: impl IntoIterator<Item = (String, V)>,
        least: usize,
    ) {
        let items = items
            .into_iter()
            .take(KEPT)
            .map(|(name, value)| (name, value.into()));
        self.fact(key, Items::Pairs(items.collect()), least);
    }

    fn fact(&mut self, key: &str, items: Items, least: usize) {
        if items.len() > 0 && !self.facts.iter().any(|fact| fact.key == key) {
            self.facts.push(DraftFact {
                key: key.to_owned(),
                items,
                least,
            });
        }
    }

    /// Packs as much as fits, in this order: the headline, the first values of each fact, the remaining values, further
    /// sentences.
    pub fn within(self, budget: usize, content_tokens: usize) -> Extract {
        // Reserve room for values, so that a long headline cannot displace them.
        let said = if self.facts.is_empty() {
            budget
        } else {
            budget * 9 / 20
        };
        let mut entry = BudgetedEntry::new(budget);
        entry.summary = clip(&value_without_secrets(&self.headline), tokens::bytes(said.max(6)));
        for sentence in &self.more {
            entry.say(sentence, said);
        }
        let mut taken = vec![0; self.facts.len()];
        for whole in [false, true] {
            for (fact, taken) in self.facts.iter().zip(&mut taken) {
                let until = if whole { usize::MAX } else { fact.least };
                entry.take(fact, taken, until);
            }
        }
        for sentence in &self.more {
            entry.say(sentence, budget);
        }
        entry.finish(self.kind, content_tokens)
    }
}

/// An entry under construction.
struct BudgetedEntry {
    budget: usize,
    summary: String,
    data: Map<String, Value>,
    /// Bytes of `data` as JSON.
    bytes: usize,
}

impl BudgetedEntry {
    fn new(budget: usize) -> Self {
        Self {
            budget,
            summary: String::new(),
            data: Map::new(),
            bytes: 2,
        }
    }

    /// Appends a sentence if the summary then has at most `most` tokens and the entry stays within its budget.
    fn say(&mut self, sentence: &str, most: usize) {
        let sentence = clip(&value_without_secrets(sentence), 2_000);
        if sentence.is_empty() {
            return;
        }
        let longer = format!("{}; {sentence}", self.summary);
        let fits = tokens::of(&longer) <= most && self.tokens(&longer, self.bytes) <= self.budget;
        if fits && !self.summary.contains(&sentence) {
            self.summary = longer;
        }
    }

    fn tokens(&self, summary: &str, bytes: usize) -> usize {
        let data = if bytes > 2 { bytes + 1 } else { 0 };
        tokens::of_bytes(summary.len() + data)
    }

    /// Adds values of a fact, starting at `taken`, until `until` of them are included.
    fn take(&mut self, fact: &DraftFact, taken: &mut usize, until: usize) {
        let mut missed = 0;
        while *taken < fact.items.len().min(until) && missed < MISSED {
            let fits = match &fact.items {
                Items::One(value) => self.put(&fact.key, None, value) || self.put_short(&fact.key, value),
                Items::List(items) => items.get(*taken).is_some_and(|item| self.push(&fact.key, item)),
                Items::Pairs(items) => items
                    .get(*taken)
                    .is_some_and(|(name, value)| self.put(&fact.key, Some(name), value)),
            };
            missed += usize::from(!fits);
            *taken += 1;
        }
    }

    fn push(&mut self, key: &str, item: &str) -> bool {
        let item = clip(&value_without_secrets(item), VALUE);
        if item.is_empty() || pair_shows_secret(key, &Value::from(item.as_str())) {
            return true;
        }
        let list = match self.data.get(key) {
            Some(Value::Array(list)) => Some(list),
            _ => None,
        };
        if list.is_some_and(|list| list.iter().any(|known| known.as_str() == Some(&item))) {
            return true;
        }
        let value = Value::from(item);
        let added = match list {
            Some(_) => json_len(&value) + 1,
            None => key_len(key, self.data.is_empty()) + 2 + json_len(&value),
        };
        if self.tokens(&self.summary, self.bytes + added) > self.budget {
            return false;
        }
        self.bytes += added;
        if let Value::Array(list) = self.data.entry(key).or_insert_with(|| Value::Array(Vec::new())) {
            list.push(value);
        }
        true
    }

    /// Adds a value under a key, or under a name in the object at a key.
    fn put(&mut self, key: &str, name: Option<&str>, value: &Value) -> bool {
        let value = match value {
            Value::String(text) => match clip(&value_without_secrets(text), VALUE) {
                shown if shown.is_empty() && !text.is_empty() => return true,
                shown => Value::from(shown),
            },
            other => other.clone(),
        };
        let name = name.map(|name| clip(&value_without_secrets(name), VALUE));
        if name.as_deref() == Some("") || pair_shows_secret(name.as_deref().unwrap_or(key), &value) {
            return true;
        }
        let object = match self.data.get(key) {
            Some(Value::Object(object)) => Some(object),
            Some(_) => return true,
            None => None,
        };
        let added = match (&name, object) {
            (None, _) => key_len(key, self.data.is_empty()) + json_len(&value),
            (Some(name), Some(object)) if object.contains_key(name) => return true,
            (Some(name), Some(_)) => key_len(name, false) + json_len(&value),
            (Some(name), None) => {
                key_len(key, self.data.is_empty()) + 2 + key_len(name, true) + json_len(&value)
            }
        };
        if self.tokens(&self.summary, self.bytes + added) > self.budget {
            return false;
        }
        self.bytes += added;
        match name {
            None => {
                self.data.insert(key.to_owned(), value);
            }
            Some(name) => {
                let object = self.data.entry(key).or_insert_with(|| Value::Object(Map::new()));
                if let Value::Object(object) = object {
                    object.insert(name, value);
                }
            }
        }
        true
    }

    /// Adds the start of a text that does not fit completely, if at least a few words of it fit.
    fn put_short(&mut self, key: &str, value: &Value) -> bool {
        let Value::String(text) = value else { return false };
        let used = self.tokens(&self.summary, self.bytes.max(3));
        let room = tokens::bytes(self.budget.saturating_sub(used)).saturating_sub(key.len() + 8);
        room >= SHORT && self.put(key, None, &Value::from(clip(&value_without_secrets(text), room)))
    }

    fn finish(mut self, kind: ContentKind, content_tokens: usize) -> Extract {
        drop_secrets(&mut self.data);
        let shown = hippo_redact::redact(&rendered(&self.summary, &self.data)).into_owned();
        if shown != rendered(&self.summary, &self.data) {
            self.data.clear();
            self.summary = hippo_redact::redact(&self.summary).into_owned();
        }
        let summary = clip(&self.summary, tokens::bytes(self.budget));
        let entry_tokens = tokens::of(&rendered(&summary, &self.data));
        Extract {
            kind,
            summary,
            key_data: self.data,
            content_tokens,
            entry_tokens,
        }
    }
}

pub(super) fn rendered(summary: &str, data: &Map<String, Value>) -> String {
    if data.is_empty() {
        return summary.to_owned();
    }
    format!("{summary}\n{}", json(data))
}

fn json(data: &Map<String, Value>) -> String {
    serde_json::to_string(data).unwrap_or_default()
}

fn json_len(value: &Value) -> usize {
    match value {
        Value::Number(_) | Value::Bool(_) | Value::Null => value.to_string().len(),
        _ => serde_json::to_string(value).map_or(VALUE, |text| text.len()),
    }
}

/// Returns the bytes of `"key":` and of the comma before it.
fn key_len(key: &str, first: bool) -> usize {
    json_len(&Value::from(key)) + 1 + usize::from(!first)
}
