//! What does an archival cycle do: promotion, archive, proposals, sections, By Time, health (v1 §8.2)?

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::change::Change;
use super::planner::Planner;
use super::{Place, Rule, Snapshot};
use crate::bootstrap::{DAILY_LOGS, TECHNICAL, TimeBand};
use crate::entry::{EntryId, Priority};
use crate::time::Timestamp;

/// Milliseconds in a day.
const DAY: u64 = 86_400_000;
/// Lower ends of the bands of strength (v1 §6.2): silent, decaying, weak, moderate, strong.
const BANDS: [f32; 5] = [0.0, 0.1, 0.3, 0.5, 0.8];

/// The state of an index.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Health {
    /// Entries in the index.
    pub live: usize,
    /// Entries in the Decay Queue.
    pub queued: usize,
    /// Entries in the archive.
    pub archived: usize,
    /// Entries that never fade.
    pub amygdala: usize,
    /// Entries that have proved themselves.
    pub consolidated: usize,
    /// Live entries without related ones.
    pub unlinked: usize,
    /// Mean strength of live entries, in [0, 1]; 0 without any.
    pub mean_strength: f32,
    /// Live entries by band of strength: silent, decaying, weak, moderate, strong.
    pub bands: [usize; 5],
    /// Live entries by group.
    pub groups: BTreeMap<String, usize>,
}

impl Health {
    /// Counts a snapshot.
    #[must_use]
    pub fn of(snapshot: &Snapshot) -> Self {
        let mut health = Self::default();
        let mut sum = 0.0;
        for record in snapshot.records.values() {
            match record.place {
                Place::Index => health.live += 1,
                Place::Queue(_) => health.queued += 1,
                Place::Archive(_) => health.archived += 1,
            }
            if record.place != Place::Index {
                continue;
            }
            sum += f64::from(record.strength);
            let band = BANDS.iter().rposition(|least| record.strength >= *least);
            health.bands[band.unwrap_or(0)] += 1;
            health.amygdala += usize::from(record.entry.priority == Priority::Amygdala);
            health.consolidated += usize::from(record.consolidated);
            health.unlinked += usize::from(record.entry.related.is_empty());
            *health.groups.entry(record.group.clone()).or_default() += 1;
        }
        health.mean_strength = (sum / health.live.max(1) as f64) as f32;
        health
    }
}

/// All rules of an archival cycle.
pub(super) fn rules(planner: &mut Planner) {
    consolidate(planner);
    archive(planner);
    propose(planner);
    cluster(planner);
    by_time(planner);
    orphans(planner);
}

fn is_past(since: Timestamp, days: u16, now: Timestamp) -> bool {
    since < now && now.since(since) >= u64::from(days) * DAY
}

/// Strong for long: from then on consolidated.
fn consolidate(planner: &mut Planner) {
    let now = planner.state.run.started;
    let days = planner.state.settings.strong_days;
    let live = planner.ids(|record| record.place == Place::Index);
    planner.consider(Rule::Consolidate, live.len());
    for id in live {
        let Some(record) = planner.state.records.get(&id) else {
            continue;
        };
        let strong = record.strong_since.is_some_and(|since| is_past(since, days, now));
        if strong && !record.consolidated {
            let change = Change::Consolidate {
                id: id.clone(),
                from: false,
                to: true,
            };
            planner.step(Rule::Consolidate, vec![id], change);
        }
    }
}

/// Long in the Decay Queue: into the archive.
fn archive(planner: &mut Planner) {
    let now = planner.state.run.started;
    let settings = &planner.state.settings;
    let (days, least) = (settings.queue_days, settings.queue_below);
    let waiting = planner.ids(|record| matches!(record.place, Place::Queue(_)));
    planner.consider(Rule::Archive, waiting.len());
    let over = planner.ids(|record| {
        let long = matches!(record.place, Place::Queue(since) if is_past(since, days, now));
        // One that is strong again goes back with the next light cycle.
        long && record.strength < least && record.entry.priority != Priority::Amygdala
    });
    planner.demote(Rule::Archive, over, Place::Archive(now));
}

/// Facts that the logs repeat or that are asked for often.
fn propose(planner: &mut Planner) {
    let (days, hits) = planner.state.settings.propose_from;
    let facts = planner.state.facts.clone();
    planner.consider(Rule::Propose, facts.len());
    for fact in facts {
        let worth = fact.days >= days || (fact.days > 1 && fact.hits >= hits);
        if worth && !planner.state.proposed.contains(&fact.text) {
            let change = Change::Propose {
                text: fact.text,
                proposed: true,
            };
            planner.step(Rule::Propose, Vec::new(), change);
        }
    }
}

/// Entries without a telling group that share a tag become a section, the largest first.
fn cluster(planner: &mut Planner) {
    let least = planner.state.settings.cluster_from.max(2);
    loop {
        let loose: Vec<_> = planner
            .state
            .live()
            .filter(|record| record.group == TECHNICAL || record.group.is_empty())
            .collect();
        let mut by_tag: BTreeMap<&str, Vec<EntryId>> = BTreeMap::new();
        for record in &loose {
            for tag in &record.entry.tags {
                let ids = by_tag.entry(tag.as_str()).or_default();
                if ids.last() != Some(&record.entry.id) {
                    ids.push(record.entry.id.clone());
                }
            }
        }
        let largest = by_tag
            .into_iter()
            .max_by(|a, b| a.1.len().cmp(&b.1.len()).then_with(|| b.0.cmp(a.0)));
        let Some((tag, ids)) = largest.filter(|(_, ids)| ids.len() >= least) else {
            break;
        };
        let name = heading(tag);
        // A group of this name that is loose itself would be tried for ever.
        if name == TECHNICAL || name == DAILY_LOGS || name.is_empty() {
            break;
        }
        planner.consider(Rule::Cluster, ids.len());
        let group = |id: &EntryId| planner.state.records.get(id).map(|record| record.group.clone());
        let moves = ids
            .iter()
            .map(|id| (id.clone(), group(id).unwrap_or_default(), name.clone()));
        let change = Change::Regroup {
            moves: moves.collect(),
        };
        planner.step(Rule::Cluster, ids, change);
    }
}

/// A tag as a heading.
fn heading(tag: &str) -> String {
    let mut letters = tag
        .chars()
        .map(|mark| if matches!(mark, '-' | '_') { ' ' } else { mark });
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).collect()
}

/// By Time, seen from today.
pub(super) fn by_time(planner: &mut Planner) {
    let today = planner.state.today();
    let offset = planner.state.settings.offset_seconds;
    planner.each(
        Rule::ByTime,
        |_| true,
        |id, record| {
            let listed = record.place == Place::Index;
            let to = listed.then(|| TimeBand::of(record.entry.created.date(offset), today));
            (record.band != to).then(|| Change::Band {
                id: id.clone(),
                from: record.band,
                to,
            })
        },
    );
}

/// Entries that nothing leads to.
fn orphans(planner: &mut Planner) {
    let live = planner.ids(|record| record.place == Place::Index);
    planner.consider(Rule::Orphan, live.len());
    let linked: BTreeSet<EntryId> = planner
        .state
        .live()
        .flat_map(|record| record.entry.related.iter().cloned())
        .collect();
    for id in live {
        let alone = planner
            .state
            .records
            .get(&id)
            .is_some_and(|record| record.entry.related.is_empty());
        if alone && !linked.contains(&id) {
            planner.find(Rule::Orphan, &id, "no entry is related to it");
        }
    }
}
