//! The text of `ROOT.md`: current work, patterns, history and topics.
//!
//! The text is derived from the nodes below the root, the current day, and the read counts of the files. Each line is
//! derived from one day, one month, or a topic of several days, so a new day changes few lines. A text that rarely
//! changes keeps prompt caches valid.

mod alike;
mod gather;
#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::BTreeSet;

use self::alike::drop_repeated_topics;
pub use self::alike::{PassageLookup, PassageVector};
use self::gather::{Day, RootContent, RootTopic};
use crate::item::Statement;
use crate::salience::{StatementParts, choose};
use hippo_redact::redact;
use hippo_text::gist::sentence::clause;
use hippo_text::gist::words::WordCounts;
use hippo_text::instruction;
use hippo_text::text::{clip, take_room};
use hippo_types::memory::MemoryType;
use hippo_types::time::{Date, days_between};
use hippo_types::tokens;

/// A node below the root.
#[derive(Debug, Clone, Copy)]
pub struct ChildNode<'a> {
    /// The date of a daily node, or the first day of the node's week or month.
    pub date: Date,
    /// The workspace file to which the line numbers of the body refer: the node's own file, or the single log that the
    /// node copies.
    pub path: &'a str,
    /// Line of that file at which the body begins, from 1.
    pub first_line: u32,
    /// The body without front matter.
    pub body: &'a str,
    /// Number of reads of the files from which the node was made.
    pub accesses: u32,
}

/// Number of days that count as recent.
const RECENT: i32 = 7;
/// Number of days within which a topic must recur to be a pattern.
const PATTERN: i32 = 30;
/// Age in days after which a reference may be outdated.
const STALE: i32 = 30;
/// Ages in days that lines show. A line changes only when its topic reaches the next age in this list, not every day.
const AGES: [i32; 8] = [365, 180, 90, 60, 30, 21, 14, 7];
/// Maximum bytes of the clause after each topic. The index uses the largest of these values with which its topics fit.
const SENTENCES: [usize; 6] = [200, 150, 100, 70, 50, 0];
/// Bytes that the date and the list marks add to a clause.
const DATED: usize = 16;
/// Minimum number of days that must mention a topic for the topic to be a pattern.
const OFTEN: usize = 3;
/// Titles of the sections of `ROOT.md`.
pub(super) const TITLES: [&str; 4] = [
    "## Active Context (recent ~7 days)",
    "## Recent Patterns",
    "## Historical Summary",
    "## Topics Index",
];

/// Lines of the sections of `ROOT.md`, in the order of [`TITLES`].
pub(super) type RootSections = [Vec<String>; 4];

