//! Do two texts about the same matter state different values?
//!
//! Near-duplicates are often a fact and its correction: "lease 30 s", "lease 120 s". Merging them would lose one of the
//! two. So texts may only be merged when nothing that could be a value differs; a doubt counts as a difference.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use rust_stemmers::{Algorithm, Stemmer};

use crate::retrieval::terms::is_stop;
use crate::time::{MONTHS, WEEKDAYS};

/// What differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Conflict {
    /// A number, an amount, a version, a date or a time.
    Number,
    /// One says that something is not so.
    Negation,
    /// One says the opposite: "enabled", "disabled".
    Opposite,
    /// A name, or a word that may be one.
    Name,
    /// Each says a word that the other does not.
    Word,
    /// The same words in another order, where order matters: "from a to b".
    Order,
}

/// Words that deny.
const NEGATIONS: [&str; 31] = [
    "not", "no", "never", "none", "nobody", "nothing", "neither", "nor", "without", "cannot", "cant", "dont",
    "doesnt", "didnt", "isnt", "arent", "wasnt", "werent", "wont", "wouldnt", "shouldnt", "couldnt", "hasnt",
    "havent", "hadnt", "mustnt", "nicht", "kein", "keine", "nie", "ohne",
];

/// Words of which only one can be so.
const OPPOSITES: [(&str, &str); 26] = [
    ("enable", "disable"),
    ("on", "off"),
    ("true", "false"),
    ("start", "stop"),
    ("increase", "decrease"),
    ("raise", "lower"),
    ("allow", "deny"),
    ("allow", "forbid"),
    ("accept", "reject"),
    ("approve", "reject"),
    ("before", "after"),
    ("open", "close"),
    ("up", "down"),
    ("add", "remove"),
    ("active", "inactive"),
    ("public", "private"),
    ("pass", "fail"),
    ("succeed", "fail"),
    ("left", "right"),
    ("first", "last"),
    ("min", "max"),
    ("more", "less"),
    ("like", "dislike"),
    ("buy", "sell"),
    ("keep", "drop"),
    ("yes", "no"),
];

/// Words that take something back: one text alone with such a word says that the other is out of date.
const REVERSALS: [&str; 14] = [
    "reversed",
    "reverted",
    "cancelled",
    "canceled",
    "dropped",
    "instead",
    "longer",
    "former",
    "previous",
    "obsolete",
    "deprecated",
    "replaced",
    "superseded",
    "withdrawn",
];

/// Words that give the order of their neighbours a meaning.
const DIRECTED: [&str; 18] = [
    "from", "to", "than", "before", "after", "instead", "over", "into", "by", "of", "for", "under", "above",
    "below", "until", "versus", "vs", "replaces",
];

/// Number words, so that "five" and "5" are one.
const NUMBERS: [&str; 13] = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
];

/// The tables above in the form in which words are compared.
struct Tables {
    opposites: Vec<(String, String)>,
    reversals: Vec<String>,
}

static TABLES: LazyLock<Tables> = LazyLock::new(|| {
    let stemmer = Stemmer::create(Algorithm::English);
    let pairs = OPPOSITES.iter();
    Tables {
        opposites: pairs
            .map(|(a, b)| (stem(a, &stemmer), stem(b, &stemmer)))
            .collect(),
        reversals: REVERSALS.iter().map(|word| stem(word, &stemmer)).collect(),
    }
});

fn stem(lower: &str, stemmer: &Stemmer) -> String {
    if lower.len() > 2 && lower.bytes().all(|byte| byte.is_ascii_lowercase()) {
        stemmer.stem(lower).into_owned()
    } else {
        lower.to_owned()
    }
}

/// What a text states, word by word.
#[derive(Debug, Default)]
struct Stated {
    numbers: Vec<String>,
    names: BTreeSet<String>,
    negations: usize,
    /// Stems of the words that say something, in order; names included.
    words: Vec<String>,
    /// All stems, stop words included.
    all: BTreeSet<String>,
    directed: bool,
}

