//! Settings in force: defaults < `config.toml` < the workspace's own file < environment < flags.

mod context;
mod index;
mod keys;
mod layer;
mod tree;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use hippo_core::source::SourceRules;
use serde::{Deserialize, Serialize};

pub use context::Context;
use hippo_proto::SettingChange;
pub use index::{Cycles, Decay, DecayProfile, Index};
use layer::Layer;
pub use tree::{KeepTree, Summaries, Tree};

/// The daemon's settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Config {
    /// Which files are memory.
    pub sources: Sources,
    /// How changes are noticed.
    pub watch: Watch,
    /// How text becomes vectors.
    pub embed: Embed,
    /// What a search does unless it says otherwise.
    pub search: Search,
    /// The index file.
    pub index: Index,
    /// When its cycles run.
    pub cycles: Cycles,
    /// What sessions keep of their context.
    pub context: Context,
    /// The compaction tree.
    pub tree: Tree,
    /// How strength fades.
    pub decay: Decay,
    /// Limits of the socket.
    pub server: Server,
    /// What is logged.
    pub log: Log,
    /// Keys set by environment or flags, which a workspace's file cannot override.
    #[serde(skip)]
    fixed: BTreeSet<&'static str>,
    /// Warnings about settings of earlier versions that are still set.
    #[serde(skip)]
    pub removed: Vec<String>,
}

/// The settings of one workspace.
#[derive(Debug, Clone, PartialEq)]
pub struct WorkspaceConfig {
    /// Which files are memory.
    pub sources: Sources,
    /// Name of its embedding model.
    pub model: String,
    /// How changes are noticed.
    pub watch: Watch,
    /// What a search does unless it says otherwise.
    pub search: Search,
    /// The index file.
    pub index: Index,
    /// When its cycles run.
    pub cycles: Cycles,
    /// What sessions keep of their context.
    pub context: Context,
    /// The compaction tree.
    pub tree: Tree,
    /// Warnings about settings of earlier versions that are still set, also in the daemon's own file.
    pub removed: Vec<String>,
}

/// `[sources]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sources {
    /// Globs of further sources.
    pub include: Vec<String>,
    /// Globs of files that are no sources; they win.
    pub exclude: Vec<String>,
    /// Larger files are skipped.
    pub max_file_bytes: u64,
    /// Whether symbolic links within the workspace are followed.
    pub follow_links: bool,
    /// Whether `.hippoignore` and `.ignore` files count.
    pub respect_ignore_files: bool,
}

/// `[watch]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Watch {
    /// A change is handed on when nothing more has come for this long.
    pub quiet_ms: u64,
    /// It is handed on after this long in any case.
    pub max_wait_ms: u64,
    /// Distance between comparisons of disk and index.
    pub reconcile_secs: u64,
    /// Distance between proofs that the watcher is alive.
    pub canary_secs: u64,
    /// Whether to look at the files instead of being told.
    pub poll: PollMode,
    /// Distance between two looks.
    pub poll_secs: u64,
    /// A missing file counts as deleted after this long.
    pub delete_confirm_ms: u64,
    /// More than this share of the files missing at once is held.
    pub mass_delete_share: f64,
}

/// Whether to look at the files instead of being told.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PollMode {
    /// Where the system cannot tell.
    #[default]
    Auto,
    /// In any case.
    Always,
    /// In no case.
    Never,
}

/// `[embed]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Embed {
    /// Whether search by meaning is wanted.
    pub enabled: bool,
    /// Name of the model.
    pub model: String,
    /// Threads that it may use.
    pub threads: usize,
    /// It leaves memory after this long without work.
    pub idle_unload_secs: u64,
    /// Whether what nobody waits for is put off while the machine is on battery or busy.
    pub spare: bool,
}

/// `[search]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Search {
    /// Results, when the request does not say.
    pub limit: usize,
    /// Mode, when the request does not say.
    pub default_mode: hippo_proto::Mode,
    /// IANA name of the zone in which "yesterday" is understood; empty is the system's.
    pub timezone: String,
}

/// `[server]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Server {
    /// Connections at the same time.
    pub max_connections: usize,
    /// Longest request.
    pub max_line_bytes: usize,
}

/// `[log]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Log {
    /// `error`, `warn`, `info`, `debug` or `trace`.
    pub level: String,
    /// How a line looks.
    pub format: LogFormat,
}

