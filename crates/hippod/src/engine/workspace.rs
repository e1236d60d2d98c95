//! One workspace as the engine keeps it: what is known, what is behind, what is under way.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use hippo_proto::WorkspaceSyncResponse;
use hippo_store::StoreError;
use hippo_store::db::{EmbedderRow, Mended, Recovered, Store, StoredVector};

use super::entries::{Awaited, Entries};
use super::readers::Reader;
use super::rebuild::Lost;
use super::settings::OwnSettings;
use crate::event::{Answer, Until};
use crate::scan::Skipped;
use crate::service::Pulse;
use crate::verify::FileMark;
use crate::view::WorkspaceView;
use crate::watcher::Watcher;

/// Dirty paths that are put in order at a time: more than one slice of work reads.
const READ_AHEAD: usize = 1024;

/// How long a workspace rests that cannot do what is due: at first, and at most.
const SHORTEST_REST: Duration = Duration::from_millis(5);
const LONGEST_REST: Duration = Duration::from_secs(2);
/// How long it rests at least where it may open no more files.
const WITHOUT_FILES: Duration = Duration::from_millis(500);

/// What the engine knows of a document without asking the database.
#[derive(Debug, Clone, Copy)]
pub struct Known {
    /// The document's row.
    pub document: u32,
    /// Size and time of its file when it was read.
    pub mark: FileMark,
    /// blake3-128 of its bytes.
    pub hash: [u8; 16],
    /// The file was read so soon after its last change that a second change may carry the same time.
    pub racy: bool,
}

/// A path that may have changed.
#[derive(Debug, Clone, Copy)]
pub struct Dirty {
    /// When that was first seen.
    pub since: Instant,
    /// Read it not before then: it was changing while it was read, or could not be written to the store.
    pub not_before: Instant,
    /// Nothing says that it changed; it was read so soon after a change that a second one may not show.
    pub recheck: bool,
}

/// Chunks that wait for a vector.
#[derive(Debug, Default)]
pub struct Pending {
    /// By document, so that neighbours are embedded together.
    pub documents: BTreeMap<u32, BTreeSet<u32>>,
    /// Documents that were edited just now: they go first.
    pub hot: VecDeque<u32>,
    /// The same, to be looked up in.
    pub is_hot: HashSet<u32>,
    /// Chunks of the jobs that the embed worker has, oldest job first.
    pub in_flight: VecDeque<HashSet<u32>>,
    /// Texts of those jobs: what stands in many places is embedded once.
    pub asked: HashSet<[u8; 16]>,
    /// Vectors that are stored, to be given to their chunks; with the last chunk that has it.
    pub to_place: VecDeque<(StoredVector, Option<u32>)>,
    /// Chunks of the jobs that those vectors came from.
    pub placing: HashSet<u32>,
    /// Where in which document the next job begins.
    pub cursor: (u32, usize),
    /// Nothing can be embedded until the model's state changes.
    pub blocked: bool,
    /// The machine is spared until then, and why.
    pub spared: Option<(Instant, &'static str)>,
    /// Nothing is embedded before then: the last vectors could not be stored.
    pub blocked_until: Option<Instant>,
}

impl Pending {
    /// Chunks that wait, those in flight among them.
    pub fn len(&self) -> usize {
        let waiting: usize = self.documents.values().map(BTreeSet::len).sum();
        waiting + self.in_flight.iter().map(HashSet::len).sum::<usize>() + self.placing.len()
    }

    /// Whether no vector is on its way: none is being made, and none waits for its place.
    pub fn is_at_rest(&self) -> bool {
        self.in_flight.is_empty() && self.to_place.is_empty()
    }

    /// Notes that vectors were placed: after the last one nothing waits for its place.
    pub fn placed(&mut self) {
        if self.to_place.is_empty() {
            self.placing.clear();
        }
    }

    /// Puts chunks on the list.
    pub fn add(&mut self, document: u32, chunks: impl IntoIterator<Item = u32>, hot: bool) {
        let waiting = self.documents.entry(document).or_default();
        waiting.extend(chunks);
        if waiting.is_empty() {
            self.documents.remove(&document);
        } else if hot && self.is_hot.insert(document) {
            self.hot.push_back(document);
        }
    }

