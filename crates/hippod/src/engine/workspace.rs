//! State of an open workspace.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use hippo_fs::FileContent;
use hippo_proto::WorkspaceSyncResponse;
use hippo_store::StoreError;
use hippo_store::db::{DroppedRows, EmbedderRow, RecoveredDatabase, Store, StoredVector};

use super::agenda::{Agenda, Chore};
use super::entries::WorkspaceEntries;
use super::readers::WaitingQuery;
use super::settings::OwnSettings;
use crate::message::AnswerSender;
use crate::scan::{LeftOutFiles, SkippedFile};
use crate::tasks::Pulse;
use crate::verify::FileMark;
use crate::view::WorkspaceView;
use crate::watcher::Watcher;

/// Maximum number of paths that are sorted for one slice. A slice indexes fewer files than this.
const READ_AHEAD: usize = 1024;

/// Shortest pause of a workspace after a turn in which it could not perform its due work.
const SHORTEST_REST: Duration = Duration::from_millis(5);
/// Longest pause of a workspace after repeated turns in which it could not perform its due work.
const LONGEST_REST: Duration = Duration::from_secs(2);
/// Shortest pause while the process cannot open more files.
const WITHOUT_FILES: Duration = Duration::from_millis(500);

/// Facts about an indexed document, kept in memory.
#[derive(Debug, Clone, Copy)]
pub struct KnownDocument {
    /// Row id of the document in the database.
    pub document: u32,
    /// Size and modification time of the file when it was indexed.
    pub mark: FileMark,
    /// blake3-128 hash of the file's bytes.
    pub hash: [u8; 16],
    /// True if the file was read so soon after a change that a later change may have the same modification time.
    pub racy: bool,
    /// True if an earlier version of the daemon divided the document into chunks, so that the file is read again.
    pub is_outdated: bool,
    /// True if all agents of the workspace may read the document.
    pub is_shared: bool,
}

/// A path that may have changed.
#[derive(Debug, Clone, Copy)]
pub struct Dirty {
    /// Time at which the possible change was first noticed.
    pub since: Instant,
    /// Earliest time at which the path is indexed. After a failure, for example if the file changed during the read, it
    /// is later than `since`.
    pub not_before: Instant,
    /// True if no change was noticed, but the file must be read again because it was read very soon after its last
    /// change. See [`KnownDocument::racy`].
    pub recheck: bool,
}

/// Chunks that have no vector yet, and the work that provides their vectors.
#[derive(Debug, Default)]
pub struct PendingChunks {
    /// Chunks that wait for a job, by document, so that neighbouring chunks are embedded together.
    pub documents: BTreeMap<u32, BTreeSet<u32>>,
    /// Waiting chunks of documents whose file could not be read, by document. They wait again once the file has been read
    /// and is unchanged.
    pub unread: BTreeMap<u32, BTreeSet<u32>>,
    /// Recently edited documents, which are embedded first.
    pub hot: VecDeque<u32>,
    /// Chunks of the jobs that the embed worker has not finished yet, oldest job first.
    pub in_flight: VecDeque<HashSet<u32>>,
    /// Hashes of the texts in the jobs in flight, so that a repeated text is embedded only once.
    pub asked: HashSet<[u8; 16]>,
    /// Stored vectors that are not yet assigned to all chunks that contain the embedded text. The second value is the
    /// last chunk that received the vector.
    pub to_place: VecDeque<(StoredVector, Option<u32>)>,
    /// Chunks of the finished jobs whose vectors are in `to_place`.
    pub placing: HashSet<u32>,
    /// Document, and the index of the chunk in the document, at which the next job begins.
    pub cursor: (u32, usize),
    /// Path, state and converted content of the last converted document from which a job was created. Its next jobs need
    /// the same content.
    pub converted: Option<(String, FileMark, FileContent)>,
    /// True if embedding waits for a change of the model's state, because the model rejected a job.
    pub blocked: bool,
    /// Time until which embedding pauses, because the store returned an error.
    pub blocked_until: Option<Instant>,
}

impl PendingChunks {
    /// Returns the number of chunks without a vector, including those in jobs.
    pub fn len(&self) -> usize {
        let waiting: usize = self.documents.values().map(BTreeSet::len).sum();
        waiting + self.in_flight.iter().map(HashSet::len).sum::<usize>() + self.placing.len()
    }

