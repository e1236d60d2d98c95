//! Arguments of `import`.

use std::path::PathBuf;

use clap::Args;
use hippo_types::transcript::ExportProgram;

/// Text below the help of `import`.
pub const EXAMPLES: &str = "\
Examples:
  hippoctl import claude-mem export.json
  hippoctl import mem0 memories.json --apply
  hippoctl import mem0 memories.json --into memory/of-ada --apply

Memories that an earlier run imported are skipped, so a second run adds nothing.";

/// Options of `import`.
#[derive(Debug, Args)]
pub struct ImportArgs {
    /// The program that wrote the export
    #[arg(value_enum)]
    pub from: ExportProgram,
    /// The exported file
    pub path: PathBuf,
    /// Folder of the workspace to write to [default: memory/imported/PROGRAM]
    #[arg(long, value_name = "DIR")]
    pub into: Option<PathBuf>,
    /// Write the files; without this flag, they are only listed
    #[arg(long, conflicts_with = "dry_run")]
    pub apply: bool,
    /// List the files without writing them; this is the default
    #[arg(long)]
    pub dry_run: bool,
}
