//! View of a workspace in memory for queries.
//!
//! The workspace's thread updates the view in place while queries read it. A query waits for at most one commit.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use jiff::tz::TimeZone;
use parking_lot::{Mutex, RwLock, RwLockReadGuard, RwLockWriteGuard};

use hippo_proto::{RpcError, WorkspaceStatus};
use hippo_rank::corpus::{Corpus, DocumentPlace};
use hippo_store::StoreError;
use hippo_store::db::StoreReader;
use hippo_store::vector::VectorIndex;
use hippo_text::chunk::{self, Section};
use hippo_text::scope::ScopeRules;
use hippo_text::source::SourceRules;
use hippo_types::scope::{Scope, Viewer};
use hippo_types::time::Timestamp;

use crate::clock::{Clock, moment};
use crate::config::Config;
use crate::index::IndexView;
use crate::verify::{ChunkSpan, FileMark};
use crate::watcher::{Listener, UnreportedChanges};

mod postings;

use postings::PostingsCache;

/// Maximum number of idle read connections per workspace.
const READERS_KEPT: usize = 4;

/// Data in memory for searches. All parts belong to the same generation of the index.
#[derive(Debug)]
pub struct SearchSnapshot {
    /// Documents, sections and chunks.
    pub corpus: Corpus,
    /// The vectors of the chunks.
    pub vectors: VectorIndex,
    /// Location of each chunk in its file, by chunk id.
    pub spans: Vec<Option<ChunkSpan>>,
    /// Number of tokens in each chunk, by chunk id; 0 if no model has counted them.
    pub tokens: Vec<u32>,
    /// Further facts about each document, by document id.
    pub facts: HashMap<u32, DocumentFacts>,
    /// Scopes of the documents that are not shared, by document id.
    pub scopes: HashMap<u32, Scope>,
    /// Id of the model that computed the vectors; `None` if no model is in use.
    pub model: Option<Arc<str>>,
    /// Generation of the index, a number that each change of a document increases.
    pub generation: u64,
}

/// Facts about a document that are needed for answers but not for ranking.
#[derive(Debug)]
pub struct DocumentFacts {
    /// Size and modification time of the file when it was indexed.
    pub mark: FileMark,
    /// Path of the file to which the document is a link, if it is one.
    pub target: Option<Box<str>>,
    /// Generation of the index in which the document received its current content; 0 if the workspace has not indexed
    /// the document since it was opened.
    pub generation: u64,
    /// The sections of the document, with their titles.
    pub sections: Box<[Section]>,
}

impl SearchSnapshot {
    /// Returns the titles of the headings above a section and the title of the section itself, outermost first.
    pub fn heading_path(&self, document: u32, section: u32) -> Vec<String> {
        self.facts
            .get(&document)
            .map(|facts| chunk::heading_path(&facts.sections, section))
            .unwrap_or_default()
    }

    /// Returns the scope of a document.
    pub fn scope(&self, document: u32) -> &Scope {
        self.scopes.get(&document).unwrap_or(&Scope::Shared)
    }

    /// Returns the documents that a reader may see, with their ids.
    pub fn documents<'s>(&'s self, viewer: &'s Viewer) -> impl Iterator<Item = (u32, &'s DocumentPlace)> {
        let documents = self.corpus.documents();
        documents.filter(|(document, _)| viewer.sees(self.scope(*document)))
    }

    /// Returns the chunk that contains a line of a file. `chunks` are the chunks of the file.
    pub fn chunk_at(&self, chunks: &[u32], line: u32) -> Option<u32> {
        chunks.iter().copied().find(|chunk| {
            let span = self.spans.get(*chunk as usize).copied().flatten();
            span.is_some_and(|span| (span.start_line..=span.end_line).contains(&line))
        })
    }
}

/// Information about changes that the index does not contain yet, and about problems.
#[derive(Debug, Clone, Default)]
pub struct Freshness {
    /// Number of changed files that are not indexed yet, plus the number of chunks without a vector.
    pub pending: u64,
    /// Number of changed files that are not indexed yet.
    pub unread: u64,
    /// Number of reports of the watcher that the workspace's thread has processed.
    pub taken: u64,
    /// Time at which the oldest of the changes that are not indexed yet was noticed; `None` if all changes are indexed.
    pub behind_since: Option<Instant>,
    /// The most serious problem, as a code and a message; `None` without problems.
    pub degraded: Option<(&'static str, String)>,
}

impl Freshness {
    /// Code for a repair of the database that `doctor` has not reported yet.
    pub const REPAIRED: &str = "repaired";

