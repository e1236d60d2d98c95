//! Packing of extracted values into the token limit of an entry.

use serde_json::{Map, Value};

use super::{ContentKind, Extract};
use crate::capture::clean::{drop_secrets, pair_shows_secret, to_json};
use hippo_redact::value_without_secrets;
use hippo_text::text::clip;
use hippo_types::tokens;

/// Maximum bytes of a string in the key data.
const VALUE: usize = 160;
/// Maximum number of values collected for a fact (a key of the key data).
pub(super) const KEPT: usize = 400;
/// Minimum bytes of a shortened text.
const SHORT: usize = 30;
/// If this number of values of a fact did not fit, the remaining values of the fact are skipped.
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
    /// An empty list or object that will contain the values, or null for a single value.
    empty: Value,
    /// The values, with their names. The names are empty unless the container is an object.
    items: Vec<(String, Value)>,
    /// Number of values with precedence: they are added before the remaining values of any fact.
    least: usize,
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
        self.fact(key, Value::Null, [(String::new(), value.into())], 1);
    }

    /// Adds a list of texts. The first `least` texts are added to the entry before the remaining values of any fact.
    pub fn list(&mut self, key: &str, items: impl IntoIterator<Item = String>, least: usize) {
        let items = items.into_iter().filter(|item| !item.trim().is_empty());
        let items = items.map(|item| (String::new(), Value::from(item)));
        self.fact(key, Value::Array(Vec::new()), items, least);
    }

    /// Adds named values.
    pub fn pairs<V: Into<Value>>(
        &mut self,
        key: &str,
        items: impl IntoIterator<Item = (String, V)>,
        least: usize,
    ) {
        let items = items.into_iter().map(|(name, value)| (name, value.into()));
        self.fact(key, Value::Object(Map::new()), items, least);
    }

    fn fact(
        &mut self,
        key: &str,
        empty: Value,
        items: impl IntoIterator<Item = (String, Value)>,
        least: usize,
    ) {
        let items: Vec<(String, Value)> = items.into_iter().take(KEPT).collect();
        if !items.is_empty() && !self.facts.iter().any(|fact| fact.key == key) {
            self.facts.push(DraftFact {
                key: key.to_owned(),
                empty,
                items,
                least,
            });
        }
    }

    /// Packs as much as fits, in this order: the headline, the first values of each fact, the remaining values, further
    /// sentences.
    pub fn within(self, budget: usize, content_tokens: usize) -> Extract {
        // Reserve room for values, so that a long headline cannot displace them.
        let said = match self.facts.is_empty() {
            true => budget,
            false => budget * 9 / 20,
        };
        let mut entry = BudgetedEntry {
            budget,
            summary: clip(&value_without_secrets(&self.headline), tokens::bytes(said.max(6))),
            data: Map::new(),
        };
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

/// An entry under construction, which never exceeds its budget.
struct BudgetedEntry {
    budget: usize,
    summary: String,
    data: Map<String, Value>,
}

impl BudgetedEntry {
    /// Appends a sentence if the summary then has at most `most` tokens and the entry stays within its budget.
    fn say(&mut self, sentence: &str, most: usize) {
        let sentence = clip(&value_without_secrets(sentence), 2_000);
        if sentence.is_empty() {
            return;
        }
        let longer = format!("{}; {sentence}", self.summary);
        let fits = tokens::of(&longer) <= most && tokens::of(&rendered(&longer, &self.data)) <= self.budget;
        if fits && !self.summary.contains(&sentence) {
            self.summary = longer;
        }
    }

    /// Adds values of a fact, starting at `taken`, until `until` of them are included.
    fn take(&mut self, fact: &DraftFact, taken: &mut usize, until: usize) {
        let mut missed = 0;
        while *taken < fact.items.len().min(until) && missed < MISSED {
            let (name, value) = &fact.items[*taken];
            let fits = self.put(fact, name, value) || fact.empty.is_null() && self.put_short(fact, value);
            missed += usize::from(!fits);
            *taken += 1;
        }
    }

    /// Adds a value of a fact. Returns false if there is no room for it.
    fn put(&mut self, fact: &DraftFact, name: &str, value: &Value) -> bool {
        let value = match value {
            Value::String(text) => match clip(&value_without_secrets(text), VALUE) {
                shown if shown.is_empty() && !text.is_empty() => return true,
                shown => Value::from(shown),
            },
            other => other.clone(),
        };
        let name = clip(&value_without_secrets(name), VALUE);
        let named = fact.empty.is_object();
        let shown = if named { &name } else { &fact.key };
        if named && name.is_empty() || pair_shows_secret(shown, &value) {
            return true;
        }
        let mut data = self.data.clone();
        match data.entry(&fact.key).or_insert_with(|| fact.empty.clone()) {
            Value::Array(list) if list.contains(&value) => return true,
            Value::Array(list) => list.push(value),
            Value::Object(object) if object.contains_key(&name) => return true,
            Value::Object(object) => drop(object.insert(name, value)),
            single => *single = value,
        }
        let fits = tokens::of(&rendered(&self.summary, &data)) <= self.budget;
        if fits {
            self.data = data;
        }
        fits
    }

    /// Adds the start of a text that does not fit completely, if at least a few words fit.
    fn put_short(&mut self, fact: &DraftFact, value: &Value) -> bool {
        let Value::String(text) = value else { return false };
        let used = tokens::of_bytes(self.summary.len() + to_json(&self.data).len().max(3) + 1);
        let room = tokens::bytes(self.budget.saturating_sub(used)).saturating_sub(fact.key.len() + 8);
        let shown = Value::from(clip(&value_without_secrets(text), room));
        room >= SHORT && self.put(fact, "", &shown)
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
    format!("{summary}\n{}", to_json(data))
}
