//! Which words does `service` understand?

use clap::{Args, Subcommand};

/// Below the help.
pub const EXAMPLES: &str = "Examples:
  hippoctl service install --dry-run
  hippoctl service install
  hippoctl service status";

/// Verbs of `service`.
#[derive(Debug, Subcommand)]
pub enum ServiceVerb {
    /// Give hippod to the service manager of this user: it starts with the session, and again when it fails
    ///
    /// Writes the unit files of systemd or the agent of launchd, with the path of hippod and the HIPPOD_ and XDG_ places that are set
    /// here, and has them started. A daemon that was started by hand is stopped, so that the service takes over. To do
    /// it twice changes nothing; after an update of hippod it brings the service up to date.
    Install(ServiceArgs),
    /// Stop the service, and remove what `install` wrote; memory and index stay
    Uninstall(ServiceArgs),
    /// Say whether the service is installed, enabled and running, and what is wrong with it
    Status,
}

/// Options of `service install` and `service uninstall`.
#[derive(Debug, Args)]
pub struct ServiceArgs {
    /// Say what would be done, and do nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Take a file that somebody changed as well; it is kept aside under another name
    #[arg(long)]
    pub force: bool,
}
