//! Sections of the settings.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use hippo_context::capture::CaptureSettings;
use hippo_map::decay::DecayCurve;
use hippo_map::schedule::{Cron, ScheduleSettings};
use hippo_share::{PasswordSource, ServerSettings};

/// Minimum number of hours between two updates of the compaction tree by hooks and heartbeats.
pub const COOLDOWN_HOURS: u32 = 3;

/// Settings in the section `[sources]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SourcesConfig {
    /// Globs of additional memory files.
    pub include: Vec<String>,
    /// Globs of files that are excluded; they take precedence over `include`.
    pub exclude: Vec<String>,
    /// Maximum size of a memory file in bytes; the daemon skips larger files.
    pub max_file_bytes: u64,
}

/// Settings in the section `[scopes]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ScopesConfig {
    /// Globs of the files that are private to an agent.
    pub private: Vec<String>,
}

/// Settings in the section `[sessions]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SessionsConfig {
    /// True if the transcripts of agents are searched.
    pub search: bool,
}

/// Settings in the section `[watch]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WatchConfig {
    /// Quiet period in milliseconds: the daemon reads a changed file if it did not change again for this time.
    pub quiet_ms: u64,
    /// Interval between comparisons of disk and index, and between liveness checks of the watcher, in seconds.
    pub reconcile_secs: u64,
    /// When the daemon polls the files for changes.
    pub poll: PollMode,
    /// Polling interval in seconds.
    pub poll_secs: u64,
    /// Delay in milliseconds after which a missing file counts as deleted.
    pub delete_confirm_ms: u64,
}

/// Condition under which the daemon polls the files for changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PollMode {
    /// Only if the operating system sends no events about changes.
    Auto,
    /// Always.
    Always,
}

/// Settings in the section `[embed]`.
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
}

/// Settings in the section `[search]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SearchConfig {
    /// Default number of results.
    pub limit: usize,
    /// Default search mode.
    pub default_mode: hippo_proto::SearchMode,
    /// IANA name of the time zone for dates such as "yesterday"; empty for the system's time zone.
    pub timezone: String,
}

impl SearchConfig {
    /// Returns the configured time zone, if one is set and this machine knows it.
    pub fn time_zone(&self) -> Option<jiff::tz::TimeZone> {
        super::keys::time_zone(&self.timezone).ok().flatten()
    }
}

/// Settings in the section `[recall]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecallConfig {
    /// True if `recall` may return passages.
    pub enabled: bool,
    /// Number of questions in the recall log; 0 disables the log.
    pub log_questions: usize,
    /// Days for which the recall log keeps a question.
    pub log_days: u32,
}

/// Settings in the section `[index]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct IndexConfig {
    /// True if the daemon maintains an index file.
    pub enabled: bool,
    /// Maximum size of the index file in tokens.
    pub max_tokens: usize,
    /// Maximum size of the index file in tokens per memory file; 0 disables this limit.
    pub tokens_per_file: usize,
    /// Maximum number of entries in the index file if it cannot hold all entries.
    pub max_entries: usize,
    /// Parameters of the decay curve.
    pub decay: DecayProfile,
}

/// Parameters of the decay curve.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DecayProfile {
    /// Parameters of the protocol.
    Protocol,
    /// Parameters from the simulation (docs/simulation.md).
    Tuned,
}

impl IndexConfig {
    /// Returns the parameters of the decay curve.
    pub fn profile(&self) -> DecayCurve {
        match self.decay {
            DecayProfile::Protocol => DecayCurve::PROTOCOL,
            DecayProfile::Tuned => DecayCurve::TUNED,
        }
    }

    /// Returns the maximum size of the index file in tokens, given the number of memory files. That number is rounded
    /// up to a multiple of ten, so that one new log does not change the layout of the index file.
    pub fn tokens(&self, files: usize) -> usize {
        let bound = match self.tokens_per_file {
            0 => usize::MAX,
            each => each.saturating_mul(files.max(1).next_multiple_of(10)),
        };
        self.max_tokens.min(bound)
    }
}

/// Settings in the section `[cycles]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CyclesConfig {
    /// Schedule of light cycles; if empty, they run only on request.
    pub light: String,
    /// Schedule of deep cycles.
    pub deep: String,
    /// Schedule of archival cycles, which run at most every 28 days.
    pub archival: String,
}

