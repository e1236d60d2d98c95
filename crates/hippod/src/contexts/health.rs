//! State of the stored contexts, for `doctor`, `status` and a stop.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use hippo_proto::folder::Trust;
use hippo_proto::{ContextsStatus, RpcError};
use hippo_store::contexts::{ContextReader, ContextStore};

use super::{Contexts, lock, policies, unusable};
use crate::clock::rfc3339;
use crate::shared::Shared;
use crate::view::WorkspaceView;

impl Contexts {
    /// Whether what sessions stored can be read; `None` where there never was a session.
    ///
    /// # Errors
    /// What is wrong with it, and what to do.
    pub fn check(&self, shared: &Shared, root: &Path) -> Result<Option<PathBuf>, RpcError> {
        let place = self.place(shared, root);
        if !place.is_there()? {
            return Ok(None);
        }
        // Who opens it for writing counts what is missing. One that cannot be opened so is read all the same.
        drop(place.held());
        // Not on a connection that is kept: where others have written since, SQLite's check takes what such a one remembers
        // of its full-text indexes for damage.
        let sound = ContextReader::open(&place.file).and_then(|reader| reader.check());
        sound.map_err(|error| unusable(&error))?;
        Ok(Some(place.file.clone()))
    }

    /// Acknowledged changes of a workspace that are missing since this start, and that nobody was told of yet.
    pub fn lost(&self, shared: &Shared, root: &Path) -> u64 {
        self.place(shared, root).lost.load(Ordering::Relaxed)
    }

    /// Notes that `doctor` has reported what is missing.
    pub fn loss_is_told(&self, shared: &Shared, root: &Path) {
        self.place(shared, root).lost.store(0, Ordering::Relaxed);
    }

    /// Writes the logs back into the databases, before the end.
    pub fn checkpoint(&self) {
        for place in lock(&self.places).values() {
            // Whoever still writes leaves a log, which the next start reads.
            let Ok(held) = place.held.try_lock() else { continue };
            if let Some(Err(error)) = held.store.as_ref().map(ContextStore::checkpoint) {
                let file = place.file.display();
                tracing::warn!(%file, %error, "could not write the log of what sessions stored back into its database");
            }
        }
    }

    /// Why the policies of a workspace are not used, where they are not.
    pub fn policies_trouble(&self, shared: &Shared, root: &Path) -> Option<String> {
        let trust = Trust::of(&shared.paths.state, root);
        let trouble = self.place(shared, root).policies.of(root, &trust).1;
        // One that is not trusted is not looked into.
        trouble.filter(|_| policies::is_trusted(root, &trust))
    }

    /// How much a workspace keeps; nothing where there never was a session.
    pub fn usage(&self, shared: &Shared, view: &WorkspaceView) -> Option<ContextsStatus> {
        let place = self.place(shared, &view.root);
        let usage = place.read(ContextReader::usage).ok()??;
        Some(ContextsStatus {
            sessions: usage.sessions,
            open: usage.open,
            entries: usage.entries,
            contents: usage.contents,
            stored_bytes: usage.stored_bytes,
            raw_bytes: usage.raw_bytes,
            budget_bytes: view.config.context.budget_bytes(),
            oldest: usage.oldest_ms.map(|at| rfc3339(hippo_core::time::Timestamp(at))),
        })
    }
}
