//! What does a text state, word by word?

use std::collections::{BTreeMap, BTreeSet};

use unicode_normalization::UnicodeNormalization;

use super::number::{Value, spelled, values};
use super::pieces::{Script, is_place, is_unspaced, pieces, script as script_of};
use super::words::{self, Forms};
use crate::time::{MONTHS, WEEKDAYS};

/// Forms of "to be".
const BE: [&str; 7] = ["is", "are", "was", "were", "be", "been", "being"];

/// What a text states.
#[derive(Debug, Default)]
pub(super) struct Stated {
    /// Amounts, times, dates, versions, in order: those of the summary, then those that only the topic has.
    pub values: Vec<Value>,
    /// Those of the topic.
    pub heading: Vec<Value>,
    /// Forms of the words that are denied.
    pub denied: Vec<String>,
    /// Forms of the words that say something, values included, in order.
    pub order: Vec<String>,
    /// Those of them that may be a name or are a value.
    pub names: BTreeSet<String>,
    /// Those of them that take back or limit what is said.
    pub limits: BTreeSet<String>,
    /// Those of them that follow an "and" or "or".
    pub listed: BTreeSet<String>,
    /// Forms of all words of the topic.
    pub topic: BTreeSet<String>,
    /// Forms of all words of the summary.
    pub summary: BTreeSet<String>,
    /// Those of all forms that are verbs which state little of their own.
    pub light: BTreeSet<String>,
    /// The words of the summary in order, articles left out.
    pub words: Vec<String>,
    /// Words that give a part to play, and what plays it.
    pub parts: BTreeMap<&'static str, BTreeSet<String>>,
    /// What is done by whom: the two forms around a "by".
    pub agents: BTreeSet<(String, String)>,
    /// Forms that follow each other with nothing that says something between them.
    pub neighbours: BTreeSet<(String, String)>,
}

/// What was read last.
#[derive(Debug, Default)]
struct Before {
    /// The last word, in lower case.
    word: String,
    /// The word before that one.
    earlier: String,
    /// The last form that says something.
    form: Option<String>,
    /// It was denied, listed, or given a part, by the word before.
    denied: bool,
    listed: bool,
    part: Option<&'static str>,
    /// A "by" came before.
    by: bool,
    /// A number was the last word, and may have its unit behind it.
    number: bool,
}

fn is_article(lower: &str) -> bool {
    matches!(lower, "a" | "an" | "the")
}

/// Reads texts.
pub(super) struct Reader {
    forms: Forms,
    before: Before,
    stated: Stated,
}

impl Stated {
    /// Whether a form is that of one of the words.
    pub fn has(&self, form: &String) -> bool {
        self.summary.contains(form) || self.topic.contains(form)
    }

    /// What a topic and its summary state together. A value that the summary repeats counts once.
    pub fn of(topic: &str, summary: &str) -> Self {
        let mut reader = Reader {
            forms: Forms::new(),
            before: Before::default(),
            stated: Self::default(),
        };
        reader.text(topic);
        reader.before = Before::default();
        let named = std::mem::take(&mut reader.stated.values);
        reader.stated.topic = std::mem::take(&mut reader.stated.summary);
        reader.stated.words.clear();
        reader.stated.light.clear();
        reader.text(summary);
        let mut stated = reader.stated;
        let more = named.iter().filter(|value| !stated.values.contains(value));
        stated.values = stated.values.iter().chain(more).cloned().collect();
        stated.heading = named;
        stated
    }
}

