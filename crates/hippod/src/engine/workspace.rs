//! State of one workspace inside the engine.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use hippo_proto::WorkspaceSyncResponse;
use hippo_store::StoreError;
use hippo_store::db::{DroppedRows, EmbedderRow, RecoveredDatabase, Store, StoredVector};

use super::agenda::{Agenda, Chore};
use super::entries::WorkspaceEntries;
use super::readers::WaitingQuery;
use super::settings::OwnSettings;
use crate::message::AnswerSender;
use crate::scan::SkippedFile;
use crate::tasks::Pulse;
use crate::verify::FileMark;
use crate::view::WorkspaceView;
use crate::watcher::Watcher;

/// Maximum number of dirty paths that are sorted at a time; one slice reads fewer.
const READ_AHEAD: usize = 1024;

/// Shortest and longest pause of a workspace whose due work could not be done.
const SHORTEST_REST: Duration = Duration::from_millis(5);
const LONGEST_REST: Duration = Duration::from_secs(2);
/// Shortest pause while the process cannot open more files.
const WITHOUT_FILES: Duration = Duration::from_millis(500);

/// Facts about an indexed document, kept in memory.
#[derive(Debug, Clone, Copy)]
pub struct KnownDocument {
    /// Row of the document in the database.
    pub document: u32,
    /// Size and modification time of the file when it was read.
    pub mark: FileMark,
    /// blake3-128 hash of the file's bytes.
    pub hash: [u8; 16],
    /// True if the file was read so soon after its last change that a later change may carry the same modification
    /// time.
    pub racy: bool,
}

/// A path that may have changed.
#[derive(Debug, Clone, Copy)]
pub struct Dirty {
    /// Time when the possible change was first seen.
    pub since: Instant,
    /// Earliest time of the next read. It is delayed if the file changed during the last read, or if the store rejected
    /// the file.
    pub not_before: Instant,
    /// True if no change was reported, but the last read followed a change so closely that a second change may have
    /// gone unnoticed.
    pub recheck: bool,
}

/// Chunks that wait for a vector.
#[derive(Debug, Default)]
pub struct PendingChunks {
    /// Waiting chunks by document, so that neighbours are embedded together.
    pub documents: BTreeMap<u32, BTreeSet<u32>>,
    /// Recently edited documents, which are embedded first.
    pub hot: VecDeque<u32>,
    /// Chunks of the jobs that the embed worker has, oldest job first.
    pub in_flight: VecDeque<HashSet<u32>>,
    /// Hashes of the texts in those jobs, so that a repeated text is embedded only once.
    pub asked: HashSet<[u8; 16]>,
    /// Stored vectors that are not assigned to all of their chunks yet, each with the last chunk that received it.
    pub to_place: VecDeque<(StoredVector, Option<u32>)>,
    /// Chunks of the jobs that produced those vectors.
    pub placing: HashSet<u32>,
    /// Document and chunk index at which the next job begins.
    pub cursor: (u32, usize),
    /// True if nothing can be embedded until the model's state changes.
    pub blocked: bool,
    /// Time until which embedding pauses because the last vectors could not be stored.
    pub blocked_until: Option<Instant>,
}

impl PendingChunks {
    /// Returns the number of waiting chunks, including chunks in flight.
    pub fn len(&self) -> usize {
        let waiting: usize = self.documents.values().map(BTreeSet::len).sum();
        waiting + self.in_flight.iter().map(HashSet::len).sum::<usize>() + self.placing.len()
    }

    /// Returns whether no vectors are being computed or wait to be assigned.
    pub fn is_at_rest(&self) -> bool {
        self.in_flight.is_empty() && self.to_place.is_empty()
    }

    /// Clears `placing` once all stored vectors are assigned to their chunks.
    pub fn placed(&mut self) {
        if self.to_place.is_empty() {
            self.placing.clear();
        }
    }

    /// Adds chunks to the waiting list.
    pub fn add(&mut self, document: u32, chunks: impl IntoIterator<Item = u32>, hot: bool) {
        let waiting = self.documents.entry(document).or_default();
        waiting.extend(chunks);
        if waiting.is_empty() {
            self.documents.remove(&document);
        } else if hot && !self.hot.contains(&document) {
            self.hot.push_back(document);
        }
    }

