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
use crate::item::{Statement, StatementKind};
use crate::salience::{StatementParts, choose};
use hippo_redact::redact;
use hippo_text::gist::alone::is_clear;
use hippo_text::gist::sentence::clause;
use hippo_text::gist::words::WordCounts;
use hippo_text::instruction;
use hippo_text::text::take_room;
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
/// Maximum number of topics, and of statements of each kind, of one day in the active context.
const PER_DAY: usize = 8;
/// Maximum bytes of the clause after a topic.
const TOLD: usize = 160;
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
    let is_repeated = |topic: &str| {
        let by = said.get(&topic.to_lowercase());
        by.is_some_and(|day| is_recent(*day, today))
    };
    let active = select_active(&gathered, is_repeated, today, left * 30 / 100);
    let patterns = patterns(&topics, today, left * 8 / 100);
    // Each statement occurs once: a topic of the active context is not repeated in the index.
    let is_active = |topic: &RootTopic| {
        let text = topic_text(&topic.shown, &topic.told);
        text.is_some_and(|(name, said)| active.iter().any(|line| line.contains(said.unwrap_or(name))))
    };
    let listed: Vec<RootTopic> = topics.into_iter().filter(|topic| !is_active(topic)).collect();
    let mut index = index(&listed, today, left * 40 / 100);
    index.sort_by(|a, b| a.to_lowercase().cmp(&b.to_lowercase()).then(a.cmp(b)));
    index.splice(0..0, kept);
    let shown = [&active, &patterns, &index].into_iter().flatten();
    let shown: usize = shown.map(|line| line.len() + 1).sum();
    // The history gets the remaining room, so it is shortened first.
    let past = history(&gathered, &index, today, (room - frame).saturating_sub(shown));
    [active, patterns, past, index]
}

/// Returns the text of the sections in at most `most` tokens. Redaction can lengthen a line, so the last lines of the
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
            Some(lines) => lines.pop(),
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
    is_repeated: impl Fn(&str) -> bool,
    today: Date,
    mut room: usize,
) -> Vec<String> {
    let mut out: Vec<(usize, Reverse<Date>, usize, String)> = Vec::new();
    let days = gathered.days.iter().rev();
    let recent: Vec<&Day> = days.filter(|day| is_recent(day.date, today)).collect();
    // Statements of each kind take at most half of the remaining room, so that they do not displace the others.
    for meant in [
        [StatementKind::Decision, StatementKind::Lesson],
        [StatementKind::Open; 2],
    ] {
        let mut half = room / 2;
        for rank in 0..PER_DAY {
            for day in &recent {
                let Some(statement) = day.clauses.iter().filter(|of| meant.contains(&of.kind)).nth(rank)
                else {
                    continue;
                };
                let line = format!("- {} → {}", statement.text, day.date);
                if !out.iter().any(|(.., known)| *known == line) && take_room(&mut half, line.len() + 1) {
                    room -= line.len() + 1;
                    out.push((importance(statement.kind), Reverse(day.date), rank, line));
                }
            }
        }
    }
    for rank in 0..PER_DAY {
        for day in &recent {
            let topic = day.topics.get(rank);
            let Some(topic) = topic.filter(|topic| rank == 0 || !is_repeated(&topic.name)) else {
                continue;
            };
            let Some((name, said)) = topic_text(&topic.shown, &topic.told) else {
                continue;
            };
            let known = out.iter().any(|(.., line)| line.contains(said.unwrap_or(name)));
            let said = said.map_or_else(String::new, |said| format!(": {said}"));
            let line = format!("- {name}{said} → {}", day.date);
            if !known && take_room(&mut room, line.len() + 1) {
                out.push((2, Reverse(day.date), rank, line));
            }
        }
    }
    let lines: Vec<String> = out.iter().map(|(.., line)| line.clone()).collect();
    for (rank, date, text) in choose_statements(&recent, &lines, room) {
        out.push((rank, date, usize::MAX, format!("- {text} → {}", date.0)));
    }
    out.sort();
    out.into_iter().map(|(.., line)| line).collect()
}

