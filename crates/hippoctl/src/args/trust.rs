//! Arguments of `workspace trust`

use std::path::PathBuf;

use clap::Args;

/// Options of `workspace trust`.
#[derive(Debug, Args)]
pub struct TrustArgs {
    /// A registered folder [default: the nearest registered folder at or above the current folder]
    pub dir: Option<PathBuf>,
    /// Withdraw your trust in the settings of the folder
    #[arg(long)]
    pub revoke: bool,
    /// Show what the settings would change, without accepting the settings
    #[arg(long)]
    pub dry_run: bool,
}
