//! Arguments of `context policy`

use std::path::PathBuf;

use clap::Args;

use hippo_context::WORTH_AN_ENTRY;
use hippo_types::transcript::TranscriptFormat;

/// Text below the help of `context policy`.
pub const EXAMPLES: &str = "\
Examples:
  hippoctl context policy session.jsonl
  hippoctl context policy session.jsonl --policy draft.yaml --all

FILE is a transcript that `compact` reads, or a list of contents for `context put`, as a JSON array or one object per line:
  {\"type\": \"tool_result\", \"source.type\": \"exec\", \"content\": \"…\"}
An object may also have tokens, priority and error; only type is required. In a transcript, the answer of a tool is a
tool_result whose source.type is the name of the tool. Everything else is a message whose source.type is user, assistant
or system.";

/// Options of `context policy`.
#[derive(Debug, Args)]
pub struct ContextPolicyArgs {
    /// The transcript; - reads standard input
    pub file: PathBuf,
    /// The file with the rules [default: .hippocampus/policies.yaml of --workspace; without --workspace, of the nearest
    /// folder at or above the current one that contains this file; otherwise only the built-in rules apply]
    #[arg(long, value_name = "FILE")]
    pub policy: Option<PathBuf>,
    /// The program that wrote the transcript
    #[arg(long, value_enum, default_value_t = TranscriptFormat::Auto)]
    pub format: TranscriptFormat,
    /// Tool results with more tokens than this become entries; in a workspace, context.worth_tokens sets this number
    #[arg(long, value_name = "N", default_value_t = WORTH_AN_ENTRY)]
    pub worth_tokens: u64,
    /// Also list contents that stay unchanged and match no rule of the file
    #[arg(long)]
    pub all: bool,
}
