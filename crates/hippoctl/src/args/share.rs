//! Arguments of `share`

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// Text below the help of `share`.
pub const EXAMPLES: &str = "Examples:
  hippoctl share init-db --team core --writer ada --reader ben
  hippoctl share publish --dry-run
  hippoctl share publish
  hippoctl share status";

/// Verbs of `share`.
#[derive(Debug, Subcommand)]
pub enum ShareVerb {
    /// Prepare a database for a team: create or migrate the tables, and create the roles of the team
    ///
    /// Needs the login of a superuser, once for each team and after an update of hippod. Creates the roles
    /// hippod_TEAM_reader and hippod_TEAM_writer, but no logins. Repeating the command changes nothing.
    InitDb(InitDbArgs),
    /// Publish the changed text of the workspace now
    ///
    /// The daemon also publishes every change by itself.
    Publish {
        /// Print exactly what would leave the machine, and publish nothing
        #[arg(long)]
        dry_run: bool,
    },
    /// Show whether the server answers, and what is not published yet
    Status,
}

/// Options of `share init-db`.
#[derive(Debug, Args)]
pub struct InitDbArgs {
    /// URL of the database with the login of a superuser, without a password [default: share.postgres.url]
    #[arg(long)]
    pub url: Option<String>,
    /// File whose first line is the password of this login; only you may have access to it
    #[arg(long, value_name = "FILE")]
    pub password_file: Option<PathBuf>,
    /// Name of the team [default: share.postgres.team]
    #[arg(long)]
    pub team: Option<String>,
    /// An existing login that may search and publish; can be repeated
    #[arg(long = "writer", value_name = "LOGIN")]
    pub writers: Vec<String>,
    /// An existing login that may only search; can be repeated
    #[arg(long = "reader", value_name = "LOGIN")]
    pub readers: Vec<String>,
}
