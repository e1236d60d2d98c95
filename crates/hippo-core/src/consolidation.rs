//! What does a consolidation cycle do to the entries of the index file: a snapshot in, a plan out (v1 §8)?
//!
//! [`plan`] decides, [`apply`] does the same to a snapshot that a shell does to its store and files. Every rule is
//! tried until none changes anything, so a plan made after applying a plan is empty, and a run that was cut off after
//! any step is finished by planning again. A step states what was there and what comes: its inverse undoes it.
//! Nothing is deleted: what leaves the index stands in the archive.

mod archival;
mod change;
mod deep;
mod facts;
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

use crate::bootstrap::NewEntry;
use crate::chunk::ContentHash;
use crate::decay::Profile;
use crate::entry::{EntryId, Pointer};
use crate::time::{Date, Timestamp};

pub use archival::Health;
pub use change::{Change, Step};
pub(crate) use facts::MACHINE;
pub use facts::{LogDay, facts};
pub use light::idle;
pub use merge::{Likeness, likeness};
pub use planner::{Finding, Plan, Refusal, carry_out, plan};
pub use record::{Filed, Learned, Passage, Place, Record, Removed};
pub use similar::similar;
pub use value::{Conflict, Told, value_conflict};

/// Which cycle runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cycle {
    /// Hourly: strengths, accesses, new files, the Decay Queue.
    Light,
    /// Nightly: pointers, pruning, merges, associations, Quick Access.
    Deep,
    /// Monthly: archive, promotion, sections, health.
    Archival,
}

/// Why something is done, or refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// A file has no entry yet.
    NewEntry,
    /// Below the queue's threshold: into the Decay Queue.
    Queue,
    /// In the Decay Queue and strong again: back to its group.
    Revive,
    /// The file does not say yet what is so: strength, last access, hits.
    Flush,
    /// Since when an entry is strong.
    Strong,
    /// A section or file moved, or is gone.
    Pointer,
    /// A section's text changed: what it held is noted anew.
    Source,
    /// In the Decay Queue and below the threshold for pruning: into the archive.
    Prune,
    /// Two entries say the same.
    Merge,
    /// What is accessed together belongs together.
    Associate,
    /// The source says something else than the summary.
    Summary,
    /// The entries accessed most.
    QuickAccess,
    /// A run looked at the source and kept the entry (v1 §8.3).
    Replay,
    /// Strong for long.
    Consolidate,
    /// In the Decay Queue for long: into the archive.
    Archive,
    /// A fact repeated in the logs is proposed for long-term memory.
    Propose,
    /// Many entries share a tag: a section of its own.
    Cluster,
    /// This Week, This Month, Older.
    ByTime,
    /// An entry that nothing leads to, or that leads nowhere.
    Orphan,
    /// Two texts state different values.
    ValueConflict,
    /// A person removed it.
    Tombstone,
    /// One run may not demote more.
    LossCap,
}

/// A section of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SectionState {
    /// Title, without marks.
    pub title: String,
    /// Hash of its text without the heading.
    pub hash: ContentHash,
}

/// A document as it is on disk.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DocumentState {
    /// Hash of the whole file.
    pub hash: ContentHash,
    /// Its sections with a heading.
    pub sections: Vec<SectionState>,
}

/// Two entries that look alike.
#[derive(Debug, Clone, PartialEq)]
pub struct Similar {
    /// One of them.
    pub a: EntryId,
    /// The other.
    pub b: EntryId,
    /// Cosine of their vectors, in [−1, 1].
    pub cosine: f32,
}

/// Two entries that were accessed together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CoAccess {
    /// One of them.
    pub a: EntryId,
    /// The other.
    pub b: EntryId,
    /// How often. In a snapshot: what is left of it by now; 0 takes back the link that it made.
    pub count: u32,
}

/// What is left of common accesses after some time: they halve in [`CO_ACCESS_HALF_LIFE`], rounded. Rounded down, one a day
/// would never become two.
#[must_use]
pub fn co_access_left(count: u32, last: Timestamp, now: Timestamp) -> u32 {
    let ago = now.since(last) as f64 / CO_ACCESS_HALF_LIFE as f64;
    // At most `count`.
    (f64::from(count) * 0.5_f64.powf(ago)).round() as u32
}

/// Milliseconds after which half of the common accesses of a pair is left: 30 days.
pub const CO_ACCESS_HALF_LIFE: i64 = 30 * 86_400_000;

/// A fact of the daily logs that may be worth keeping.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fact {
    /// As written.
    pub text: String,
    /// Where it stands.
    pub sources: Vec<Pointer>,
    /// On how many days it is told.
    pub days: u32,
    /// How often it was accessed.
    pub hits: u32,
}

