//! Entries, index file and current run of a workspace.

mod access;
mod cycle;
mod documents;
mod files;
mod foreign;
mod gather;
mod merge;
mod private;
mod remember;
mod report;
mod requests;
mod undo;

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use hippo_map::bootstrap::MOST_ENTRIES;
use hippo_map::consolidation::{ConsolidationSnapshot, EntryRecord, RecordPlace};
use hippo_map::hierarchy::MOST_LIVE;
use hippo_map::schedule::RunOutcome;
use hippo_store::StoreError;
use hippo_store::db::{EntryStore, RunRow, Store};
use hippo_text::chunk::{ContentHash, Document};
use hippo_text::source::SourceKind;
use hippo_text::text::plural;
use hippo_types::cycle::Cycle;
use hippo_types::entry::{EntryId, EntryPriority};
use hippo_types::time::Timestamp;

use super::workspace::KnownDocument;
use crate::config::Config;
use crate::index::IndexView;
use crate::view::WorkspaceView;

use crate::message::Order;
pub use cycle::FinishedPlan;
pub use report::run as run_on_wire;

/// Time from the first change of a document to the light cycle that processes the change.
const FOLLOW: Duration = Duration::from_secs(30);
/// Maximum delay before changed entries are visible to queries.
const PUBLISH: Duration = Duration::from_millis(250);

/// Vectors of entries by the hash of the entry's text. They are kept between cycles.
pub type EntryVectors = Arc<Mutex<HashMap<[u8; 16], Arc<Vec<f32>>>>>;

/// State of the entries of a workspace.
pub struct WorkspaceEntries {
    /// True if the configuration enables the index file.
    pub enabled: bool,
    /// True if light cycles run on a schedule.
    scheduled: bool,
    /// The entries, as they are in the store.
    pub known: EntryStore,
    /// Number of changes of the entries so far. A plan of a cycle that is based on an earlier revision must be made
    /// again.
    pub revision: u64,
    /// State of the index file.
    pub file: files::IndexFileState,
    /// Documents that were added or changed, and that no light cycle has processed since. The documents of the current
    /// run are not in this set.
    pub fresh: BTreeSet<String>,
    /// Paths whose entries must be removed, because their text became private.
    pub withdrawn: BTreeSet<String>,
    /// Hashes of private files and their sections. Entries of missing files with these texts are removed as well.
    pub private_texts: HashSet<ContentHash>,
    /// True if a file was removed since the entries were compared with `private_texts`.
    pub compare_private: bool,
    /// Time at which a light cycle starts because a document changed; `None` if no document changed since the last one.
    pub follow_at: Option<Instant>,
    /// True if the last light cycle did not process all documents. The next one then starts as soon as all files have
    /// been read, instead of at its scheduled time.
    pub goes_on: bool,
    /// The vectors of the entries.
    pub vectors: EntryVectors,
    /// Hashes of the entry texts that deep cycles have already compared with all others.
    pub compared: BTreeSet<[u8; 16]>,
    /// The run that is being planned or applied.
    pub run: Option<cycle::ActiveCycle>,
    /// Requested cycles and changes of entries that wait until the current run ends.
    pub queue: VecDeque<Order>,
    /// Runs that did not finish because the process ended or the store returned an error.
    pub interrupted: Vec<RunRow>,
    /// Number of consecutive cycles that could not be run.
    pub failures: u32,
    /// Time at which the workspace was first opened; cycles that were due earlier do not count as missed.
    pub known_since: Timestamp,
    /// Time at which changed entries are next made visible to queries.
    pub publish_at: Option<Instant>,
    /// Time of the next check for due cycles.
    pub look_at: Instant,
    /// Problems that the latest deep or archival cycle found, for display.
    pub findings: Vec<hippo_map::consolidation::Finding>,
    /// Time of the next attempt after an error of the store.
    pub again_at: Option<Instant>,
}