    /// Code and message for a workspace that was just opened. Until the disk has been compared with the index, the
    /// daemon does not know which changes it missed.
    pub const WARMING: (&'static str, &'static str) = (
        "warming",
        "the disk has not been compared with the index since the daemon started",
    );

    fn warming(now: Instant) -> Self {
        let (word, why) = Self::WARMING;
        Self {
            pending: 0,
            unread: 0,
            taken: 0,
            behind_since: Some(now),
            degraded: Some((word, why.to_owned())),
        }
    }
}

/// A workspace as queries see it.
pub struct WorkspaceView {
    /// Canonical path of the root folder.
    pub root: PathBuf,
    /// Configuration of the workspace.
    pub config: Config,
    /// Rules that determine which paths are memory files.
    pub rules: SourceRules,
    /// Rules that determine the scopes of paths.
    pub scopes: ScopeRules,
    database: PathBuf,
    /// True if the harness's settings, as last read, enable search by meaning.
    meaning: AtomicBool,
    snapshot: RwLock<SearchSnapshot>,
    freshness: Mutex<Freshness>,
    /// Handle to the running watcher. Changes that it has not reported yet count as not indexed.
    listener: Mutex<Option<Listener>>,
    /// Number of reports of the watcher that were sent to the workspace's thread.
    reports: AtomicU64,
    status: Mutex<Option<WorkspaceStatus>>,
    readers: Mutex<Vec<StoreReader>>,
    postings: Mutex<PostingsCache>,
    index: RwLock<Arc<IndexView>>,
}

impl WorkspaceView {
    /// Creates a view with a snapshot that was loaded from `database`. The view reports "warming" until
    /// [`WorkspaceView::set_freshness`] is called.
    pub fn new(
        root: PathBuf,
        config: Config,
        (rules, scopes): (SourceRules, ScopeRules),
        database: PathBuf,
        snapshot: SearchSnapshot,
        now: Instant,
    ) -> Self {
        Self {
            root,
            config,
            rules,
            scopes,
            database,
            meaning: AtomicBool::new(true),
            snapshot: RwLock::new(snapshot),
            freshness: Mutex::new(Freshness::warming(now)),
            listener: Mutex::default(),
            reports: AtomicU64::new(0),
            status: Mutex::default(),
            readers: Mutex::default(),
            postings: Mutex::default(),
            index: RwLock::default(),
        }
    }

    /// Returns the time zone of the workspace: the configured zone, or that of the machine if none is configured.
    pub fn zone(&self, clock: &dyn Clock) -> TimeZone {
        let own = self.config.search.time_zone();
        own.unwrap_or_else(|| clock.time_zone())
    }

    /// Parses a time from a client. A time without a zone is in the time zone of the workspace, and `None` means the
    /// current time.
    ///
    /// # Errors
    /// Returns `bad-request` for an invalid time.
    pub fn moment(&self, clock: &dyn Clock, at: Option<&str>) -> Result<Timestamp, RpcError> {
        let Some(at) = at else {
            return Ok(clock.now());
        };
        let zone = self.zone(clock);
        moment(at, &zone).ok_or_else(|| {
            RpcError::bad_request(format!("not a valid time: {at}"))
                .hint("write a time as YYYY-MM-DD or like 2026-01-10T09:30:00Z")
        })
    }

    /// Returns whether the harness's settings enable search by meaning.
    pub fn by_meaning(&self) -> bool {
        self.meaning.load(Ordering::Relaxed)
    }

    /// Sets whether the harness's settings enable search by meaning.
    pub fn set_by_meaning(&self, wanted: bool) {
        self.meaning.store(wanted, Ordering::Relaxed);
    }

    /// Locks the snapshot for reading.
    pub fn snapshot(&self) -> RwLockReadGuard<'_, SearchSnapshot> {
        self.snapshot.read()
    }

    /// Returns the scope of a file by its path and, for a link, by the path of its target. The front matter of the file can
    /// narrow this scope.
    pub fn scope_of_path(&self, path: &str) -> Scope {
        let target = hippo_fs::resolve(&self.root, path).unwrap_or_else(|_| path.into());
        let of_target = self.scopes.of_path(&target.to_string_lossy());
        self.scopes.of_path(path).meet(of_target)
    }

