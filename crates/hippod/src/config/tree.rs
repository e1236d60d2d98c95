//! Settings of the compaction tree.

use serde::{Deserialize, Serialize};

/// `[tree]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TreeConfig {
    /// Whether cycles and heartbeats keep the tree up to date.
    pub keep: KeepTree,
    /// Maximum size of `ROOT.md` in tokens.
    pub root_max_tokens: u32,
    /// Minimum number of hours between two runs that hooks and heartbeats trigger.
    pub cooldown_hours: u32,
    /// Author of the summaries that replace extracted text.
    pub summaries: SummaryAuthor,
}

/// Whether the tree is kept up to date automatically.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KeepTree {
    /// Only if `memory/ROOT.md` exists.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Author of the summaries.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SummaryAuthor {
    /// None: nodes contain extracted text.
    #[default]
    Off,
    /// The agent, during heartbeats.
    Agent,
}

impl Default for TreeConfig {
    fn default() -> Self {
        Self {
            keep: KeepTree::Auto,
            root_max_tokens: 3_000,
            cooldown_hours: 3,
            summaries: SummaryAuthor::Off,
        }
    }
}
