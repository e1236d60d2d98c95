//! In what do two texts differ, when each is known word by word?

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::number::Value;
use super::stated::Stated;
use super::{Conflict, words};

/// The first kind of difference that forbids to take one text for the other.
pub(super) fn conflict(a: &Stated, b: &Stated) -> Option<Conflict> {
    let headings = by_kind(&a.heading) == by_kind(&b.heading) || a.heading.is_empty() || b.heading.is_empty();
    if !headings || by_kind(&a.values) != by_kind(&b.values) {
        return Some(Conflict::Number);
    }
    if sorted(&a.denied) != sorted(&b.denied) {
        return Some(Conflict::Negation);
    }
    Sides::of(a, b).conflict()
}

/// Two texts side by side.
pub(super) struct Sides<'s> {
    a: Side<'s>,
    b: Side<'s>,
}

/// One of them, seen from the other.
struct Side<'s> {
    stated: &'s Stated,
    /// Forms that it says, without those that stand in both topics: they tell nothing of what the summaries say.
    said: BTreeSet<&'s String>,
    /// Forms that say something and that the other has nowhere.
    alone: BTreeSet<&'s String>,
    /// Those verbs that state little which the other has not.
    light: BTreeSet<&'s String>,
}

impl<'s> Side<'s> {
    fn of(stated: &'s Stated, other: &'s Stated) -> Self {
        let topic = stated.topic.difference(&other.topic);
        let words = stated.order.iter().filter(|form| stated.has(form));
        Self {
            stated,
            said: topic.chain(&stated.summary).collect(),
            alone: words.filter(|form| !other.has(form)).collect(),
            light: stated.light.difference(&other.light).collect(),
        }
    }
}

impl<'s> Sides<'s> {
    /// Each seen from the other.
    pub fn of(a: &'s Stated, b: &'s Stated) -> Self {
        Self {
            a: Side::of(a, b),
            b: Side::of(b, a),
        }
    }

    /// Which side says more.
    pub fn more(&self) -> Ordering {
        self.a.alone.len().cmp(&self.b.alone.len())
    }

    /// The first kind of difference in words.
    fn conflict(&self) -> Option<Conflict> {
        let (a, b) = (self.a.stated, self.b.stated);
        if self.either(opposes) || self.either(limits) {
            return Some(Conflict::Opposite);
        }
        if self.either(names) {
            return Some(Conflict::Name);
        }
        let both = !self.a.alone.is_empty() && !self.b.alone.is_empty();
        let firm = firm(&self.a.light) && firm(&self.b.light);
        if both || firm || self.takes_up() || self.headed() || self.either(replaces) || self.either(narrows) {
            return Some(Conflict::Word);
        }
        let exchanged = swaps(a, b) || reverses(a, b) || turns(a, b) || recasts(a, b) || recasts(b, a);
        exchanged.then_some(Conflict::Order)
    }

    /// Whether it is so from one side or from the other.
    fn either(&self, so: fn(&Side<'_>, &Side<'_>) -> bool) -> bool {
        so(&self.a, &self.b) || so(&self.b, &self.a)
    }

    /// Whether each takes up another word of the topic that they share.
    fn takes_up(&self) -> bool {
        let takes = |one: &Side<'_>, other: &Side<'_>| {
            one.stated.order.iter().any(|form| {
                let common = one.stated.topic.contains(form) && other.stated.topic.contains(form);
                common && one.said.contains(form) && !other.said.contains(form)
            })
        };
        takes(&self.a, &self.b) && takes(&self.b, &self.a)
    }

    /// Whether they are one line under two headings: then the headings are what differs.
    fn headed(&self) -> bool {
        let apart = !self.a.alone.is_empty() || !self.b.alone.is_empty();
        apart && self.a.stated.words == self.b.stated.words
    }
}

