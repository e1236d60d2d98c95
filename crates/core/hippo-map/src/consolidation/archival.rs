//! Rules of the archival cycle (v1 §8.2).

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::change::RecordFields;
use super::planner::CyclePlanner;
use super::{ConsolidationSnapshot, QUEUE_BELOW, QUEUE_TIME, RecordPlace, Rule};
use crate::bootstrap::{DAILY_LOGS, TECHNICAL, TimeBand};
use hippo_types::entry::{EntryId, EntryPriority, StrengthBand};

/// Health metrics of an index, as stored. Here, the strength bands are an array; the response to a cycle request names
/// each band.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Health {
    /// Number of entries in the index, without those in the Decay Queue.
    pub live: usize,
    /// Number of entries in the Decay Queue.
    pub queued: usize,
    /// Number of entries in the archive.
    pub archived: usize,
    /// Number of entries with priority `amygdala`, which do not decay.
    pub amygdala: usize,
    /// Number of live entries without related entries.
    pub unlinked: usize,
    /// Mean strength of live entries, in [0, 1]; 0 if there are none.
    pub mean_strength: f32,
    /// Numbers of live entries by strength band: silent, decaying, weak, moderate, strong.
    pub bands: [usize; 5],
    /// Numbers of live entries by group.
    pub groups: BTreeMap<String, usize>,
}

impl Health {
    /// Computes the metrics of a snapshot.
    #[must_use]
    pub fn from_snapshot(snapshot: &ConsolidationSnapshot) -> Self {
        let mut health = Self::default();
        let mut sum = 0.0;
        for record in snapshot.records.values() {
            match record.place {
                RecordPlace::Index => health.live += 1,
                RecordPlace::Queue(_) => health.queued += 1,
                RecordPlace::Archive(_) => health.archived += 1,
            }
            if record.place != RecordPlace::Index {
                continue;
            }
            sum += f64::from(record.strength);
            health.bands[StrengthBand::from_strength(record.strength) as usize] += 1;
            health.amygdala += usize::from(record.entry.priority == EntryPriority::Amygdala);
            health.unlinked += usize::from(record.entry.related.is_empty());
            *health.groups.entry(record.group.clone()).or_default() += 1;
        }
        health.mean_strength = (sum / health.live.max(1) as f64) as f32;
        health
    }
}

/// Runs all rules of an archival cycle.
pub(super) fn run_rules(planner: &mut CyclePlanner) {
    archive_queued(planner);
    cluster_by_tag(planner);
    assign_time_bands(planner);
}

/// Archives entries that were in the Decay Queue for a long time.
fn archive_queued(planner: &mut CyclePlanner) {
    let now = planner.state.run.started;
    let over = planner.ids(|record| {
        let long = matches!(record.place, RecordPlace::Queue(since) if now.since(since) >= QUEUE_TIME);
        // Skip an entry that is strong again: the next light cycle moves it back to its group.
        long && record.strength < QUEUE_BELOW && record.entry.priority != EntryPriority::Amygdala
    });
    planner.demote(Rule::Archive, over, RecordPlace::Archive(now));
}

/// Moves entries that share a tag and have no specific group into a section of their own, the largest cluster first.
fn cluster_by_tag(planner: &mut CyclePlanner) {
    let least = planner.state.settings.cluster_from.max(2);
    loop {
        let mut by_tag: BTreeMap<&str, BTreeSet<&EntryId>> = BTreeMap::new();
        let live = planner.state.live();
        for record in live.filter(|record| record.group == TECHNICAL || record.group.is_empty()) {
            for tag in &record.entry.tags {
                by_tag.entry(tag).or_default().insert(&record.entry.id);
            }
        }
        let largest = by_tag
            .into_iter()
            .max_by_key(|(tag, ids)| (ids.len(), Reverse(*tag)));
        let Some((tag, ids)) = largest.filter(|(_, ids)| ids.len() >= least) else {
            break;
        };
        let name = format_heading(tag);
        // Skip a tag that is the name of an unspecific group: it would be tried again in every run.
        if name == TECHNICAL || name == DAILY_LOGS || name.is_empty() {
            break;
        }
        let group = |id: &EntryId| (id.clone(), RecordFields::Group(name.clone()));
        let wanted = ids.into_iter().map(group).collect();
        // One step moves all entries of a cluster, because a partial cluster would not form a section.
        planner.set(Rule::Cluster, wanted, 0);
    }
}

/// Formats a tag as a heading.
fn format_heading(tag: &str) -> String {
    let mut letters = tag
        .chars()
        .map(|mark| if matches!(mark, '-' | '_') { ' ' } else { mark });
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).collect()
}

/// Assigns the By Time heading of each entry relative to today.
pub(super) fn assign_time_bands(planner: &mut CyclePlanner) {
    let today = planner.state.today();
    planner.set_each(Rule::ByTime, |state, record| {
        let listed = record.place == RecordPlace::Index;
        let day = record.entry.created.date(state.settings.offset_seconds);
        let band = || TimeBand::from_date(day, today);
        Some(RecordFields::Band(listed.then(band)))
    });
}
