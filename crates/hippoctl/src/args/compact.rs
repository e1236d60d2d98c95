//! How is `compact` written on the command line?

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use hippo_core::compaction::SessionFormat;
use hippo_proto::TranscriptFormat;

/// Shown below the help of `compact`.
pub const EXAMPLES: &str = "\
Examples:
  hippoctl compact session.jsonl --budget 5000
  hippoctl compact - --format messages --json < messages.json
  hippoctl compact session.jsonl --store && hippoctl context fetch ID

The numbers are those of hippocampus.config.json in the folder of --workspace, else in the current one.";

/// Options of `compact`.
#[derive(Debug, Args)]
pub struct CompactArgs {
    /// The transcript; - for standard input
    pub file: PathBuf,
    /// Who wrote it
    #[arg(long, value_enum, default_value_t = FormatArg::Auto)]
    pub format: FormatArg,
    /// Most tokens of the summary, at four bytes each [default: as many as the rules make]
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u32).range(1..))]
    pub budget: Option<u32>,
    /// Let the daemon do it, and keep the content of each message in the workspace: the ids of the summary can be
    /// fetched with `hippoctl context fetch ID`
    #[arg(long)]
    pub store: bool,
}

/// Who wrote a transcript.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FormatArg {
    /// Whoever it looks like
    Auto,
    /// Claude Code
    ClaudeCode,
    /// Pi or OpenClaw
    Pi,
    /// Codex
    Codex,
    /// A list of messages as OpenAI's and Anthropic's interfaces take them
    Messages,
}

impl FormatArg {
    /// The only format to read; none for each record as it looks.
    pub fn only(self) -> Option<SessionFormat> {
        match self {
            Self::Auto => None,
            Self::ClaudeCode => Some(SessionFormat::ClaudeCode),
            Self::Pi => Some(SessionFormat::Pi),
            Self::Codex => Some(SessionFormat::Codex),
            Self::Messages => Some(SessionFormat::Messages),
        }
    }
}

impl From<FormatArg> for TranscriptFormat {
    fn from(format: FormatArg) -> Self {
        match format {
            FormatArg::Auto => Self::Auto,
            FormatArg::ClaudeCode => Self::ClaudeCode,
            FormatArg::Pi => Self::Pi,
            FormatArg::Codex => Self::Codex,
            FormatArg::Messages => Self::Messages,
        }
    }
}
