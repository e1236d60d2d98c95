//! Effective settings of the daemon and of its workspaces.
//!
//! Layers, lowest precedence first: defaults, `config.toml`, the workspace's own file, environment variables,
//! flags.

mod context;
mod index;
mod keys;
mod layer;
mod tree;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use hippo_text::source::SourceRules;
use serde::{Deserialize, Serialize};

pub use context::ContextConfig;
use hippo_proto::SettingChange;
pub use index::{CyclesConfig, DecayConfig, DecayProfile, IndexConfig};
use layer::ConfigLayer;
pub use tree::{KeepTree, SummaryAuthor, TreeConfig};

/// The daemon's settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Config {
    /// Source selection: which files are memory.
    pub sources: SourcesConfig,
    /// File watching.
    pub watch: WatchConfig,
    /// Embedding of text as vectors.
    pub embed: EmbedConfig,
    /// Search defaults.
    pub search: SearchConfig,
    /// The index file.
    pub index: IndexConfig,
    /// Schedule of the cycles.
    pub cycles: CyclesConfig,
    /// Retention of context entries of sessions.
    pub context: ContextConfig,
    /// The compaction tree.
    pub tree: TreeConfig,
    /// Decay of the strength of entries.
    pub decay: DecayConfig,
    /// Limits of the socket server.
    pub server: ServerConfig,
    /// Logging.
    pub log: LogConfig,
    /// Keys set by environment variables or flags; a workspace's file cannot override them.
    #[serde(skip)]
    fixed: BTreeSet<&'static str>,
    /// Warnings about settings of earlier versions that are still present.
    #[serde(skip)]
    pub removed: Vec<String>,
}

/// The settings of one workspace.
#[derive(Debug, Clone, PartialEq)]
pub struct WorkspaceConfig {
    /// Source selection: which files are memory.
    pub sources: SourcesConfig,
    /// Name of the workspace's embedding model.
    pub model: String,
    /// File watching.
    pub watch: WatchConfig,
    /// Search defaults.
    pub search: SearchConfig,
    /// The index file.
    pub index: IndexConfig,
    /// Schedule of the cycles.
    pub cycles: CyclesConfig,
    /// Retention of context entries of sessions.
    pub context: ContextConfig,
    /// The compaction tree.
    pub tree: TreeConfig,
    /// Warnings about settings of earlier versions that are still present, including those in the daemon's
    /// own file.
    pub removed: Vec<String>,
}

/// `[sources]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SourcesConfig {
    /// Globs of additional sources.
    pub include: Vec<String>,
    /// Globs of files that are excluded; they take precedence over `include`.
    pub exclude: Vec<String>,
    /// Maximum file size in bytes; larger files are skipped.
    pub max_file_bytes: u64,
    /// True if symbolic links within the workspace are followed.
    pub follow_links: bool,
    /// True if `.hippoignore` and `.ignore` files are respected.
    pub respect_ignore_files: bool,
}

/// `[watch]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WatchConfig {
    /// Quiet period in milliseconds: changes are reported once no other change arrived for this long.
    pub quiet_ms: u64,
    /// Maximum delay of a report in milliseconds, even while changes keep arriving.
    pub max_wait_ms: u64,
    /// Interval between comparisons of disk and index, in seconds.
    pub reconcile_secs: u64,
    /// Interval between liveness checks of the watcher, in seconds.
    pub canary_secs: u64,
    /// Polling instead of events: automatic, always or never.
    pub poll: PollMode,
    /// Polling interval in seconds.
    pub poll_secs: u64,
    /// Delay in milliseconds after which a missing file counts as deleted.
    pub delete_confirm_ms: u64,
    /// Share of the files above which a simultaneous disappearance is held back for confirmation.
    pub mass_delete_share: f64,
}

/// Polling instead of events: automatic, always or never.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PollMode {
    /// Poll where the operating system cannot report changes.
    #[default]
    Auto,
    /// Always poll.
    Always,
    /// Never poll.
    Never,
}

/// `[embed]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EmbedConfig {
    /// True if semantic search is enabled.
    pub enabled: bool,
    /// Name of the model.
    pub model: String,
    /// Maximum number of threads that the model may use.
    pub threads: usize,
    /// Idle time in seconds after which the model is unloaded.
    pub idle_unload_secs: u64,
    /// True if background embedding is postponed while the machine is on battery or busy.
    pub spare: bool,
}

/// `[search]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SearchConfig {
    /// Default number of results.
    pub limit: usize,
    /// Default search mode.
    pub default_mode: hippo_proto::SearchMode,
    /// IANA name of the time zone in which "yesterday" is understood; empty means the system's zone.
    pub timezone: String,
}

/// `[server]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ServerConfig {
    /// Maximum number of simultaneous connections.
    pub max_connections: usize,
    /// Maximum length of a request in bytes.
    pub max_line_bytes: usize,
}

/// `[log]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LogConfig {
    /// Lowest level that is logged: `error`, `warn`, `info`, `debug` or `trace`.
    pub level: String,
    /// Format of a log line.
    pub format: LogFormat,
}

/// Format of a log line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LogFormat {
    /// Human-readable text.
    #[default]
    Text,
    /// One JSON object per line.
    Json,
}

