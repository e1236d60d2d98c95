//! Arguments of `compact`

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use hippo_proto::TranscriptFormat;
use hippo_session::compaction::SessionFormat;

/// Shown below the help of `compact`.
pub const EXAMPLES: &str = "\
Examples:
  hippoctl compact session.jsonl --budget 5000
  hippoctl compact - --format messages --json < messages.json
  hippoctl compact session.jsonl --store && hippoctl context fetch ID

Settings are read from hippocampus.config.json in --workspace, otherwise in the current folder.";

/// Options of `compact`.
#[derive(Debug, Args)]
pub struct CompactArgs {
    /// The transcript; - reads standard input
    pub file: PathBuf,
    /// The program that wrote the transcript
    #[arg(long, value_enum, default_value_t = FormatArg::Auto)]
    pub format: FormatArg,
    /// Maximum tokens of the summary, at four bytes each [default: no limit]
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u32).range(1..))]
    pub budget: Option<u32>,
    /// Store each message in the workspace, through the daemon; `hippoctl context fetch ID` then prints a message by
    /// its id from the summary
    #[arg(long)]
    pub store: bool,
}

/// The program that wrote a transcript.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FormatArg {
    /// Detected from the content
    Auto,
    /// Claude Code
    ClaudeCode,
    /// Pi or OpenClaw
    Pi,
    /// Codex
    Codex,
    /// A list of messages in the format of the OpenAI or Anthropic API
    Messages,
}

impl FormatArg {
    /// The only format to read; `None` detects the format of each record.
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
