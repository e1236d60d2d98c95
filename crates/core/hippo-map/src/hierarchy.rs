//! Selection of the entries in the master file (v1 §9.2).
//!
//! Entries are selected in order of rank as long as they fit. All other entries are written to files below
//! `.hippocampus/`. Entries that are already in the master file have a small advantage in rank and may use more room.
//! Therefore, repeating the selection changes nothing.

mod divide;
mod scale;
#[cfg(test)]
mod tests;

pub use scale::{MOST_LIVE, advise};

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::bootstrap::DAILY_LOGS;
use crate::index_file::slug;
use hippo_text::source::SourceKind;
use hippo_text::text;
use hippo_types::entry::{Entry, EntryId, EntryPriority};
use hippo_types::time::Date;

/// Folder of the files outside the master file, relative to the workspace.
pub const FOLDER: &str = ".hippocampus";
/// Advantage, in strength, of entries inside the master file. An entry outside must be stronger by more than this value
/// to replace one inside.
const ADVANTAGE: f32 = 0.05;
/// Number of hits that count as 0.1 of strength; further hits add progressively less.
const HITS: f32 = 5.0;
/// Instruction files in the workspace's root, which harnesses read themselves.
#[rustfmt::skip] // a list is read in lines
const INSTRUCTIONS: [&str; 6] = ["AGENTS.md", "CLAUDE.md", "SOUL.md", "IDENTITY.md", "HEARTBEAT.md", "BOOTSTRAP.md"];
/// Worth of an entry that points to a whole file in the workspace's root. Only annotated entries rank higher.
const WHOLE_ROOT_FILE: EntryWorth = EntryWorth {
    kind: 2,
    is_whole: true,
};

/// Entry that can be selected for the master file.
#[derive(Debug, Clone, PartialEq)]
pub struct SelectionItem {
    /// Id of the entry.
    pub id: EntryId,
    /// Current strength, in [0, 1].
    pub strength: f32,
    /// Number of accesses.
    pub hits: u32,
    /// Priority. `amygdala` ranks first, then `high`, then all others.
    pub priority: EntryPriority,
    /// Group below By Topic.
    pub group: String,
    /// File to which the first pointer leads; empty if the entry has no pointer.
    pub file: String,
    /// Worth of the target of the first pointer. It decides between entries of equal strength.
    pub worth: EntryWorth,
    /// Day on which the entry was created.
    pub date: Date,
    /// Size of the entry as written, in tokens.
    pub tokens: usize,
    /// `true` if the entry is in the master file now.
    pub in_master: bool,
    /// `true` if the master file contains text of the entry beyond its fields. Such an entry always stays.
    pub annotated: bool,
}

/// Worth of an entry's target. The kind of file is compared first; then, a whole file is worth more than a section.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct EntryWorth {
    /// 2 for a file in the workspace's root that is not an instruction file (`MEMORY.md`, `TOOLS.md`, `USER.md`), 1 for
    /// knowledge, plans and projects, otherwise 0.
    pub kind: u8,
    /// `true` if the entry points to a whole file.
    pub is_whole: bool,
}

impl EntryWorth {
    /// Returns the worth of an entry, given by its first pointer.
    #[must_use]
    pub fn of(entry: &Entry) -> Self {
        let Some(first) = entry.pointers.first() else {
            return Self::default();
        };
        Self {
            kind: match SourceKind::from_path(&first.path) {
                _ if INSTRUCTIONS.contains(&first.path.as_str()) => 0,
                SourceKind::Root => 2,
                SourceKind::Knowledge | SourceKind::Plan | SourceKind::Project => 1,
                SourceKind::DailyLog | SourceKind::Node(_) | SourceKind::Session | SourceKind::Other => 0,
            },
            is_whole: first.section.is_none(),
        }
    }
}

/// Limits of the master file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// Maximum size of the whole file in tokens (v1 §13: 15,000).
    pub max_tokens: usize,
    /// Size, in tokens, of everything outside entries: headings, Quick Access, Meta.
    pub other_tokens: usize,
    /// Maximum number of entries if not all entries fit (v1 §9.2: about 200).
    pub max_entries: usize,
    /// Share of both limits up to which new entries are added. The rest stays free, so that no entry must leave when
    /// existing entries grow.
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

