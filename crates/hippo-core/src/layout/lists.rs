//! What do the sections of the index file list that hippod makes itself?

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::Wanted;
use super::master::{All, Live};
use crate::bootstrap::TimeBand;
use crate::consolidation::Place;
use crate::entry::{Entry, EntryId, Pointer};
use crate::hierarchy::Selection;
use crate::index_file::{IndexFile, IndexSection, pointer_line};

/// Entries that By Time lists for a week or a month.
const LISTED: usize = 15;
/// Entries that Associations lists.
const ASSOCIATED: usize = 20;
/// Months that By Time counts.
const MONTHS: usize = 12;
/// One list takes at most this part of the file: entries come before lists of them.
const SHARE: usize = 16;

/// The lists but for Meta. They do not depend on which entries are in the file, so that no entry goes or comes for them.
pub(super) struct Lists(Vec<(Vec<&'static str>, String)>);

impl Lists {
    pub fn of(all: &All<'_>, wanted: &Wanted<'_>) -> Self {
        let most = wanted.limits.max_tokens.saturating_mul(4) / SHARE;
        let quick = wanted.quick_access.iter().filter_map(|id| all.get(id));
        let quick = quick.map(|live| format!("- {}{}", live.written.topic, first(&live.written.pointers)));
        let mut lists = vec![(vec![IndexSection::QuickAccess.title()], lines(quick, most))];
        let day = |entry: &Entry| entry.created.date(wanted.settings.offset_seconds);
        let of = |band: TimeBand| {
            let listed = all
                .values()
                .filter(move |live| live.record.band == Some(band) && live.record.place == Place::Index);
            listed.map(|live| &live.written)
        };
        for band in [TimeBand::ThisWeek, TimeBand::ThisMonth] {
            let mut listed: Vec<&Entry> = of(band).collect();
            listed.sort_by(|a, b| b.created.cmp(&a.created).then_with(|| a.id.cmp(&b.id)));
            let shown = listed.iter().take(LISTED);
            let shown =
                shown.map(|entry| format!("- {}: {}{}", day(entry), entry.topic, first(&entry.pointers)));
            let mut body = lines(shown, most);
            let more = listed.len() - body.lines().count();
            if more > 0 {
                let _ = writeln!(body, "- and {more} more");
            }
            lists.push((vec![IndexSection::ByTime.title(), band.heading()], body));
        }
        let mut months: BTreeMap<(i16, i8), usize> = BTreeMap::new();
        for entry in of(TimeBand::Older) {
            let day = day(entry);
            *months.entry((day.year(), day.month())).or_default() += 1;
        }
        let counted = months.into_iter().rev().take(MONTHS);
        let counted = counted.map(|((year, month), count)| format!("- {year:04}-{month:02}: {count}"));
        let older = vec![IndexSection::ByTime.title(), TimeBand::Older.heading()];
        lists.push((older, lines(counted, most)));
        lists.push((vec![IndexSection::Associations.title()], associations(all, most)));
        Self(lists)
    }

    /// Writes the lists. One without content is not begun.
    pub fn write(&self, file: &mut IndexFile) {
        for (section, body) in &self.0 {
            set(file, section, body);
        }
    }
}

fn set(file: &mut IndexFile, section: &[&str], body: &str) {
    if !body.is_empty() || file.has_generated(section) {
        file.set_generated(section, body);
    }
}

/// Those of the most accessed entries; each pair once, under the first of the two.
fn associations(all: &All<'_>, most: usize) -> String {
    let mut linked: Vec<&Live<'_>> = all
        .values()
        .filter(|live| !live.written.related.is_empty())
        .collect();
    linked.sort_by_key(|live| std::cmp::Reverse(live.written.hits));
    let mut told: BTreeSet<(&EntryId, &EntryId)> = BTreeSet::new();
    let told = linked.into_iter().filter_map(|live| {
        let entry = &live.written;
        let others = entry.related.iter().filter_map(|other| all.get(other));
        let others = others.map(|other| &other.written);
        let others = others.filter(|other| other.id != entry.id);
        let others =
            others.filter(|other| told.insert(((&entry.id).min(&other.id), (&entry.id).max(&other.id))));
        let topics: Vec<&str> = others.map(|other| other.topic.as_str()).collect();
        (!topics.is_empty()).then(|| format!("- {}: {}", entry.topic, topics.join(", ")))
    });
    lines(told.take(ASSOCIATED), most)
}

/// Writes Meta: counts alone, since a time would change the file on every writing.
pub(super) fn write_meta(file: &mut IndexFile, selection: &Selection, all: &All<'_>, wanted: &Wanted<'_>) {
    let queued = all
        .values()
        .filter(|live| matches!(live.record.place, Place::Queue(_)));
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
    set(file, &[IndexSection::Meta.title()], &body);
}

/// The most important pointer.
fn first(pointers: &[Pointer]) -> String {
    match pointers {
        [] => String::new(),
        [first, ..] => format!(" {}", pointer_line(std::slice::from_ref(first))),
    }
}

/// The first lines that take at most so many bytes.
fn lines(all: impl Iterator<Item = String>, most: usize) -> String {
    let mut body = String::new();
    for line in all {
        let line = line.trim_end();
        if body.len() + line.len() >= most {
            break;
        }
        body.push_str(line);
        body.push('\n');
    }
    body
}
