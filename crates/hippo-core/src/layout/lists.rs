//! What do the sections of the index file list that hippod makes itself?

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::Wanted;
use crate::bootstrap::TimeBand;
use crate::consolidation::{Place, Record};
use crate::entry::{Entry, EntryId, Pointer};
use crate::hierarchy::Selection;
use crate::index_file::{IndexFile, Known, pointer_line};

/// Entries that By Time lists for a week or a month.
const LISTED: usize = 15;
/// Entries that Associations lists.
const ASSOCIATED: usize = 20;
/// Months that By Time counts.
const MONTHS: usize = 12;

/// Writes the lists. One without content is not begun.
pub(super) fn write(
    file: &mut IndexFile,
    selection: &Selection,
    entries: &BTreeMap<&EntryId, (Entry, &Record)>,
    wanted: &Wanted<'_>,
) {
    let mut set = |section: &[&str], body: String| {
        if !body.is_empty() || file.has_generated(section) {
            file.set_generated(section, &body);
        }
    };
    let quick = wanted.quick_access.iter().filter_map(|id| entries.get(id));
    let quick = quick.map(|(entry, _)| format!("- {} {}", entry.topic, first(&entry.pointers)));
    set(&[Known::QuickAccess.title()], lines(quick));
    let day = |entry: &Entry| entry.created.date(wanted.settings.offset_seconds);
    for band in [TimeBand::ThisWeek, TimeBand::ThisMonth] {
        let mut listed: Vec<&Entry> = entries
            .values()
            .filter(|(_, record)| record.band == Some(band) && record.place == Place::Index)
            .map(|(entry, _)| entry)
            .collect();
        listed.sort_by(|a, b| b.created.cmp(&a.created).then_with(|| a.id.cmp(&b.id)));
        let more = listed.len().saturating_sub(LISTED);
        let shown = listed.into_iter().take(LISTED);
        let mut body = lines(shown.map(|entry| {
            let pointers = first(&entry.pointers);
            format!("- {}: {} {pointers}", day(entry), entry.topic)
        }));
        if more > 0 {
            let _ = writeln!(body, "- and {more} more");
        }
        set(&[Known::ByTime.title(), band.heading()], body);
    }
    let mut months: BTreeMap<(i16, i8), usize> = BTreeMap::new();
    for (entry, record) in entries.values() {
        if record.band == Some(TimeBand::Older) && record.place == Place::Index {
            let day = day(entry);
            *months.entry((day.year(), day.month())).or_default() += 1;
        }
    }
    let counted = months.into_iter().rev().take(MONTHS);
    let counted = counted.map(|((year, month), count)| format!("- {year:04}-{month:02}: {count}"));
    set(
        &[Known::ByTime.title(), TimeBand::Older.heading()],
        lines(counted),
    );
    set(&[Known::Associations.title()], associations(selection, entries));
    set(&[Known::Meta.title()], meta(selection, entries, wanted));
}

/// Each pair once, under the first of the two.
fn associations(selection: &Selection, entries: &BTreeMap<&EntryId, (Entry, &Record)>) -> String {
    let mut told: BTreeSet<(&EntryId, &EntryId)> = BTreeSet::new();
    let mut all = Vec::new();
    for id in &selection.master {
        let Some((entry, _)) = entries.get(id) else {
            continue;
        };
        let others = entry.related.iter().filter(|other| {
            let there = selection.master.contains(*other);
            there && told.insert((id.min(*other), id.max(*other)))
        });
        let topics = others.filter_map(|other| Some(entries.get(other)?.0.topic.as_str()));
        let topics: Vec<&str> = topics.collect();
        if !topics.is_empty() {
            all.push(format!("- {}: {}", entry.topic, topics.join(", ")));
        }
    }
    lines(all.into_iter().take(ASSOCIATED))
}

/// Counts alone: a time would change the file on every writing.
fn meta(
    selection: &Selection,
    entries: &BTreeMap<&EntryId, (Entry, &Record)>,
    wanted: &Wanted<'_>,
) -> String {
    let queued = entries
        .values()
        .filter(|(_, record)| matches!(record.place, Place::Queue(_)));
    let archived = wanted
        .records
        .iter()
        .filter(|(id, record)| matches!(record.place, Place::Archive(_)) && !wanted.forgotten.contains(*id));
    let below: usize = selection.files.values().map(BTreeSet::len).sum();
    let mut body = format!("- entries in this file: {}\n", selection.master.len());
    let mut count = |what: &str, count: usize| {
        if count > 0 {
            let _ = writeln!(body, "- {what}: {count}");
        }
    };
    count("fading", queued.count());
    count("below .hippocampus/topics and .hippocampus/temporal", below);
    count("archived below .hippocampus/archive", archived.count());
    body
}

/// The most important pointer.
fn first(pointers: &[Pointer]) -> String {
    pointer_line(pointers.get(..1).unwrap_or_default())
}

fn lines(all: impl Iterator<Item = String>) -> String {
    all.fold(String::new(), |body, line| body + line.trim_end() + "\n")
}
