//! Arguments of `sync-check` and `merge-driver`.

use std::path::PathBuf;

use clap::Args;

/// Examples of `sync-check`.
pub const EXAMPLES: &str = "Examples:
  hippoctl sync-check --setup
  hippoctl sync-check --fetch";

/// Example of `merge-driver`.
pub const DRIVER_EXAMPLES: &str = "Examples:\n  hippoctl merge-driver BASE OURS THEIRS HIPPOCAMPUS.md";

/// Options of `sync-check`.
#[derive(Debug, Args)]
pub struct SyncCheckArgs {
    /// Prepare the repository on this machine: add .gitattributes and .gitignore, and register the merge driver
    #[arg(long, conflicts_with = "fetch")]
    pub setup: bool,
    /// Run `git fetch` first
    #[arg(long)]
    pub fetch: bool,
}

/// Arguments of `merge-driver`, as git passes them.
#[derive(Debug, Args)]
pub struct MergeDriverArgs {
    /// File with the common version (%O)
    pub base: PathBuf,
    /// File with our version (%A); it receives the result
    pub ours: PathBuf,
    /// File with their version (%B)
    pub theirs: PathBuf,
    /// Path in the repository (%P)
    pub path: String,
}