/// Error while loading the settings. The message contains the location and the cause.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// An existing file could not be read.
    #[error("could not read the configuration: {}: {why}", file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// The cause.
        why: std::io::Error,
    },
    /// A file contains an invalid setting.
    #[error("could not use the configuration: {}:{line}: {message}", file.display())]
    File {
        /// The file.
        file: PathBuf,
        /// Line number, 1-based.
        line: usize,
        /// Description of the problem.
        message: String,
    },
    /// An environment variable has an invalid value.
    #[error("could not use the environment variable {name}: {message}")]
    Variable {
        /// Name of the variable.
        name: String,
        /// Description of the problem.
        message: String,
    },
    /// A flag has an invalid value.
    #[error("could not use the setting {key}: {message}")]
    Flag {
        /// The key that the flag sets.
        key: String,
        /// Description of the problem.
        message: String,
    },
    /// Values that are valid individually but not in combination.
    #[error("could not combine the layers of the configuration")]
    Together(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl Config {
    /// Loads the settings from a file, environment variables and flags.
    ///
    /// `variables` is the environment: `HIPPOD_EMBED_THREADS` sets `embed.threads`, lists are separated by
    /// commas or written as in TOML, and empty values count as unset. `flags` are pairs such as
    /// `("embed.threads", "4")`. A missing file counts as an empty one.
    ///
    /// # Errors
    /// Returns the first invalid setting, with its location and the nearest valid name.
    pub fn load(
        file: &Path,
        variables: impl IntoIterator<Item = (OsString, OsString)>,
        flags: &[(String, String)],
    ) -> Result<Self, ConfigError> {
        let mut layers = vec![layer::of_daemon(file)?];
        let above = [layer::of_environment(variables)?, layer::of_flags(flags)?];
        let fixed = above.iter().flat_map(ConfigLayer::keys).collect();
        layers.extend(above);
        Ok(Self {
            fixed,
            removed: layers.iter().flat_map(|layer| layer.removed.clone()).collect(),
            ..layer::merge(&Self::default(), &layers)?
        })
    }

    /// Returns the settings of one workspace, given the content of its own file.
    ///
    /// Unless the file is `trusted`, it can only restrict these settings. Also returns those settings of the file that
    /// need trust, whether or not it is `trusted`.
    ///
    /// # Errors
    /// As for [`Config::load`]; also fails on a key that a workspace cannot set.
    pub fn for_workspace(
        &self,
        file: &Path,
        bytes: &[u8],
        trusted: bool,
    ) -> Result<(WorkspaceConfig, Vec<SettingChange>), ConfigError> {
        let mut wide = layer::of_workspace(file, bytes)?;
        wide.drop_keys(&self.fixed);
        let mut narrow = wide.clone();
        let changes = narrow.narrow(self)?;
        let layer = if trusted { wide } else { narrow };
        let removed = [self.removed.as_slice(), &layer.removed].concat();
        let config = WorkspaceConfig {
            removed,
            ..WorkspaceConfig::of(layer::merge(self, &[layer])?)
        };
        // Two lists that are each within the limit may exceed it together.
        SourceRules::new(&config.sources.include, &config.sources.exclude)
            .map_err(|error| ConfigError::Together(error.into()))?;
        Ok((config, changes))
    }

    /// Returns the settings of a workspace without a file of its own.
    #[must_use]
    pub fn without_a_file(&self) -> WorkspaceConfig {
        WorkspaceConfig::of(self.clone())
    }

    /// Returns all keys with their description and default, as TOML.
    pub fn documented() -> String {
        keys::documented(&Self::default())
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            sources: SourcesConfig {
                include: Vec::new(),
                exclude: Vec::new(),
                max_file_bytes: 16 << 20,
                follow_links: true,
                respect_ignore_files: true,
            },
            watch: WatchConfig {
                quiet_ms: 300,
                max_wait_ms: 2000,
                reconcile_secs: 300,
                canary_secs: 300,
                poll: PollMode::Auto,
                poll_secs: 2,
                delete_confirm_ms: 1500,
                mass_delete_share: 0.25,
            },
            embed: EmbedConfig {
                enabled: true,
                model: "all-minilm-l6-v2".into(),
                threads: 2,
                idle_unload_secs: 600,
                spare: true,
            },
            search: SearchConfig {
                limit: 10,
                default_mode: hippo_proto::SearchMode::Hybrid,
                timezone: String::new(),
            },
            index: IndexConfig::default(),
            cycles: CyclesConfig::default(),
            context: ContextConfig::default(),
            tree: TreeConfig::default(),
            decay: DecayConfig::default(),
            server: ServerConfig {
                max_connections: 256,
                max_line_bytes: 16 << 20,
            },
            log: LogConfig {
                level: "info".into(),
                format: LogFormat::Text,
            },
            fixed: BTreeSet::new(),
            removed: Vec::new(),
        }
    }
}

impl WorkspaceConfig {
    fn of(config: Config) -> Self {
        let Config {
            sources,
            watch,
            embed,
            search,
            index,
            cycles,
            context,
            tree,
            decay,
            removed,
            ..
        } = config;
        Self {
            sources,
            watch,
            model: embed.model,
            search,
            index: IndexConfig {
                decay: decay.profile,
                ..index
            },
            cycles,
            context,
            tree,
            removed,
        }
    }
}

impl Default for WorkspaceConfig {
    fn default() -> Self {
        Self::of(Config::default())
    }
}

impl SearchConfig {
    /// Returns the configured time zone, if one is set and this machine knows it.
    pub fn time_zone(&self) -> Option<jiff::tz::TimeZone> {
        keys::time_zone(&self.timezone).ok().flatten()
    }
}

#[cfg(test)]
mod tests;