/// Returns the rank of a kind of statement in a section: decisions and lessons first, then open tasks.
const fn importance(kind: StatementKind) -> usize {
    match kind {
        StatementKind::Decision | StatementKind::Lesson => 0,
        StatementKind::Open => 1,
        _ => 2,
    }
}

/// Returns the name of a topic, and a clause about it. Returns `None` if no statement about the topic has a clause: the
/// heading `Cron Jobs Status` alone says nothing.
fn topic_text<'t>(shown: &'t str, told: &'t str) -> Option<(&'t str, Option<&'t str>)> {
    let told = clause(told, TOLD)?;
    if shown.is_empty() {
        return is_clear(told).then_some((told, None));
    }
    Some((shown, Some(told)))
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

/// Returns statements of the days before the recent ones: decisions and lessons, open tasks, then the others, the
/// latest first.
fn history(gathered: &RootContent, index: &[String], today: Date, room: usize) -> Vec<String> {
    let is_past = |day: &&Day| days_between(day.date, today) >= RECENT;
    let past: Vec<&Day> = gathered.days.iter().filter(is_past).collect();
    let mut chosen = choose_statements(&past, index, room);
    chosen.sort();
    let lines = chosen
        .into_iter()
        .map(|(_, Reverse(date), text)| format!("- {date}: {text}"));
    lines.collect()
}

/// Returns the statements of some days that fit in `room` bytes, each with its importance and date. Omits statements
/// that the lines in `shown` contain.
fn choose_statements(days: &[&Day], shown: &[String], room: usize) -> Vec<(usize, Reverse<Date>, String)> {
    let mut known = BTreeSet::new();
    let mut is_new = |clause: &&Statement| {
        let said = clause
            .text
            .split_once(": ")
            .map_or(&*clause.text, |(_, said)| said);
        !shown.iter().any(|line| line.contains(said)) && known.insert(said.to_owned())
    };
    let mut clauses: Vec<(u32, &Statement)> = Vec::new();
    for (at, day) in (0..).zip(days) {
        clauses.extend(day.clauses.iter().filter(&mut is_new).map(|clause| (at, clause)));
    }
    let mut words = WordCounts::new();
    for (_, clause) in &clauses {
        words.begin_block();
        words.count(&clause.text);
    }
    let mut parts = StatementParts::of(clauses.iter().copied(), &mut words);
    shown.iter().for_each(|line| parts.mark_said(line, &mut words, 1));
    let cost = |at: u32| clauses[at as usize].1.text.len() + DATED;
    let chosen = choose(&parts, room, days.len(), |part| cost(part.statement));
    // A statement can have several parts, but each line contains a whole statement.
    let chosen: BTreeSet<u32> = chosen.into_iter().map(|at| parts.parts[at].statement).collect();
    let line = |at: u32| {
        let (day, clause) = clauses[at as usize];
        (
            importance(clause.kind),
            Reverse(days[day as usize].date),
            clause.text.clone(),
        )
    };
    chosen.into_iter().map(line).collect()
}

/// Returns a line for the first topic of each day, and for further topics while they fit, the latest first.
fn index(topics: &[RootTopic], today: Date, room: usize) -> Vec<String> {
    let line = |topic: &RootTopic| {
        let days = days_between(topic.last, today);
        let mut tags = topic.kind.name().to_owned();
        if let Some(age) = AGES.iter().find(|age| days >= **age) {
            tags.push_str(&format!(", {age}d"));
        }
        if topic.kind == MemoryType::Reference && days > STALE {
            tags.push_str(", ?");
        }
        let text = topic_text(&topic.shown, &topic.told);
        // A reference is useful even without a statement about it.
        let is_named = topic.kind != MemoryType::Project && !topic.shown.is_empty();
        let (name, said) = text.or_else(|| is_named.then_some((&*topic.shown, None)))?;
        let said = said.map_or_else(String::new, |said| format!(": {said}"));
        Some(format!("- {name} [{tags}]{said} → {}", topic.last))
    };
    let mut order: Vec<&RootTopic> = topics.iter().collect();
    order.sort_by_key(|topic| (topic.rank, Reverse(topic.last)));
    let mut left = room;
    let lines = order.into_iter().filter_map(line);
    lines
        .filter(|line| take_room(&mut left, line.len() + 1))
        .collect()
}
