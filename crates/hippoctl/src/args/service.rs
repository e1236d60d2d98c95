//! Arguments of `service`

use clap::{Args, Subcommand};

/// Below the help.
pub const EXAMPLES: &str = "Examples:
  hippoctl service start
  hippoctl service install --dry-run
  hippoctl service install
  hippoctl service status";

/// Verbs of `service`.
#[derive(Debug, Subcommand)]
pub enum ServiceVerb {
    /// Start the daemon if it does not run
    Start,
    /// Stop the daemon and wait until it has exited
    Stop,
    /// Install hippod as a service of this user: it starts at login and restarts after a failure
    ///
    /// Writes and starts the unit files of systemd or the agent of launchd, with the path of hippod and the current
    /// HIPPOD_ and XDG_ variables. A daemon that was started by hand is stopped, and the service replaces it. A second
    /// install changes nothing; after an update of hippod it updates the service.
    Install(ServiceArgs),
    /// Stop the service and remove the files that `install` wrote; memory and index stay
    Uninstall(ServiceArgs),
    /// Show whether the service is installed, enabled and running, and its problems
    Status,
}

/// Options of `service install` and `service uninstall`.
#[derive(Debug, Args)]
pub struct ServiceArgs {
    /// Print the changes without making them
    #[arg(long)]
    pub dry_run: bool,
    /// Also replace or remove a file that was edited; the edited file is kept under another name
    #[arg(long)]
    pub force: bool,
}
