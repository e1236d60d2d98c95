//! Arguments of `init`

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};

/// Text below the help of `init`.
pub const EXAMPLES: &str = "Examples:
  hippoctl init --dry-run
  hippoctl init ~/agent --platform openclaw
  hippoctl init --undo ~/agent";

/// A harness that `init` supports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Harness {
    /// Claude Code (files: `CLAUDE.md`, `.claude/`)
    ClaudeCode,
    /// OpenClaw (files: `AGENTS.md`, `MEMORY.md`, `HEARTBEAT.md`, `.openclaw/`)
    #[value(name = "openclaw")]
    #[serde(rename = "openclaw")]
    OpenClaw,
    /// OpenCode (files: `AGENTS.md`, `.opencode/`)
    #[value(name = "opencode")]
    #[serde(rename = "opencode")]
    OpenCode,
    /// Codex (files: `AGENTS.md`, `.codex/`)
    Codex,
    /// Pi (files: `AGENTS.md`, `.pi/`)
    Pi,
    /// No harness (only the files and folders of the memory)
    None,
}

impl Harness {
    /// Returns the name in options and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::OpenClaw => "openclaw",
            Self::OpenCode => "opencode",
            Self::Codex => "codex",
            Self::Pi => "pi",
            Self::None => "none",
        }
    }
}

/// Options of `init`.
#[derive(Debug, Args)]
pub struct InitArgs {
    /// The folder of the agent [default: the current folder]
    pub dir: Option<PathBuf>,
    /// The harness that runs the agent [default: detected from the files in the folder]
    #[arg(long, value_enum)]
    pub platform: Option<Harness>,
    /// Only register the folder, and create a first memory/ROOT.md with the folders of the summaries
    #[arg(long)]
    pub bare: bool,
    /// Also create working files (SCRATCHPAD.md, WORKING.md, TASK-QUEUE.md), the folders knowledge/ and plans/, and
    /// three more skills; a later init keeps them up to date without this flag
    #[arg(long, conflicts_with = "bare")]
    pub full: bool,
    /// Let hippod change a compaction tree that another program wrote; without this flag, the tree stays unchanged
    #[arg(long)]
    pub take_over: bool,
    /// Print the changes without making them
    #[arg(long)]
    pub dry_run: bool,
    /// Remove everything that init added, and nothing else; the memory stays
    #[arg(long, conflicts_with_all = ["platform", "bare", "full", "take_over"])]
    pub undo: bool,
}