    /// Returns the path of the file to which a document is a link, if it is one.
    pub fn link_target(&self, document: u32) -> Option<String> {
        let snapshot = self.snapshot();
        let facts = snapshot.facts.get(&document)?;
        facts.target.as_deref().map(str::to_owned)
    }

    /// Locks the snapshot for writing. The caller holds the lock during a commit and the corresponding change of the
    /// snapshot.
    pub fn picture_mut(&self) -> RwLockWriteGuard<'_, SearchSnapshot> {
        self.snapshot.write()
    }

    /// Returns the view of the current entries.
    pub fn index(&self) -> Arc<IndexView> {
        Arc::clone(&self.index.read())
    }

    /// Replaces the view of the entries that queries see.
    pub fn set_index(&self, index: IndexView) {
        *self.index.write() = Arc::new(index);
    }

    /// Returns the freshness of the index. It includes changes that the workspace's thread has not received from the
    /// watcher yet.
    pub fn freshness(&self) -> Freshness {
        // A change moves from the watcher to the channel and then to the workspace. Read the three counts in this
        // order, so that no change is missed.
        let held_back = self
            .listener()
            .map_or_else(UnreportedChanges::default, |listener| {
                listener.held_back(|path| self.rules.is_source(path))
            });
        let reports = self.reports.load(Ordering::SeqCst);
        let mut freshness = self.freshness.lock().clone();
        let untaken = u64::from(freshness.taken < reports);
        let unheard = held_back.count as u64 + untaken;
        if unheard > 0 {
            freshness.pending += unheard;
            freshness.unread += unheard;
            let since = held_back.since.unwrap_or_else(Instant::now);
            freshness.behind_since = Some(freshness.behind_since.map_or(since, |before| before.min(since)));
        }
        freshness
    }

    /// Returns the handle of the running watcher.
    pub fn listener(&self) -> Option<Listener> {
        self.listener.lock().clone()
    }

    /// Replaces the handle of the watcher.
    pub fn set_listener(&self, listener: Listener) {
        *self.listener.lock() = Some(listener);
    }

    /// Counts a report of the watcher that is about to be sent to the workspace's thread.
    pub fn count_report(&self) {
        self.reports.fetch_add(1, Ordering::SeqCst);
    }

    /// Replaces the freshness. Returns the previous one.
    pub fn set_freshness(&self, freshness: Freshness) -> Freshness {
        std::mem::replace(&mut *self.freshness.lock(), freshness)
    }

    /// Returns the last published status; `None` if none has been published.
    pub fn status(&self) -> Option<WorkspaceStatus> {
        self.status.lock().clone()
    }

    /// Returns whether the database file exists.
    #[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
    pub fn has_database(&self) -> bool {
        self.database.exists()
    }

    /// Publishes the status.
    pub fn set_status(&self, status: WorkspaceStatus) {
        *self.status.lock() = Some(status);
    }

    /// Runs `read` with a connection to the database for reads.
    ///
    /// # Errors
    /// Returns an error of `read`, or an error from opening a connection.
    pub fn with_reader<T>(
        &self,
        read: impl FnOnce(&StoreReader) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let kept = self.readers.lock().pop();
        let reader = match kept {
            Some(reader) => reader,
            None => StoreReader::open(&self.database)?,
        };
        let result = read(&reader)?;
        let mut readers = self.readers.lock();
        if readers.len() < READERS_KEPT {
            readers.push(reader);
        }
        Ok(result)
    }

    /// Returns for each FTS5 expression the ids of the chunks that match it. The caller holds the lock on the snapshot,
    /// so that no commit happens meanwhile.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn postings(
        &self,
        snapshot: &SearchSnapshot,
        expressions: &[String],
    ) -> Result<Vec<Arc<[u32]>>, StoreError> {
        self.with_reader(|reader| {
            let of_one = |expression: &String| {
                if let Some(ids) = self.postings.lock().get(snapshot.generation, expression) {
                    return Ok(ids);
                }
                let ids: Arc<[u32]> = reader.postings(expression)?.into();
                self.postings.lock().keep(snapshot.generation, expression, &ids);
                Ok(ids)
            };
            expressions.iter().map(of_one).collect()
        })
    }

    /// Drops connections and caches before the database file is replaced.
    pub fn forget_readers(&self) {
        self.readers.lock().clear();
        *self.postings.lock() = PostingsCache::default();
    }
}