impl WorkspaceEntries {
    /// Loads the entries from the store and marks unfinished runs as interrupted.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn load(store: &mut Store, config: &Config, now: Timestamp, at: Instant) -> Result<Self, StoreError> {
        let mut interrupted = store.interrupt_runs()?;
        let known = store.entries()?;
        interrupted.extend(failed(&known.runs));
        for row in &known.damaged {
            tracing::warn!(
                table = row.table,
                id = row.id,
                reason = row.reason,
                "could not read a row; the row stays unchanged"
            );
        }
        // The start time can be an invented time from a request, but the finish time is always a real time.
        let first = known.runs.iter().filter_map(|run| run.record.finished).min();
        let file = files::IndexFileState::load(store, at)?;
        Ok(Self {
            enabled: config.index.enabled,
            scheduled: !config.cycles.light.trim().is_empty(),
            known_since: first.unwrap_or(now),
            known,
            revision: 0,
            file,
            fresh: store.fresh_documents()?,
            withdrawn: BTreeSet::new(),
            private_texts: HashSet::new(),
            compare_private: false,
            follow_at: None,
            goes_on: false,
            vectors: EntryVectors::default(),
            compared: BTreeSet::new(),
            run: None,
            queue: VecDeque::new(),
            interrupted,
            failures: 0,
            publish_at: Some(at),
            look_at: at,
            findings: Vec::new(),
            again_at: None,
        })
    }

    /// Marks documents without an entry as new. The previous process may have ended before a light cycle had processed
    /// them.
    pub fn notice(&mut self, documents: &HashMap<String, KnownDocument>) {
        let private = documents.iter().filter(|(_, known)| !known.is_shared);
        self.withdrawn.extend(private.map(|(path, _)| path.clone()));
        let missed: Vec<String> = self.unlisted_documents(documents).map(str::to_owned).collect();
        self.fresh.extend(missed);
    }

    /// Returns the documents that have no entry. Entries that queries created do not count. Derived files are omitted:
    /// nodes of the compaction tree, and pages of sessions.
    fn unlisted_documents<'d>(
        &self,
        documents: &'d HashMap<String, KnownDocument>,
    ) -> impl Iterator<Item = &'d str> {
        let records = self.known.records.values();
        let told = records.filter(|record| record.learned.is_none());
        let told: HashSet<&str> = told
            .flat_map(|record| &record.entry.pointers)
            .map(|pointer| pointer.path.as_str())
            .collect();
        let untold = documents
            .iter()
            .filter(|(_, known)| known.is_shared)
            .map(|(path, _)| path.as_str())
            .filter(move |path| !told.contains(path));
        untold.filter(|path| !SourceKind::from_path(path).is_derived())
    }

    /// Returns a message about the files that have no entry because the index is full; `None` if it is not full or no
    /// file lacks an entry.
    pub fn without_room(&self, documents: &HashMap<String, KnownDocument>) -> Option<String> {
        if gather::live(&self.known.records) < MOST_LIVE {
            return None;
        }
        let files = self.unlisted_documents(documents).count();
        (files > 0).then(|| {
            format!(
                "{} without an entry, because the index has reached its maximum of {MOST_LIVE} entries; search \
                 still finds these files; after you remove entries, the next start of hippod creates the same \
                 number of new entries for these files",
                plural(files as u64, "file")
            )
        })
    }

    /// Returns a message about the files that have no entry yet after a light cycle.
    fn left_out(&self, documents: &HashMap<String, KnownDocument>) -> Option<String> {
        if !self.goes_on {
            return self.without_room(documents);
        }
        let files = self
            .unlisted_documents(documents)
            .filter(|path| self.fresh.contains(*path))
            .count();
        (files > 0).then(|| {
            format!(
                "{} without an entry so far: a light cycle creates at most {MOST_ENTRIES} entries, and the next \
                 light cycle creates more",
                plural(files as u64, "file")
            )
        })
    }

    /// Marks a document as new or changed, and schedules a light cycle, so that entries do not keep outdated text for
    /// long.
    pub fn note_changed_file(&mut self, path: &str, now: Instant) {
        self.fresh.insert(path.to_owned());
        let at = *self.follow_at.get_or_insert(now + FOLLOW);
        self.look_at = self.look_at.min(at);
    }

    /// Records that a file is private, so that its entries are removed.
    pub fn note_private_file(&mut self, path: &str, bytes: &[u8], document: &Document) {
        let state = documents::state(path, bytes, Some(document));
        self.private_texts.insert(state.hash);
        self.private_texts
            .extend(state.sections.iter().map(|section| section.hash));
        self.withdrawn.insert(path.to_owned());
    }

    /// Increases the revision, because entries have changed, and schedules the publication of the entries to queries.
    pub fn changed(&mut self, now: Instant) {
        self.revision += 1;
        self.publish_at.get_or_insert(now + PUBLISH);
    }

    /// Returns an id that no current or removed entry has: `wanted` itself, or `wanted` with a number appended.
    pub fn free_id(&self, wanted: &str) -> EntryId {
        let wanted = if wanted.is_empty() { "entry" } else { wanted };
        let numbered = (2_u32..).map(|number| EntryId(format!("{wanted}-{number}")));
        let mut ids = std::iter::once(EntryId(wanted.to_owned())).chain(numbered);
        let taken =
            |id: &EntryId| self.known.records.contains_key(id) || self.known.tombstones.contains_key(id);
        // The numbers cannot run out, because there are more numbers than entries.
        ids.find(|id| !taken(id)).unwrap_or_default()
    }

    /// Returns whether a query created the entry and no person has edited or prioritized it since.
    pub fn is_untouched_question(&self, record: &EntryRecord) -> bool {
        let id = &record.entry.id;
        record.learned.is_some()
            && !record.by_hand
            && !record.apart
            && record.entry.priority != EntryPriority::Amygdala
            && !self.known.tombstones.contains_key(id)
            && !self.file.kept.has_entry(id)
    }

    /// Returns whether a run is changing entries now.
    pub fn is_applying(&self) -> bool {
        self.run.as_ref().is_some_and(cycle::ActiveCycle::is_applying)
    }

    /// Returns whether changes of entries must wait for the current run.
    pub fn keeps_others_out(&self) -> bool {
        self.run
            .as_ref()
            .is_some_and(cycle::ActiveCycle::keeps_others_out)
    }

    /// Adds records to the ones in memory. A record replaces the one with the same id.
    pub fn put_known(&mut self, records: impl IntoIterator<Item = EntryRecord>) {
        let records = records
            .into_iter()
            .map(|record| (record.entry.id.clone(), record));
        self.known.records.extend(records);
    }

    /// Returns the ids of entries that a person removed.
    pub fn forgotten(&self) -> BTreeSet<EntryId> {
        self.known.tombstones.keys().cloned().collect()
    }

    /// Runs a function on a snapshot of the entries in memory, and keeps the changes that the function made.
    pub fn with_snapshot<T>(&mut self, change: impl FnOnce(&mut ConsolidationSnapshot) -> T) -> T {
        let mut snapshot = ConsolidationSnapshot {
            records: std::mem::take(&mut self.known.records),
            quick_access: std::mem::take(&mut self.known.quick_access),
            ..ConsolidationSnapshot::default()
        };
        let result = change(&mut snapshot);
        self.known.records = snapshot.records;
        self.known.quick_access = snapshot.quick_access;
        result
    }

    /// Returns true once a cycle has finished, and always if no light cycles are scheduled or the index is disabled.
    /// Before that, a document without an entry is normal, because no cycle has run yet.
    pub fn is_begun(&self) -> bool {
        let mut runs = self.known.runs.iter();
        !self.enabled || !self.scheduled || runs.any(|run| run.record.finished.is_some())
    }

    /// Makes the current entries visible to queries.
    pub fn publish(&mut self, view: &WorkspaceView) {
        self.publish_at = None;
        let profile = view.config.index.profile();
        let mut shown = IndexView::after(&view.index(), &self.known.records, profile);
        shown.tokens = self.file.tokens();
        shown.forgotten = self.known.tombstones.len();
        view.set_index(shown);
    }

    /// Returns three numbers of entries: those in the index including the Decay Queue, those in the Decay Queue, and
    /// those in the archive.
    pub fn counts(&self) -> (u64, u64, u64) {
        let mut counts = (0, 0, 0);
        for record in self.known.records.values() {
            match record.place {
                RecordPlace::Index => counts.0 += 1,
                RecordPlace::Queue(_) => {
                    counts.0 += 1;
                    counts.1 += 1;
                }
                RecordPlace::Archive(_) => counts.2 += 1,
            }
        }
        counts
    }
}

/// Returns the last runs that ended with an error of the store, at most one for each kind of cycle. The next run of the
/// same kind continues such a run.
fn failed(runs: &[RunRow]) -> Vec<RunRow> {
    let last = |cycle| {
        let of_it = runs.iter().filter(|row| row.record.cycle == cycle);
        of_it.max_by_key(|row| row.id)
    };
    let last = [Cycle::Light, Cycle::Deep, Cycle::Archival]
        .into_iter()
        .filter_map(last);
    let failed = last.filter(|row| row.record.outcome == RunOutcome::Failed && row.undone.is_none());
    failed.copied().collect()
}
