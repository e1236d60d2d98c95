//! Word-by-word reading of a text for comparison.

use std::collections::{BTreeMap, BTreeSet};

use unicode_normalization::UnicodeNormalization;

use super::number::{StatedValue, parse_number_word, parse_values};
use super::pieces::{Script, is_path, is_unspaced, script as script_of, split_words};
use super::words::{self, MARKS, TABLES};
use hippo_types::time::{MONTHS, WEEKDAYS};

/// Forms of "to be".
const BE: [&str; 7] = ["is", "are", "was", "were", "be", "been", "being"];

/// Words and values of a text. A normalized word, or form, is the stem of a word or of the synonym that represents the
/// word.
#[derive(Debug, Default)]
pub struct TextReading {
    /// Amounts, times, dates and versions, in order: those of the summary, then those only in the topic.
    pub values: Vec<StatedValue>,
    /// Values of the topic.
    pub heading: Vec<StatedValue>,
    /// Negated words, normalized.
    pub denied: Vec<String>,
    /// Significant words, including values, normalized and in order.
    pub order: Vec<String>,
    /// Words of `order` that are values or may be names.
    pub names: BTreeSet<String>,
    /// Words of `order` that withdraw or limit a statement.
    pub limits: BTreeSet<String>,
    /// Words of `order` that follow "and" or "or".
    pub listed: BTreeSet<String>,
    /// All words of the topic, normalized.
    pub topic: BTreeSet<String>,
    /// All words of the summary, normalized.
    pub summary: BTreeSet<String>,
    /// Verbs with little meaning, such as "use", normalized.
    pub light: BTreeSet<String>,
    /// Words of the summary in order, without articles.
    pub words: Vec<String>,
    /// Normalized words that each role word, such as "from", applies to.
    pub parts: BTreeMap<&'static str, BTreeSet<String>>,
    /// Pairs of normalized words before and after "by": the action and its agent.
    pub agents: BTreeSet<(String, String)>,
    /// Pairs of successive significant words, normalized.
    pub neighbours: BTreeSet<(String, String)>,
}

/// State carried from the preceding words.
#[derive(Debug, Default)]
struct ReaderContext {
    /// Last word in lower case.
    word: String,
    /// Word before the last one.
    earlier: String,
    /// Last significant word, normalized.
    form: Option<String>,
    /// `denied`, `listed` and `part` are set if the next word is negated, is listed or has a role.
    denied: bool,
    listed: bool,
    part: Option<&'static str>,
    /// `true` if the last word was "by".
    by: bool,
    /// `true` if the last word was a number, after which a unit may follow.
    number: bool,
}

fn is_article(lower: &str) -> bool {
    matches!(lower, "a" | "an" | "the")
}

/// Reader of a text.
#[derive(Default)]
struct TextReader {
    before: ReaderContext,
    stated: TextReading,
}

impl TextReading {
    /// Returns `true` if the text contains a form.
    pub fn contains(&self, form: &String) -> bool {
        self.summary.contains(form) || self.topic.contains(form)
    }

    /// Reads a topic and its summary. If the summary repeats a value of the topic, the value counts once.
    pub fn read(topic: &str, summary: &str) -> Self {
        let mut reader = TextReader::default();
        reader.read_text(topic);
        reader.before = ReaderContext::default();
        let named = std::mem::take(&mut reader.stated.values);
        reader.stated.topic = std::mem::take(&mut reader.stated.summary);
        reader.stated.words.clear();
        reader.stated.light.clear();
        reader.read_text(summary);
        let mut stated = reader.stated;
        let more = named.iter().filter(|value| !stated.values.contains(value));
        stated.values = stated.values.iter().chain(more).cloned().collect();
        stated.heading = named;
        stated
    }
}

impl TextReader {
    fn read_text(&mut self, text: &str) {
        let text = text.nfkc().collect::<String>().replace('\u{2212}', "-");
        let mut first = true;
        for raw in text.split_whitespace() {
            if matches!(raw, "→" | "->" | "=>" | "⇒") {
                self.before.part = TABLES.directed.get("to").copied();
                continue;
            }
            self.read_signs(raw);
            if is_path(raw) {
                let place = raw
                    .trim_matches(|mark: char| !mark.is_alphanumeric() && !matches!(mark, '/' | '~' | '.'));
                self.record_name(place.trim_end_matches(['.', '/']).to_lowercase());
                first = raw.ends_with(['.', ':']);
                continue;
            }
            for (at, word) in split_words(raw).enumerate() {
                // "Requests/s" means requests per second.
                let word = match word.trim_end_matches(['.', ',']) {
                    "s" | "sec" if at > 0 => "second",
                    "min" if at > 0 => "minute",
                    "h" | "hr" if at > 0 => "hour",
                    _ => word,
                };
                let ends = word.ends_with(['.', '!', '?', ':']);
                self.read_word(word, first);
                first = ends || first && !word.contains(char::is_alphanumeric);
            }
            self.before.number &= !raw.ends_with([',', ';', ':', '.']);
            self.before.listed |= raw.ends_with([',', '、']);
        }
    }

