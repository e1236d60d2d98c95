//! Planner of consolidation cycles for the entries of the index file (v1 §8).
//!
//! [`plan`] makes a plan for a snapshot. [`EntryChange::apply`] changes the snapshot in the same way as the caller
//! changes its store. The rules run until none has an effect. Therefore, a second plan after the first was applied is
//! empty, and planning again completes an interrupted run. Each step contains the values before and after the change,
//! so that its inverse undoes the step. Entries are never deleted: an entry that leaves the index is moved to the
//! archive.

mod archival;
mod change;
mod deep;
mod light;
mod merge;
mod planner;
mod record;
mod similar;
mod sources;
#[cfg(test)]
mod tests;
mod value;
#[cfg(test)]
mod value_tests;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::bootstrap::BootstrapEntry;
use crate::decay::DecayCurve;
use hippo_text::chunk::ContentHash;
use hippo_types::entry::{Entry, EntryId, Pointer};
use hippo_types::time::{Date, Timestamp};

pub use archival::Health;
pub use change::{EntryChange, FieldsChange, PlanStep, RecordFields, SourceHashes};
pub use light::is_settled;
pub use planner::{ConsolidationPlan, Finding, RefusedChange, plan};
pub use record::{EntryRecord, FiledUse, LearnedAnswer, PassageKey, RecordPlace, RemovedEntry};
pub use similar::find_similar;
pub use value::{ValueConflict, value_conflict};

/// Rule that makes or refuses a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// Creates an entry for a file without one.
    NewEntry,
    /// Moves an entry with a strength below 0.1 to the Decay Queue.
    Queue,
    /// Moves an entry that is strong again from the Decay Queue back to its group.
    Revive,
    /// Writes changed strength, last access and hits to the index file.
    Flush,
    /// Updates pointers to moved sections and files, and removes pointers without a target.
    Pointer,
    /// Records the new content hash of a changed section.
    Source,
    /// Archives entries of the Decay Queue below the pruning threshold.
    Prune,
    /// Merges two entries whose texts say the same.
    Merge,
    /// Relates entries that are accessed together.
    Associate,
    /// Replaces a text that no longer matches its source.
    Summary,
    /// Lists the most accessed entries.
    QuickAccess,
    /// Strengthens entries whose source the run reviewed (v1 §8.3).
    Replay,
    /// Archives entries that were in the Decay Queue for a long time.
    Archive,
    /// Moves many entries with a common tag into a section of their own.
    Cluster,
    /// Assigns an entry to This Week, This Month or Older.
    ByTime,
    /// Refuses a merge of texts with different values.
    ValueConflict,
    /// Refuses to create an entry again that a person removed.
    Tombstone,
    /// Refuses demotions beyond the limit of a run.
    LossCap,
}

/// Section of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SectionState {
    /// Title without heading marks.
    pub title: String,
    /// Hash of the section's text without the heading.
    pub hash: ContentHash,
}

/// State of a document on disk.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DocumentState {
    /// Hash of the whole file.
    pub hash: ContentHash,
    /// Sections with a heading.
    pub sections: Vec<SectionState>,
}

/// Pair of similar entries.
#[derive(Debug, Clone, PartialEq)]
pub struct SimilarPair {
    /// First entry.
    pub a: EntryId,
    /// Second entry.
    pub b: EntryId,
    /// Cosine of the vectors of both entries, in [−1, 1].
    pub cosine: f32,
}

/// Pair of entries that were accessed together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CoAccess {
    /// First entry.
    pub a: EntryId,
    /// Second entry.
    pub b: EntryId,
    /// Number of common accesses. In a snapshot, this is the decayed number. If it is 0, the link that these accesses
    /// created is removed.
    pub count: u32,
}

/// Returns the decayed number of common accesses. The number halves every [`CO_ACCESS_HALF_LIFE`]. It is rounded to the
/// nearest integer: if it were rounded down, one access a day could never add up to two.
#[must_use]
pub fn decayed_co_access(count: u32, last: Timestamp, now: Timestamp) -> u32 {
    let ago = now.since(last) as f64 / CO_ACCESS_HALF_LIFE as f64;
    // The result is at most `count`.
    (f64::from(count) * 0.5_f64.powf(ago)).round() as u32
}

/// Half-life of common accesses in milliseconds: 30 days.
pub const CO_ACCESS_HALF_LIFE: i64 = 30 * 86_400_000;

/// Run of a cycle. A run that resumes after an interruption keeps these values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ConsolidationRun {
    /// Start time of the run. All times that the steps of the run set have this value.
    pub started: Timestamp,
    /// Number of live entries at the start.
    pub live: u32,
    /// Number of entries demoted so far.
    pub demoted: u32,
}