impl CyclesConfig {
    /// Returns the parsed schedule. The expressions were validated when the settings were loaded.
    pub fn schedule(&self) -> ScheduleSettings {
        let line = |line: &str| cron(line).ok().flatten();
        ScheduleSettings {
            light: line(&self.light),
            deep: line(&self.deep),
            archival: line(&self.archival),
        }
    }
}

/// Parses a cron expression; returns `None` for the empty one.
pub(super) fn cron(line: &str) -> Result<Option<Cron>, String> {
    if line.trim().is_empty() {
        return Ok(None);
    }
    Cron::parse(line)
        .map(Some)
        .map_err(|error| format!("could not read the cron line {line:?}: {error}"))
}

/// Settings in the section `[context]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ContextConfig {
    /// Size in tokens above which a tool result becomes an entry.
    pub worth_tokens: u64,
    /// Maximum size of all stored contents in MiB.
    pub budget_mb: u64,
    /// Number of days for which contents of closed sessions are kept after their last use.
    pub keep_days: u32,
    /// True if the daemon also stores contents with secrets.
    pub store_secrets: bool,
    /// True if a cue brings back entries of closed sessions.
    pub earlier_sessions: bool,
}

impl ContextConfig {
    /// Returns the maximum size of all stored contents in bytes.
    pub fn budget_bytes(&self) -> u64 {
        self.budget_mb.saturating_mul(1 << 20)
    }

    /// Converts the settings for capturing tool results.
    pub fn capture(&self) -> CaptureSettings {
        CaptureSettings {
            worth_tokens: self.worth_tokens,
            store_secrets: self.store_secrets,
            ..CaptureSettings::default()
        }
    }
}

/// Settings in the section `[tree]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TreeConfig {
    /// When cycles and heartbeats update the compaction tree.
    pub keep: KeepTree,
    /// Maximum size of `ROOT.md` in tokens.
    pub root_max_tokens: u32,
    /// Author of the summaries in the compaction tree.
    pub summaries: SummaryAuthor,
}

/// Condition under which the daemon updates the compaction tree automatically.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KeepTree {
    /// Only if `memory/ROOT.md` exists.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Author of the summaries in the compaction tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SummaryAuthor {
    /// The daemon, which selects sentences.
    Off,
    /// The agent, during heartbeats.
    Agent,
}

/// Settings in the section `[share]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ShareConfig {
    /// The server of the team.
    pub postgres: PostgresConfig,
}

/// Settings in the section `[share.postgres]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PostgresConfig {
    /// URL of the database, without a password; empty without a team.
    pub url: String,
    /// Name of the team.
    pub team: String,
    /// Folders of the workspaces that share with the team.
    pub workspaces: Vec<PathBuf>,
    /// True if the text of these workspaces is published.
    pub publish: bool,
    /// File with the password.
    pub password_file: PathBuf,
    /// Command that prints the password.
    pub password_command: Vec<String>,
    /// File with the certificates of the authorities; empty for the public ones.
    pub ca_file: PathBuf,
    /// Maximum time in milliseconds that a search waits for the server.
    pub budget_ms: u64,
}

impl PostgresConfig {
    /// Returns the settings of the connection; `None` without a server and a team.
    pub fn server(&self) -> Option<ServerSettings> {
        if self.url.is_empty() || self.team.is_empty() {
            return None;
        }
        Some(ServerSettings {
            url: self.url.clone(),
            password: match !self.password_file.as_os_str().is_empty() {
                true => PasswordSource::File(self.password_file.clone()),
                false if self.password_command.is_empty() => PasswordSource::Absent,
                false => PasswordSource::Command(self.password_command.clone()),
            },
            ca_file: self.ca_file(),
        })
    }

    /// Returns the file with the certificates of the authorities; `None` for the public ones.
    pub fn ca_file(&self) -> Option<PathBuf> {
        let is_set = !self.ca_file.as_os_str().is_empty();
        is_set.then(|| self.ca_file.clone())
    }
}

/// Settings in the section `[log]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LogConfig {
    /// Lowest level of logged messages: `error`, `warn`, `info`, `debug` or `trace`.
    pub level: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_cron_lines_are_valid() {
        let schedule = crate::config::Config::default().cycles.schedule();
        assert!(schedule.light.is_some() && schedule.deep.is_some() && schedule.archival.is_some());
        assert_eq!(cron(" ").unwrap(), None);
        assert!(cron("61 * * * *").unwrap_err().contains("61"));
    }
}
