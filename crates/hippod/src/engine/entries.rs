//! The index entries as the engine keeps them: what the store says, what the index file says, which run is under way.

mod access;
mod cycle;
mod documents;
mod files;
mod gather;
mod merge;
mod remember;
mod report;
mod requests;
mod undo;

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use hippo_core::bootstrap::MOST_ENTRIES;
use hippo_core::consolidation::{ConsolidationRun, Cycle, DocumentState, Place, Record, Snapshot};
use hippo_core::decay::DecayCurve;
use hippo_core::entry::{EntryId, Priority};
use hippo_core::schedule::Outcome;
use hippo_core::source::SourceKind;
use hippo_core::time::Timestamp;
use hippo_store::StoreError;
use hippo_store::db::{EntryStore, RunId, RunRow, Store};

use super::workspace::Known;
use crate::config::WorkspaceConfig;
use crate::index::IndexView;
use crate::view::WorkspaceView;

use gather::MOST_LIVE;

pub use access::{Lesson, Trace};
pub use cycle::{Order, Planned, root_missing};
pub use remember::{Awaited, Remembered};
pub use report::{cycle as cycle_of, name as cycle_named, run as run_on_wire};
pub use requests::Change;

/// Changes of entries are shown to questions after this long at the latest.
const PUBLISH: Duration = Duration::from_millis(250);

/// The section contents of documents, kept between runs; each by the path and the hash of the file.
pub type Documents = Arc<Mutex<HashMap<String, ([u8; 16], Arc<DocumentState>)>>>;
/// Vectors of entries, by the hash of the text; kept between runs.
pub type EntryVectors = Arc<Mutex<HashMap<[u8; 16], Arc<Vec<f32>>>>>;

/// All that the engine knows of the entries of a workspace.
pub struct Entries {
    /// Whether the configuration wants an index file.
    pub enabled: bool,
    /// Whether light cycles run by themselves.
    scheduled: bool,
    /// As the store has them.
    pub known: EntryStore,
    /// Changes with each change of an entry: a plan made from an earlier one is made again.
    pub revision: u64,
    /// The index file.
    pub file: files::IndexFile,
    /// Documents that came or changed since a light cycle looked at them; those of a run under way are with that run.
    pub fresh: BTreeSet<String>,
    /// The last light cycle left some of these for the next one, which need not wait for its time.
    pub goes_on: bool,
    /// Contents of sections.
    pub documents: Documents,
    /// Vectors of entries.
    pub vectors: EntryVectors,
    /// Texts of entries that deep cycles compared with all others, by their hashes.
    pub compared: BTreeSet<[u8; 16]>,
    /// The run that is planned or under way.
    pub run: Option<cycle::Run>,
    /// What waits for that run's end.
    pub queue: VecDeque<Order>,
    /// Runs that were not finished, by an earlier process or at an error of the store.
    pub interrupted: Vec<RunRow>,
    /// Cycles that could not be run, in a row.
    pub failures: u32,
    /// Since when the workspace is known: cycles planned before were not missed.
    pub known_since: Timestamp,
    /// When to show the entries to questions again.
    pub publish_at: Option<Instant>,
    /// When to look again at what is due.
    pub look_at: Instant,
    /// What the last runs found that a person may want to look at.
    pub findings: Vec<hippo_core::consolidation::Finding>,
    /// The store refused something; it is tried again then.
    pub again_at: Option<Instant>,
}