    /// Takes chunks off the list, wherever they are.
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

/// A client that waits until what changed is taken up.
#[derive(Debug)]
pub struct Waiter {
    /// The way back.
    pub reply: Answer<WorkspaceSyncResponse>,
    /// When it asked.
    pub since: Instant,
    /// What it waits for.
    pub until: Until,
    /// Documents changed since.
    pub changed: u64,
    /// Documents removed since.
    pub removed: u64,
}

/// Times of what happened last, for `status`.
#[derive(Debug, Default, Clone)]
pub struct Times {
    /// Last watch event.
    pub event: Option<Instant>,
    /// Last time the canary was seen.
    pub canary: Option<Instant>,
    /// When the canary was written that has not been seen yet.
    pub canary_sent: Option<Instant>,
    /// Last reconcile.
    pub reconcile: Option<Instant>,
}

/// One workspace.
pub struct Workspace {
    /// Its key in the engine and the embed worker.
    pub key: u64,
    /// Canonical root.
    pub root: PathBuf,
    /// The write connection.
    pub store: Store,
    /// The index entries.
    pub entries: Entries,
    /// Beats while a step takes long.
    pub pulse: Pulse,
    /// What queries see.
    pub view: Arc<WorkspaceView>,
    /// The watcher, unless watching is switched off.
    pub watcher: Option<Watcher>,
    /// By path relative to the root.
    pub known: HashMap<String, Known>,
    /// Paths that may have changed.
    pub dirty: BTreeMap<String, Dirty>,
    /// Nodes of the compaction tree that hippod wrote, which are not indexed: their marks, and whether they are racy as
    /// [`Known::racy`] says.
    pub own_nodes: HashMap<String, (FileMark, bool)>,
    /// Documents whose file is missing, with the time since when.
    pub missing: BTreeMap<String, Instant>,
    /// Missing documents that are kept, because too many went at once.
    pub held: BTreeSet<String>,
    /// Files that are not indexed, and why, by path.
    pub skipped: BTreeMap<String, Skipped>,
    /// Files on disk, by the last scan and what was read and removed since.
    pub files_on_disk: usize,
    /// Files that the last reconcile found changed without an event.
    pub changed_at_reconcile: u64,
    /// Whether the root folder is there.
    pub root_present: bool,
    /// The embedder whose vectors are being completed.
    pub embedder: Option<EmbedderRow>,
    /// Chunks without vector.
    pub pending: Pending,
    /// Clients that wait.
    pub waiters: Vec<Waiter>,
    /// Clients that asked for a rebuild, with which the turn ends.
    pub rebuilds: Vec<Answer<Option<Lost>>>,
    /// Clients that wait until what they appended to is read.
    pub awaited: Vec<Awaited>,
    /// Questions that wait until files are read.
    pub readers: Vec<Reader>,
    /// How many reports of the watcher were taken.
    pub reports_taken: u64,
    /// What happened when.
    pub times: Times,
    /// Its own settings, as they were read last.
    pub own: OwnSettings,
    /// When to scan the disk next.
    pub scan_at: Instant,
    /// The canary cannot be written (read-only workspace): why.
    pub canary_unprovable: Option<String>,
    /// The watcher did not report the canary in time.
    pub watcher_silent: bool,
    /// The last refusal of the store, until a write succeeds.
    pub trouble: Option<StoreError>,
    /// Something was written since the vector index was saved.
    pub unsaved: bool,
    /// When the last write was.
    pub last_write: Instant,
    /// Chunks written since the lexical index was merged.
    pub untidy: u64,
    /// A graph is being built in the background.
    pub building: bool,
    /// No graph is built before then: the last one could not be.
    pub build_again_at: Instant,
    /// Gives that build up.
    pub cancel_build: Option<Arc<AtomicBool>>,
    /// When to write the next canary.
    pub canary_at: Instant,
    /// When to try again to start the watcher; nothing before the first try.
    pub watch_again_at: Option<Instant>,
    /// When to look again for a root that is not there.
    pub look_for_root_at: Instant,
    /// When to compare held deletions with the disk again.
    pub look_at_held_at: Instant,
    /// The database was empty or gone when it was opened.
    pub recovered: Option<Recovered>,
    /// Rows of it were damaged then.
    pub mended: Option<Mended>,
    /// A person was told of either by `doctor`.
    pub repair_is_told: bool,
    /// The revision of the entries that the spare copy of the database has.
    pub spared: Option<u64>,
    /// When it may be written anew.
    pub spare_at: Instant,
    /// More is waiting than the last turn could do.
    pub busy: bool,
    /// When the next turn is due.
    pub due: Option<Instant>,
    /// How long it rests where what is due could not be done.
    pub rest: Duration,
    /// When to look again whether the database is where it belongs.
    pub write_again_at: Instant,
}

impl Workspace {
    /// Marks a path as perhaps changed.
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

