//! Arguments of `import`.

use std::path::PathBuf;

use clap::Args;
use hippo_types::transcript::ExportProgram;

/// Shown below the help of `import`.
pub const EXAMPLES: &str = "\
Examples:
  hippoctl import claude-mem export.json
  hippoctl import mem0 memories.json --apply
  hippoctl import mem0 memories.json --into memory/of-ada --apply

What was imported before is left out: a second run adds nothing.";

/// Options of `import`.
#[derive(Debug, Args)]
pub struct ImportArgs {
    /// Which program made it
    #[arg(value_enum)]
    pub from: ExportProgram,
    /// Its export
    pub path: PathBuf,
    /// Folder of the workspace that everything goes into [default: memory/imported/PROGRAM]
    #[arg(long, value_name = "DIR")]
    pub into: Option<PathBuf>,
    /// Write; without it only print what would be written
    #[arg(long, conflicts_with = "dry_run")]
    pub apply: bool,
    /// Only print what would be written, which is the default
    #[arg(long)]
    pub dry_run: bool,
}