/// How a line of the log looks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// One JSON object a line.
    Json,
}

/// Why the settings cannot be used. The message says where and what.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// A file is there and cannot be read.
    #[error("could not read the configuration: {}: {why}", file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// Why.
        why: std::io::Error,
    },
    /// A file says something that cannot be meant.
    #[error("could not use the configuration: {}:{line}: {message}", file.display())]
    File {
        /// The file.
        file: PathBuf,
        /// Line, 1-based.
        line: usize,
        /// What is wrong there.
        message: String,
    },
    /// An environment variable says something that cannot be meant.
    #[error("could not use the environment variable {name}: {message}")]
    Variable {
        /// Its name.
        name: String,
        /// What is wrong with it.
        message: String,
    },
    /// A flag says something that cannot be meant.
    #[error("could not use the setting {key}: {message}")]
    Flag {
        /// The key it sets.
        key: String,
        /// What is wrong with it.
        message: String,
    },
    /// Values that are right one by one and cannot be put together.
    #[error("could not put the configuration together")]
    Together(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl Config {
    /// Reads the settings. `variables` is the environment: `HIPPOD_EMBED_THREADS` sets `embed.threads`, lists are
    /// separated by commas or written as in TOML, empty counts as unset. `flags` are pairs such as
    /// `("embed.threads", "4")`. An absent file is an empty one.
    ///
    /// # Errors
    /// The first thing that cannot be understood, with its place and the nearest name that could be meant.
    pub fn load(
        file: &Path,
        variables: impl IntoIterator<Item = (OsString, OsString)>,
        flags: &[(String, String)],
    ) -> Result<Self, ConfigError> {
        let mut layers = vec![layer::of_daemon(file)?];
        let above = [layer::of_environment(variables)?, layer::of_flags(flags)?];
        let fixed = above.iter().flat_map(Layer::keys).collect();
        layers.extend(above);
        Ok(Self {
            fixed,
            removed: layers.iter().flat_map(|layer| layer.removed.clone()).collect(),
            ..layer::merge(&Self::default(), &layers)?
        })
    }

    /// The settings of one workspace with the content of its own file, which only narrows these settings unless it is `trusted`.
    /// Also returns the settings of the file that need trust, whether or not it has it.
    ///
    /// # Errors
    /// As [`Config::load`]; also a key that is not for a workspace to set.
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
        // Two lists that are short enough may be too long together.
        SourceRules::new(&config.sources.include, &config.sources.exclude)
            .map_err(|error| ConfigError::Together(error.into()))?;
        Ok((config, changes))
    }

    /// The settings of a workspace that has no file of its own.
    #[must_use]
    pub fn without_a_file(&self) -> WorkspaceConfig {
        WorkspaceConfig::of(self.clone())
    }

    /// All keys with their meaning and default, as TOML.
    pub fn documented() -> String {
        keys::documented(&Self::default())
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            sources: Sources {
                include: Vec::new(),
                exclude: Vec::new(),
                max_file_bytes: 16 << 20,
                follow_links: true,
                respect_ignore_files: true,
            },
            watch: Watch {
                quiet_ms: 300,
                max_wait_ms: 2000,
                reconcile_secs: 300,
                canary_secs: 300,
                poll: PollMode::Auto,
                poll_secs: 2,
                delete_confirm_ms: 1500,
                mass_delete_share: 0.25,
            },
            embed: Embed {
                enabled: true,
                model: "all-minilm-l6-v2".into(),
                threads: 2,
                idle_unload_secs: 600,
                spare: true,
            },
            search: Search {
                limit: 10,
                default_mode: hippo_proto::Mode::Hybrid,
                timezone: String::new(),
            },
            index: Index::default(),
            cycles: Cycles::default(),
            context: Context::default(),
            tree: Tree::default(),
            decay: Decay::default(),
            server: Server {
                max_connections: 256,
                max_line_bytes: 16 << 20,
            },
            log: Log {
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
            index: Index {
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

impl Search {
    /// The zone that is set, if one is and this machine knows it.
    pub fn time_zone(&self) -> Option<jiff::tz::TimeZone> {
        keys::time_zone(&self.timezone).ok().flatten()
    }
}

#[cfg(test)]
mod tests;
