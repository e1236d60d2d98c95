//! Arguments of `hook`

use clap::{Args, ValueEnum};

/// Text below the help of `hook`.
pub const EXAMPLES: &str = "\
Examples:
  hippoctl hook session-start < event.json
  hippoctl hook pre-compact --workspace ~/project < event.json

The hook reads the keys session_id, transcript_path, cwd, prompt, tool_name, tool_input and tool_response of the event.";

/// A hook event of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum HookName {
    /// Print memory/ROOT.md, the open items of the latest daily log and the name of HIPPOCAMPUS.md for the prompt
    SessionStart,
    /// Print passages of the memory that concern the user's prompt, or nothing
    UserPrompt,
    /// Store a large tool result, and print the context entry that replaces it
    ToolResult,
    /// Append the new messages of the transcript to the daily log, store their content, and update the compaction tree
    PreCompact,
    /// Append the new messages of the transcript to the daily log
    TaskCompleted,
    /// Do the same as pre-compact, and close the session to which the context entries belong
    SessionEnd,
}

/// Options of `hook`.
#[derive(Debug, Clone, Args)]
pub struct HookArgs {
    /// Event of the session
    #[arg(value_enum)]
    pub name: HookName,
    /// Maximum number of tokens that session-start prints [default: compaction.rootMaxTokens of hipocampus.config.json,
    /// otherwise 3000]
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u32).range(1..))]
    pub budget: Option<u32>,
    /// With session-start: also run the cycles that are due, and print tasks for the agent
    #[arg(long)]
    pub pending: bool,
}