/// The first kind of value in which two texts differ; `None`: whatever one states, the other does not change.
///
/// Symmetric. One text may say more than the other as long as that is no value.
#[must_use]
pub fn value_conflict(a: &str, b: &str) -> Option<Conflict> {
    let stemmer = Stemmer::create(Algorithm::English);
    let (a, b) = (Stated::of(a, &stemmer), Stated::of(b, &stemmer));
    if a.numbers != b.numbers {
        return Some(Conflict::Number);
    }
    if a.negations % 2 != b.negations % 2 {
        return Some(Conflict::Negation);
    }
    let only_a: Vec<&String> = a.words.iter().filter(|word| !b.all.contains(*word)).collect();
    let only_b: Vec<&String> = b.words.iter().filter(|word| !a.all.contains(*word)).collect();
    let reversed = |only: &[&String]| only.iter().any(|word| TABLES.reversals.contains(word));
    if opposed(&a, &b) || opposed(&b, &a) || reversed(&only_a) || reversed(&only_b) {
        return Some(Conflict::Opposite);
    }
    let unknown =
        |names: &BTreeSet<String>, other: &Stated| names.iter().any(|name| !other.all.contains(name));
    if unknown(&a.names, &b) || unknown(&b.names, &a) {
        return Some(Conflict::Name);
    }
    if !only_a.is_empty() && !only_b.is_empty() {
        return Some(Conflict::Word);
    }
    let common = |from: &Stated, other: &Stated| -> Vec<String> {
        from.words
            .iter()
            .filter(|word| other.all.contains(*word))
            .cloned()
            .collect()
    };
    let (in_a, in_b) = (common(&a, &b), common(&b, &a));
    ((a.directed || b.directed) && in_a != in_b).then_some(Conflict::Order)
}

/// Whether `a` says one of two opposites and `b` the other one.
fn opposed(a: &Stated, b: &Stated) -> bool {
    TABLES.opposites.iter().any(|(one, other)| {
        let here = a.all.contains(one) && !b.all.contains(one);
        here && b.all.contains(other) && !a.all.contains(other)
    })
}

impl Stated {
    fn of(text: &str, stemmer: &Stemmer) -> Self {
        let mut stated = Self::default();
        let mut first = true;
        for raw in text.split(|mark: char| {
            mark.is_whitespace() || matches!(mark, '(' | ')' | '"' | ',' | ';' | '/' | '=')
        }) {
            let ends = raw.ends_with(['.', '!', '?', ':']);
            let word = raw.trim_matches(|mark: char| {
                !mark.is_alphanumeric() && !matches!(mark, '€' | '$' | '%' | '£' | '+' | '-')
            });
            let word = word.trim_end_matches('-');
            if !word.is_empty() {
                stated.word(word, first, stemmer);
                first = false;
            }
            first |= ends;
        }
        stated
    }

    fn word(&mut self, word: &str, first: bool, stemmer: &Stemmer) {
        let base = word
            .strip_suffix("'s")
            .or_else(|| word.strip_suffix("’s"))
            .unwrap_or(word);
        let lower: String = base
            .to_lowercase()
            .chars()
            .filter(|mark| !matches!(mark, '\'' | '’'))
            .collect();
        let spelled = NUMBERS.iter().position(|number| *number == lower);
        if lower.chars().any(|mark| mark.is_ascii_digit()) {
            self.numbers.push(lower);
            return;
        }
        // "one" is mostly an article.
        if let Some(number) = spelled.filter(|number| *number != 1) {
            self.numbers.push(number.to_string());
            return;
        }
        // A sign or a currency by itself belongs to a number: "5 %".
        if !lower.chars().any(char::is_alphabetic) {
            if lower.contains(['€', '$', '%', '£']) {
                self.numbers.push(lower);
            }
            return;
        }
        if NEGATIONS.contains(&lower.as_str()) {
            self.negations += 1;
            self.all.insert(lower);
            return;
        }
        let capital = base.starts_with(char::is_uppercase);
        // Months and weekdays are values although they are words.
        let calendar = MONTHS.iter().chain(&WEEKDAYS).any(|name| *name == lower);
        if calendar && (capital || lower != "may" && lower != "march") {
            self.numbers.push(lower);
            return;
        }
        self.directed |= DIRECTED.contains(&lower.as_str());
        let plain = lower.len() > 2 && lower.bytes().all(|byte| byte.is_ascii_lowercase());
        let stem = stem(&lower, stemmer);
        self.all.insert(stem.clone());
        if is_stop(&lower) {
            return;
        }
        let inner = base.chars().skip(1).any(char::is_uppercase);
        if (capital && !first) || inner || !plain {
            self.names.insert(stem.clone());
        }
        self.words.push(stem);
    }
}