/// A run, from its start to its end, however often it is interrupted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Run {
    /// When it started: all times that its steps set.
    pub started: Timestamp,
    /// Live entries at that time.
    pub live: u32,
    /// Entries demoted by it so far.
    pub demoted: u32,
}

/// Thresholds.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Below this strength an entry goes to the Decay Queue (v1 §6.2: 0.1).
    pub queue_below: f32,
    /// Below this strength an entry of the Decay Queue is pruned (v1 §8.2: 0.05).
    pub prune_below: f32,
    /// Days in the Decay Queue before the archive (v1 §8.2: 30).
    pub queue_days: u16,
    /// Above this strength an entry counts as strong (v1 §8.2: 0.8).
    pub strong_above: f32,
    /// Days of strength before an entry is consolidated (v1 §8.2: 30).
    pub strong_days: u16,
    /// Cosine from which two entries may be merged.
    pub merge_above: f32,
    /// The same for two entries that share a pointer.
    pub merge_above_shared: f32,
    /// Common accesses from which two entries are related.
    pub related_from: u32,
    /// Related entries of one entry, at most.
    pub related_most: usize,
    /// Entries under Quick Access (v1 §8.2: 20).
    pub quick_access: usize,
    /// The curve that strengths follow.
    pub profile: Profile,
    /// Strength that a replay adds.
    pub replay: f32,
    /// Share of the live entries that one run may demote; of few entries, one.
    pub loss_cap: f32,
    /// Live entries with a common tag from which they become a section.
    pub cluster_from: usize,
    /// Days on which a fact must be told, or accesses that it must have, to be proposed.
    pub propose_from: (u32, u32),
    /// The local time zone's distance from UTC in seconds.
    pub offset_seconds: i32,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            queue_below: 0.1,
            prune_below: 0.05,
            queue_days: 30,
            strong_above: 0.8,
            strong_days: 30,
            merge_above: 0.8,
            merge_above_shared: 0.72,
            related_from: 2,
            related_most: 8,
            quick_access: 20,
            profile: Profile::PROTOCOL,
            replay: 0.05,
            loss_cap: 0.25,
            cluster_from: 8,
            propose_from: (3, 3),
            offset_seconds: 0,
        }
    }
}

/// Everything that a cycle decides from.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Snapshot {
    /// The run that plans.
    pub run: Run,
    /// All entries, the archived ones too.
    pub records: BTreeMap<EntryId, Record>,
    /// Entries that a person removed.
    pub tombstones: BTreeMap<EntryId, Removed>,
    /// Documents by path.
    pub documents: BTreeMap<String, DocumentState>,
    /// Files that are there, or may be, and could not be read: pointers to them are left alone.
    pub unread: BTreeSet<String>,
    /// Entries that bootstrap makes of files that have none.
    pub candidates: Vec<NewEntry>,
    /// Summaries as they would be written today, of entries whose source changed.
    pub summaries: BTreeMap<EntryId, String>,
    /// Entries that look alike.
    pub similar: Vec<Similar>,
    /// Entries that were accessed together.
    pub co_access: Vec<CoAccess>,
    /// Paths whose text this run has reviewed (v1 §8.3).
    pub reviewed: BTreeSet<String>,
    /// What the logs say repeatedly.
    pub facts: Vec<Fact>,
    /// Texts that have been proposed for long-term memory.
    pub proposed: BTreeSet<String>,
    /// What the index file lists under Quick Access.
    pub quick_access: Vec<EntryId>,
    /// Thresholds.
    pub settings: Settings,
}

impl Snapshot {
    /// Entries in the index, the Decay Queue not counted.
    pub fn live(&self) -> impl Iterator<Item = &Record> {
        self.records
            .values()
            .filter(|record| record.place == Place::Index)
    }

    /// Begins a run: what it may demote is a share of what is live now. A run that goes on after an interruption keeps
    /// its [`Run`] instead.
    pub fn begin(&mut self, started: Timestamp) {
        self.run = Run {
            started,
            live: u32::try_from(self.live().count()).unwrap_or(u32::MAX),
            demoted: 0,
        };
    }

    /// The local day on which the run started.
    #[must_use]
    pub fn today(&self) -> Date {
        self.run.started.date(self.settings.offset_seconds)
    }
}

/// The snapshot after all steps of a plan.
#[must_use]
pub fn apply(snapshot: &Snapshot, plan: &Plan) -> Snapshot {
    let mut after = snapshot.clone();
    for step in &plan.steps {
        step.change.apply(&mut after);
    }
    after
}

/// The changes that take a plan back, in the order in which they are to be made.
#[must_use]
pub fn undo(plan: &Plan) -> Vec<Change> {
    plan.steps
        .iter()
        .rev()
        .map(|step| step.change.inverse())
        .collect()
}
