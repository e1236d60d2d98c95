//! Arguments of `backup` and `restore`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// Text below the help of `backup`.
pub const BACKUP_EXAMPLES: &str = "Examples:
  hippoctl backup ~/agent.tar.zst             this workspace
  hippoctl backup --all ~/memory.tar.zst      all workspaces
  hippoctl backup verify ~/memory.tar.zst     verify all checksums";

/// Text below the help of `restore`.
pub const RESTORE_EXAMPLES: &str = "Examples:
  hippoctl restore ~/agent.tar.zst                to the original folder
  hippoctl restore ~/agent.tar.zst --into ~/new   to an empty folder
  hippoctl --workspace /home/ada/agent restore ~/memory.tar.zst
                                                  only one of several workspaces";

/// Options of `backup`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct BackupArgs {
    /// The subcommand; without one, a backup is created.
    #[command(subcommand)]
    pub verb: Option<BackupVerb>,
    /// The file to create, which must not exist yet; choose a name that ends in .tar.zst
    #[arg(required = true)]
    pub file: Option<PathBuf>,
    /// Back up all workspaces
    #[arg(long)]
    pub all: bool,
}

/// Verbs of `backup`.
#[derive(Debug, Subcommand)]
pub enum BackupVerb {
    /// Verify the checksums of a backup without restoring anything
    Verify {
        /// The backup file
        file: PathBuf,
    },
}

/// Options of `restore`.
#[derive(Debug, Args)]
pub struct RestoreArgs {
    /// The backup file
    pub from: PathBuf,
    /// Restore the workspace to this folder, which must be empty or not exist yet [default: its original path]
    #[arg(long, value_name = "DIR")]
    pub into: Option<PathBuf>,
    /// Also restore files that are memory files only because the settings of the workspace declare them as memory files
    #[arg(long)]
    pub other_files: bool,
}
