//! Settings of a workspace, and reloads after changes.
//!
//! If a settings file is invalid, the workspace keeps its previous settings, or uses the daemon's settings if it has
//! just been opened. After a valid change, the workspace is reopened, because almost everything in it depends on the
//! settings.

use std::path::{Path, PathBuf};

use hippo_proto::folder::Trust;
use hippo_proto::{RpcError, SettingsFile, WorkspaceTrustRequest, WorkspaceTrustResponse};

use super::Resources;
use super::worker::WorkspaceWorker;
use super::workspace::Workspace;
use crate::config::Config;
use crate::trust::{self, SETTINGS, SettingsSurvey};

/// State of the settings files of a workspace when they were last read.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct OwnSettings {
    /// Error in a settings file, with the file and the line.
    pub wrong: Option<String>,
    /// Settings files that contain settings which need the user's trust and do not have it.
    pub untrusted: Vec<SettingsFile>,
    /// True if a settings file, or the trust in a settings file, may have changed.
    pub look: bool,
}

impl OwnSettings {
    /// Returns a message for `status` and `doctor` about the error in the settings and the settings that are used
    /// instead.
    pub fn describe_error(&self) -> Option<String> {
        let wrong = self.wrong.as_ref()?;
        Some(format!(
            "{wrong}; until you correct this, the last valid settings of the workspace are used, or the \
             daemon's settings if the workspace never had valid ones"
        ))
    }
}

/// Returns the path of the workspace's own settings file.
pub fn settings_path(root: &Path) -> PathBuf {
    root.join(SETTINGS)
}

fn surveyed(resources: &Resources, root: &Path) -> SettingsSurvey {
    trust::survey(&resources.config, &Trust::of(&resources.paths.state, root), root)
}

/// Returns the settings with which a workspace is opened, and the state of its settings files.
pub(super) fn settings_of(resources: &Resources, root: &Path) -> (Config, OwnSettings) {
    let surveyed = surveyed(resources, root);
    let untrusted = surveyed.untrusted_files();
    let (config, wrong) = match surveyed.config {
        Ok(config) => (config, None),
        Err(error) => {
            tracing::warn!(root = %root.display(), %error, "could not use the settings of a workspace; using the \
                                                            settings of the daemon");
            ((*resources.config).clone(), Some(error.to_string()))
        }
    };
    let own = OwnSettings {
        wrong,
        untrusted,
        look: false,
    };
    (config, own)
}

impl WorkspaceWorker {
    /// Handles `workspace.trust`.
    ///
    /// # Errors
    /// Fails if the file differs from the version that the user trusted, or if the trust cannot be recorded.
    pub(super) fn trust(
        &self,
        workspace: &mut Workspace,
        request: &WorkspaceTrustRequest,
    ) -> Result<WorkspaceTrustResponse, RpcError> {
        workspace.own.look = true;
        let paths = &self.resources.paths;
        trust::decide(&self.resources.config, &paths.state, &workspace.root, request)
    }

    /// Checks the settings files if they may have changed. Returns true if the workspace must be reopened.
    pub(super) fn look_at_settings(&self, workspace: &mut Workspace) -> bool {
        // First complete the current and the queued work with the old settings, because clients wait for the answers.
        let entries = &workspace.entries;
        if !workspace.own.look || entries.run.is_some() || !entries.queue.is_empty() {
            return false;
        }
        workspace.own.look = false;
        let model = self
            .resources
            .models
            .find_model(&workspace.view.config.embed.model);
        let embedder = workspace
            .embedder
            .as_ref()
            .map(|embedder| embedder.model.as_str());
        let other_model = model.as_ref().map(|model| &*model.id) != embedder;
        if !hippo_fs::is_present(&workspace.root) {
            return other_model;
        }
        let surveyed = surveyed(&self.resources, &workspace.root);
        workspace.own.untrusted = surveyed.untrusted_files();
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
                        "could not use the new settings of a workspace; keeping the previous settings"
                    );
                    workspace.own.wrong = wrong;
                }
                other_model
            }
        }
    }
}

/// Removes the recorded trust in the settings of a workspace that is being removed.
pub(super) fn withdraw_trust(state: &Path, root: &Path) {
    if let Err(error) = Trust::default().keep(state, root) {
        tracing::warn!(%error, "could not revoke the trust in the settings of a workspace");
    }
}
