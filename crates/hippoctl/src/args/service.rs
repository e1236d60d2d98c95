//! Arguments of `service`

use clap::Subcommand;

use super::LogsArgs;

/// Text below the help of `service`.
pub const EXAMPLES: &str = "Examples:
  hippoctl service start
  hippoctl service install --dry-run
  hippoctl service install
  hippoctl service status
  hippoctl service logs -n 20
  hippoctl service logs --hooks";

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
    /// Print the log of the daemon
    ///
    /// Prints the end of the log file, or of the systemd journal if systemd runs the daemon.
    Logs(LogsArgs),
    /// Show whether the service is installed, enabled and running, and list its problems
    Status,
}