    /// Returns whether no job is in flight and all stored vectors are assigned to their chunks.
    pub fn is_at_rest(&self) -> bool {
        self.in_flight.is_empty() && self.to_place.is_empty()
    }

    /// Clears `placing` once all stored vectors are assigned to their chunks.
    pub fn placed(&mut self) {
        if self.to_place.is_empty() {
            self.placing.clear();
        }
    }

    /// Adds chunks of a document to the waiting chunks. If `hot` is true, the document is embedded before others.
    pub fn add(&mut self, document: u32, chunks: impl IntoIterator<Item = u32>, hot: bool) {
        let waiting = self.documents.entry(document).or_default();
        waiting.extend(chunks);
        if waiting.is_empty() {
            self.documents.remove(&document);
        } else if hot && !self.hot.contains(&document) {
            self.hot.push_back(document);
        }
    }

    /// Returns whether chunks of a document wait until its file can be read.
    pub fn is_unread(&self, document: u32) -> bool {
        self.unread.contains_key(&document)
    }

    /// Adds the chunks of a document in `unread` to the waiting chunks, because its file has been read.
    pub fn read_again(&mut self, document: u32) {
        if let Some(chunks) = self.unread.remove(&document) {
            self.add(document, chunks, false);
        }
    }

    /// Removes chunks of a document from the waiting chunks and from all jobs.
    pub fn forget(&mut self, document: u32, chunks: &[u32]) {
        for documents in [&mut self.documents, &mut self.unread] {
            if let Some(waiting) = documents.get_mut(&document) {
                for chunk in chunks {
                    waiting.remove(chunk);
                }
                if waiting.is_empty() {
                    documents.remove(&document);
                }
            }
        }
        for job in self.in_flight.iter_mut().chain([&mut self.placing]) {
            for chunk in chunks {
                job.remove(chunk);
            }
        }
    }
}

/// A client of `workspace.sync` that has not received its answer yet.
#[derive(Debug)]
pub struct Waiter {
    /// Channel for the answer.
    pub reply: AnswerSender<WorkspaceSyncResponse>,
    /// Time of the request.
    pub since: Instant,
    /// True if the client waits until all files are indexed and embedded, false if it waits only for the next turn.
    pub wait: bool,
    /// Number of documents that were changed since the request.
    pub changed: u64,
    /// Number of documents that were removed since the request.
    pub removed: u64,
}

/// Times of the latest events, for `status`.
#[derive(Debug, Default, Clone)]
pub struct EventTimes {
    /// Time of the last watch event.
    pub event: Option<Instant>,
    /// Time at which the watcher last reported the canary.
    pub canary: Option<Instant>,
    /// Time at which the last canary was written; `None` once the watcher has reported it.
    pub canary_sent: Option<Instant>,
    /// Time of the last comparison of the disk with the index.
    pub reconcile: Option<Instant>,
}

