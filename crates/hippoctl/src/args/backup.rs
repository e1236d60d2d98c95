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
    /// The file to write, which must not exist; a name that ends in .tar.zst is recommended
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
        /// The backup
        file: PathBuf,
    },
}

/// Options of `restore`.
#[derive(Debug, Args)]
pub struct RestoreArgs {
    /// The backup
    pub from: PathBuf,
    /// The folder to restore the workspace to; it must be empty or not exist yet [default: the original location]
    #[arg(long, value_name = "DIR")]
    pub into: Option<PathBuf>,
    /// Also restore files that are memory files only because of the workspace's own settings
    #[arg(long)]
    pub other_files: bool,
}
