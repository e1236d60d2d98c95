//! Entries that other workspaces share, in the index file.

use std::time::Instant;

use super::FOLLOW;
use crate::engine::worker::WorkspaceWorker;
use crate::engine::workspace::Workspace;
use crate::local_share;

impl WorkspaceWorker {
    /// Makes the section with the entries of other workspaces. While one of them is being opened, leaves the section
    /// unchanged, and schedules another light cycle.
    pub(super) fn update_foreign(&self, workspace: &mut Workspace, at: Instant) {
        let resources = &self.resources;
        let max_tokens = workspace.view.config.index.tokens(workspace.known.len());
        let (shares, now) = (&resources.local_shares, resources.clock.now());
        match local_share::section(shares, &resources.views, &workspace.root, now, max_tokens) {
            Some(section) => workspace.entries.file.set_foreign(section),
            None => workspace.entries.follow(at + FOLLOW),
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
