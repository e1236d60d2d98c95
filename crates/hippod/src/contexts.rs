//! Sessions of context entries and their databases.
//!
//! Each workspace has a separate database for contexts, beside its index database, so `context.put` never waits for
//! indexing. Session entries are cached in memory between calls. A change is written to the database before the cache.

mod accept;
mod close;
mod compact;
mod earlier;
mod fetch;
mod flush;
mod health;
mod keeper;
mod owner;
mod policies;
mod put;
mod session;
mod sources;
#[cfg(test)]
mod tests;
mod turn;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use hippo_proto::{ErrorKind, RpcError};
use hippo_store::StoreError;
use hippo_store::contexts::{
    ContentPacker, ContextError, ContextReader, ContextStore, PackedContent, SessionRow,
};
use hippo_store::in_place::OpenFiles;
use parking_lot::{Mutex, MutexGuard};

use crate::clock::Clock;
use crate::errors::store_error;
use crate::memory::MemoryWriter;
use crate::registry;
use crate::tasks::{OneAtATime, OneAtATimeGuard};
use crate::view::WorkspaceView;
use crate::views::{Slot, Views};

use owner::{no_such_session, owner};
use session::Sessions;

pub use accept::{Promise, accept, promised, record_end};
pub use close::close;
pub use compact::compact;
pub use fetch::fetch;
pub use flush::flush;
pub use keeper::keep;
pub use owner::check_reader;
pub use put::{open, put};
pub use turn::{list, render, touch, turn};

/// File name of a workspace's context database, in its state folder.
pub const FILE: &str = "contexts.db";
/// Maximum number of idle read connections per workspace, and of idle packers, which compress contents.
const READERS_KEPT: usize = 4;

/// Minimum time between two attempts to write a removed database to disk again.
const WRITE_AGAIN: Duration = Duration::from_secs(30);

/// Context databases of all workspaces.
pub struct Contexts {
    /// State folder of the daemon.
    state: PathBuf,
    views: Arc<Views>,
    clock: Arc<dyn Clock>,
    /// Writer of long-term memory; it stores the lasting entries of closed sessions.
    memory: MemoryWriter,
    places: Mutex<HashMap<PathBuf, Arc<ContextDatabase>>>,
    /// Accepted flushes that are in progress.
    under_way: accept::RunningFlushes,
    /// Queue of flushes, because each flush must see what the previous one appended.
    flushing: OneAtATime,
}

/// Context database of one workspace.
struct ContextDatabase {
    file: PathBuf,
    /// Identity of the files that are open for writing. A caller can read this identity while `context.put` holds the
    /// lock on the state.
    open: Mutex<Option<OpenFiles>>,
    held: Mutex<ExclusiveState>,
    readers: Mutex<Vec<ContextReader>>,
    packers: Mutex<Vec<ContentPacker>>,
    /// Number of acknowledged changes that were missing when the database was opened; reset to 0 once `doctor` has
    /// reported the number.
    lost: AtomicU64,
    /// True if the database was released because its workspace was removed or is being restored. A released database is
    /// never written again.
    let_go: AtomicBool,
}

/// State that only one caller at a time can use.
#[derive(Default)]
struct ExclusiveState {
    store: Option<ContextStore>,
    sessions: Sessions,
    /// Earliest time of the next attempt to write a removed database, if the last attempt failed.
    write_again_at: Option<Instant>,
}

/// A session and its location.
struct LocatedSession {
    view: Arc<WorkspaceView>,
    place: Arc<ContextDatabase>,
    session: SessionRow,
}

impl Contexts {
    /// Creates the context databases below this state folder. Each database is opened on first use.
    pub fn new(state: PathBuf, views: Arc<Views>, clock: Arc<dyn Clock>, memory: MemoryWriter) -> Self {
        Self {
            state,
            views,
            clock,
            memory,
            places: Mutex::default(),
            under_way: accept::RunningFlushes::default(),
            flushing: OneAtATime::default(),
        }
    }

    /// Waits until earlier flushes have finished. A waiting flush occupies no thread; otherwise queued flushes could
    /// occupy all threads and block other requests.
    pub async fn turn_to_flush(&self) -> OneAtATimeGuard {
        self.flushing.enter().await
    }

    /// Returns the context database of a workspace.
    fn database_of(&self, root: &Path) -> Arc<ContextDatabase> {
        let mut places = self.places.lock();
        let place = places.entry(root.to_path_buf()).or_insert_with(|| {
            let file = registry::state_folder(&self.state, root).join(FILE);
            Arc::new(ContextDatabase::new(file))
        });
        Arc::clone(place)
    }

