//! How is `import` written on the command line?

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use hippo_proto::ImportFrom;

/// Shown below the help of `import`.
pub const EXAMPLES: &str = "\
Examples:
  hippoctl import claude-mem ~/.claude-mem
  hippoctl import basic-memory ~/basic-memory --apply
  hippoctl import mem0 memories.json --into memory/imported --apply

What was imported before is left out: a second run adds nothing.";

/// A program whose memories can be taken over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FromArg {
    /// A folder .hippo, or its hippo.db
    HippoMemory,
    /// A folder of notes
    BasicMemory,
    /// The JSON of its export script, claude-mem.db, or the folder with it
    ClaudeMem,
    /// What get_all answers as JSON, or history.db
    Mem0,
}

impl From<FromArg> for ImportFrom {
    fn from(from: FromArg) -> Self {
        match from {
            FromArg::HippoMemory => ImportFrom::HippoMemory,
            FromArg::BasicMemory => ImportFrom::BasicMemory,
            FromArg::ClaudeMem => ImportFrom::ClaudeMem,
            FromArg::Mem0 => ImportFrom::Mem0,
        }
    }
}

/// Options of `import`.
#[derive(Debug, Args)]
pub struct ImportArgs {
    /// Which program made it
    #[arg(value_enum)]
    pub from: FromArg,
    /// Its export or store
    pub path: PathBuf,
    /// Folder of the workspace that everything goes into [default: logs into memory, the rest into knowledge/imported]
    #[arg(long, value_name = "DIR")]
    pub into: Option<PathBuf>,
    /// Write; without it only what would be written is said
    #[arg(long, conflicts_with = "dry_run")]
    pub apply: bool,
    /// Only say what would be written, which is the default
    #[arg(long)]
    pub dry_run: bool,
}
