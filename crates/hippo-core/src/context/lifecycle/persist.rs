//! Which entries of a session go into long-term memory when it ends, and in which words?

use serde::Serialize;

use super::{Kept, Settings};
use crate::context::render::{line, told};
use crate::context::{Kind, Priority, Shown};
use crate::redact;
use crate::text::clip;
use crate::time::Date;
use crate::tokens;
use crate::tree::claims_the_user;

/// Bytes of a text, at most.
const TEXT: usize = 1_200;
/// Bytes of key data that a text tells, at most.
const VALUES: usize = 240;
/// Bytes of a reference that a text tells, at most.
const REFERENCE: usize = 160;
/// States that are still of interest when a session ends, at most: the last ones.
const STATES: usize = 3;

/// How the block in `MEMORY.md` begins: in a section of its own, so that it belongs to none of a person's.
const PROMOTED: &str = "## From sessions\n\n";

/// Why an entry goes into long-term memory; the first that holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// `lifecycle.persist` says so.
    Asked,
    /// Its priority is critical.
    Critical,
    /// Its priority is high.
    High,
    /// It is what the agent was doing last.
    State,
    /// It was asked for in many turns.
    OftenUsed,
}

/// An entry that goes into long-term memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Persist {
    /// Position of the entry.
    pub at: usize,
    /// Why.
    pub why: Why,
    /// One line for the daily log: what it says, and where it comes from; without secrets.
    pub text: String,
}

/// Those entries, the most wanted first, and how many have no room.
pub(super) fn persist(
    entries: &[Kept],
    strengths: &[f32],
    turn: u64,
    settings: &Settings,
) -> (Vec<Persist>, usize) {
    let is_state = |kept: &Kept| kept.entry.kind == Kind::State;
    let mut made: Vec<u64> = entries
        .iter()
        .filter(|kept| is_state(kept))
        .map(|kept| kept.entry.lifecycle.created)
        .collect();
    made.sort_unstable_by(|a, b| b.cmp(a));
    let last = made.get(STATES - 1).or(made.last()).copied().unwrap_or(0);
    let mut wanted: Vec<(Why, usize, f32)> = Vec::new();
    for (at, (kept, strength)) in entries.iter().zip(strengths).enumerate() {
        let state = kept.entry.shown_at(turn, *strength);
        let why = match kept.entry.modifiers.priority {
            _ if kept.entry.lifecycle.persist => Some(Why::Asked),
            _ if state == Shown::Expired => None,
            Priority::Critical => Some(Why::Critical),
            Priority::High => Some(Why::High),
            _ if is_state(kept) && state == Shown::Active && kept.entry.lifecycle.created >= last => {
                Some(Why::State)
            }
            _ if kept.uses.len() >= settings.often => Some(Why::OftenUsed),
            _ => None,
        };
        if let Some(why) = why {
            wanted.push((why, at, *strength));
        }
    }
    wanted.sort_by(|(why, at, strength), (other, place, weaker)| {
        why.cmp(other)
            .then_with(|| weaker.total_cmp(strength))
            .then_with(|| at.cmp(place))
    });
    // What was written before takes its room still, so that asking again writes no more.
    let (mut chosen, mut left_out, mut count, mut room) = (Vec::new(), 0, 0, settings.persist_tokens);
    for (why, at, _) in wanted {
        let Some(kept) = entries.get(at) else { continue };
        let text = text(kept);
        let cost = tokens::of(&text);
        if count == settings.most_persisted || cost > room {
            left_out += usize::from(!kept.persisted);
            continue;
        }
        count += 1;
        room -= cost;
        if !kept.persisted {
            chosen.push(Persist { at, why, text });
        }
    }
    (chosen, left_out)
}

/// The block of `MEMORY.md` with the texts of a session in it, the newest last: those that it has already stay once, and the
/// oldest lines go when it has more than so many tokens. The daily log has each of them.
#[must_use]
pub fn promoted(body: &str, date: Date, texts: &[String], most_tokens: usize) -> String {
    let stand = body.lines().filter(|line| line.starts_with("- "));
    let said = |line: &str, text: &str| line.split_once(": ").is_some_and(|(_, said)| said == text);
    let mut lines: Vec<String> = stand
        .filter(|line| !texts.iter().any(|text| said(line, text)))
        .map(str::to_owned)
        .collect();
    lines.extend(texts.iter().map(|text| format!("- {date}: {text}")));
    let mut room = tokens::bytes(most_tokens).saturating_sub(PROMOTED.len());
    let fits = |line: &&String| {
        let fits = line.len() < room;
        room = room.saturating_sub(line.len() + 1);
        fits
    };
    let kept = lines.iter().rev().take_while(fits).count();
    let kept = lines.split_off(lines.len() - kept);
    PROMOTED.to_owned() + &kept.join("\n") + "\n"
}

/// What an entry says, in one line.
fn text(kept: &Kept) -> String {
    let entry = &kept.entry;
    let data = entry
        .key_data
        .as_ref()
        .map(told)
        .filter(|data| !data.is_empty() && data.len() <= VALUES);
    let data = data.map(|data| format!(" [{data}]")).unwrap_or_default();
    let reference = clip(&entry.source.reference, REFERENCE);
    let from = format!("{} {reference}", entry.source.kind);
    // The log takes fields and tags at the start of a line for the word of the user.
    let claims = match claims_the_user(&entry.summary) {
        true => format!("{}: ", entry.kind.name()),
        false => String::new(),
    };
    let said = format!("{claims}{}{data}", entry.summary);
    let text = format!(
        "{} ({}, turn {}, {})",
        clip(&said, TEXT),
        from.trim(),
        entry.source.turn,
        entry.id
    );
    line(&redact::without_secrets(&text)).into_owned()
}
