//! The text of `ROOT.md`: current work, patterns, history and topics.
//!
//! The text is a function of the nodes below it, the current day, and the read counts of their files. Each line is
//! derived from one day, or from names that occur on several days, so a new day changes few lines. A stable text
//! keeps prompt caches valid.

mod alike;
mod gather;
#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use self::alike::drop_repeated_topics;
pub use self::alike::{PassageLookup, PassageVector};
use self::gather::{Day, RootContent, RootTopic};
use hippo_redact::redact;
use hippo_text::gist::label::tag;
use hippo_text::instruction;
use hippo_text::text::clip;
use hippo_types::memory::MemoryType;
use hippo_types::time::{Date, days_between};
use hippo_types::tokens;

/// A node below the root.
#[derive(Debug, Clone, Copy)]
pub struct ChildNode<'a> {
    /// The date of a daily node.
    pub date: Date,
    /// The workspace file to which the line numbers of the body refer: the node's own file, or the single log that the
    /// node copies.
    pub path: &'a str,
    /// Line of that file at which the body begins, from 1.
    pub first_line: u32,
    /// The body without front matter.
    pub body: &'a str,
    /// Number of reads of the node or of its log.
    pub accesses: u32,
}

/// Days that count as recent.
const RECENT: i32 = 7;
/// Window in days for recurring names.
const PATTERN: i32 = 30;
/// Age in days after which a reference may be outdated.
const STALE: i32 = 30;
/// Ages that lines show. A line changes only when the next age in this list is reached, not every day.
const AGES: [i32; 8] = [365, 180, 90, 60, 30, 21, 14, 7];
/// Maximum bytes of the names after a topic; the largest value that fits is used.
const WORDS: [usize; 6] = [90, 70, 50, 35, 20, 0];
/// Maximum size in bytes of a sentence after a topic. Sentences are used instead of names if there is room for one
/// after every topic.
const SENTENCES: [usize; 3] = [200, 150, 100];
/// Names per line of patterns.
const PER_LINE: usize = 6;
const TITLES: [&str; 4] = [
    "## Active Context (recent ~7 days)",
    "## Recent Patterns",
    "## Historical Summary",
    "## Topics Index",
];

/// Returns the body of `ROOT.md` for `today` from the daily nodes, in at most `most` tokens.
///
/// Statements about the user and feedback are included word for word, up to a third of the room. `passages` identifies
/// topics that say the same in other words. Without vectors, each topic has its own line.
#[must_use]
pub fn root(nodes: &[ChildNode<'_>], passages: &PassageLookup<'_>, today: Date, most: usize) -> String {
    let room = tokens::bytes(most);
    let gathered = RootContent::of(nodes);
    let kept = select_lasting(&gathered, room / 3);
    let used: usize = kept.iter().map(|line| line.len() + 1).sum();
    let frame: usize = TITLES.iter().map(|title| title.len() + 2).sum();
    let Some(left) = room.checked_sub(used + frame) else {
        return String::new();
    };
    let (topics, said) = drop_repeated_topics(gathered.topics(), passages);
    let is_told = |topic: &str| {
        let by = said.get(&topic.to_lowercase());
        by.is_some_and(|day| is_recent(*day, today))
    };
    let mut index = index(&topics, today, left * 58 / 100);
    let patterns = patterns(&gathered, today, left * 8 / 100);
    // With few topics, half of the unused room goes to the active context.
    let free = (left * 58 / 100).saturating_sub(index.iter().map(|line| line.len() + 1).sum());
    let active = select_active(&gathered, is_told, today, left * 18 / 100 + free / 2);
    index.extend(kept);
    index.sort_by(|a, b| a.to_lowercase().cmp(&b.to_lowercase()).then(a.cmp(b)));
    let shown: usize = [&active, &patterns, &index]
        .into_iter()
        .flatten()
        .map(|line| line.len() + 1)
        .sum();
    // The history gets the remaining room, so it is shortened first.
    let past = history(&gathered, &patterns, today, (room - frame).saturating_sub(shown));
    let mut out = String::new();
    for (title, lines) in TITLES.iter().zip([active, patterns, past, index]) {
        if lines.is_empty() {
            continue;
        }
        if !out.is_empty() {
            out.push('\n');
        }
        out.push_str(title);
        out.push('\n');
        for line in lines {
            out.push_str(&line);
            out.push('\n');
        }
    }
    let out = mark_instructions(&redact(&out), room);
    if out.len() > room { String::new() } else { out }
}

/// Returns the text with a mark in each line that reads like an instruction, because prompts begin with this text. A
/// line is left out when its mark does not fit.
fn mark_instructions(text: &str, room: usize) -> String {
    let mut over = text.len();
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let shown = mark_instruction(line);
        let grown = over + shown.len() - line.len();
        if grown > room && shown.len() > line.len() {
            over -= line.len();
            continue;
        }
        over = grown;
        out.push_str(&shown);
    }
    out
}