/// Returns the lines of `ROOT.md` for `today` from the nodes below the root, in at most `most` tokens.
///
/// Includes statements about the user and feedback word for word, up to a third of the room. Uses `passages` to find
/// topics that say the same in other words. Without vectors, each topic has its own line.
pub(super) fn root_sections(
    nodes: &[ChildNode<'_>],
    passages: &PassageLookup<'_>,
    today: Date,
    most: usize,
) -> RootSections {
    let room = tokens::bytes(most);
    let gathered = RootContent::of(nodes);
    let kept = select_lasting(&gathered, room / 3);
    let used: usize = kept.iter().map(|line| line.len() + 1).sum();
    let frame: usize = TITLES.iter().map(|title| title.len() + 2).sum();
    let Some(left) = room.checked_sub(used + frame) else {
        return RootSections::default();
    };
    let (topics, said) = drop_repeated_topics(gathered.topics(), passages);
    let is_told = |topic: &str| {
        let by = said.get(&topic.to_lowercase());
        by.is_some_and(|day| is_recent(*day, today))
    };
    let mut index = index(&topics, today, left * 58 / 100);
    let patterns = patterns(&topics, today, left * 8 / 100);
    // With few topics, the active context gets half of the room that the index does not use.
    let free = (left * 58 / 100).saturating_sub(index.iter().map(|line| line.len() + 1).sum());
    let active = select_active(&gathered, is_told, today, left * 18 / 100 + free / 2);
    index.extend(kept);
    index.sort_by(|a, b| a.to_lowercase().cmp(&b.to_lowercase()).then(a.cmp(b)));
    let shown = [&active, &patterns, &index].into_iter().flatten();
    let shown: usize = shown.map(|line| line.len() + 1).sum();
    // The history gets the remaining room, so it is shortened first.
    let past = history(&gathered, &index, today, (room - frame).saturating_sub(shown));
    [active, patterns, past, index]
}

/// Returns the text of the sections in at most `most` tokens. Redaction can lengthen a line, so the first lines of the
/// longest section are removed until the text fits. Also removes lines that read like an instruction, because prompts
/// begin with this text. A check of the parts is not enough, because each part can be harmless alone.
pub(super) fn write_sections(sections: &RootSections, most: usize) -> String {
    let room = tokens::bytes(most);
    let mut sections = sections.clone();
    for lines in &mut sections {
        lines.retain(|line| !instruction::is_instruction(line));
    }
    loop {
        let filled = TITLES
            .iter()
            .zip(&sections)
            .filter(|(_, lines)| !lines.is_empty());
        let shown = filled.map(|(title, lines)| format!("{title}\n{}\n", lines.join("\n")));
        let text = redact(&shown.collect::<Vec<_>>().join("\n")).into_owned();
        let longest = sections.iter_mut().max_by_key(|lines| lines.len());
        match longest.filter(|lines| text.len() > room && !lines.is_empty()) {
            Some(lines) => lines.remove(0),
            None => return text,
        };
    }
}

/// Returns the user and feedback statements that fit, the latest first.
fn select_lasting(gathered: &RootContent, mut room: usize) -> Vec<String> {
    let mut out = Vec::new();
    let mut known = BTreeSet::new();
    for day in gathered.days.iter().rev() {
        for (kind, topic, text) in &day.kept {
            // The type of the line already says that it is feedback.
            let field = text.split_once("user feedback: ");
            let field = field.filter(|(about, _)| about.is_empty() || about.ends_with(": "));
            let unnamed = if *kind == MemoryType::User { "user" } else { "" };
            let (about, said) = field.unwrap_or((unnamed, text));
            let mut names = [topic, about.trim_end_matches(": ")].into_iter();
            let name = names.find(|name| !name.is_empty()).map(|name| format!("{name} "));
            let (name, kind) = (name.unwrap_or_default(), kind.name());
            let line = format!("- {name}[{kind}]: {said} → {}", day.date);
            if !known.contains(text) && take_room(&mut room, line.len() + 1) {
                known.insert(text.clone());
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
    let days = gathered.days.iter().rev();
    let recent: Vec<&Day> = days.filter(|day| is_recent(day.date, today)).collect();
    // Order: the first topic of each day, then open tasks, then the second topic of each day.
    for rank in 0..8 {
        for day in &recent {
            let topic = day.topics.get(rank);
            let Some(topic) = topic.filter(|topic| rank == 0 || !is_told(&topic.name)) else {
                continue;
            };
            if !is_informative(&topic.name, &topic.told) {
                continue;
            }
            let said = clause(&topic.told, 160).map_or_else(String::new, |said| format!(": {said}"));
            let line = format!("- {}{said} → {}", topic.name, day.date);
            if take_room(&mut room, line.len() + 1) {
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
                if take_room(&mut half, line.len() + 1) {
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

/// Returns whether a topic says something: a statement about it has a clause, or its name is a clause. A heading such as
/// `Cron Jobs Status` says nothing.
fn is_informative(name: &str, told: &str) -> bool {
    clause(told, SENTENCES[0]).is_some() || is_clause(name)
}

fn is_clause(name: &str) -> bool {
    clause(name, name.len()).is_some()
}

/// Returns lines for the topics that several days of the last month mention, the most frequent first.
fn patterns(topics: &[RootTopic], today: Date, mut room: usize) -> Vec<String> {
    let counted = topics.iter().map(|topic| {
        let in_window = |date: &&Date| (0..PATTERN).contains(&days_between(**date, today));
        (topic.days.iter().filter(in_window).count(), topic)
    });
    let mut often: Vec<(usize, &RootTopic)> = counted.filter(|(days, _)| *days >= OFTEN).collect();
    often.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.name.cmp(&b.1.name)));
    let lines = often
        .into_iter()
        .map(|(days, topic)| format!("- {}: on {days} days, last → {}", topic.name, topic.last));
    lines
        .take_while(|line| take_room(&mut room, line.len() + 1))
        .collect()
}

/// Returns clauses of the days before the recent ones. Each month gets room in proportion to its days.
fn history(gathered: &RootContent, index: &[String], today: Date, room: usize) -> Vec<String> {
    let is_past = |day: &&Day| days_between(day.date, today) >= RECENT;
    let past: Vec<&Day> = gathered.days.iter().filter(is_past).collect();
    let mut known = BTreeSet::new();
    let mut out: Vec<String> = Vec::new();
    let mut left = 0;
    for days in past.chunk_by(|a, b| a.date.first_of_month() == b.date.first_of_month()) {
        let clauses: Vec<(u32, &Statement)> = (0..)
            .zip(days)
            .flat_map(|(at, day)| day.clauses.iter().map(move |clause| (at, clause)))
            .collect();
        let mut words = WordCounts::new();
        for (_, clause) in &clauses {
            words.begin_block();
            words.count(&clause.text);
        }
        let mut parts = StatementParts::of(clauses.iter().copied(), &mut words);
        index.iter().for_each(|line| parts.mark_said(line, &mut words, 1));
        // Each month also gets the room that earlier months did not use.
        left += room * days.len() / past.len();
        let month = &days[0].date.to_string()[..7];
        let first = format!("- {month}, names:");
        let mut line = first.clone();
        let is_of_month = |date| days.iter().any(|day| day.date == date);
        // If most days have no conversations, the names that were found are only words of headings and quotes.
        let talks = gathered.days_with_names(is_of_month) * 2 > days.len();
        let names = talks.then(|| gathered.frequent_names(is_of_month));
        for name in names.unwrap_or_default() {
            if line.len() + name.len() + 3 > left * 9 / 10 {
                break;
            }
            if !known.insert(name.to_owned()) {
                continue;
            }
            line.push_str(if line.len() > first.len() { ", " } else { " " });
            line.push_str(name);
        }
        if line.len() > first.len() {
            left = left.saturating_sub(line.len() + 1);
            parts.mark_said(&line, &mut words, 1);
            out.push(line);
        }
        let cost = |at: u32| clauses[at as usize].1.text.len() + DATED;
        let mut chosen = choose(&parts, left, days.len(), |part| cost(part.statement));
        chosen.sort_unstable();
        out.extend(chosen.into_iter().map(|at| {
            let part = &parts.parts[at];
            let (day, clause) = clauses[part.statement as usize];
            left = left.saturating_sub(cost(part.statement));
            format!("- {}: {}", days[day as usize].date, clause.text)
        }));
    }
    out
}

/// Returns a line for the first topic of each day, and for further topics while they fit, the latest first.
fn index(topics: &[RootTopic], today: Date, room: usize) -> Vec<String> {
    let line = |at: usize, most: usize| {
        let topic = &topics[at];
        let days = days_between(topic.last, today);
        let mut tags = topic.kind.name().to_owned();
        if let Some(age) = AGES.iter().find(|age| days >= **age) {
            tags.push_str(&format!(", {age}d"));
        }
        if topic.kind == MemoryType::Reference && days > STALE {
            tags.push_str(", ?");
        }
        let said = clause(&topic.told, most);
        // If the name is not a clause, look for a longer clause.
        let longer = || clause(&topic.told, SENTENCES[0]).filter(|_| most > 0 && !is_clause(&topic.name));
        let said = said
            .or_else(longer)
            .map_or_else(String::new, |said| format!(": {said}"));
        format!("- {} [{tags}]{said} → {}", topic.name, topic.last)
    };
    // Use the longest clauses with which all topics fit or, if none do, the first topics of all days.
    let takes = |rank: usize, most: usize| -> usize {
        let meant = (0..topics.len()).filter(|at| topics[*at].rank <= rank);
        meant.map(|at| line(at, most).len() + 1).sum()
    };
    let fits = |rank: usize| SENTENCES.into_iter().find(|most| takes(rank, *most) <= room);
    let told = fits(usize::MAX).or_else(|| fits(0)).unwrap_or_default();
    let tells = |at: &usize| {
        let topic = &topics[*at];
        topic.kind != MemoryType::Project || is_informative(&topic.name, &topic.told)
    };
    let mut order: Vec<usize> = (0..topics.len()).filter(tells).collect();
    order.sort_by_key(|at| (topics[*at].rank, Reverse(topics[*at].last), *at));
    let mut left = room;
    let mut out = Vec::new();
    for at in order {
        let line = line(at, told);
        if take_room(&mut left, line.len() + 1) {
            out.push(line);
        } else if topics[at].rank > 0 {
            // Stop at the first lower-ranked topic that does not fit. If the first topic of a day does not fit, skip
            // only that topic.
            break;
        }
    }
    out
}
