//! Settings of a workspace, and what happens when its own files of settings change or cannot be used.
//!
//! A file that cannot be used changes nothing: the settings that were in force stay, and at the start those of the daemon
//! hold. A file that changes the settings has the workspace opened anew, since nearly everything in it follows from them.

use std::path::{Path, PathBuf};

use hippo_proto::folder::Trust;
use hippo_proto::{RpcError, SettingsFile, WorkspaceTrustRequest, WorkspaceTrustResponse};

use super::turn::Hand;
use super::workspace::Workspace;
use crate::config::WorkspaceConfig;
use crate::shared::Shared;
use crate::trust::{self, SETTINGS, Surveyed};

/// The files of a workspace's own settings, as they were read last.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct OwnSettings {
    /// What is wrong with its settings, with file and line.
    pub wrong: Option<String>,
    /// The files that ask for more than they may without trust.
    pub untrusted: Vec<SettingsFile>,
    /// One of them, or the trust in it, may have changed.
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
    root.join(SETTINGS)
}

impl Hand {
    fn surveyed(&self, root: &Path) -> Surveyed {
        trust::survey(
            &self.shared.config,
            &Trust::of(&self.shared.paths.state, root),
            root,
        )
    }

    /// The settings to open a workspace with.
    pub(super) fn settings_of(&self, root: &Path) -> (WorkspaceConfig, OwnSettings) {
        let surveyed = self.surveyed(root);
        let untrusted = surveyed.refused();
        let (config, wrong) = match surveyed.config {
            Ok(config) => (config, None),
            Err(error) => {
                tracing::warn!(root = %root.display(), %error, "the settings of a workspace cannot be used; the daemon's hold");
                (self.shared.config.without_a_file(), Some(error.to_string()))
            }
        };
        let own = OwnSettings {
            wrong,
            untrusted,
            look: false,
        };
        (config, own)
    }

    /// Answers `workspace.trust`.
    ///
    /// # Errors
    /// A file that is not what was to be trusted, or a record that cannot be written.
    pub(super) fn trust(
        &self,
        workspace: &mut Workspace,
        request: &WorkspaceTrustRequest,
    ) -> Result<WorkspaceTrustResponse, RpcError> {
        workspace.own.look = true;
        let paths = &self.shared.paths;
        trust::decide(&self.shared.config, &paths.state, &workspace.root, request)
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
        if !hippo_fs::is_present(&workspace.root) {
            return other_model;
        }
        let surveyed = self.surveyed(&workspace.root);
        workspace.own.untrusted = surveyed.refused();
        match surveyed.config {
            Ok(config) => {
                workspace.own.wrong = None;
                other_model || config != workspace.view.config
            }
            Err(error) => {
                let wrong = Some(error.to_string());
                if workspace.own.wrong != wrong {
                    tracing::warn!(
                        root = %workspace.root.display(), %error,
                        "the settings of a workspace cannot be used; those that were in force stay"
                    );
                    workspace.own.wrong = wrong;
                }
                other_model
            }
        }
    }
}

/// Withdraws the trust in the settings of a workspace that is removed.
pub(super) fn withdraw_trust(shared: &Shared, root: &Path) {
    if let Err(error) = Trust::default().keep(&shared.paths.state, root) {
        tracing::warn!(%error, "could not withdraw the trust in the settings of a workspace");
    }
}