    /// Records signs that have a meaning, such as "<" in "< 300 ms", or a tick.
    fn read_signs(&mut self, raw: &str) {
        for mark in raw.chars().filter(|mark| MARKS.contains(*mark)) {
            self.stated.values.push(StatedValue::new("mark", mark));
        }
        let rest = raw.trim_start_matches(['<', '>', '≤', '≥', '=', '!', '±', '≠']);
        let sign = &raw[..raw.len() - rest.len()];
        if !sign.is_empty()
            && sign != "!"
            && (rest.is_empty() || rest.starts_with(|mark: char| mark.is_ascii_digit()))
        {
            self.stated.values.push(StatedValue::new("mark", sign));
        }
    }

    fn read_word(&mut self, word: &str, first: bool) {
        let word = word.trim_matches(|mark: char| {
            !mark.is_alphanumeric() && !matches!(mark, '€' | '$' | '%' | '£' | '+' | '-' | '#' | '°')
        });
        let word = word.trim_end_matches('-');
        let owner = word.strip_suffix("'s").or_else(|| word.strip_suffix("’s"));
        let base = owner.unwrap_or(word);
        let lower = base.to_lowercase().replace(['\'', '’', '`'], "");
        if lower.is_empty() {
            return;
        }
        if !is_article(&lower) {
            self.stated.words.push(lower.clone());
        }
        if lower.contains(is_unspaced) {
            return self.read_unspaced(&lower);
        }
        if self.read_number(base, &lower) || !lower.contains(char::is_alphabetic) {
            return;
        }
        self.read_plain(base, &lower, first);
        self.before.earlier = std::mem::replace(&mut self.before.word, lower);
    }

    /// Reads a number, or the unit of the preceding number.
    fn read_number(&mut self, base: &str, lower: &str) -> bool {
        if std::mem::take(&mut self.before.number)
            && let Some(last) = self.stated.values.last_mut()
            && last.absorb(lower)
        {
            // A unit may follow the scale: "2 million euros".
            self.before.number = true;
            return true;
        }
        let capital = base.starts_with(char::is_uppercase);
        let days = lower.strip_suffix('s').filter(|day| day.ends_with("day"));
        let one = days.unwrap_or(lower);
        let calendar = MONTHS.iter().chain(&WEEKDAYS).any(|name| *name == one);
        let found = if lower.contains(char::is_numeric) {
            parse_values(lower)
        } else if let Some(value) = parse_number_word(lower) {
            vec![value]
        } else if calendar && (capital || one != "may" && one != "march") {
            vec![StatedValue::new("calendar", one)]
        } else if lower.contains(['€', '$', '%', '£']) {
            vec![StatedValue::new("sign", lower)]
        } else {
            return false;
        };
        for value in found {
            self.record_form(format!("{} {} {}", value.number, value.scale, value.kind));
            self.stated.values.push(value);
        }
        self.before.number = true;
        true
    }

    fn read_plain(&mut self, base: &str, lower: &str, first: bool) {
        if TABLES.negations.contains(lower) {
            self.before.denied = true;
            self.stated.summary.insert(lower.to_owned());
            self.stated.denied.push(String::new());
            return;
        }
        // "Noor used to own it" means that Noor no longer owns it.
        if lower == "to" && self.before.word == "used" && !BE.contains(&self.before.earlier.as_str()) {
            self.stated.limits.insert("formerly".to_owned());
            self.stated.summary.insert("formerly".to_owned());
        }
        if let Some(form) = words::join_particle(&self.before.word, lower) {
            return self.join_particle(form);
        }
        // Single capital letters are names: "Plan A", "Team S".
        let letter = base.len() == 1 && base.starts_with(char::is_uppercase) && base != "I";
        if letter && !(first && base == "A") {
            return self.record_name(base.to_owned());
        }
        let form = words::normalize(lower);
        self.stated.summary.insert(form.clone());
        let limits = TABLES.limits.contains(lower);
        if limits {
            self.stated.limits.insert(form.clone());
        }
        let value = TABLES.values.contains(&form);
        if words::is_silent(lower, &form) && !value {
            self.stated.light.extend(TABLES.light.get(&form).cloned());
            self.before.part = TABLES.directed.get(lower).copied().or(self.before.part);
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
        self.record_form(form);
    }

    /// Records a word that is only a name.
    fn record_name(&mut self, lower: String) {
        self.stated.summary.insert(lower.clone());
        self.stated.names.insert(lower.clone());
        self.before.number = false;
        self.record_form(lower);
    }

    /// Records a significant form with its negation, list position and role.
    fn record_form(&mut self, form: String) {
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

    /// Records the form that joins a verb with its particle, in place of the verb.
    fn join_particle(&mut self, form: String) {
        let verb = words::normalize(&self.before.word);
        if self.before.form.as_ref() == Some(&verb) {
            self.stated.order.pop();
            self.stated.names.remove(&verb);
            self.stated.neighbours.retain(|(_, last)| *last != verb);
        }
        self.stated.summary.insert(form.clone());
        self.stated.order.push(form.clone());
        self.before.form = Some(form);
    }

    /// Reads a word in a script without spaces. Kanji and katakana count as names, and hiragana mostly as endings.
    fn read_unspaced(&mut self, lower: &str) {
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
                        self.read_word(run, true);
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
                self.record_name(run.to_owned());
            }
        }
    }
}