/// Returns a line with [`instruction::MARK`] after its list marker, if the line reads like an instruction.
fn mark_instruction(line: &str) -> String {
    if line.contains(instruction::MARK) || instruction::match_rule(line).is_none() {
        return line.to_owned();
    }
    let said = line.trim_start_matches(['-', ' ']);
    let (item, said) = line.split_at(line.len() - said.len());
    format!("{item}{} {said}", instruction::MARK)
}

/// Names of the topics that entered and left the root.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Changes {
    /// Topics only in the later text.
    pub entered: Vec<String>,
    /// Topics only in the earlier text.
    pub left: Vec<String>,
}

/// Returns the changes from one `ROOT.md` to the next, compared by topic lines.
#[must_use]
pub fn changes(before: &str, after: &str) -> Changes {
    let (before, after) = (listed_topics(before), listed_topics(after));
    Changes {
        entered: after.difference(&before).cloned().collect(),
        left: before.difference(&after).cloned().collect(),
    }
}

/// Returns the names of the topics that a root lists.
fn listed_topics(root: &str) -> BTreeSet<String> {
    let lines = root
        .lines()
        .skip_while(|line| !line.starts_with("## Topics Index"));
    lines
        .skip(1)
        .take_while(|line| !line.starts_with("## "))
        .filter_map(|line| line.strip_prefix("- "))
        .map(|line| {
            let end = line.find("]").map_or_else(|| line.find(':'), |at| Some(at + 1));
            tag(&line[..end.unwrap_or(line.len())]).0.to_owned()
        })
        .collect()
}

/// Returns the user and feedback statements, the latest first, as far as they fit.
fn select_lasting(gathered: &RootContent, mut room: usize) -> Vec<String> {
    let mut out = Vec::new();
    let mut known = BTreeSet::new();
    for day in gathered.days.iter().rev() {
        for (kind, topic, text) in &day.kept {
            let topic = if topic.is_empty() { kind.name() } else { topic };
            let line = mark_instruction(&format!("- {topic} [{}]: {text} → {}", kind.name(), day.date));
            if line.len() < room && known.insert(text.clone()) {
                room -= line.len() + 1;
                out.push(line);
            }
        }
    }
    out
}

/// Returns true for dates within a week of `today`, including future dates such as planned events.
fn is_recent(day: Date, today: Date) -> bool {
    days_between(day, today).abs() < RECENT
}

fn select_active(
    gathered: &RootContent,
    is_told: impl Fn(&str) -> bool,
    today: Date,
    mut room: usize,
) -> Vec<String> {
    let mut out = Vec::new();
    let recent: Vec<&Day> = gathered
        .days
        .iter()
        .rev()
        .filter(|day| is_recent(day.date, today))
        .collect();
    // Order: the first topic of each day, then open tasks, then the second topic of each day.
    for rank in 0..8 {
        for day in &recent {
            let topic = day.topics.get(rank);
            let Some(topic) = topic.filter(|topic| rank == 0 || !is_told(&topic.name)) else {
                continue;
            };
            let told = clip(&topic.told, 160);
            let line = if told.is_empty() {
                format!("- {} → {}", topic.name, day.date)
            } else {
                format!("- {}: {told} → {}", topic.name, day.date)
            };
            if line.len() < room {
                room -= line.len() + 1;
                out.push((Reverse(day.date), rank, line));
            }
        }
        if rank > 0 {
            continue;
        }
        // Open tasks take at most half of the remaining room, so that they do not displace the topics.
        let mut half = room / 2;
        for day in &recent {
            for open in &day.open {
                let line = format!("- to do: {} → {}", clip(open, 160), day.date);
                if line.len() < half {
                    half -= line.len() + 1;
                    room -= line.len() + 1;
                    out.push((Reverse(day.date), usize::MAX, line));
                }
            }
        }
    }
    out.sort();
    out.dedup();
    out.into_iter().map(|(_, _, line)| line).collect()
}

