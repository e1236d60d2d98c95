//! Which words does `tree` understand?

use std::path::PathBuf;

use clap::{Args, Subcommand};
use hippo_proto::MAX_JOBS;

/// Below the help.
pub const EXAMPLES: &str = "Examples:
  hippoctl tree compact --dry-run     which nodes would be made?
  hippoctl tree compact               make them, and begin the tree
  hippoctl tree compact --take-over   the same where another program made a tree
  hippoctl tree show                  print memory/ROOT.md
  hippoctl tree show 2026-W02         print the node of a week
  hippoctl tree pending               which nodes want a summary?
  hippoctl tree submit 2026-01-10 < summary.md";

/// Verbs of `tree`.
#[derive(Debug, Subcommand)]
pub enum TreeVerb {
    /// Make the nodes whose sources have changed, from the days up to ROOT.md
    Compact(TreeCompactArgs),
    /// List the nodes that want a summary from you, with what is wanted
    Pending {
        /// Most nodes [default: 10]
        #[arg(short = 'n', long, value_name = "N",
              value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_JOBS)))]
        limit: Option<u32>,
    },
    /// Give a node a summary, from a file or standard input
    ///
    /// It stands until the sources of the node change. One that is too long, or about something else than its sources, is
    /// refused and kept in .hippocampus/rejected/.
    Submit {
        /// The node: 2026-01-10, 2026-W02, 2026-01, or the path of its file
        node: String,
        /// A file with the summary [default: standard input]
        file: Option<PathBuf>,
        /// The sources that it was made from, as `tree pending` says; refused when they have changed since
        #[arg(long, value_name = "DIGEST")]
        source_digest: Option<String>,
    },
    /// Print a node
    Show {
        /// The node: 2026-01-10, 2026-W02, 2026-01, ROOT, or the path of its file [default: ROOT]
        node: Option<String>,
    },
}

/// Options of `tree compact`.
#[derive(Debug, Args)]
pub struct TreeCompactArgs {
    /// Only say what would be done
    #[arg(long)]
    pub dry_run: bool,
    /// Take over a tree that another program made; `workspace remove` and `deinit` put every byte of it back
    #[arg(long)]
    pub take_over: bool,
    /// Only if it is due: three hours after the last time, or when the logs have grown
    #[arg(long)]
    pub when_due: bool,
    /// As if it were this time, RFC 3339 or YYYY-MM-DD
    #[arg(long, value_name = "TIME")]
    pub at: Option<String>,
}
