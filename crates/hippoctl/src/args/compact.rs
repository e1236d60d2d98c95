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

With --store, the daemon uses the key sessionCompaction in the workspace's hipocampus.config.json.";

/// Options of `compact`.
#[derive(Debug, Args)]
pub struct CompactArgs {
    /// The transcript; `-` reads standard input
    pub file: PathBuf,
    /// The program that wrote the transcript
    #[arg(long, value_enum, default_value_t = TranscriptFormat::Auto)]
    pub format: TranscriptFormat,
    /// Maximum number of tokens of the summary, estimated as bytes / 4 [default: no limit]
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u32).range(1..))]
    pub budget: Option<u32>,
    /// Store the content of each message; `hippoctl context fetch ID` then prints a message by its id in the summary
    #[arg(long)]
    pub store: bool,
}
