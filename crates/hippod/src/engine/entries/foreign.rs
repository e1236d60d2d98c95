//! Entries that other workspaces share, in the index file.

use std::time::{Duration, Instant};

use hippo_store::StoreError;

use crate::engine::worker::WorkspaceWorker;
use crate::engine::workspace::Workspace;
use crate::local_share;

/// Delay before another attempt while another workspace is being opened.
const AGAIN: Duration = Duration::from_secs(1);

impl WorkspaceWorker {
    /// Updates the section with the entries of other workspaces in the file if a share has changed.
    ///
    /// # Errors
    /// See [`StoreError`]. The next light cycle tries again.
    pub(super) fn tend_foreign(&self, workspace: &mut Workspace, at: Instant) -> Result<(), StoreError> {
        let file = &mut workspace.entries.file;
        if file.foreign_at.take_if(|due| *due <= at).is_none() || !workspace.entries.is_begun() {
            // The first light cycle creates the file.
            return Ok(());
        }
        self.update_foreign(workspace, at);
        if workspace.entries.file.outdated {
            let now = self.now_of(workspace, at);
            workspace.entries.write(&mut workspace.store, &now)?;
        }
        Ok(())
    }

    /// Makes the section with the entries of other workspaces. While one of them is being opened, leaves the section
    /// unchanged, and tries again later.
    pub(super) fn update_foreign(&self, workspace: &mut Workspace, at: Instant) {
        let resources = &self.resources;
        let max_tokens = workspace.view.config.index.max_tokens;
        let (shares, now) = (&resources.local_shares, resources.clock.now());
        match local_share::section(shares, &resources.views, &workspace.root, now, max_tokens) {
            Some(section) => workspace.entries.file.set_foreign(section),
            None => workspace.entries.file.foreign_at = Some(at + AGAIN),
        }
    }

    /// Removes the section with the entries of other workspaces from the file, because the workspace is removed.
    pub(in crate::engine) fn drop_foreign(&self, workspace: &mut Workspace, at: Instant) {
        let entries = &mut workspace.entries;
        let outdated = std::mem::take(&mut entries.file.outdated);
        entries.file.set_foreign(String::new());
        if entries.file.outdated && workspace.root_present {
            let now = self.now_of(workspace, at);
            if let Err(error) = workspace.entries.write(&mut workspace.store, &now) {
                tracing::warn!(%error, "could not remove the entries of other workspaces from the index file");
            }
        }
        workspace.entries.file.outdated |= outdated;
    }
}
