//! Arguments of `import`.

use std::path::PathBuf;

use clap::Args;
use hippo_types::transcript::ExportProgram;

/// Text below the help of `import`.
pub const EXAMPLES: &str = "\
Examples:
  hippoctl import claude-mem export.json
  hippoctl import mem0 memories.json --apply

The command skips memories that an earlier run imported, so a second run adds nothing.";

/// Options of `import`.
#[derive(Debug, Args)]
pub struct ImportArgs {
    /// The program that wrote the export
    #[arg(value_enum)]
    pub from: ExportProgram,
    /// The exported file
    pub path: PathBuf,
    /// Write the files; without this flag, the command only lists the files
    #[arg(long)]
    pub apply: bool,
}
