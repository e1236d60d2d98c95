//! Which entries stay in the master file, and into which file below `.hippocampus/` do the others go (v1 §9.2)?
//!
//! Entries are taken in the order of their rank as long as they fit. What is in the master file already has a small
//! advantage in rank and in room, so that nothing goes to and fro: selecting again after a selection changes nothing.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::bootstrap::DAILY_LOGS;
use crate::entry::{EntryId, Priority};
use crate::text;
use crate::time::{Date, Timestamp};

/// Where the files of the hierarchy lie, relative to the workspace.
pub const FOLDER: &str = ".hippocampus";
/// Strength that an entry outside must have beyond one inside to take its place.
const ADVANTAGE: f32 = 0.05;
/// Hits that count as much as strength 0.1; more hits add ever less.
const HITS: f32 = 5.0;

/// An entry as the selection sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    /// Which.
    pub id: EntryId,
    /// Current strength, in [0, 1].
    pub strength: f32,
    /// Accesses.
    pub hits: u32,
    /// `amygdala` first, then `high`, then all others.
    pub priority: Priority,
    /// Group below By Topic.
    pub group: String,
    /// Whether it points into a file of the workspace's root: `MEMORY.md`, `TOOLS.md`, `USER.md`.
    pub core: bool,
    /// The day that it is of.
    pub date: Date,
    /// Tokens that it takes as written.
    pub tokens: usize,
    /// Whether it is in the master file now.
    pub in_master: bool,
    /// Whether a person wrote more into it there than its fields hold: then it stays, whatever room there is.
    pub annotated: bool,
}

/// How much the master file holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// Tokens of the whole file (v1 §13: 15,000).
    pub max_tokens: usize,
    /// Tokens of it that are no entries: headings, Quick Access, Meta.
    pub other_tokens: usize,
    /// Entries once not all fit (v1 §9.2: about 200).
    pub max_entries: usize,
    /// Share of both that entries from outside may fill; the rest is kept free so that growth moves nothing.
    pub fill: f32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_tokens: 15_000,
            other_tokens: 0,
            max_entries: 200,
            fill: 0.9,
        }
    }
}

/// Where every entry belongs: in the master file, or in exactly one other file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Selection {
    /// Entries of the master file.
    pub master: BTreeSet<EntryId>,
    /// Entries by file, relative to the workspace: `.hippocampus/topics/…` and, for what the logs tell,
    /// `.hippocampus/temporal/YYYY-MM.md`.
    pub files: BTreeMap<String, BTreeSet<EntryId>>,
    /// Entries that leave the master file.
    pub moved_out: Vec<EntryId>,
    /// Entries that come back.
    pub moved_in: Vec<EntryId>,
}

/// `.hippocampus/meta.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Meta {
    /// Of this file's own form: 1.
    pub version: u32,
    /// When it was written.
    pub reindexed: Timestamp,
    /// Entries in all files.
    pub entries: usize,
    /// The master file.
    pub master: FileMeta,
    /// The other files by path.
    pub files: BTreeMap<String, FileMeta>,
}

/// What a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct FileMeta {
    /// Entries.
    pub entries: usize,
    /// Tokens of the entries, estimated.
    pub tokens: usize,
    /// Mean strength, in [0, 1]; 0 without entries.
    pub mean_strength: f32,
}

