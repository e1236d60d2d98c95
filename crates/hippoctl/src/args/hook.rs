//! How is `hook` written on the command line?

use clap::{Args, ValueEnum};

/// Shown below the help of `hook`.
pub const EXAMPLES: &str = "\
Examples:
  hippoctl hook session-start < event.json
  hippoctl hook pre-compact --workspace ~/project < event.json

Of the event the keys session_id, transcript_path and cwd are read.";

/// Which moment of a session it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum HookName {
    /// Print memory/ROOT.md for the prompt
    SessionStart,
    /// Take the transcript into the daily log, keep its messages, bring the compaction tree up to date
    PreCompact,
    /// Take what is new in the transcript into the daily log
    TaskCompleted,
    /// As pre-compact, and close the session's context
    SessionEnd,
}

impl HookName {
    /// As it is written.
    pub const fn name(self) -> &'static str {
        match self {
            Self::SessionStart => "session-start",
            Self::PreCompact => "pre-compact",
            Self::TaskCompleted => "task-completed",
            Self::SessionEnd => "session-end",
        }
    }
}

/// Options of `hook`.
#[derive(Debug, Clone, Args)]
pub struct HookArgs {
    /// Which moment of the session it is
    #[arg(value_enum)]
    pub name: HookName,
    /// Most tokens that session-start prints [default: compaction.rootMaxTokens of hipocampus.config.json, else 3000]
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u32).range(1..))]
    pub budget: Option<u32>,
    /// session-start also runs what is due, and prints what waits for the agent
    #[arg(long)]
    pub pending: bool,
}