    /// Removes chunks from the waiting list and from all jobs.
    pub fn forget(&mut self, document: u32, chunks: &[u32]) {
        if let Some(waiting) = self.documents.get_mut(&document) {
            for chunk in chunks {
                waiting.remove(chunk);
            }
            if waiting.is_empty() {
                self.documents.remove(&document);
            }
        }
        for job in self.in_flight.iter_mut().chain([&mut self.placing]) {
            for chunk in chunks {
                job.remove(chunk);
            }
        }
    }
}

/// A client that waits until changes are indexed.
#[derive(Debug)]
pub struct Waiter {
    /// Channel for the answer.
    pub reply: AnswerSender<WorkspaceSyncResponse>,
    /// Time of the request.
    pub since: Instant,
    /// True if the answer waits until every file is read and embedded.
    pub wait: bool,
    /// Documents changed since the request.
    pub changed: u64,
    /// Documents removed since the request.
    pub removed: u64,
}

/// Times of the latest events, for `status`.
#[derive(Debug, Default, Clone)]
pub struct EventTimes {
    /// Time of the last watch event.
    pub event: Option<Instant>,
    /// Time at which the watcher last reported the canary.
    pub canary: Option<Instant>,
    /// Time at which the canary was written, if the watcher has not reported it yet.
    pub canary_sent: Option<Instant>,
    /// Time of the last comparison of the disk with the index.
    pub reconcile: Option<Instant>,
}

/// One workspace.
pub struct Workspace {
    /// Key in the engine and the embed worker.
    pub key: u64,
    /// Canonical root.
    pub root: PathBuf,
    /// Write connection.
    pub store: Store,
    /// Index entries.
    pub entries: WorkspaceEntries,
    /// Heartbeat during long steps.
    pub pulse: Pulse,
    /// View for queries.
    pub view: Arc<WorkspaceView>,
    /// Watcher; `None` while watching is off.
    pub watcher: Option<Watcher>,
    /// Indexed documents by path relative to the root.
    pub known: HashMap<String, KnownDocument>,
    /// Paths that may have changed.
    pub dirty: BTreeMap<String, Dirty>,
    /// Compaction-tree nodes that hippod wrote, which are not indexed. The values are the mark of the file and whether
    /// it is racy (see [`KnownDocument::racy`]).
    pub own_nodes: HashMap<String, (FileMark, bool)>,
    /// Documents whose file is missing, each with the time since which the file is missing.
    pub missing: BTreeMap<String, Instant>,
    /// Missing documents that are kept because too many disappeared at once.
    pub held: BTreeSet<String>,
    /// Files that are not indexed, and the reason, by path.
    pub skipped: BTreeMap<String, SkippedFile>,
    /// Number of files on disk according to the last scan, adjusted by later reads and removals.
    pub files_on_disk: usize,
    /// Number of changed files that the last comparison with the disk found although no event reported them.
    pub changed_at_reconcile: u64,
    /// True if the root folder exists.
    pub root_present: bool,
    /// Embedder whose vectors are being computed.
    pub embedder: Option<EmbedderRow>,
    /// Chunks without a vector.
    pub pending: PendingChunks,
    /// Waiting clients.
    pub waiters: Vec<Waiter>,
    /// Queries that wait until files are read.
    pub readers: Vec<WaitingQuery>,
    /// Number of watcher reports processed.
    pub reports_taken: u64,
    /// Times of the latest events.
    pub times: EventTimes,
    /// The workspace's own settings as last read.
    pub own: OwnSettings,
    /// Times of repeated work.
    pub agenda: Agenda,
    /// Reason why the canary cannot be written, for example because the workspace is read-only.
    pub canary_unprovable: Option<String>,
    /// True if the watcher did not report the canary in time.
    pub watcher_silent: bool,
    /// Last error of the store; cleared when a write succeeds.
    pub trouble: Option<StoreError>,
    /// Time of the last write.
    pub last_write: Instant,
    /// Chunks written since the last merge of the lexical index.
    pub untidy: u64,
    /// Flag that cancels the graph build in the background; `None` if no graph is being built.
    pub graph_build: Option<Arc<AtomicBool>>,
    /// Recovery when the workspace was opened, if the database was empty or missing.
    pub recovered: Option<RecoveredDatabase>,
    /// Repair when the workspace was opened, if rows of the database were damaged.
    pub mended: Option<DroppedRows>,
    /// True once `doctor` has reported the recovery or the repair.
    pub repair_is_told: bool,
    /// Revision of the entries in the spare copy of the database.
    pub spared: Option<u64>,
    /// True if the last turn left work undone.
    pub busy: bool,
    /// Time of the next turn.
    pub due: Option<Instant>,
    /// Pause after a turn whose due work could not be done.
    pub rest: Duration,
}