/// Decides where entries belong. An id that comes twice counts once, the first time.
///
/// While all entries fit, all are in the master file. Once they do not, it keeps the best, at most
/// [`Limits::max_entries`] and [`Limits::max_tokens`]; when they fit again with room to spare, all come back. Annotated
/// entries stay beyond these limits.
#[must_use]
pub fn select(items: &[Item], limits: &Limits) -> Selection {
    let mut known = BTreeSet::new();
    let mut ranked: Vec<&Item> = items.iter().filter(|item| known.insert(&item.id)).collect();
    ranked.sort_by(|a, b| {
        let order = class(b).cmp(&class(a)).then(score(b).total_cmp(&score(a)));
        // A first index has many entries of equal strength.
        let order = order.then(b.core.cmp(&a.core)).then(b.date.cmp(&a.date));
        order.then_with(|| a.id.cmp(&b.id))
    });
    let room = limits.max_tokens.saturating_sub(limits.other_tokens);
    let part = |whole: usize| (whole as f64 * f64::from(limits.fill.clamp(0.0, 1.0))).floor() as usize;
    let total = ranked
        .iter()
        .fold(0_usize, |sum, item| sum.saturating_add(item.tokens));
    let together = ranked.iter().all(|item| item.in_master);
    let all = total <= if together { room } else { part(room) };
    let mut selection = Selection::default();
    let mut used = 0_usize;
    for item in ranked {
        // Who is inside may use all of the room; who comes in behind them leaves some of it free.
        let (tokens, entries) = if item.in_master {
            (room, limits.max_entries)
        } else {
            (part(room), part(limits.max_entries))
        };
        let fits = used.saturating_add(item.tokens) <= tokens && selection.master.len() < entries;
        if all || fits || item.annotated {
            used = used.saturating_add(item.tokens);
            selection.master.insert(item.id.clone());
            if !item.in_master {
                selection.moved_in.push(item.id.clone());
            }
        } else {
            selection
                .files
                .entry(file_of(item))
                .or_default()
                .insert(item.id.clone());
            if item.in_master {
                selection.moved_out.push(item.id.clone());
            }
        }
    }
    selection
}

/// What `meta.json` says of a selection.
#[must_use]
pub fn meta(items: &[Item], selection: &Selection, now: Timestamp) -> Meta {
    let by_id: BTreeMap<&EntryId, &Item> = items.iter().rev().map(|item| (&item.id, item)).collect();
    let of = |ids: &BTreeSet<EntryId>| {
        let members: Vec<&Item> = ids.iter().filter_map(|id| by_id.get(id).copied()).collect();
        let strength: f32 = members.iter().map(|item| item.strength).sum();
        FileMeta {
            entries: members.len(),
            tokens: members.iter().map(|item| item.tokens).sum(),
            mean_strength: strength / members.len().max(1) as f32,
        }
    };
    let files: BTreeMap<String, FileMeta> = selection
        .files
        .iter()
        .map(|(path, ids)| (path.clone(), of(ids)))
        .collect();
    let master = of(&selection.master);
    Meta {
        version: 1,
        reindexed: now,
        entries: master.entries + files.values().map(|file| file.entries).sum::<usize>(),
        master,
        files,
    }
}

/// What stays and what never fades come first, whatever their strength.
const fn class(item: &Item) -> u8 {
    match item.priority {
        _ if item.annotated => 3,
        Priority::Amygdala => 2,
        Priority::High => 1,
        Priority::Normal | Priority::Low => 0,
    }
}

/// Strength, a little more for hits, and the advantage of being inside.
fn score(item: &Item) -> f32 {
    let strength = if item.strength.is_nan() {
        0.0
    } else {
        item.strength
    };
    let hits = item.hits as f32 / (item.hits as f32 + HITS) * 0.2;
    strength + hits + if item.in_master { ADVANTAGE } else { 0.0 }
}

/// The file of an entry that is not in the master file.
fn file_of(item: &Item) -> String {
    if item.group == DAILY_LOGS {
        return format!(
            "{FOLDER}/temporal/{:04}-{:02}.md",
            item.date.year(),
            item.date.month()
        );
    }
    let mut name = String::new();
    for mark in item.group.chars().flat_map(char::to_lowercase) {
        if mark.is_alphanumeric() {
            name.push(mark);
        } else if !(name.is_empty() || name.ends_with('-')) {
            name.push('-');
        }
    }
    // File systems allow 255 bytes; a group is a heading of any length.
    let name = text::start(&name, 60).trim_end_matches('-');
    format!(
        "{FOLDER}/topics/{}.md",
        if name.is_empty() { "other" } else { name }
    )
}