    /// Checks each open database, and writes it again if its file was removed.
    pub fn look(&self) {
        let places: Vec<Arc<ContextDatabase>> = self.places.lock().values().cloned().collect();
        for place in places {
            if let Err(error) = place.is_there() {
                tracing::error!(file = %place.file.display(), error = error.message, "the database of the sessions was removed and could not be written again; retrying");
            }
        }
    }

    /// Returns the location of a session.
    ///
    /// # Errors
    /// Returns `not-found` if no workspace has the session, `warming` while a workspace that may have it is being
    /// opened, `internal` if a database cannot be read.
    fn home(&self, id: &str) -> Result<LocatedSession, RpcError> {
        let mut unreadable = None;
        for view in self.views.open() {
            let place = self.database_of(&view.root);
            match place.read(|reader| reader.session(id)) {
                Ok(Some(Some(session))) => return Ok(LocatedSession { view, place, session }),
                Ok(_) => {}
                // An unreadable database does not affect sessions of other workspaces.
                Err(error) => unreadable = Some(error),
            }
        }
        let slots = self.views.all();
        if slots.iter().any(|(_, slot)| matches!(slot, Slot::Opening)) {
            let what = "a workspace that may contain the session is still being opened";
            return Err(RpcError::new(ErrorKind::Warming, what).hint("try again in a moment"));
        }
        if let Some(error) = unreadable {
            return Err(error);
        }
        Err(no_such_session(id))
    }

    /// Returns whether the context database of a workspace exists. Writes it again if its file was removed while
    /// open.
    ///
    /// # Errors
    /// Fails if the file was removed and could not be written again.
    pub fn is_there(&self, root: &Path) -> Result<bool, RpcError> {
        self.database_of(root).is_there()
    }

    /// Releases the database of a workspace that is removed or restored.
    pub fn let_go(&self, root: &Path) {
        if let Some(place) = self.places.lock().remove(root) {
            place.let_go.store(true, Ordering::Relaxed);
        }
    }
}

impl ContextDatabase {
    fn new(file: PathBuf) -> Self {
        Self {
            file,
            open: Mutex::default(),
            held: Mutex::default(),
            readers: Mutex::default(),
            packers: Mutex::default(),
            lost: AtomicU64::new(0),
            let_go: AtomicBool::new(false),
        }
    }

    /// Locks the state, and opens the database if necessary.
    fn held(&self) -> Result<MutexGuard<'_, ExclusiveState>, RpcError> {
        let mut held = self.held.lock();
        self.look(&mut held)?;
        if held.store.is_none() {
            let store = ContextStore::open(&self.file).map_err(|error| unusable(&error))?;
            *self.open.lock() = Some(store.open_files());
            if store.missing_changes() > 0 {
                let (file, changes) = (self.file.display(), store.missing_changes());
                tracing::error!(%file, changes, "stored changes of sessions are missing; for details: hippoctl doctor");
                self.lost.fetch_add(changes, Ordering::Relaxed);
            }
            held.store = Some(store);
        }
        Ok(held)
    }

    /// Returns whether the database exists. Writes it again if its file was removed while open.
    #[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
    fn is_there(&self) -> Result<bool, RpcError> {
        let open = *self.open.lock();
        if !open.map_or_else(|| self.file.exists(), |open| open.is_at(&self.file)) {
            self.look(&mut self.held.lock())?;
        }
        Ok(self.file.exists())
    }

    /// Writes the database again if its file was removed: the open handle holds the only copy.
    #[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
    fn look(&self, held: &mut ExclusiveState) -> Result<(), RpcError> {
        match &mut held.store {
            Some(store) if store.is_in_place() || self.let_go.load(Ordering::Relaxed) => return Ok(()),
            Some(store) => {
                if held.write_again_at.is_some_and(|at| Instant::now() < at) {
                    let what = format!(
                        "the database of the sessions was removed, and hippod could not write it again: {}",
                        self.file.display()
                    );
                    return Err(RpcError::internal(what)
                        .hint("hippod retries by itself; to see the reason: hippoctl service logs"));
                }
                held.write_again_at = Some(Instant::now() + WRITE_AGAIN);
                store.write_again().map_err(|error| unusable(&error))?;
                held.write_again_at = None;
                *self.open.lock() = Some(store.open_files());
                let file = self.file.display().to_string();
                tracing::warn!(
                    file,
                    "the database of the sessions was removed while it was open, so hippod wrote it again"
                );
            }
            None if self.file.exists() => return Ok(()),
            None => {}
        }
        // Idle readers still have the removed file open, so they are dropped.
        self.readers.lock().clear();
        Ok(())
    }

    /// Runs a query on a connection that never waits for `context.put`. Returns `None` if the database does not exist
    /// yet.
    fn read<T>(
        &self,
        ask: impl FnOnce(&ContextReader) -> Result<T, ContextError>,
    ) -> Result<Option<T>, RpcError> {
        if !self.is_there()? {
            return Ok(None);
        }
        if self.open.lock().is_none() {
            // Opening for writing can restore a removed file. If that fails, the database may still be readable, so
            // the error is ignored.
            drop(self.held());
        }
        let kept = self.readers.lock().pop();
        let reader = match kept {
            Some(reader) => reader,
            None => ContextReader::open(&self.file).map_err(|error| unusable(&error))?,
        };
        let answer = ask(&reader).map_err(refusal)?;
        let mut readers = self.readers.lock();
        if readers.len() < READERS_KEPT {
            readers.push(reader);
        }
        Ok(Some(answer))
    }

    /// Runs work on the database opened for writing.
    fn write<T>(
        &self,
        work: impl FnOnce(&mut ContextStore) -> Result<T, ContextError>,
    ) -> Result<T, RpcError> {
        let mut held = self.held()?;
        work(held.parts()?.0).map_err(refusal)
    }

    /// Packs content for storage; returns `None` if the content is too large.
    fn ready(&self, content: &[u8]) -> Option<PackedContent> {
        let kept = self.packers.lock().pop();
        let mut packer = kept.unwrap_or_default();
        let ready = packer.pack_content(content);
        let mut packers = self.packers.lock();
        if packers.len() < READERS_KEPT {
            packers.push(packer);
        }
        ready
    }
}

