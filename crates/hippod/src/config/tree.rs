//! Which settings has the compaction tree?

use serde::{Deserialize, Serialize};

/// `[tree]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tree {
    /// Whether cycles and heartbeats keep it up to date.
    pub keep: KeepTree,
    /// Most tokens of `ROOT.md`.
    pub root_max_tokens: u32,
    /// Hours between two runs that hooks and heartbeats ask for.
    pub cooldown_hours: u32,
    /// Who writes summaries in the place of what hippod extracts.
    pub summaries: Summaries,
    /// The program that writes them, and its arguments.
    pub command: Vec<String>,
    /// It is ended after this long.
    pub command_timeout_secs: u64,
    /// Summaries that it may write on one day, for each workspace.
    pub command_daily_jobs: u32,
}

/// Whether the tree is kept up to date unasked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KeepTree {
    /// Where there is a `memory/ROOT.md`.
    #[default]
    Auto,
    /// In any case.
    Always,
    /// In no case.
    Never,
}

/// Who writes summaries.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Summaries {
    /// Nobody: nodes say what hippod extracts.
    #[default]
    Off,
    /// The agent, at heartbeats.
    Agent,
    /// The configured program.
    Command,
}

impl Default for Tree {
    fn default() -> Self {
        Self {
            keep: KeepTree::Auto,
            root_max_tokens: 3_000,
            cooldown_hours: 3,
            summaries: Summaries::Off,
            command: Vec::new(),
            command_timeout_secs: 120,
            command_daily_jobs: 20,
        }
    }
}
