//! Arguments of `trust`.

use std::path::PathBuf;

use clap::Args;

/// Options of `trust`.
#[derive(Debug, Args)]
pub struct TrustArgs {
    /// The folder, registered [default: the nearest registered folder above the current one]
    pub dir: Option<PathBuf>,
    /// Accept them no longer
    #[arg(long)]
    pub revoke: bool,
    /// Only show what they would change
    #[arg(long)]
    pub dry_run: bool,
}