impl Workspace {
    /// Marks a path as possibly changed.
    pub fn mark_dirty(&mut self, path: String, now: Instant) {
        let dirty = self.dirty.entry(path).or_insert(Dirty {
            since: now,
            not_before: now,
            recheck: false,
        });
        if dirty.recheck {
            *dirty = Dirty {
                since: now,
                recheck: false,
                ..*dirty
            };
        }
    }

    /// Marks a path for another read although no change was reported.
    pub fn mark_recheck(&mut self, path: String, now: Instant) {
        self.dirty.entry(path).or_insert(Dirty {
            since: now,
            not_before: now,
            recheck: true,
        });
    }

    /// Returns the changed paths that are not read yet.
    pub fn unread(&self) -> impl Iterator<Item = &Dirty> {
        self.dirty.values().filter(|dirty| !dirty.recheck)
    }

    /// Schedules the next turn. If a timed turn leaves due work undone, the workspace pauses first. Each pause is twice
    /// as long as the previous one, so that retries do not become a busy loop.
    pub fn rest_after(&mut self, idle: bool, now: Instant) {
        let due = if self.busy { Some(now) } else { self.next_due(now) };
        let short = self.is_short_of_files();
        let stuck = short || (idle && !self.busy && due.is_some_and(|due| due <= now));
        self.rest = if stuck {
            let least = if short { WITHOUT_FILES } else { SHORTEST_REST };
            (self.rest * 2).clamp(least, LONGEST_REST)
        } else {
            Duration::ZERO
        };
        self.due = due.map(|due| due.max(now + self.rest));
    }

    /// Returns whether the last failure was caused by the limit on open files.
    pub fn is_short_of_files(&self) -> bool {
        self.trouble.as_ref().is_some_and(StoreError::is_shortage)
    }

    fn next_due(&self, now: Instant) -> Option<Instant> {
        let dirty = self.dirty.values().map(|dirty| dirty.not_before);
        dirty
            .chain([self.agenda.time(Chore::Scan, now), self.housekeeping_due(now)])
            .chain(self.entries_due())
            .chain(self.entries.again_at)
            .chain(self.pending.blocked_until)
            .chain(self.deletions_due().filter(|_| self.dirty.is_empty()))
            .min()
    }

    /// Cancels work in progress before the workspace is closed. Returns the waiting clients.
    pub fn let_go(&mut self) -> Vec<Waiter> {
        self.cancel_graph();
        self.view.forget_readers();
        std::mem::take(&mut self.waiters)
    }

    /// Returns the time of the next work on the index entries.
    pub fn entries_due(&self) -> Option<Instant> {
        let entries = &self.entries;
        if !entries.enabled || !self.root_present {
            return None;
        }
        let schedule = entries.run.is_none().then_some(entries.look_at);
        // Work that waits for a plan resumes when the plan arrives.
        let file = entries.file.due().filter(|_| !entries.keeps_others_out());
        schedule.into_iter().chain(file).chain(entries.publish_at).min()
    }

    /// Returns the paths to read next: first the paths that clients wait for, then the oldest changes.
    pub fn next_dirty(&self, now: Instant) -> Vec<String> {
        let due = self.dirty.iter().filter(|(_, dirty)| dirty.not_before <= now);
        let mut due: Vec<(bool, Instant, &String)> = due
            .map(|(path, dirty)| (!self.is_wanted(path), dirty.since, path))
            .collect();
        if due.len() > READ_AHEAD {
            due.select_nth_unstable(READ_AHEAD);
            due.truncate(READ_AHEAD);
        }
        due.sort_unstable();
        due.into_iter().map(|(_, _, path)| path.clone()).collect()
    }

    /// Schedules another attempt for a path.
    pub fn retry(&mut self, path: String, dirty: Dirty, not_before: Instant) {
        self.dirty.insert(path, Dirty { not_before, ..dirty });
    }

    /// Returns the number of changed files and chunks that are not fully searchable yet.
    pub fn backlog(&self) -> u64 {
        (self.unread().count() + self.pending.len()) as u64
    }
}