/// An open workspace.
pub struct Workspace {
    /// Key of this opening of the workspace. Results of work for another key are dropped.
    pub key: u64,
    /// Canonical path of the root folder.
    pub root: PathBuf,
    /// Connection to the database for writes.
    pub store: Store,
    /// Entries and state of the index file.
    pub entries: WorkspaceEntries,
    /// Liveness signal of the workspace's thread.
    pub pulse: Pulse,
    /// View of the workspace, from which queries are answered.
    pub view: Arc<WorkspaceView>,
    /// Watcher of the files; `None` until it has started.
    pub watcher: Option<Watcher>,
    /// Indexed documents by path relative to the root.
    pub known: HashMap<String, KnownDocument>,
    /// Paths that may have changed.
    pub dirty: BTreeMap<String, Dirty>,
    /// Nodes of the compaction tree that hippod wrote and that are therefore not indexed. The values are the mark of
    /// the file, and the flag [`KnownDocument::racy`].
    pub own_nodes: HashMap<String, (FileMark, bool)>,
    /// Documents whose file is missing, with the time since which it is missing.
    pub missing: BTreeMap<String, Instant>,
    /// Missing documents whose removal is held back, because many files disappeared at once.
    pub held: BTreeSet<String>,
    /// Files that are not indexed, with the reason, by path.
    pub skipped: BTreeMap<String, SkippedFile>,
    /// Markdown files that are not memory files, by reason.
    pub left_out: BTreeMap<String, LeftOutFiles>,
    /// Number of memory files on disk according to the last scan, corrected by later changes.
    pub files_on_disk: usize,
    /// Number of changed files that the last scan found and that no event had reported.
    pub changed_at_reconcile: u64,
    /// True if the root folder exists.
    pub root_present: bool,
    /// Model whose vectors are computed. Queries may still use the vectors of an earlier model.
    pub embedder: Option<EmbedderRow>,
    /// Chunks without a vector.
    pub pending: PendingChunks,
    /// Clients of `workspace.sync` that wait for an answer.
    pub waiters: Vec<Waiter>,
    /// Queries that wait until changed files have been indexed.
    pub readers: Vec<WaitingQuery>,
    /// Number of reports of the watcher that have been processed.
    pub reports_taken: u64,
    /// Times of the latest events.
    pub times: EventTimes,
    /// State of the workspace's settings files.
    pub own: OwnSettings,
    /// Schedule of the recurring work.
    pub agenda: Agenda,
    /// Reason why the canary cannot be written, for example because the workspace is read-only.
    pub canary_unprovable: Option<String>,
    /// True if the watcher did not report the canary in time.
    pub watcher_silent: bool,
    /// Last error of the store. A successful write clears it.
    pub trouble: Option<StoreError>,
    /// Time of the last write.
    pub last_write: Instant,
    /// Number of chunks that were written since the last merge of the lexical index.
    pub untidy: u64,
    /// Flag that cancels the graph build in the background; `None` if no graph is being built.
    pub graph_build: Option<Arc<AtomicBool>>,
    /// Result of the recovery, if the database was empty or missing when the workspace was opened.
    pub recovered: Option<RecoveredDatabase>,
    /// Result of the repair, if rows of the database were damaged when the workspace was opened.
    pub mended: Option<DroppedRows>,
    /// True once `doctor` has reported the recovery or the repair.
    pub repair_is_told: bool,
    /// Revision of the entries that the spare copy of the database contains; `None` if no copy has been written yet.
    pub spared: Option<u64>,
    /// True if work remains after the last turn, so that the next turn follows at once.
    pub busy: bool,
    /// Time of the next turn, unless an event arrives earlier.
    pub due: Option<Instant>,
    /// Length of the current pause after a turn that could not perform its due work; zero without a pause.
    pub rest: Duration,
}

impl Workspace {
    /// Returns the paths of the documents that not all agents may read.
    pub fn private_documents(&self) -> BTreeSet<String> {
        let private = self.known.iter().filter(|(_, known)| !known.is_shared);
        private.map(|(path, _)| path.clone()).collect()
    }

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

    /// Queues a path for another read, although no change was noticed.
    pub fn mark_recheck(&mut self, path: String, now: Instant) {
        self.dirty.entry(path).or_insert(Dirty {
            since: now,
            not_before: now,
            recheck: true,
        });
    }

    /// Returns the queued paths with a noticed change, without paths that are only read again to be sure.
    pub fn unread(&self) -> impl Iterator<Item = &Dirty> {
        self.dirty.values().filter(|dirty| !dirty.recheck)
    }

    /// Schedules the next turn. `idle` is true if the last turn began without an event. If such a turn could not
    /// perform its due work, the workspace pauses. Each consecutive pause is twice as long as the previous one, to
    /// prevent a busy loop.
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

    /// Returns whether the last error was caused by the limit on open files.
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

    /// Returns the time of the next work on the entries; `None` if none is planned.
    pub fn entries_due(&self) -> Option<Instant> {
        let entries = &self.entries;
        if !entries.enabled || !self.root_present {
            return None;
        }
        let schedule = entries.run.is_none().then_some(entries.look_at);
        // While changes must wait for a plan, do not wake up for the file. The arrival of the plan is an event.
        let file = entries.file.due().filter(|_| !entries.keeps_others_out());
        schedule.into_iter().chain(file).chain(entries.publish_at).min()
    }

    /// Returns the paths to index next: first the paths for which queries wait, then the paths with the oldest changes.
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

    /// Queues a path again for an attempt at `not_before`.
    pub fn retry(&mut self, path: String, dirty: Dirty, not_before: Instant) {
        self.dirty.insert(path, Dirty { not_before, ..dirty });
    }

    /// Returns the number of changed files that are not indexed yet, plus the number of chunks without a vector.
    pub fn backlog(&self) -> u64 {
        (self.unread().count() + self.pending.len()) as u64
    }
}