impl Reader {
    fn text(&mut self, text: &str) {
        let text: String = text
            .nfkc()
            .map(|mark| if mark == '\u{2212}' { '-' } else { mark })
            .collect();
        let mut first = true;
        for raw in text.split_whitespace() {
            if matches!(raw, "→" | "->" | "=>" | "⇒") {
                self.before.part = words::part("to");
                continue;
            }
            self.marks(raw);
            if is_place(raw) {
                let place = raw
                    .trim_matches(|mark: char| !mark.is_alphanumeric() && !matches!(mark, '/' | '~' | '.'));
                self.name(place.trim_end_matches(['.', '/']).to_lowercase());
                first = raw.ends_with(['.', ':']);
                continue;
            }
            for (at, word) in pieces(raw).enumerate() {
                // "Requests/s" are requests per second.
                let word = match word.trim_end_matches(['.', ',']) {
                    "s" | "sec" if at > 0 => "second",
                    "min" if at > 0 => "minute",
                    "h" | "hr" if at > 0 => "hour",
                    _ => word,
                };
                let ends = word.ends_with(['.', '!', '?', ':']);
                self.word(word, first);
                first = ends || first && !word.contains(char::is_alphanumeric);
            }
            self.before.number &= !raw.ends_with([',', ';', ':', '.']);
            self.before.listed |= raw.ends_with([',', '、']);
        }
    }

    /// Signs that state something: "< 300 ms", a tick.
    fn marks(&mut self, raw: &str) {
        for mark in raw.chars().filter(|mark| words::is_mark(*mark)) {
            self.stated.values.push(Value::new("mark", mark));
        }
        let rest = raw.trim_start_matches(['<', '>', '≤', '≥', '=', '!', '±', '≠']);
        let sign = &raw[..raw.len() - rest.len()];
        if !sign.is_empty()
            && sign != "!"
            && (rest.is_empty() || rest.starts_with(|mark: char| mark.is_ascii_digit()))
        {
            self.stated.values.push(Value::new("mark", sign));
        }
    }

    fn word(&mut self, word: &str, first: bool) {
        let word = word.trim_matches(|mark: char| {
            !mark.is_alphanumeric() && !matches!(mark, '€' | '$' | '%' | '£' | '+' | '-' | '#' | '°')
        });
        let word = word.trim_end_matches('-');
        let base = word
            .strip_suffix("'s")
            .or_else(|| word.strip_suffix("’s"))
            .unwrap_or(word);
        let lower: String = base
            .to_lowercase()
            .chars()
            .filter(|mark| !matches!(mark, '\'' | '’' | '`'))
            .collect();
        if lower.is_empty() {
            return;
        }
        if !is_article(&lower) {
            self.stated.words.push(lower.clone());
        }
        if lower.contains(is_unspaced) {
            return self.unspaced(&lower);
        }
        if self.number(base, &lower) || !lower.contains(char::is_alphabetic) {
            return;
        }
        self.plain(base, &lower, first);
        self.before.earlier = std::mem::replace(&mut self.before.word, lower);
    }

    /// Takes a number, or the unit of the number before.
    fn number(&mut self, base: &str, lower: &str) -> bool {
        if std::mem::take(&mut self.before.number)
            && let Some(last) = self.stated.values.last_mut()
            && last.take(lower)
        {
            // "2 million euros".
            self.before.number = true;
            return true;
        }
        let capital = base.starts_with(char::is_uppercase);
        let one = lower
            .strip_suffix('s')
            .filter(|day| day.ends_with("day"))
            .unwrap_or(lower);
        let calendar = MONTHS.iter().chain(&WEEKDAYS).any(|name| *name == one);
        let found = if lower.contains(char::is_numeric) {
            values(lower)
        } else if let Some(value) = spelled(lower) {
            vec![value]
        } else if calendar && (capital || one != "may" && one != "march") {
            vec![Value::new("calendar", one)]
        } else if lower.contains(['€', '$', '%', '£']) {
            vec![Value::new("sign", lower)]
        } else {
            return false;
        };
        for value in found {
            self.say(format!("{} {} {}", value.number, value.scale, value.kind));
            self.stated.values.push(value);
        }
        self.before.number = true;
        true
    }

