//! Arguments of `init` and `deinit`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};

/// Below the help.
pub const EXAMPLES: &str = "Examples:
  hippoctl init --dry-run
  hippoctl init ~/agent --platform openclaw
  hippoctl deinit ~/agent";

/// A harness that init knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Platform {
    /// Claude Code: `CLAUDE.md`, `.claude/`
    ClaudeCode,
    /// OpenClaw: `AGENTS.md`, `MEMORY.md`, `HEARTBEAT.md`
    #[value(name = "openclaw")]
    #[serde(rename = "openclaw")]
    OpenClaw,
    /// OpenCode: `AGENTS.md`, `.opencode/`
    #[value(name = "opencode")]
    #[serde(rename = "opencode")]
    OpenCode,
    /// Codex: `AGENTS.md`, `.codex/`
    Codex,
    /// No harness: the folders of the memory alone
    None,
}

impl Platform {
    /// As it is written in options and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::OpenClaw => "openclaw",
            Self::OpenCode => "opencode",
            Self::Codex => "codex",
            Self::None => "none",
        }
    }
}

/// Options of `init`.
#[derive(Debug, Args)]
pub struct InitArgs {
    /// The folder [default: the current one]
    pub dir: Option<PathBuf>,
    /// The harness [default: told by the files of the folder]
    #[arg(long, value_enum)]
    pub platform: Option<Platform>,
    /// Register the folder, so that it gets its index file, and lay out nothing but a first memory/ROOT.md
    #[arg(long)]
    pub bare: bool,
    /// Write into a new configuration that words are searched, not meaning
    #[arg(long)]
    pub no_vector: bool,
    /// Leave the search out of what the agent is told
    #[arg(long)]
    pub no_search: bool,
    /// Use the record that an earlier version left in the folder; only for files that init makes
    #[arg(long)]
    pub trust_record: bool,
    /// Take over a compaction tree that another program made, without asking; without it that tree is left alone
    #[arg(long)]
    pub take_over: bool,
    /// Say what would be made and changed, and do nothing
    #[arg(long)]
    pub dry_run: bool,
}

/// Options of `deinit`.
#[derive(Debug, Args)]
pub struct DeinitArgs {
    /// The folder [default: the current one]
    pub dir: Option<PathBuf>,
    /// Use the record that an earlier version left in the folder; only for files that init makes
    #[arg(long)]
    pub trust_record: bool,
    /// Put back the memory/ROOT.md of another program that an earlier version took over, without asking
    #[arg(long)]
    pub restore_carried: bool,
    /// Say what would be taken back, and do nothing
    #[arg(long)]
    pub dry_run: bool,
}