    /// Has a path read again of which nothing says that it changed.
    pub fn mark_recheck(&mut self, path: String, now: Instant) {
        self.dirty.entry(path).or_insert(Dirty {
            since: now,
            not_before: now,
            recheck: true,
        });
    }

    /// Paths that changed and are not read yet.
    pub fn unread(&self) -> impl Iterator<Item = &Dirty> {
        self.dirty.values().filter(|dirty| !dirty.recheck)
    }

    /// Notes when the next turn is due. What was due and still is cannot be done just now: after a turn that only time
    /// brought about the workspace rests, longer each time, so that it is tried again and not in a loop.
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

    /// The last thing that was tried would have needed more open files than there may be.
    pub fn is_short_of_files(&self) -> bool {
        self.trouble.as_ref().is_some_and(StoreError::is_shortage)
    }

    fn next_due(&self, now: Instant) -> Option<Instant> {
        let dirty = self.dirty.values().map(|dirty| dirty.not_before);
        dirty
            .chain([self.scan_at, self.housekeeping_due(now)])
            .chain(self.entries_due())
            .chain(self.entries.again_at)
            .chain((!self.root_present).then_some(self.look_for_root_at))
            .chain((!self.held.is_empty()).then_some(self.look_at_held_at))
            .chain(self.pending.blocked_until)
            .chain(self.pending.spared.map(|(until, _)| until))
            .chain(self.deletions_due().filter(|_| self.dirty.is_empty()))
            .min()
    }

    /// Gives up what is under way, before it is closed. Returns the clients that wait for it.
    pub fn let_go(&mut self) -> Vec<Waiter> {
        if let Some(cancel) = &self.cancel_build {
            cancel.store(true, Ordering::Relaxed);
        }
        self.view.forget_readers();
        std::mem::take(&mut self.waiters)
    }

    /// When something is to be done about the index entries.
    pub fn entries_due(&self) -> Option<Instant> {
        let entries = &self.entries;
        if !entries.enabled || !self.root_present {
            return None;
        }
        let schedule = entries.run.is_none().then_some(entries.look_at);
        // What waits for a plan goes on when the plan comes.
        let kept_out = entries.run.as_ref().is_some_and(|run| run.keeps_others_out());
        let file = entries.file.due().filter(|_| !kept_out);
        schedule.into_iter().chain(file).chain(entries.publish_at).min()
    }

    /// The paths to read next, in their order: what a client waits for, then what changed first.
    pub fn next_dirty(&self, now: Instant) -> Vec<String> {
        let due = self.dirty.iter().filter(|(_, dirty)| dirty.not_before <= now);
        let mut due: Vec<(bool, Instant, &String)> = due
            .map(|(path, dirty)| {
                let later = !self.is_awaited(path) && !self.is_wanted(path);
                (later, dirty.since, path)
            })
            .collect();
        if due.len() > READ_AHEAD {
            due.select_nth_unstable(READ_AHEAD);
            due.truncate(READ_AHEAD);
        }
        due.sort_unstable();
        due.into_iter().map(|(_, _, path)| path.clone()).collect()
    }

    /// Tries a path again later.
    pub fn retry(&mut self, path: String, dirty: Dirty, not_before: Instant) {
        self.dirty.insert(path, Dirty { not_before, ..dirty });
    }

    /// Files and chunks that are not searchable in every way yet.
    pub fn backlog(&self) -> u64 {
        (self.unread().count() + self.pending.len()) as u64
    }
}