    fn plain(&mut self, base: &str, lower: &str, first: bool) {
        if words::denies(lower) {
            self.before.denied = true;
            self.stated.summary.insert(lower.to_owned());
            self.stated.denied.push(String::new());
            return;
        }
        // "Noor used to own it": no more.
        if lower == "to" && self.before.word == "used" && !BE.contains(&self.before.earlier.as_str()) {
            self.stated.limits.insert("formerly".to_owned());
            self.stated.summary.insert("formerly".to_owned());
        }
        if let Some(form) = self.forms.joined(&self.before.word, lower) {
            return self.join(form);
        }
        // "Plan A", "Team S".
        let letter = base.len() == 1 && base.starts_with(char::is_uppercase) && base != "I";
        if letter && !(first && base == "A") {
            return self.name(base.to_owned());
        }
        let form = self.forms.of(lower);
        self.stated.summary.insert(form.clone());
        let limits = words::limits(lower);
        if limits {
            self.stated.limits.insert(form.clone());
        }
        let value = words::is_value(&form);
        if words::is_silent(lower, &form) && !value {
            self.stated.light.extend(words::light(&form).cloned());
            self.before.part = words::part(lower).or(self.before.part);
            self.before.by |= lower == "by";
            self.before.listed &= is_article(lower);
            self.before.listed |= matches!(lower, "and" | "or" | "plus" | "und" | "oder");
            return;
        }
        let inner = base.chars().skip(1).any(char::is_uppercase);
        let plain = lower.len() > 2 && lower.bytes().all(|byte| byte.is_ascii_lowercase());
        if (base.starts_with(char::is_uppercase) && !first) || inner || !plain || value {
            self.stated.names.insert(form.clone());
        }
        self.say(form);
    }

    /// A word that stands for something and nothing else.
    fn name(&mut self, lower: String) {
        self.stated.summary.insert(lower.clone());
        self.stated.names.insert(lower.clone());
        self.before.number = false;
        self.say(lower);
    }

    /// Notes a form that says something, and what the words before make of it.
    fn say(&mut self, form: String) {
        let stated = &mut self.stated;
        if std::mem::take(&mut self.before.denied)
            && let Some(denied) = stated.denied.last_mut()
        {
            denied.clone_from(&form);
        }
        if std::mem::take(&mut self.before.listed) {
            stated.listed.insert(form.clone());
        }
        if let Some(part) = self.before.part.take() {
            stated.parts.entry(part).or_default().insert(form.clone());
        }
        if let Some(last) = self.before.form.replace(form.clone()) {
            if std::mem::take(&mut self.before.by) {
                stated.agents.insert((last, form.clone()));
            } else {
                stated.neighbours.insert((last, form.clone()));
            }
        }
        stated.order.push(form);
    }

    /// The word before and this one are one.
    fn join(&mut self, form: String) {
        let verb = self.forms.of(&self.before.word);
        if self.before.form.as_ref() == Some(&verb) {
            self.stated.order.pop();
            self.stated.names.remove(&verb);
            self.stated.neighbours.retain(|(_, last)| *last != verb);
        }
        self.stated.summary.insert(form.clone());
        self.stated.order.push(form.clone());
        self.before.form = Some(form);
    }

    /// Scripts without spaces: kanji and katakana are names, hiragana mostly endings.
    fn unspaced(&mut self, lower: &str) {
        let mut rest = lower;
        while let Some(first) = rest.chars().next() {
            let script = script_of(first);
            let end = match script {
                Script::Han => first.len_utf8(),
                _ => rest.find(|mark| script_of(mark) != script).unwrap_or(rest.len()),
            };
            let (run, tail) = rest.split_at(end);
            rest = tail;
            let (silent, denies) = match script {
                Script::Han => words::han(first),
                Script::Hiragana => words::kana(run),
                Script::Katakana => (false, false),
                Script::Other => {
                    if run.contains(char::is_alphanumeric) {
                        self.word(run, true);
                        self.before.number = false;
                    }
                    continue;
                }
            };
            if denies {
                self.before.denied = true;
                self.stated.denied.push(String::new());
            }
            if silent {
                self.stated.summary.insert(run.to_owned());
            } else {
                self.name(run.to_owned());
            }
        }
    }
}
