//! Arguments of `ingest`

use std::path::PathBuf;

use clap::Args;
use hippo_types::transcript::TranscriptFormat;

/// Text below the help of `ingest`.
pub const EXAMPLES: &str = "\
Examples:
  hippoctl ingest ~/.claude/projects/-home-ada-agent
  hippoctl ingest session.jsonl rollout.jsonl --json

The command skips messages that a hook or an earlier run appended, so a second run appends nothing.";

/// Options of `ingest`.
#[derive(Debug, Args)]
pub struct IngestArgs {
    /// Transcripts, or folders with .jsonl files
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// The program that wrote the transcripts
    #[arg(long, value_enum, default_value_t = TranscriptFormat::Auto)]
    pub format: TranscriptFormat,
    /// Also store the content of each message, so that `hippoctl context fetch` can print the message
    #[arg(long)]
    pub store: bool,
}