/// Values in their order, kind by kind: a port and a date may change places, two ports may not.
fn by_kind(values: &[Value]) -> BTreeMap<&str, Vec<(&str, &str)>> {
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

/// Whether one says one of two opposites and the other the other one.
fn opposes(one: &Side<'_>, other: &Side<'_>) -> bool {
    words::opposites().iter().any(|(this, that)| {
        let here = one.said.contains(this) && !other.said.contains(this);
        here && other.said.contains(that) && !one.said.contains(that)
    })
}

/// Whether one takes back or limits what the other says.
fn limits(one: &Side<'_>, other: &Side<'_>) -> bool {
    let mut limits = one.stated.limits.iter().filter(|form| one.said.contains(form));
    limits.any(|form| !other.said.contains(form))
}

/// Whether one has a name or a value that the other has not.
fn names(one: &Side<'_>, other: &Side<'_>) -> bool {
    one.stated.names.iter().any(|name| !other.stated.has(name))
}

/// Whether verbs are among these that make a difference to each other: "keep the key", "use the key".
fn firm(light: &BTreeSet<&String>) -> bool {
    light
        .iter()
        .any(|verb| matches!(verb.as_str(), "use" | "store" | "make"))
}

/// Whether one lists more, or says something in the place of a verb that states little: "rotate the key", "use the key".
fn replaces(one: &Side<'_>, other: &Side<'_>) -> bool {
    let listed = one.alone.iter().any(|form| one.stated.listed.contains(*form));
    let told = one.alone.iter().any(|form| one.stated.summary.contains(*form));
    listed || told && !other.light.is_empty()
}

/// Whether one is the other with words put in ("sensors", "outdoor sensors") or with a condition behind it: that is how
/// a fact is corrected. What is reworded as a whole, or has more behind it, says the same and more.
fn narrows(one: &Side<'_>, other: &Side<'_>) -> bool {
    let (long, short) = (&one.stated.words, &other.stated.words);
    if one.alone.is_empty() {
        return false;
    }
    if let Some(more) = long.strip_prefix(short.as_slice()) {
        return more.iter().any(|word| words::is_condition(word));
    }
    let mut rest = long.iter();
    long.len() > short.len() && short.iter().all(|word| rest.any(|next| next == word))
}

/// Whether two words change places around a third that both texts have: "a calls b", "b calls a". What moves as a whole
/// ("on Sunday, a calls b") does not.
fn swaps(a: &Stated, b: &Stated) -> bool {
    // "Done by Ada" and "Ada does" are the same.
    let passive = |form: &String| {
        let active = |one: &Stated, other: &Stated| {
            let mut pairs = one.agents.iter().filter(|(_, agent)| agent == form);
            pairs.any(|(verb, agent)| other.neighbours.contains(&(agent.clone(), verb.clone())))
        };
        active(a, b) || active(b, a)
    };
    let last: HashMap<&String, usize> = b.order.iter().zip(0..).collect();
    let mut seen = BTreeSet::new();
    let backwards = a.order.iter().rev();
    let places = backwards.filter(|form| seen.insert(*form) && !passive(form));
    // Read backwards: three that rise stand in `b` the other way round.
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

/// Whether opposites that both texts have change places: "pump on, siren off", "pump off, siren on".
fn reverses(a: &Stated, b: &Stated) -> bool {
    words::opposites().iter().any(|(one, other)| {
        let order = |text: &Stated| -> Vec<bool> {
            let words = text.words.iter().filter(|word| *word == one || *word == other);
            words.map(|word| word == one).collect()
        };
        let (in_a, in_b) = (order(a), order(b));
        let both = |order: &[bool]| order.contains(&true) && order.contains(&false);
        both(&in_a) && both(&in_b) && in_a != in_b
    })
}

/// Whether a word of both texts plays another part ("from a", "to a"), or two change parts ("from a", "from b").
fn turns(a: &Stated, b: &Stated) -> bool {
    let taken = |one: &BTreeSet<String>, other: &BTreeSet<String>, text: &Stated| {
        let mut forms = one.iter().filter(|form| !other.contains(*form));
        forms.any(|form| text.order.contains(form))
    };
    let exchanged = a.parts.iter().any(|(part, in_a)| {
        let in_b = b.parts.get(part);
        in_b.is_some_and(|in_b| taken(in_a, in_b, b) && taken(in_b, in_a, a))
    });
    let parts = |text: &Stated, form: &String| -> BTreeSet<&str> {
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

/// Whether what is done by somebody becomes what is done to them: "a is called by b", "a calls b".
fn recasts(a: &Stated, b: &Stated) -> bool {
    a.agents.iter().any(|pair| {
        let plain = b.neighbours.contains(pair) && !b.agents.contains(pair);
        plain && !a.neighbours.contains(pair)
    })
}