impl ExclusiveState {
    fn parts(&mut self) -> Result<(&mut ContextStore, &mut Sessions), RpcError> {
        let Self { store, sessions, .. } = self;
        let store = store
            .as_mut()
            .ok_or_else(|| RpcError::internal("the database of the sessions is not open"))?;
        Ok((store, sessions))
    }
}

/// Returns whether a state folder has a context database.
#[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
pub fn stand_in(state: &Path) -> bool {
    state.join(FILE).exists()
}

/// Removes everything from a state folder except the context database.
///
/// # Errors
/// Fails if an entry could not be listed or removed.
#[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
pub fn remove_all_else(state: &Path) -> std::io::Result<()> {
    for entry in std::fs::read_dir(state)? {
        let entry = entry?;
        // The `-wal` and `-shm` files of the database share its prefix.
        if entry.file_name().to_string_lossy().starts_with(FILE) {
            continue;
        }
        if entry.file_type()?.is_dir() {
            std::fs::remove_dir_all(entry.path())?;
        } else {
            std::fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// Returns the error of a context database with a hint. Unlike the index, the database cannot be rebuilt.
fn unusable(error: &StoreError) -> RpcError {
    let refusal = store_error(error);
    match error {
        StoreError::Corrupt { .. } => refusal.hint(
            "this database is the only copy of the sessions: stop hippod, then restore the database from a \
             backup, or move it and its -wal and -shm files elsewhere to start without sessions; the index \
             and search are not affected",
        ),
        StoreError::OtherSchema { .. } => refusal
            .hint("install the newer hippod that wrote this database; the index and search are not affected"),
        _ => refusal,
    }
}

fn refusal(error: ContextError) -> RpcError {
    let what = error.to_string();
    match error {
        ContextError::Store(error) => unusable(&error),
        ContextError::UnknownSession(_) | ContextError::UnknownEntry(_) => {
            RpcError::not_found(what).hint("to list the sessions and entries: hippoctl context list")
        }
        ContextError::ClosedSession(_) => {
            RpcError::new(ErrorKind::Conflict, what).hint("open another session: method context.open")
        }
        ContextError::EntryExists(_) => RpcError::new(ErrorKind::Conflict, what)
            .hint("repeat the request: the entry then gets another id"),
        ContextError::OverBudget { .. } => RpcError::new(ErrorKind::Budget, what).hint(
            "nothing was stored: close finished sessions, or raise context.budget_mb in the configuration",
        ),
        ContextError::TooLarge { .. } => {
            RpcError::new(ErrorKind::TooLarge, what).hint("split the content, and store each part")
        }
        ContextError::NoContentId(_) => RpcError::bad_request(what),
    }
}

/// Returns the current time in milliseconds since the Unix epoch.
fn now(contexts: &Contexts) -> i64 {
    contexts.clock.now().0
}
