//! Rules of the deep cycle (v1 §8.2).

use std::collections::{BTreeMap, BTreeSet};

use super::change::{EntryChange, Vigour};
use super::planner::CyclePlanner;
use super::{EntryRecord, EntryText, RecordPlace, Rule, archival, light, merge, sources};
use crate::decay::{self, DecayCurve};
use crate::hierarchy::quick_access;
use hippo_types::entry::{EntryId, EntryPriority};

/// Runs all rules of a deep cycle.
pub(super) fn run_rules(planner: &mut CyclePlanner) {
    sources::check_pointers(planner);
    prune_entries(planner);
    // Summaries are updated before the merges, which compare current summaries.
    update_texts(planner);
    merge::merge_duplicates(planner);
    // A merged entry may have lost pointers, and later rules must use the remaining ones.
    sources::check_pointers(planner);
    relate_entries(planner);
    list_quick_access(planner);
    archival::assign_time_bands(planner);
}

/// Archives entries of the Decay Queue below the pruning threshold, except those that this run queued.
fn prune_entries(planner: &mut CyclePlanner) {
    let (started, below) = (planner.state.run.started, planner.state.settings.prune_below);
    let spent = planner.ids(|record| {
        let before = matches!(record.place, RecordPlace::Queue(since) if since < started);
        before && record.strength < below && record.entry.priority != EntryPriority::Amygdala
    });
    planner.demote(Rule::Prune, spent, RecordPlace::Archive(started));
}

/// Relates entries by their common accesses. Links fade with these accesses, and links to archived entries end. Links
/// that people made are kept.
fn relate_entries(planner: &mut CyclePlanner) {
    let settings = &planner.state.settings;
    let (from, most) = (settings.related_from, settings.related_most);
    let mut together: BTreeMap<EntryId, Vec<(u32, EntryId)>> = BTreeMap::new();
    let mut faded: BTreeSet<(EntryId, EntryId)> = BTreeSet::new();
    for pair in &planner.state.co_access {
        if pair.count == 0 {
            faded.insert((pair.a.clone(), pair.b.clone()));
            faded.insert((pair.b.clone(), pair.a.clone()));
        }
        if pair.count >= from && pair.a != pair.b {
            together
                .entry(pair.a.clone())
                .or_default()
                .push((pair.count, pair.b.clone()));
            together
                .entry(pair.b.clone())
                .or_default()
                .push((pair.count, pair.a.clone()));
        }
    }
    let live = planner.ids(|record| record.place == RecordPlace::Index);
    for id in &live {
        let Some(record) = planner.state.records.get(id) else {
            continue;
        };
        let before = record.entry.related.clone();
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
            if after.len() < most && !after.contains(&other) && there(&other) {
                after.push(other);
            }
        }
        if before != after {
            let fresh = after.iter().filter(|other| !before.contains(other));
            let linked = record.linked.iter().chain(fresh);
            let linked = linked.filter(|other| after.contains(other)).cloned().collect();
            let change = EntryChange::Relate {
                id: id.clone(),
                made: Box::new([record.linked.clone(), linked]),
                from: before,
                to: after,
            };
            planner.add_step(Rule::Associate, vec![id.clone()], change);
        }
    }
}

/// Replaces extracted texts by newly extracted ones. Texts written by people stay.
pub(super) fn update_texts(planner: &mut CyclePlanner) {
    let mut fresh = std::mem::take(&mut planner.state.texts);
    let lost = std::mem::take(&mut planner.state.lost);
    for record in planner.state.records.values() {
        let first = record.entry.pointers.first();
        if let Some(first) = first.filter(|first| lost.contains(first)) {
            // Nothing supports the text any more.
            let topic = first.section.as_ref().unwrap_or(&first.path).clone();
            let text = EntryText {
                topic,
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
        let version = record.entry.version;
        let change = EntryChange::Summarise {
            id: id.clone(),
            from: Box::new((from, version)),
            to: Box::new((text.clone(), version.saturating_add(1))),
        };
        planner.add_step(Rule::Summary, vec![id.clone()], change);
    }
    planner.state.texts = fresh;
}

/// Strengthens each kept entry whose source the run reviewed, once per run. The replay moves the start of the curve,
/// because a new curve would leave the entry weaker a day later (see [`decay::record_replay`]).
pub(super) fn replay_reviewed(planner: &mut CyclePlanner) {
    let started = planner.state.run.started;
    let settings = &planner.state.settings;
    let least = settings.queue_below;
    let profile = DecayCurve {
        replay_gain: f64::from(settings.replay),
        ..settings.profile
    };
    let paths = planner.state.reviewed.clone();
    for path in paths {
        let ids = light::ids_in_file(planner, &path);
        for id in ids {
            let Some(record) = planner.state.records.get(&id) else {
                continue;
            };
            // The next light cycle would move this entry to the queue, so the run did not keep it.
            if record.replayed == Some(started) || record.strength < least {
                continue;
            }
            let mut younger = record.entry.clone();
            decay::record_replay(&profile, &mut younger, started);
            let change = EntryChange::Replay {
                id: id.clone(),
                from: Vigour {
                    initial: record.entry.strength,
                    accessed: record.entry.accessed,
                    replayed_to: record.entry.replayed_to,
                    strength: record.strength,
                    replayed: record.replayed,
                },
                to: Vigour {
                    initial: younger.strength,
                    accessed: younger.accessed,
                    replayed_to: Some(younger.curve_start().max(record.entry.curve_start())),
                    strength: decay::strength_at(&profile, &younger, started).max(record.strength),
                    replayed: Some(started),
                },
            };
            planner.add_step(Rule::Replay, vec![id], change);
        }
    }
}

/// Updates the entries under Quick Access.
pub(super) fn list_quick_access(planner: &mut CyclePlanner) {
    let listed: Vec<&EntryRecord> = planner
        .state
        .live()
        .filter(|record| record.learned.is_none())
        .collect();
    let listed = listed.into_iter().map(|record| (&record.entry, record.strength));
    let to = quick_access(listed, planner.state.settings.quick_access);
    let from = planner.state.quick_access.clone();
    if from != to {
        planner.add_step(
            Rule::QuickAccess,
            to.clone(),
            EntryChange::QuickAccess { from, to },
        );
    }
}
