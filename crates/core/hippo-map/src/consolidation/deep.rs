//! Rules of the deep cycle (v1 §8.2).

use std::collections::{BTreeMap, BTreeSet};

use super::change::{EntryChange, RecordFields};
use super::planner::CyclePlanner;
use super::record::{FILE_GONE, SECTION_GONE};
use super::{
    EntryRecord, EntryText, PRUNE_BELOW, QUEUE_BELOW, QUICK_ACCESS, RELATED_FROM, RELATED_MOST, RecordPlace,
    Rule, archival, merge, sources,
};
use crate::decay;
use crate::hierarchy::quick_access;
use hippo_types::entry::{EntryId, EntryPriority};

/// Runs all rules of a deep cycle.
pub(super) fn run_rules(planner: &mut CyclePlanner) {
    sources::check_pointers(planner);
    prune_entries(planner);
    // Update summaries before the merges, which compare current summaries.
    update_texts(planner);
    merge::merge_duplicates(planner);
    // A merged entry can have pointers without a target. Remove these pointers before the later rules use them.
    sources::check_pointers(planner);
    relate_entries(planner);
    list_quick_access(planner);
    archival::assign_time_bands(planner);
}

/// Archives entries of the Decay Queue below the pruning threshold, except those that this run queued.
fn prune_entries(planner: &mut CyclePlanner) {
    let started = planner.state.run.started;
    let spent = planner.ids(|record| {
        let before = matches!(record.place, RecordPlace::Queue(since) if since < started);
        before && record.strength < PRUNE_BELOW && record.entry.priority != EntryPriority::Amygdala
    });
    planner.demote(Rule::Prune, spent, RecordPlace::Archive(started));
}

/// Relates entries that were accessed together. A link that common accesses created is removed when their decayed
/// number is 0. All links to archived entries are removed. Other links that people made are kept.
fn relate_entries(planner: &mut CyclePlanner) {
    let mut together: BTreeMap<EntryId, Vec<(u32, EntryId)>> = BTreeMap::new();
    let mut faded: BTreeSet<(EntryId, EntryId)> = BTreeSet::new();
    for pair in &planner.state.co_access {
        for (one, other) in [(&pair.a, &pair.b), (&pair.b, &pair.a)] {
            if pair.count == 0 {
                faded.insert((one.clone(), other.clone()));
            } else if pair.count >= RELATED_FROM && one != other {
                let others = together.entry(one.clone()).or_default();
                others.push((pair.count, other.clone()));
            }
        }
    }
    let live = planner.ids(|record| record.place == RecordPlace::Index);
    for id in &live {
        let Some(record) = planner.state.records.get(id) else {
            continue;
        };
        let before = &record.entry.related;
        let there = |other: &EntryId| {
            let other = planner.state.records.get(other);
            other.is_some_and(|record| !matches!(record.place, RecordPlace::Archive(_)))
        };
        let made = &record.linked;
        let fades = |other: &EntryId| made.contains(other) && faded.contains(&(id.clone(), other.clone()));
        let holds = |other: &&EntryId| there(other) && !fades(other);
        let mut after: Vec<EntryId> = before.iter().filter(holds).cloned().collect();
        let mut more = together.remove(id).unwrap_or_default();
        more.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        for (_, other) in more {
            if after.len() < RELATED_MOST && !after.contains(&other) && there(&other) {
                after.push(other);
            }
        }
        let fresh = after.iter().filter(|other| !before.contains(other));
        let linked = record.linked.iter().chain(fresh);
        let linked = linked.filter(|other| after.contains(other)).cloned().collect();
        if *before != after {
            let fields = RecordFields::Related(after, linked);
            planner.set(Rule::Associate, vec![(id.clone(), fields)], 0);
        }
    }
}

/// Replaces texts of entries by newly extracted texts. Texts that people wrote are kept.
pub(super) fn update_texts(planner: &mut CyclePlanner) {
    let mut fresh = std::mem::take(&mut planner.state.texts);
    let lost = std::mem::take(&mut planner.state.lost);
    for record in planner.state.records.values() {
        let pointers = &record.entry.pointers;
        let all_lost = pointers.iter().all(|pointer| lost.contains(pointer));
        if let Some(first) = pointers.first().filter(|_| all_lost) {
            let (topic, summary) = match &first.section {
                Some(section) => (section, SECTION_GONE),
                None => (&first.path, FILE_GONE),
            };
            let text = EntryText {
                topic: topic.clone(),
                summary: summary.to_owned(),
                ..EntryText::default()
            };
            fresh.insert(record.entry.id.clone(), text);
        }
    }
    for (id, text) in &fresh {
        let Some(record) = planner.state.records.get(id) else {
            continue;
        };
        let from = EntryText::from(&record.entry);
        if text.topic.is_empty() || *text == from {
            continue;
        }
        if record.by_hand {
            planner.refuse(Rule::Summary, vec![id.clone()], "a person wrote the summary");
            continue;
        }
        let fields = RecordFields::Text(text.clone(), record.entry.version.saturating_add(1));
        planner.set(Rule::Summary, vec![(id.clone(), fields)], 0);
    }
    planner.state.texts = fresh;
}

/// Strengthens, once per run, each kept entry with a source that the run reviewed. The replay moves the start of the
/// curve, because a new curve would leave the entry weaker a day later (see [`decay::record_replay`]).
pub(super) fn replay_reviewed(planner: &mut CyclePlanner) {
    let started = planner.state.run.started;
    let profile = planner.state.settings.profile;
    planner.set_each(Rule::Replay, |state, record| {
        let mut paths = record.entry.pointers.iter().map(|pointer| &pointer.path);
        let is_reviewed =
            record.place == RecordPlace::Index && paths.any(|path| state.reviewed.contains(path));
        // Skip weak entries: the next light cycle would move them to the Decay Queue, so they do not count as kept.
        if !is_reviewed || record.replayed == Some(started) || record.strength < QUEUE_BELOW {
            return None;
        }
        let mut younger = record.entry.clone();
        decay::record_replay(&profile, &mut younger, started);
        Some(RecordFields::Vigour {
            initial: younger.strength,
            accessed: younger.accessed,
            replayed_to: Some(younger.curve_start().max(record.entry.curve_start())),
            strength: decay::strength_at(&profile, &younger, started).max(record.strength),
            replayed: Some(started),
        })
    });
}

/// Updates the entries under Quick Access.
pub(super) fn list_quick_access(planner: &mut CyclePlanner) {
    let is_listed = |record: &&EntryRecord| record.learned.is_none() && !record.is_gone();
    let listed = planner.state.live().filter(is_listed);
    let listed = listed.map(|record| (&record.entry, record.strength));
    let to = quick_access(listed, QUICK_ACCESS);
    let from = planner.state.quick_access.clone();
    if from != to {
        planner.add_step(Rule::QuickAccess, EntryChange::QuickAccess { from, to });
    }
}
