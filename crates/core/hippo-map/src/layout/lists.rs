//! Generated lists in the sections of the index file.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::LayoutInput;
use super::master::LiveEntries;
use crate::bootstrap::TimeBand;
use crate::consolidation::RecordPlace;
use crate::hierarchy::{FOLDER, MasterSelection};
use crate::index_file::{IndexFile, IndexSection, pointer_line};
use hippo_types::entry::{Entry, EntryId};
use hippo_types::time::Date;

/// Maximum number of entries listed under a week or month of By Time.
const LISTED: usize = 15;
/// Maximum number of entries listed under Associations.
const ASSOCIATED: usize = 20;
/// Maximum number of months counted under By Time.
const MONTHS: usize = 12;
/// Divisor for the size of a list. Each list uses at most 1/20 of the file, because entries matter more than lists.
const SHARE: usize = 20;

/// All lists except Meta. They do not depend on which entries are selected, so they never change the selection.
pub(super) struct GeneratedLists(Vec<(Vec<&'static str>, String)>);

impl GeneratedLists {
    pub fn build(all: &LiveEntries<'_>, wanted: &LayoutInput<'_>) -> Self {
        let most = list_bytes(wanted);
        let quick = wanted.quick_access.iter().filter_map(|id| all.get(id));
        let quick = quick.map(|live| format!("- {}", title(&live.written)));
        let mut lists = vec![(vec![IndexSection::QuickAccess.name()], first_lines(quick, most))];
        let day = |entry: &Entry| entry.created.date(wanted.settings.offset_seconds);
        let of = |band: TimeBand| {
            let listed = all.values().filter(move |live| {
                live.record.band == Some(band) && live.record.place == RecordPlace::Index
            });
            listed.map(|live| &live.written)
        };
        for band in [TimeBand::ThisWeek, TimeBand::ThisMonth] {
            let mut listed: Vec<&Entry> = of(band).collect();
            listed.sort_by(|a, b| b.created.cmp(&a.created).then_with(|| a.id.cmp(&b.id)));
            let shown = listed.iter().take(LISTED);
            let shown = shown.map(|entry| dated_line(day(entry), entry));
            let mut body = first_lines(shown, most);
            let more = listed.len() - body.lines().count();
            if more > 0 {
                let _ = writeln!(body, "- and {more} more");
            }
            lists.push((vec![IndexSection::ByTime.name(), band.name()], body));
        }
        let mut months: BTreeMap<(i16, i8), (usize, Option<&Entry>)> = BTreeMap::new();
        for entry in of(TimeBand::Older) {
            let date = day(entry);
            let (count, newest) = months.entry((date.year(), date.month())).or_default();
            *count += 1;
            if newest.is_none_or(|known| (entry.created, &known.id) > (known.created, &entry.id)) {
                *newest = Some(entry);
            }
        }
        let counted = months.into_iter().rev().take(MONTHS);
        let counted = counted.map(|((year, month), (count, newest))| {
            let newest = newest.map_or_else(String::new, |entry| format!(", such as {}", title(entry)));
            format!("- {year:04}-{month:02}: {count}{newest}")
        });
        let older = vec![IndexSection::ByTime.name(), TimeBand::Older.name()];
        lists.push((older, first_lines(counted, most)));
        let associations = list_associations(all, most);
        lists.push((vec![IndexSection::Associations.name()], associations));
        Self(lists)
    }

    /// Writes the lists. If a list is empty, its section has only the heading.
    pub fn write(&self, file: &mut IndexFile) {
        for (section, body) in &self.0 {
            file.set_generated(section, body);
        }
        for section in [IndexSection::ByTopic, IndexSection::DecayQueue] {
            file.ensure_section(&[section.name()]);
        }
    }
}

/// Lists associations of the most accessed entries. Each pair is listed once, under its first entry.
fn list_associations(all: &LiveEntries<'_>, most: usize) -> String {
    let mut linked: Vec<&Entry> = all.values().map(|live| &live.written).collect();
    linked.sort_by_key(|entry| std::cmp::Reverse(entry.hits));
    let mut listed: BTreeSet<(&EntryId, &EntryId)> = BTreeSet::new();
    let listed = linked.into_iter().filter_map(|entry| {
        let others = entry.related.iter().filter_map(|other| all.get(other));
        let others = others.map(|other| &other.written);
        let others = others.filter(|other| other.id != entry.id);
        let others =
            others.filter(|other| listed.insert(((&entry.id).min(&other.id), (&entry.id).max(&other.id))));
        let topics: Vec<&str> = others.map(|other| other.topic.as_str()).collect();
        (!topics.is_empty()).then(|| format!("- {}: {}", entry.topic, topics.join(", ")))
    });
    first_lines(listed.take(ASSOCIATED), most)
}

/// Writes the section Meta. Its values change only if entries in the file change, or after a review. The current time
/// is left out, because it would change the file on every write.
pub(super) fn write_meta(
    file: &mut IndexFile,
    selection: &MasterSelection,
    all: &LiveEntries<'_>,
    wanted: &LayoutInput<'_>,
) {
    let queued = all
        .values()
        .filter(|live| matches!(live.record.place, RecordPlace::Queue(_)));
    let archived = wanted.records.iter().filter(|(id, record)| {
        matches!(record.place, RecordPlace::Archive(_)) && !wanted.forgotten.contains(*id)
    });
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
    if !all.is_empty() {
        let sum: f32 = all.values().map(|live| live.written.strength).sum();
        let _ = writeln!(body, "- mean strength: {:.1}", sum / all.len() as f32);
    }
    if let Some(last) = all.values().filter_map(|live| live.record.replayed).max() {
        let day = last.date(wanted.settings.offset_seconds);
        let _ = writeln!(body, "- last review: {day}");
    }
    body.push_str(&topics_list(selection, list_bytes(wanted)));
    file.set_generated(&[IndexSection::Meta.name()], &body);
}

/// Returns the topics files, each with the number of its entries: one per line, or all in one line if there are many.
fn topics_list(selection: &MasterSelection, most: usize) -> String {
    let files = selection.files.iter();
    let topics = files.filter(|(path, _)| path.contains("/topics/"));
    let topics = topics.map(|(path, ids)| (path.as_str(), ids.len()));
    let lines = topics.clone().map(|(path, count)| format!("- {path}: {count}"));
    let lines: Vec<String> = lines.collect();
    let all = first_lines(lines.iter().cloned(), most);
    if all.lines().count() == lines.len() {
        return all;
    }
    let folder = format!("{FOLDER}/topics/");
    let short = topics.map(|(path, count)| format!("{} {count}", path.trim_start_matches(&folder)));
    let mut line = format!("- {folder}: ");
    let mut left = lines.len();
    for name in short {
        if line.len() + name.len() >= most {
            return format!("{line}and {left} more\n");
        }
        left -= 1;
        line.extend([name.as_str(), if left > 0 { ", " } else { "\n" }]);
    }
    line
}

/// Formats a line of By Time. The topic of a daily log often begins with the day.
fn dated_line(day: Date, entry: &Entry) -> String {
    let (day, title) = (day.to_string(), title(entry));
    if title.starts_with(&day) {
        format!("- {title}")
    } else {
        format!("- {day}: {title}")
    }
}

/// Formats the topic of an entry with its first pointer.
fn title(entry: &Entry) -> String {
    match entry.pointers.first() {
        None => entry.topic.clone(),
        Some(first) => format!("{} {}", entry.topic, pointer_line(std::slice::from_ref(first))),
    }
}

/// Returns the maximum size of a list in bytes.
fn list_bytes(wanted: &LayoutInput<'_>) -> usize {
    wanted.limits.max_tokens.saturating_mul(4) / SHARE
}

/// Returns the first lines that fit into `most` bytes.
fn first_lines(all: impl Iterator<Item = String>, most: usize) -> String {
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
