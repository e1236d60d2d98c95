//! Which settings has a workspace, and what becomes of it when its own file changes or cannot be used?
//!
//! A file that cannot be used changes nothing: the settings that were in force stay, and at the start those of the daemon
//! hold. A file that changes the settings has the workspace opened anew, since nearly everything in it follows from them.

use std::path::{Path, PathBuf};

use super::Engine;
use super::workspace::Workspace;
use crate::config::WorkspaceConfig;

/// A file of settings above this size is not compared with what was read.
const LARGEST: u64 = 1 << 20;

/// The file of a workspace's own settings, as it was read last.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct OwnSettings {
    /// Its bytes; nothing where there was none to read.
    bytes: Option<Vec<u8>>,
    /// What is wrong with it, with file and line.
    pub wrong: Option<String>,
    /// It may have changed.
    pub look: bool,
}

impl OwnSettings {
    /// What is wrong, and which settings hold instead, for `status` and `doctor`.
    pub fn story(&self) -> Option<String> {
        let wrong = self.wrong.as_ref()?;
        Some(format!(
            "{wrong}; the last good settings hold, or the daemon's own"
        ))
    }
}

/// The file of a workspace's own settings.
pub fn settings_path(root: &Path) -> PathBuf {
    root.join(".hippocampus").join("config.toml")
}

fn bytes_of(root: &Path) -> Option<Vec<u8>> {
    hippo_fs::read(root, ".hippocampus/config.toml", LARGEST).ok()
}

impl Engine {
    /// The settings to open a workspace with.
    pub(super) fn settings_of(&self, root: &Path) -> (WorkspaceConfig, OwnSettings) {
        let bytes = bytes_of(root);
        let (config, wrong) = match self.shared.config.for_workspace(root) {
            Ok(config) => (config, None),
            Err(error) => {
                tracing::warn!(root = %root.display(), %error, "the settings of a workspace cannot be used; the daemon's hold");
                (self.shared.config.without_a_file(), Some(error.to_string()))
            }
        };
        let own = OwnSettings {
            bytes,
            wrong,
            look: false,
        };
        (config, own)
    }

    /// Looks at the file of settings if it may have changed. Answers whether the workspace has to be opened anew for it.
    pub(super) fn look_at_settings(&self, workspace: &mut Workspace) -> bool {
        // What is under way ends with the settings that it began with, and who waits for it gets the answer.
        let entries = &workspace.entries;
        if !workspace.own.look || entries.run.is_some() || !entries.queue.is_empty() {
            return false;
        }
        workspace.own.look = false;
        let model = self.shared.models.named(&workspace.view.config.model);
        let embedder = workspace
            .embedder
            .as_ref()
            .map(|embedder| embedder.model.as_str());
        let other_model = model.as_ref().map(|model| &*model.id) != embedder;
        let bytes = bytes_of(&workspace.root);
        if bytes == workspace.own.bytes || !hippo_fs::is_present(&workspace.root) {
            return other_model;
        }
        workspace.own.bytes = bytes;
        match self.shared.config.for_workspace(&workspace.root) {
            Ok(config) => {
                workspace.own.wrong = None;
                other_model || config != workspace.view.config
            }
            Err(error) => {
                tracing::warn!(
                    root = %workspace.root.display(), %error,
                    "the settings of a workspace cannot be used; those that were in force stay"
                );
                workspace.own.wrong = Some(error.to_string());
                other_model
            }
        }
    }

    /// Opens a workspace anew, with the settings of now. Questions are answered from its former picture meanwhile.
    pub(super) fn open_anew(&mut self, workspace: Workspace) {
        let root = workspace.root.clone();
        tracing::info!(root = %root.display(), "the settings of a workspace have changed; it is opened anew");
        self.workspaces.insert(workspace.key, workspace);
        let waiters = self.close(&root);
        self.open(&root);
        match self.by_root(&root) {
            Some(workspace) => workspace.waiters = waiters,
            None => {
                for waiter in waiters {
                    // A client that is gone needs no answer.
                    let _ = waiter.reply.send(Err(crate::shared::no_workspace(&root)));
                }
            }
        }
    }
}
