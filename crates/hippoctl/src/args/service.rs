//! Arguments of `service`

use clap::Subcommand;

/// Text below the help of `service`.
pub const EXAMPLES: &str = "Examples:
  hippoctl service start
  hippoctl service install --dry-run
  hippoctl service install
  hippoctl service status";

/// Verbs of `service`.
#[derive(Debug, Subcommand)]
pub enum ServiceVerb {
    /// Start the daemon if it is not running
    Start,
    /// Stop the daemon and wait until it has exited
    Stop,
    /// Install hippod as a service of this user: it starts at login and restarts after a failure
    ///
    /// Writes and starts the systemd units or the launchd agent, with the path of hippod and the current HIPPOD_ and
    /// XDG_ variables. The service replaces a daemon that was started by hand. A second install changes nothing, unless
    /// hippod was updated: then the second install updates the service.
    Install {
        /// Print the changes without making them
        #[arg(long)]
        dry_run: bool,
    },
    /// Stop the service and remove the files that `install` wrote; memory and index stay
    Uninstall {
        /// Print the changes without making them
        #[arg(long)]
        dry_run: bool,
    },
    /// Show whether the service is installed, enabled and running, and its problems
    Status,
}
