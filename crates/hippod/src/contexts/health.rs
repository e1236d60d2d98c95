//! State of the stored contexts, for `doctor`, `status` and shutdown.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use hippo_proto::folder::Trust;
use hippo_proto::{ContextsStatus, RpcError};
use hippo_store::contexts::{ContextReader, ContextStore};

use super::{Contexts, policies, unusable};
use crate::clock::rfc3339;
use crate::view::WorkspaceView;

impl Contexts {
    /// Checks the context database of a workspace. Returns its path, or `None` if there was never a session.
    ///
    /// # Errors
    /// Returns the problem that was found, with a hint.
    pub fn check(&self, root: &Path) -> Result<Option<PathBuf>, RpcError> {
        let place = self.database_of(root);
        if !place.is_there()? {
            return Ok(None);
        }
        // Opening the database for writing counts the missing changes. A database that cannot be opened for writing is
        // still checked.
        drop(place.held());
        // Use a new connection. On an old connection, SQLite's check can mistake the cached state of full-text indexes
        // for damage after other connections have written.
        let sound = ContextReader::open(&place.file).and_then(|reader| reader.check());
        sound.map_err(|error| unusable(&error))?;
        Ok(Some(place.file.clone()))
    }

    /// Returns the number of acknowledged changes that went missing before this start and are not reported yet.
    pub fn lost(&self, root: &Path) -> u64 {
        self.database_of(root).lost.load(Ordering::Relaxed)
    }

    /// Records that `doctor` has reported the missing changes.
    pub fn loss_is_told(&self, root: &Path) {
        self.database_of(root).lost.store(0, Ordering::Relaxed);
    }

    /// Writes the write-ahead logs back into the databases at shutdown.
    pub fn checkpoint(&self) {
        for place in self.places.lock().values() {
            // If the database is in use, its log remains, and the next start reads the log.
            let Some(held) = place.held.try_lock() else {
                continue;
            };
            if let Some(Err(error)) = held.store.as_ref().map(ContextStore::checkpoint) {
                let file = place.file.display();
                tracing::warn!(%file, %error, "could not checkpoint the database of the sessions; the next start checkpoints it");
            }
        }
    }

    /// Returns the reason why the policies of a workspace are not used.
    pub fn policies_trouble(&self, root: &Path) -> Option<String> {
        let trust = Trust::of(&self.state, root);
        let trouble = policies::read(root, &trust).1;
        // Problems are reported only for a trusted file.
        trouble.filter(|_| policies::is_trusted(root, &trust))
    }

    /// Returns the usage of a workspace's contexts; `None` if there was never a session.
    pub fn usage(&self, view: &WorkspaceView) -> Option<ContextsStatus> {
        let place = self.database_of(&view.root);
        let usage = place.read(ContextReader::usage).ok()??;
        Some(ContextsStatus {
            sessions: usage.sessions,
            open: usage.open,
            entries: usage.entries,
            contents: usage.contents,
            stored_bytes: usage.stored_bytes,
            raw_bytes: usage.raw_bytes,
            budget_bytes: view.config.context.budget_bytes(),
            oldest: usage
                .oldest_ms
                .map(|at| rfc3339(hippo_types::time::Timestamp(at))),
        })
    }
}
