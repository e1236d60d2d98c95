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
    /// Install hippod as a service of your user, which starts at login and restarts after a failure
    ///
    /// Writes the systemd units or the launchd agent, and starts the service. The service uses the current values of
    /// the HIPPOD_ and XDG_ variables. The service replaces a daemon that you started by hand. After an update of
    /// hippod, run this command again to update the service.
    Install {
        /// Print the changes without making them
        #[arg(long)]
        dry_run: bool,
    },
    /// Stop the service and remove the files that `hippoctl service install` wrote; memory and index stay
    Uninstall {
        /// Print the changes without making them
        #[arg(long)]
        dry_run: bool,
    },
    /// Show whether the service is installed, enabled and running, and list its problems
    Status,
}
