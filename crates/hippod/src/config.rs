//! Effective settings of the daemon and of its workspaces.
//!
//! Layers, lowest precedence first: defaults, `config.toml`, the workspace's own file, environment variables.

mod keys;
mod layer;
mod sections;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::Path;

use anyhow::{Context as _, Result};
use hippo_text::scope::ScopeRules;
use hippo_text::source::SourceRules;
use serde::{Deserialize, Serialize};

use hippo_proto::SettingChange;
pub use layer::unreadable;
pub use sections::{
    COOLDOWN_HOURS, ContextConfig, CyclesConfig, DecayProfile, EmbedConfig, IndexConfig, KeepTree, LogConfig,
    PollMode, PostgresConfig, RecallConfig, ScopesConfig, SearchConfig, SessionsConfig, ShareConfig,
    SourcesConfig, SummaryAuthor, TreeConfig, WatchConfig,
};

/// The settings of the daemon or of one workspace.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Config {
    /// Selection of the memory files.
    pub sources: SourcesConfig,
    /// Scopes of the memory files.
    pub scopes: ScopesConfig,
    /// Search of transcripts.
    pub sessions: SessionsConfig,
    /// Detection of changed files.
    pub watch: WatchConfig,
    /// Embedding of text as vectors.
    pub embed: EmbedConfig,
    /// Defaults of searches.
    pub search: SearchConfig,
    /// Passages for prompts.
    pub recall: RecallConfig,
    /// The index file.
    pub index: IndexConfig,
    /// Schedule of the cycles.
    pub cycles: CyclesConfig,
    /// Context entries and stored contents of sessions.
    pub context: ContextConfig,
    /// The compaction tree.
    pub tree: TreeConfig,
    /// Sharing with a team.
    pub share: ShareConfig,
    /// Logging.
    pub log: LogConfig,
    /// Keys set by environment variables; a workspace's file cannot override them.
    #[serde(skip)]
    fixed: BTreeSet<&'static str>,
}

impl Default for Config {
    fn default() -> Self {
        toml::from_str(&keys::documented()).expect("the default of each key is valid")
    }
}

impl Config {
    /// Loads the settings from a file and environment variables.
    ///
    /// `variables` is the environment. For example, `HIPPOD_EMBED_THREADS` sets `embed.threads`. The items of a list
    /// are separated by commas, or the list is written as in TOML. An empty variable counts as unset, and a missing
    /// file as empty.
    ///
    /// # Errors
    /// Returns the first invalid setting, with its location and the nearest valid name.
    pub fn load(file: &Path, variables: impl IntoIterator<Item = (OsString, OsString)>) -> Result<Self> {
        let (file, variables) = (layer::of_daemon(file)?, layer::of_environment(variables)?);
        Ok(Self {
            fixed: variables.keys().collect(),
            ..layer::merge(&Self::default(), &[file, variables])?
        })
    }

    /// Returns the settings of one workspace, given the content of its own file.
    ///
    /// Unless the file is `trusted`, it can only restrict these settings. Also returns the settings of the file that
    /// need trust, even if the file is `trusted`.
    ///
    /// # Errors
    /// As for [`Config::load`]; also fails on a key that a workspace cannot set.
    pub fn for_workspace(
        &self,
        file: &Path,
        bytes: &[u8],
        trusted: bool,
    ) -> Result<(Self, Vec<SettingChange>)> {
        let mut wide = layer::of_workspace(file, bytes)?;
        wide.drop_keys(&self.fixed);
        let mut narrow = wide.clone();
        let changes = narrow.narrow(self)?;
        let layer = if trusted { wide } else { narrow };
        let config = Self {
            fixed: self.fixed.clone(),
            ..layer::merge(self, &[layer])?
        };
        // Two lists that are each within the limit may exceed it together.
        SourceRules::new(&config.sources.include, &config.sources.exclude).context(layer::TOGETHER)?;
        ScopeRules::new(&config.scopes.private).context(layer::TOGETHER)?;
        Ok((config, changes))
    }

    /// Returns all keys with their descriptions and defaults, as TOML.
    pub fn documented() -> String {
        keys::documented()
    }
}

#[cfg(test)]
mod tests;
