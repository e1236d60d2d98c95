//! Arguments of `compact`

use std::path::PathBuf;

use clap::Args;
use hippo_proto::TranscriptFormat;

/// Text below the help of `compact`.
pub const EXAMPLES: &str = "\
Examples:
  hippoctl compact session.jsonl --budget 5000
  hippoctl compact - --format messages --json < messages.json
  hippoctl compact session.jsonl --store && hippoctl context fetch ID

Settings are read from sessionCompaction of hipocampus.config.json in --workspace, otherwise in the current folder.";

/// Options of `compact`.
#[derive(Debug, Args)]
pub struct CompactArgs {
    /// The transcript; - reads standard input
    pub file: PathBuf,
    /// The program that wrote the transcript
    #[arg(long, value_enum, default_value_t = TranscriptFormat::Auto)]
    pub format: TranscriptFormat,
    /// Maximum tokens of the summary, at four bytes each [default: no limit]
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u32).range(1..))]
    pub budget: Option<u32>,
    /// Store each message in the workspace, through the daemon; `hippoctl context fetch ID` then prints a message by
    /// its id from the summary
    #[arg(long)]
    pub store: bool,
}