/// Assignment of each entry to the master file or exactly one other file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MasterSelection {
    /// Entries of the master file.
    pub master: BTreeSet<EntryId>,
    /// Entries by path of their file, relative to the workspace: `.hippocampus/topics/…` and, for daily logs,
    /// `.hippocampus/temporal/YYYY-MM.md`. The name of a part of a large file has a suffix.
    pub files: BTreeMap<String, BTreeSet<EntryId>>,
}

/// Assigns entries to files. If several items have the same id, the first is used.
///
/// If all entries fit, all are in the master file. Otherwise, the master file keeps the best entries within
/// [`Limits::max_entries`] and [`Limits::max_tokens`]. If one entry per file fits, the best entry of each file ranks
/// before other entries. Entries outside return only if some room stays free ([`Limits::fill`]). Annotated entries stay
/// in any case.
#[must_use]
pub fn select_entries(items: &[SelectionItem], limits: &Limits) -> MasterSelection {
    let mut known = BTreeSet::new();
    let mut ranked: Vec<&SelectionItem> = items.iter().filter(|item| known.insert(&item.id)).collect();
    let covering = covering_entries(&ranked, limits);
    let class = |item: &SelectionItem| rank_class(item, covering.contains(&item.id));
    ranked.sort_by(|a, b| {
        let order = class(b).cmp(&class(a)).then(score(b).total_cmp(&score(a)));
        // Ties must be broken, because a first index has many entries of equal strength.
        let order = order.then(b.worth.cmp(&a.worth)).then(b.date.cmp(&a.date));
        order.then_with(|| a.id.cmp(&b.id))
    });
    let room = limits.max_tokens.saturating_sub(limits.other_tokens);
    let part = |whole: usize| (whole as f64 * f64::from(limits.fill.clamp(0.0, 1.0))).floor() as usize;
    let tokens = ranked.iter().map(|item| item.tokens);
    let total = tokens.fold(0, usize::saturating_add);
    let together = ranked.iter().all(|item| item.in_master);
    let all = total <= if together { room } else { part(room) };
    let mut selection = MasterSelection::default();
    let mut outside: BTreeMap<String, Vec<&SelectionItem>> = BTreeMap::new();
    let mut used = 0_usize;
    for item in ranked {
        // Entries that are already in the master file may use all of the room. Entries that enter must leave some room
        // free.
        let (tokens, entries) = if item.in_master {
            (room, limits.max_entries)
        } else {
            (part(room), part(limits.max_entries))
        };
        let fits = used.saturating_add(item.tokens) <= tokens && selection.master.len() < entries;
        if all || fits || item.annotated {
            used = used.saturating_add(item.tokens);
            selection.master.insert(item.id.clone());
        } else {
            outside.entry(file_path(item)).or_default().push(item);
        }
    }
    for (path, items) in outside {
        divide::divide(&path, items, &mut selection.files);
    }
    selection
}

