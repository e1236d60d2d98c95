//! Arguments of `backup` and `restore`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// Below the help of `backup`.
pub const BACKUP_EXAMPLES: &str = "Examples:
  hippoctl backup ~/agent.tar.zst             this workspace, while it is used
  hippoctl backup --all ~/memory.tar.zst      all workspaces
  hippoctl backup verify ~/memory.tar.zst     verify all checksums";

/// Below the help of `restore`.
pub const RESTORE_EXAMPLES: &str = "Examples:
  hippoctl restore ~/agent.tar.zst                     where it was
  hippoctl restore ~/agent.tar.zst --into ~/new        in an empty folder
  hippoctl --workspace /home/ada/agent restore ~/memory.tar.zst
                                                       one of several";

/// Options of `backup`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct BackupArgs {
    /// What to do instead of making one.
    #[command(subcommand)]
    pub verb: Option<BackupVerb>,
    /// The file to write, best with a name that ends in .tar.zst
    #[arg(required = true)]
    pub file: Option<PathBuf>,
    /// All workspaces
    #[arg(long)]
    pub all: bool,
    /// Replace an earlier backup that is there already; nothing else is ever replaced
    #[arg(long)]
    pub force: bool,
}

/// Verbs of `backup`.
#[derive(Debug, Subcommand)]
pub enum BackupVerb {
    /// Check a backup against its checksums, and restore nothing
    Verify {
        /// The backup
        file: PathBuf,
    },
}

/// Options of `restore`.
#[derive(Debug, Args)]
pub struct RestoreArgs {
    /// The backup
    pub from: PathBuf,
    /// The folder that becomes the workspace, empty or not there yet [default: where it was]
    #[arg(long, value_name = "DIR")]
    pub into: Option<PathBuf>,
    /// Also restore files that are memory only by settings that the workspace had of its own
    #[arg(long)]
    pub other_files: bool,
}
