//! Word-by-word comparison of two parsed texts.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::ValueConflict;
use super::number::StatedValue;
use super::stated::TextReading;
use super::words::TABLES;

impl TextReading {
    /// Returns the first kind of difference between two texts; `None` if neither contradicts the other.
    ///
    /// The result is symmetric. One text may say more, as long as the addition is not a value. Words are compared by
    /// their stems. Tables list synonyms and words without content.
    pub fn conflict(&self, other: &Self) -> Option<ValueConflict> {
        let headings = by_kind(&self.heading) == by_kind(&other.heading)
            || self.heading.is_empty()
            || other.heading.is_empty();
        if !headings || by_kind(&self.values) != by_kind(&other.values) {
            return Some(ValueConflict::Number);
        }
        if sorted(&self.denied) != sorted(&other.denied) {
            return Some(ValueConflict::Negation);
        }
        let (a, b) = (ComparedSide::new(self, other), ComparedSide::new(other, self));
        TextComparison { a, b }.conflict()
    }

    /// Compares how much two texts with the same values say; `Greater` means that this text says more.
    pub fn more(&self, other: &Self) -> Ordering {
        let lacks = |one, other| ComparedSide::new(one, other).alone.len();
        lacks(self, other).cmp(&lacks(other, self))
    }
}

/// Two texts side by side.
struct TextComparison<'s> {
    a: ComparedSide<'s>,
    b: ComparedSide<'s>,
}

/// One text relative to the other.
struct ComparedSide<'s> {
    stated: &'s TextReading,
    /// Normalized words of this text. Words in both topics count only if the summary repeats them.
    said: BTreeSet<&'s String>,
    /// Significant normalized words that the other text lacks.
    alone: BTreeSet<&'s String>,
    /// Light verbs, such as "use", that the other text lacks.
    light: BTreeSet<&'s String>,
}

impl<'s> ComparedSide<'s> {
    fn new(stated: &'s TextReading, other: &'s TextReading) -> Self {
        let topic = stated.topic.difference(&other.topic);
        let words = stated.order.iter().filter(|form| stated.contains(form));
        Self {
            stated,
            said: topic.chain(&stated.summary).collect(),
            alone: words.filter(|form| !other.contains(form)).collect(),
            light: stated.light.difference(&other.light).collect(),
        }
    }
}

impl TextComparison<'_> {
    /// Returns the first kind of difference in words.
    fn conflict(&self) -> Option<ValueConflict> {
        let (a, b) = (self.a.stated, self.b.stated);
        if self.either(opposes) || self.either(limits) {
            return Some(ValueConflict::Opposite);
        }
        if self.either(names) {
            return Some(ValueConflict::Name);
        }
        let both = !self.a.alone.is_empty() && !self.b.alone.is_empty();
        let firm = firm(&self.a.light) && firm(&self.b.light);
        if both || firm || self.takes_up() || self.headed() || self.either(replaces) || self.either(narrows) {
            return Some(ValueConflict::Word);
        }
        let exchanged = swaps(a, b) || reverses(a, b) || turns(a, b) || recasts(a, b) || recasts(b, a);
        exchanged.then_some(ValueConflict::Order)
    }

    /// Returns `true` if a relation holds in at least one direction.
    fn either(&self, so: fn(&ComparedSide<'_>, &ComparedSide<'_>) -> bool) -> bool {
        so(&self.a, &self.b) || so(&self.b, &self.a)
    }

    /// Returns `true` if each summary repeats a word of the common topic that the other summary lacks.
    fn takes_up(&self) -> bool {
        let takes = |one: &ComparedSide<'_>, other: &ComparedSide<'_>| {
            one.stated.order.iter().any(|form| {
                let common = one.stated.topic.contains(form) && other.stated.topic.contains(form);
                common && one.said.contains(form) && !other.said.contains(form)
            })
        };
        takes(&self.a, &self.b) && takes(&self.b, &self.a)
    }

    /// Returns `true` if the summaries are equal and only the topics differ.
    fn headed(&self) -> bool {
        let apart = !self.a.alone.is_empty() || !self.b.alone.is_empty();
        apart && self.a.stated.words == self.b.stated.words
    }
}

/// Groups values by kind, and keeps the order within a kind. A port and a date may swap positions, but two ports may
/// not.
fn by_kind(values: &[StatedValue]) -> BTreeMap<&str, Vec<(&str, &str)>> {
    let mut kinds: BTreeMap<&str, Vec<(&str, &str)>> = BTreeMap::new();
    for value in values {
        let values = kinds.entry(value.kind).or_default();
        values.push((&value.number, value.scale));
    }
    kinds
}

fn sorted(words: &[String]) -> Vec<&String> {
    let mut words: Vec<&String> = words.iter().collect();
    words.sort();
    words
}

/// Returns `true` if the texts contain the two words of a pair of opposites, one word each.
fn opposes(one: &ComparedSide<'_>, other: &ComparedSide<'_>) -> bool {
    TABLES.opposites.iter().any(|(this, that)| {
        let here = one.said.contains(this) && !other.said.contains(this);
        here && other.said.contains(that) && !one.said.contains(that)
    })
}

