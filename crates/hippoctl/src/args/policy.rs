//! Which words does `policy` understand?

use std::path::PathBuf;

use clap::{Args, Subcommand};

use hippo_core::context::WORTH_AN_ENTRY;

use super::FormatArg;

/// Below the help of `policy test`.
const EXAMPLES: &str = "\
Examples:
  hippoctl policy test session.jsonl
  hippoctl policy test session.jsonl --policy draft.yaml --all

FILE is a transcript as `compact` reads it, or what could be put, as a JSON list or one object a line:
  {\"type\": \"tool_result\", \"source.type\": \"exec\", \"content\": \"…\"}
with tokens, priority and error where they matter; all but type may be left out. What a tool answers in a transcript is
a tool_result whose source.type is the name of the tool; all else is a message of user, assistant or system.";

/// Verbs of `policy`.
#[derive(Debug, Subcommand)]
pub enum PolicyVerb {
    /// Say what the lifecycle policies make of a transcript, and which rule decided what
    ///
    /// Needs no daemon, and changes nothing.
    #[command(after_help = EXAMPLES)]
    Test(PolicyTestArgs),
}

/// Options of `policy test`.
#[derive(Debug, Args)]
pub struct PolicyTestArgs {
    /// The transcript; - for standard input
    pub file: PathBuf,
    /// The rules [default: .hippocampus/policies.yaml of --workspace, else of the nearest folder above the current one
    /// that has one; without any, the built-in rules alone]
    #[arg(long, value_name = "FILE")]
    pub policy: Option<PathBuf>,
    /// Who wrote the transcript
    #[arg(long, value_enum, default_value_t = FormatArg::Auto)]
    pub format: FormatArg,
    /// Tool results of more tokens become entries, as context.worth_tokens of the workspace says
    #[arg(long, value_name = "N", default_value_t = WORTH_AN_ENTRY)]
    pub worth_tokens: u64,
    /// Also show what passes through and no rule of the file is about
    #[arg(long)]
    pub all: bool,
}