/// Returns at most `most` ids for Quick Access (20 in v1), most accessed first. Ties are broken by strength, then by
/// priority, then in favour of whole files. Entries without accesses take turns by the folder of their file, so that one
/// large folder does not fill the list.
#[must_use]
pub fn quick_access<'a>(entries: impl Iterator<Item = (&'a Entry, f32)>, most: usize) -> Vec<EntryId> {
    let mut ranked: Vec<(&Entry, f32)> = entries.collect();
    ranked.sort_by(|(a, strong_a), (b, strong_b)| {
        // Compare strengths as rounded for display. Exact strengths would almost always differ, because files are
        // seldom written at the same moment.
        let shown = |strength: &f32| (strength * 100.0).round();
        let strength = shown(strong_b).total_cmp(&shown(strong_a));
        let rest = |entry: &Entry| {
            let EntryWorth { kind, is_whole } = EntryWorth::of(entry);
            // A copy gives all files the same day. The outermost files then describe the folder best.
            let day = entry.created.date(0);
            let depth = entry
                .pointers
                .first()
                .map(|pointer| pointer.path.matches('/').count());
            Reverse((entry.priority, is_whole, kind, day, Reverse(depth), entry.created))
        };
        let order = b.hits.cmp(&a.hits).then(strength);
        order.then_with(|| (rest(a), &a.id).cmp(&(rest(b), &b.id)))
    });
    // Unused entries of one file take room from other files.
    let mut files = BTreeSet::new();
    ranked.retain(|(entry, _)| {
        let file = entry.pointers.first().map(|pointer| &pointer.path);
        entry.hits > 0 || file.is_none() || files.insert(file)
    });
    let mut turns: BTreeMap<&str, usize> = BTreeMap::new();
    let mut listed: Vec<(Reverse<u32>, usize, &Entry)> = Vec::with_capacity(ranked.len());
    for (entry, _) in ranked {
        let path = entry.pointers.first().map_or("", |pointer| pointer.path.as_str());
        let folder = path.split_once('/').map_or(path, |(folder, _)| folder);
        let turn = turns.entry(folder).or_default();
        *turn += usize::from(entry.hits == 0);
        let turn = if entry.hits == 0 { *turn } else { 0 };
        listed.push((Reverse(entry.hits), turn, entry));
    }
    listed.sort_by_key(|(hits, turn, _)| (*hits, *turn));
    listed.truncate(most);
    listed.into_iter().map(|(.., entry)| entry.id.clone()).collect()
}

/// Returns the best entry of each file, in order of worth and date, as long as these entries fit together.
fn covering_entries(items: &[&SelectionItem], limits: &Limits) -> BTreeSet<EntryId> {
    let mut best: BTreeMap<&str, &SelectionItem> = BTreeMap::new();
    for item in items.iter().filter(|item| !item.file.is_empty()) {
        let known = best.entry(&item.file).or_insert(item);
        if (item.worth, &known.id) > (known.worth, &item.id) {
            *known = item;
        }
    }
    let mut best: Vec<&SelectionItem> = best.into_values().collect();
    best.sort_by(|a, b| (b.worth, b.date, &a.id).cmp(&(a.worth, a.date, &b.id)));
    // Use at most 17/20 of the file, and leave the rest for section headings and lists. This share does not depend on
    // the current layout, so the selection is stable.
    let mut room = limits.max_tokens / 20 * 17;
    let fits = |item: &&SelectionItem| text::take_room(&mut room, item.tokens);
    let most = limits.max_entries / 10 * 9;
    let best = best.into_iter().take(most).take_while(fits);
    best.map(|item| item.id.clone()).collect()
}

/// Returns the rank class. Annotated entries, whole files of the root and `amygdala` entries precede all others,
/// regardless of strength.
fn rank_class(item: &SelectionItem, covering: bool) -> u8 {
    match item.priority {
        _ if item.annotated => 5,
        _ if item.worth == WHOLE_ROOT_FILE => 4,
        EntryPriority::Amygdala => 3,
        _ if covering => 2,
        EntryPriority::High => 1,
        EntryPriority::Normal | EntryPriority::Low => 0,
    }
}

/// Returns the strength with a bonus for hits and a bonus for entries in the master file.
fn score(item: &SelectionItem) -> f32 {
    // Round as for display: otherwise, entries of files that were written a moment apart would differ in strength.
    let strength = (item.strength.max(0.0) * 100.0).round() / 100.0;
    let hits = item.hits as f32 / (item.hits as f32 + HITS) * 0.2;
    strength + hits + if item.in_master { ADVANTAGE } else { 0.0 }
}

/// Returns the file of an entry outside the master file.
fn file_path(item: &SelectionItem) -> String {
    if item.group == DAILY_LOGS {
        let (year, month) = (item.date.year(), item.date.month());
        return format!("{FOLDER}/temporal/{year:04}-{month:02}.md");
    }
    // File systems allow 255 bytes for a name, and a group can be a heading of any length.
    let slug = slug(&item.group);
    let name = match item.group.contains(char::is_alphanumeric) {
        true => text::start(&slug, 60).trim_end_matches('-'),
        false => "other",
    };
    format!("{FOLDER}/topics/{name}.md")
}
