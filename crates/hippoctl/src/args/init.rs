//! Which words do `init` and `deinit` understand?

use std::path::PathBuf;

use clap::Args;

use crate::harness::Platform;

/// Below the help.
pub const EXAMPLES: &str = "Examples:
  hippoctl init --dry-run
  hippoctl init ~/agent --platform openclaw
  hippoctl deinit ~/agent";

/// Options of `init`.
#[derive(Debug, Args)]
pub struct InitArgs {
    /// The folder [default: the current one]
    pub dir: Option<PathBuf>,
    /// The harness [default: told by the files of the folder]
    #[arg(long, value_enum)]
    pub platform: Option<Platform>,
    /// Register the folder, so that it gets its index file, and lay out nothing but a first memory/ROOT.md
    #[arg(long)]
    pub bare: bool,
    /// Write into a new configuration that words are searched, not meaning
    #[arg(long)]
    pub no_vector: bool,
    /// Leave the search out of what the agent is told
    #[arg(long)]
    pub no_search: bool,
    /// Say what would be made and changed, and do nothing
    #[arg(long)]
    pub dry_run: bool,
}

/// Options of `deinit`.
#[derive(Debug, Args)]
pub struct DeinitArgs {
    /// The folder [default: the current one]
    pub dir: Option<PathBuf>,
    /// Say what would be taken back, and do nothing
    #[arg(long)]
    pub dry_run: bool,
}