fn patterns(gathered: &RootContent, today: Date, mut room: usize) -> Vec<String> {
    let often = gathered.frequent_names(|date| (0..PATTERN).contains(&days_between(date, today)), 3);
    let mut out = Vec::new();
    for names in often.chunks(PER_LINE) {
        let least = names.last().map_or(0, |(_, days)| *days);
        let names: Vec<&str> = names.iter().map(|(name, _)| *name).collect();
        let line = format!("- on {least} days or more: {}", names.join(", "));
        if line.len() >= room {
            break;
        }
        room -= line.len() + 1;
        out.push(line);
    }
    out
}

/// Returns a line for each month before the recent days, with its most frequent names.
fn history(gathered: &RootContent, patterns: &[String], today: Date, room: usize) -> Vec<String> {
    let mut months: BTreeMap<String, usize> = BTreeMap::new();
    for day in &gathered.days {
        if days_between(day.date, today) >= RECENT {
            *months.entry(day.date.to_string()[..7].to_owned()).or_default() += 1;
        }
    }
    let days: usize = months.values().sum();
    let mut said: BTreeSet<String> = patterns
        .iter()
        .filter_map(|line| line.split_once(": "))
        .flat_map(|(_, names)| names.split(", ").map(str::to_owned))
        .collect();
    let mut out = Vec::new();
    for (month, count) in months.iter().rev() {
        // A month gets room in proportion to its days, with a minimum of a few words.
        let mut left = (room * count / days.max(1)).saturating_sub(16);
        let mut names: Vec<String> = Vec::new();
        let often = gathered.frequent_names(
            |date| date.to_string().starts_with(month.as_str()) && days_between(date, today) >= RECENT,
            1,
        );
        for (name, _) in often {
            if name.len() + 2 <= left && !said.contains(name) {
                left -= name.len() + 2;
                said.insert(name.to_owned());
                names.push(name.to_owned());
            }
            if left < 8 {
                break;
            }
        }
        if !names.is_empty() {
            names.sort();
            out.push(format!("- {month}: {}", names.join(", ")));
        }
    }
    out.reverse();
    while out.iter().map(|line| line.len() + 1).sum::<usize>() > room {
        out.remove(0);
    }
    out
}

/// Numbers of bytes available for the sentence and the names of a topic in a line of the index.
#[derive(Debug, Clone, Copy, Default)]
struct TopicRoom {
    told: usize,
    words: usize,
}

/// Returns a line for the first topic of each day, and for further topics while they fit, the latest first.
fn index(topics: &[RootTopic], today: Date, room: usize) -> Vec<String> {
    let line = |at: usize, TopicRoom { told, words }: TopicRoom| {
        let topic = &topics[at];
        let days = days_between(topic.last, today);
        let age = AGES.iter().find(|age| days >= **age);
        let mut tags = topic.kind.name().to_owned();
        if let Some(age) = age {
            tags.push_str(&format!(", {age}d"));
        }
        if topic.kind == MemoryType::Reference && days > STALE {
            tags.push_str(", ?");
        }
        let words = match topic.told.as_str() {
            "" => clip(&topic.words, words),
            _ if told == 0 => clip(&topic.words, words),
            sentence => clip(sentence, told),
        };
        let words = words.trim_end_matches('…').trim_end_matches([',', ' ']);
        let words = if words.is_empty() {
            String::new()
        } else {
            format!(": {words}")
        };
        format!("- {} [{tags}]{words} → {}", topic.name, topic.last)
    };
    let firsts: Vec<usize> = (0..topics.len()).filter(|at| topics[*at].rank == 0).collect();
    let takes = |of: &mut dyn Iterator<Item = usize>, told: TopicRoom| -> usize {
        of.map(|at| line(at, told).len() + 1).sum()
    };
    // Use sentences if all topics fit with one; otherwise use names, at least for the first topic of each day.
    let sentences = SENTENCES.into_iter().map(|told| TopicRoom {
        told,
        words: WORDS[0],
    });
    let told = sentences
        .clone()
        .find(|told| takes(&mut (0..topics.len()), *told) <= room)
        .or_else(|| {
            let mut names = WORDS.into_iter().map(|words| TopicRoom { told: 0, words });
            names.find(|told| takes(&mut firsts.iter().copied(), *told) <= room)
        })
        .unwrap_or_default();
    let mut order: Vec<usize> = (0..topics.len()).collect();
    order.sort_by_key(|at| (topics[*at].rank, Reverse(topics[*at].last), *at));
    let mut left = room;
    let mut out = Vec::new();
    for at in order {
        let line = line(at, told);
        if line.len() + 1 > left {
            // If the first topic of an old day does not fit, skip that topic and keep the later ones.
            if topics[at].rank > 0 {
                break;
            }
            continue;
        }
        left -= line.len() + 1;
        out.push(line);
    }
    out
}