/// Strength below which an entry moves to the Decay Queue (v1 §6.2).
const QUEUE_BELOW: f32 = 0.1;
/// Strength below which an entry of the Decay Queue is pruned (v1 §8.2).
const PRUNE_BELOW: f32 = 0.05;
/// Time in milliseconds after which an entry of the Decay Queue is archived (v1 §8.2): 30 days.
const QUEUE_TIME: u64 = 30 * 86_400_000;
/// Minimum number of common accesses of related entries.
const RELATED_FROM: u32 = 2;
/// Maximum number of related entries of one entry.
const RELATED_MOST: usize = 8;
/// Number of entries under Quick Access (v1 §8.2).
const QUICK_ACCESS: usize = 20;
/// Maximum share of the live entries that one run may demote. At least one entry may always be demoted.
const LOSS_CAP: f64 = 0.25;
/// Thresholds and parameters of the cycles.
#[derive(Debug, Clone, PartialEq)]
pub struct ConsolidationSettings {
    /// Minimum cosine of entries that may be merged.
    pub merge_above: f32,
    /// Minimum cosine if the entries share a pointer.
    pub merge_above_shared: f32,
    /// Decay curve.
    pub profile: DecayCurve,
    /// Minimum number of live entries with a common tag that form a section of their own.
    pub cluster_from: usize,
    /// Offset of the local time zone from UTC in seconds.
    pub offset_seconds: i32,
}

impl Default for ConsolidationSettings {
    fn default() -> Self {
        Self {
            merge_above: 0.8,
            merge_above_shared: 0.72,
            profile: DecayCurve::PROTOCOL,
            cluster_from: 8,
            offset_seconds: 0,
        }
    }
}

/// Text of an entry, extracted from its source.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct EntryText {
    /// Topic.
    pub topic: String,
    /// Summary.
    pub summary: String,
    /// Tags.
    pub tags: Vec<String>,
}

impl From<&Entry> for EntryText {
    fn from(entry: &Entry) -> Self {
        Self {
            topic: entry.topic.clone(),
            summary: entry.summary.clone(),
            tags: entry.tags.clone(),
        }
    }
}

/// Input of a cycle.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ConsolidationSnapshot {
    /// Run for which the plan is made.
    pub run: ConsolidationRun,
    /// All entries, including archived ones.
    pub records: BTreeMap<EntryId, EntryRecord>,
    /// Entries that a person removed.
    pub tombstones: BTreeMap<EntryId, RemovedEntry>,
    /// Documents by path.
    pub documents: BTreeMap<String, DocumentState>,
    /// Files that may exist but could not be read. Pointers to these files are left unchanged.
    pub unread: BTreeSet<String>,
    /// Entries that bootstrap proposes for files without entries.
    pub candidates: Vec<BootstrapEntry>,
    /// New texts of entries whose source changed, extracted from the source.
    pub texts: BTreeMap<EntryId, EntryText>,
    /// Pointers whose target no longer has text. Each is the first pointer of an entry. If hippod extracted the entry's
    /// text, the section or path of the pointer replaces that text.
    pub lost: BTreeSet<Pointer>,
    /// Pairs of similar entries.
    pub similar: Vec<SimilarPair>,
    /// Pairs of entries that were accessed together.
    pub co_access: Vec<CoAccess>,
    /// Paths whose text this run reviewed (v1 §8.3).
    pub reviewed: BTreeSet<String>,
    /// Entries that the index file lists under Quick Access.
    pub quick_access: Vec<EntryId>,
    /// Thresholds and limits.
    pub settings: ConsolidationSettings,
}

impl ConsolidationSnapshot {
    /// Returns the live entries: those in the index, without those in the Decay Queue.
    pub fn live(&self) -> impl Iterator<Item = &EntryRecord> {
        self.records
            .values()
            .filter(|record| record.place == RecordPlace::Index)
    }

    /// Starts a run. The demotion limit of the run is a share of the entries that are live now. Do not call this to
    /// resume a run: a resumed run must keep its [`ConsolidationRun`].
    pub fn begin(&mut self, started: Timestamp) {
        self.run = ConsolidationRun {
            started,
            live: u32::try_from(self.live().count()).unwrap_or(u32::MAX),
            demoted: 0,
        };
    }

    /// Returns the local day on which the run started.
    #[must_use]
    pub fn today(&self) -> Date {
        self.run.started.date(self.settings.offset_seconds)
    }
}