/// Returns `true` if one text withdraws or limits the other.
fn limits(one: &ComparedSide<'_>, other: &ComparedSide<'_>) -> bool {
    let mut limits = one.stated.limits.iter().filter(|form| one.said.contains(form));
    limits.any(|form| !other.said.contains(form))
}

/// Returns `true` if one text has a name or value that the other text lacks.
fn names(one: &ComparedSide<'_>, other: &ComparedSide<'_>) -> bool {
    one.stated.names.iter().any(|name| !other.stated.contains(name))
}

/// Returns `true` if one of the light verbs is "use", "store" or "make". Another verb changes their meaning: "use the
/// key" is not "keep the key".
fn firm(light: &BTreeSet<&String>) -> bool {
    let is_firm = |verb: &&String| matches!(verb.as_str(), "use" | "store" | "make");
    light.iter().any(is_firm)
}

/// Returns `true` if `one` has an additional list item, or replaces a light verb of the other text: "rotate the key"
/// for "use the key".
fn replaces(one: &ComparedSide<'_>, other: &ComparedSide<'_>) -> bool {
    let listed = one.alone.iter().any(|form| one.stated.listed.contains(*form));
    let in_summary = one.alone.iter().any(|form| one.stated.summary.contains(*form));
    listed || in_summary && !other.light.is_empty()
}

/// Returns `true` if `one` is the other text with inserted words ("sensors", "outdoor sensors") or with a condition at
/// the end. These are the typical forms of a correction. A text that is reworded or has other additions says the same
/// and more.
fn narrows(one: &ComparedSide<'_>, other: &ComparedSide<'_>) -> bool {
    let (long, short) = (&one.stated.words, &other.stated.words);
    if one.alone.is_empty() {
        return false;
    }
    if let Some(more) = long.strip_prefix(short.as_slice()) {
        return more.iter().any(|word| TABLES.conditions.contains(word.as_str()));
    }
    let mut rest = long.iter();
    long.len() > short.len() && short.iter().all(|word| rest.any(|next| next == word))
}

/// Returns `true` if two words swap places around a third common word: "a calls b", "b calls a". A phrase
/// that moves as a whole ("on Sunday, a calls b") does not count.
fn swaps(a: &TextReading, b: &TextReading) -> bool {
    // "Done by Ada" and "Ada does" mean the same.
    let passive = |form: &String| {
        let active = |one: &TextReading, other: &TextReading| {
            let mut pairs = one.agents.iter().filter(|(_, agent)| agent == form);
            pairs.any(|(verb, agent)| other.neighbours.contains(&(agent.clone(), verb.clone())))
        };
        active(a, b) || active(b, a)
    };
    let last: HashMap<&String, usize> = b.order.iter().zip(0..).collect();
    let mut seen = BTreeSet::new();
    let backwards = a.order.iter().rev();
    let places = backwards.filter(|form| seen.insert(*form) && !passive(form));
    // The words are read backwards, so three ascending positions mean that their order in `b` is reversed.
    let (mut low, mut middle) = (usize::MAX, usize::MAX);
    for place in places.filter_map(|form| last.get(form).copied()) {
        if place > middle {
            return true;
        }
        if place > low {
            middle = middle.min(place);
        }
        low = low.min(place);
    }
    false
}

/// Returns `true` if two opposites swap places between the texts: "pump on, siren off", "pump off, siren on".
fn reverses(a: &TextReading, b: &TextReading) -> bool {
    TABLES.opposites.iter().any(|(one, other)| {
        let order = |text: &TextReading| -> Vec<bool> {
            let words = text.words.iter().filter(|word| *word == one || *word == other);
            words.map(|word| word == one).collect()
        };
        let (in_a, in_b) = (order(a), order(b));
        let both = |order: &[bool]| order.contains(&true) && order.contains(&false);
        both(&in_a) && both(&in_b) && in_a != in_b
    })
}

/// Returns `true` if a common word has another role ("from a", "to a"), or if a role has another common word ("from a",
/// "from b").
fn turns(a: &TextReading, b: &TextReading) -> bool {
    let taken = |one: &BTreeSet<String>, other: &BTreeSet<String>, text: &TextReading| {
        let mut forms = one.iter().filter(|form| !other.contains(*form));
        forms.any(|form| text.order.contains(form))
    };
    let exchanged = a.parts.iter().any(|(part, in_a)| {
        let in_b = b.parts.get(part);
        in_b.is_some_and(|in_b| taken(in_a, in_b, b) && taken(in_b, in_a, a))
    });
    let parts = |text: &TextReading, form: &String| -> BTreeSet<&str> {
        let parts = text.parts.iter().filter(|(_, forms)| forms.contains(form));
        parts.map(|(part, _)| *part).collect()
    };
    let mut forms = a.parts.values().flatten();
    exchanged
        || forms.any(|form| {
            let other = parts(b, form);
            !other.is_empty() && other.is_disjoint(&parts(a, form))
        })
}

/// Returns `true` if the agent of one text is the object of the other: "a is called by b", "a calls b".
fn recasts(a: &TextReading, b: &TextReading) -> bool {
    a.agents.iter().any(|pair| {
        let plain = b.neighbours.contains(pair) && !b.agents.contains(pair);
        plain && !a.neighbours.contains(pair)
    })
}
