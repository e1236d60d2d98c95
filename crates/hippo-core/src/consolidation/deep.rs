//! What does a deep cycle do: pointers, pruning, merges, associations, summaries, Quick Access (v1 §8.2)?

use std::collections::{BTreeMap, BTreeSet};

use super::change::{Change, Vigour};
use super::planner::Planner;
use super::{Place, Rule, archival, light, merge, sources};
use crate::bootstrap::quick_access;
use crate::decay::{self, Profile};
use crate::entry::{EntryId, Origin, Priority};

/// All rules of a deep cycle.
pub(super) fn rules(planner: &mut Planner) {
    sources::check(planner);
    prune(planner);
    // Before merging: a merge compares what the sources say now.
    summarise(planner);
    merge::duplicates(planner);
    // An entry that took another one in may have lost pointers of that one: what follows goes by what is left.
    sources::check(planner);
    associate(planner);
    list_quick_access(planner);
    archival::by_time(planner);
}

/// Out of the Decay Queue into the archive. What this run queued itself waits for the next one.
fn prune(planner: &mut Planner) {
    let (started, below) = (planner.state.run.started, planner.state.settings.prune_below);
    let waiting = planner.ids(|record| matches!(record.place, Place::Queue(_)));
    planner.consider(Rule::Prune, waiting.len());
    let spent = planner.ids(|record| {
        let before = matches!(record.place, Place::Queue(since) if since < started);
        before && record.strength < below && record.entry.priority != Priority::Amygdala
    });
    planner.demote(Rule::Prune, spent, Place::Archive(started));
}

/// Links follow common accesses, and go when those are long ago or when they lead to no live entry. What people linked
/// stays.
fn associate(planner: &mut Planner) {
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
    let live = planner.ids(|record| record.place == Place::Index);
    planner.consider(Rule::Associate, live.len());
    for id in &live {
        let Some(record) = planner.state.records.get(id) else {
            continue;
        };
        let before = record.entry.related.clone();
        let there = |other: &EntryId| {
            let other = planner.state.records.get(other);
            other.is_some_and(|record| !matches!(record.place, Place::Archive(_)))
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
            let change = Change::Relate {
                id: id.clone(),
                made: Box::new([record.linked.clone(), linked]),
                from: before,
                to: after,
            };
            planner.step(Rule::Associate, vec![id.clone()], change);
        }
    }
}

/// Summaries that were extracted are extracted again; what a person wrote stays.
fn summarise(planner: &mut Planner) {
    let fresh = std::mem::take(&mut planner.state.summaries);
    planner.consider(Rule::Summary, fresh.len());
    for (id, summary) in &fresh {
        let Some(record) = planner.state.records.get(id) else {
            continue;
        };
        let entry = &record.entry;
        if record.place != Place::Index || summary.is_empty() || *summary == entry.summary {
            continue;
        }
        if entry.origin == Origin::Manual || record.by_hand {
            planner.refuse(Rule::Summary, vec![id.clone()], "a person wrote the summary");
            continue;
        }
        let change = Change::Summarise {
            id: id.clone(),
            from: (entry.summary.clone(), entry.version),
            to: (summary.clone(), entry.version.saturating_add(1)),
        };
        planner.step(Rule::Summary, vec![id.clone()], change);
    }
    planner.state.summaries = fresh;
}

/// Entries whose source the run reviewed, and that it kept, are a little stronger: once a run. They get younger; starting the
/// curve anew would leave them weaker a day later (see [`decay::replay`]).
pub(super) fn replay(planner: &mut Planner) {
    let started = planner.state.run.started;
    let settings = &planner.state.settings;
    let least = settings.queue_below;
    let profile = Profile {
        replay_gain: f64::from(settings.replay),
        ..settings.profile
    };
    let paths = planner.state.reviewed.clone();
    for path in paths {
        let ids = light::of_path(planner, &path);
        planner.consider(Rule::Replay, ids.len());
        for id in ids {
            let Some(record) = planner.state.records.get(&id) else {
                continue;
            };
            // An entry that the next light cycle puts into the queue was not kept.
            if record.replayed == Some(started) || record.strength < least {
                continue;
            }
            let mut younger = record.entry.clone();
            decay::replay(&profile, &mut younger, started);
            let change = Change::Replay {
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
            planner.step(Rule::Replay, vec![id], change);
        }
    }
}

/// What the index file lists first.
pub(super) fn list_quick_access(planner: &mut Planner) {
    planner.consider(Rule::QuickAccess, planner.state.live().count());
    let live = planner
        .state
        .live()
        .map(|record| (&record.entry, record.strength));
    let to = quick_access(live, planner.state.settings.quick_access);
    let from = planner.state.quick_access.clone();
    if from != to {
        planner.step(Rule::QuickAccess, to.clone(), Change::QuickAccess { from, to });
    }
}
