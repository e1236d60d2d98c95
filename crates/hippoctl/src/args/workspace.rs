//! Arguments of `workspace`

use std::path::PathBuf;

use clap::Subcommand;

use super::TrustArgs;

/// Verbs of `workspace`.
#[derive(Debug, Subcommand)]
pub enum WorkspaceVerb {
    /// Register a folder as a workspace, and start to index its files
    Add {
        /// The folder to register [default: the current folder]
        dir: Option<PathBuf>,
    },
    /// List the registered folders
    List,
    /// Show what the settings files in a folder would change, and accept the settings
    ///
    /// A cloned folder may contain a stranger's settings. Until you accept the settings with this command, the files
    /// `.hippocampus/config.toml`, `.hippocampus/policies.yaml` and `hipocampus.config.json` of the folder can only
    /// restrict your own settings. Trust applies to the current content of these files. If a file changes, run this
    /// command again.
    Trust(TrustArgs),
    /// Unregister a folder, and delete its index; the files in the folder stay
    Remove {
        /// The registered folder [default: the workspace of the current folder]
        dir: Option<PathBuf>,
        /// Also delete the tool results and other contents that sessions of the workspace stored; hippod has no other
        /// copy of these contents
        #[arg(long)]
        purge: bool,
    },
}