impl Entries {
    /// Reads them from the store. Runs that were cut off count as interrupted from now on.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn load(
        store: &mut Store,
        config: &WorkspaceConfig,
        now: Timestamp,
        at: Instant,
    ) -> Result<Self, StoreError> {
        let mut interrupted = store.interrupt_runs()?;
        let known = store.entries()?;
        interrupted.extend(failed(&known.runs));
        for row in &known.damaged {
            tracing::warn!(
                table = row.table,
                id = row.id,
                reason = row.reason,
                "a row cannot be read; it is left as it is"
            );
        }
        // By the clock of then: a run may have been asked for as of another time.
        let first = known.runs.iter().filter_map(|run| run.record.finished).min();
        let file = files::IndexFile::load(store, at)?;
        Ok(Self {
            enabled: config.index.enabled,
            scheduled: !config.cycles.light.trim().is_empty(),
            known_since: first.unwrap_or(now),
            known,
            revision: 0,
            file,
            fresh: store.fresh()?,
            goes_on: false,
            documents: Documents::default(),
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

    /// Documents that have no entry: a process may have ended before their cycle, or between two that share them.
    pub fn notice(&mut self, documents: &HashMap<String, Known>) {
        let missed: Vec<String> = self.untold(documents).map(str::to_owned).collect();
        self.fresh.extend(missed);
    }

    /// Documents that no entry tells of, nodes of the compaction tree apart: they repeat the logs.
    fn untold<'d>(&self, documents: &'d HashMap<String, Known>) -> impl Iterator<Item = &'d str> {
        let records = self.known.records.values();
        let told = records.filter(|record| record.learned.is_none());
        let told: HashSet<&str> = told
            .flat_map(|record| &record.entry.pointers)
            .map(|pointer| pointer.path.as_str())
            .collect();
        let paths = documents.keys().map(String::as_str);
        let untold = paths.filter(move |path| !told.contains(path));
        untold.filter(|path| !matches!(SourceKind::from_path(path), SourceKind::Node(_)))
    }

    /// What waits after a light cycle that looked for new entries, for people.
    fn left_out(&self, documents: &HashMap<String, Known>) -> Option<String> {
        if let Some(full) = self.without_room(documents) {
            return Some(full);
        }
        let files = self.untold(documents).filter(|path| self.fresh.contains(*path));
        let files = if self.goes_on { files.count() } else { 0 };
        (files > 0).then(|| {
            format!("{files} files have no entry yet: one light cycle makes {MOST_ENTRIES} entries at most, and the next one follows")
        })
    }

    /// What the index has no room for, for people; nothing while it has room.
    pub fn without_room(&self, documents: &HashMap<String, Known>) -> Option<String> {
        if gather::live(&self.known.records) < MOST_LIVE {
            return None;
        }
        let files = self.untold(documents).count();
        (files > 0).then(|| {
            format!(
                "{files} files have no entry: the index has {MOST_LIVE} and takes no more by itself; search finds them, \
                 and what leaves the index makes room at the next start"
            )
        })
    }

    /// Notes that entries have changed.
    pub fn changed(&mut self, now: Instant) {
        self.revision += 1;
        self.publish_at.get_or_insert(now + PUBLISH);
    }

    /// Notes that a run has made one more step, and what it has demoted by now.
    fn note_step(&mut self, id: RunId, run: ConsolidationRun) {
        if let Some(row) = self.known.runs.iter_mut().rev().find(|row| row.id == id) {
            row.done += 1;
            row.planned = row.planned.max(row.done);
            row.run = run;
        }
    }

    /// An id that no entry has or had: the wanted one, else with a number behind it.
    pub fn free_id(&self, wanted: &str) -> EntryId {
        let wanted = if wanted.is_empty() { "entry" } else { wanted };
        let numbered = (2_u32..).map(|number| EntryId(format!("{wanted}-{number}")));
        let mut ids = std::iter::once(EntryId(wanted.to_owned())).chain(numbered);
        let taken =
            |id: &EntryId| self.known.records.contains_key(id) || self.known.tombstones.contains_key(id);
        // There are more numbers than entries.
        ids.find(|id| !taken(id)).unwrap_or_default()
    }

    /// Whether a question made an entry, and nobody has said or written anything about it since.
    pub fn is_untouched_question(&self, record: &Record) -> bool {
        let id = &record.entry.id;
        record.learned.is_some()
            && !record.by_hand
            && !record.apart
            && record.entry.priority != Priority::Amygdala
            && !self.known.tombstones.contains_key(id)
            && !self.file.blocks.has(id)
    }

    /// Ids of entries that a person removed.
    pub fn forgotten(&self) -> BTreeSet<EntryId> {
        self.known.tombstones.keys().cloned().collect()
    }

    /// Lets the core make a change to what is known here.
    pub fn with_snapshot<T>(&mut self, change: impl FnOnce(&mut Snapshot) -> T) -> T {
        let mut snapshot = Snapshot {
            records: std::mem::take(&mut self.known.records),
            quick_access: std::mem::take(&mut self.known.quick_access),
            proposed: std::mem::take(&mut self.known.proposed),
            ..Snapshot::default()
        };
        let result = change(&mut snapshot);
        self.known.records = snapshot.records;
        self.known.quick_access = snapshot.quick_access;
        self.known.proposed = snapshot.proposed;
        result
    }

    /// Whether every document that has no entry is known to have none on purpose: the first light cycle is over, or there is none
    /// unless somebody asks.
    pub fn is_begun(&self) -> bool {
        let mut runs = self.known.runs.iter();
        !self.enabled || !self.scheduled || runs.any(|run| run.record.finished.is_some())
    }

    /// Shows the entries to questions.
    pub fn publish(&mut self, view: &WorkspaceView, profile: DecayCurve) {
        self.publish_at = None;
        let mut shown = IndexView::after(&view.index(), &self.known.records, profile);
        shown.tokens = self.file.tokens();
        shown.forgotten = self.known.tombstones.len();
        view.set_index(shown);
    }

    /// Entries in the index or the queue, in the queue, and in the archive.
    pub fn counts(&self) -> (u64, u64, u64) {
        let mut counts = (0, 0, 0);
        for record in self.known.records.values() {
            match record.place {
                Place::Index => counts.0 += 1,
                Place::Queue(_) => {
                    counts.0 += 1;
                    counts.1 += 1;
                }
                Place::Archive(_) => counts.2 += 1,
            }
        }
        counts
    }
}

/// The last run of each cycle, where an error of the store ended it: the next one goes on with it.
fn failed(runs: &[RunRow]) -> Vec<RunRow> {
    let last = |cycle| {
        let of_it = runs.iter().filter(|row| row.record.cycle == cycle);
        of_it.max_by_key(|row| row.id)
    };
    let last = [Cycle::Light, Cycle::Deep, Cycle::Archival]
        .into_iter()
        .filter_map(last);
    let failed = last.filter(|row| row.record.outcome == Outcome::Failed && row.undone.is_none());
    failed.copied().collect()
}

/// The index file of a workspace.
pub fn index_path(root: &Path) -> PathBuf {
    root.join(hippo_core::layout::INDEX_FILE)
}
