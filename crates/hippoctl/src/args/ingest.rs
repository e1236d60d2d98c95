//! How is `ingest` written on the command line?

use std::path::PathBuf;

use clap::Args;

use super::FormatArg;

/// Shown below the help of `ingest`.
pub const EXAMPLES: &str = "\
Examples:
  hippoctl ingest ~/.claude/projects/-home-ada-agent
  hippoctl ingest session.jsonl rollout.jsonl --json

What was taken up before, by a hook or by this, is left out: a second run appends nothing.";

/// Options of `ingest`.
#[derive(Debug, Args)]
pub struct IngestArgs {
    /// Transcripts, or folders with .jsonl files
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Who wrote them
    #[arg(long, value_enum, default_value_t = FormatArg::Auto)]
    pub format: FormatArg,
    /// Keep the content of each message as well, for `hippoctl context fetch`
    #[arg(long)]
    pub store: bool,
}
