//! Arguments of `share`

use std::path::PathBuf;

use clap::{Args, Subcommand};
use hippo_types::memory::MemoryType;

/// Text below the help of `share`.
pub const EXAMPLES: &str = "Examples:
  hippoctl share add --to ~/website --tag deploy --dry-run
  hippoctl share add --to ~/website --path 'knowledge/**' --name api
  hippoctl share list
  hippoctl share remove s1
  hippoctl share init-db --team core --writer ada --reader ben
  hippoctl share publish --dry-run
  hippoctl share publish
  hippoctl share status";

/// Verbs of `share`.
#[derive(Debug, Subcommand)]
pub enum ShareVerb {
    /// Let another workspace of this machine read chosen entries of the current workspace
    ///
    /// An entry must match one value of each kind of condition. The text stays in this workspace: the other workspace
    /// reads it as @NAME/PATH, sees each edit, and can change nothing.
    Add(ShareAddArgs),
    /// List the shares from and to the current workspace
    List {
        /// List the shares of all workspaces
        #[arg(long)]
        all: bool,
        /// Also list withdrawn shares
        #[arg(long)]
        removed: bool,
    },
    /// Withdraw a share between workspaces of this machine
    Remove {
        /// Id of the share, as `share list` prints it
        id: String,
    },
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

/// Options of `share add`.
#[derive(Debug, Args)]
pub struct ShareAddArgs {
    /// The workspace that may read the entries
    #[arg(long, value_name = "DIR")]
    pub to: PathBuf,
    /// Share entries whose text is in a file that matches this glob; can be repeated
    #[arg(long = "path", value_name = "GLOB")]
    pub paths: Vec<String>,
    /// Share the entries with this topic or id; can be repeated
    #[arg(long = "topic", value_name = "TOPIC")]
    pub topics: Vec<String>,
    /// Share the entries with this tag; can be repeated
    #[arg(long = "tag", value_name = "TAG")]
    pub tags: Vec<String>,
    /// Share the entries of this kind of memory; can be repeated
    #[arg(long = "type", value_name = "TYPE")]
    pub types: Vec<MemoryType>,
    /// Name of the share in pointers such as @NAME/memory/a.md [default: name of the workspace folder]
    #[arg(long, value_name = "PROJECT")]
    pub name: Option<String>,
    /// Print the entries that the other workspace would see, and share nothing
    #[arg(long, short = 'n')]
    pub dry_run: bool,
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
