//! Arguments of `tree`

use std::path::PathBuf;

use clap::{Args, Subcommand};
use hippo_proto::MAX_JOBS;

/// Text below the help of `tree`.
pub const EXAMPLES: &str = "Examples:
  hippoctl tree compact --dry-run     list the nodes that would be written
  hippoctl tree compact               write the nodes; create a missing tree
  hippoctl tree compact --take-over   also change the nodes of other programs
  hippoctl tree show                  print memory/ROOT.md
  hippoctl tree show 2026-W02         print the node of a week
  hippoctl tree pending               list the nodes that need a summary
  hippoctl tree submit 2026-01-10 < summary.md";

/// Verbs of `tree`.
#[derive(Debug, Subcommand)]
pub enum TreeVerb {
    /// Update the nodes of the compaction tree whose sources have changed: days, weeks, months and ROOT.md
    Compact(TreeCompactArgs),
    /// List the nodes that need a summary from an agent, with instructions for each node
    Pending {
        /// Maximum number of nodes [default: 10]
        #[arg(short = 'n', long, value_name = "N",
              value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_JOBS)))]
        limit: Option<u32>,
    },
    /// Submit the summary of a node, from a file or standard input
    ///
    /// The summary stays until the sources of the node change. The daemon rejects a summary that is too long or does
    /// not match the sources.
    Submit {
        /// The node: a day (2026-01-10), a week (2026-W02), a month (2026-01), or the path of its file
        node: String,
        /// The file with the summary [default: standard input]
        file: Option<PathBuf>,
        /// Digest of the node's sources, as `hippoctl tree pending` printed it; if the sources have changed since then,
        /// the daemon rejects the summary
        #[arg(long, value_name = "DIGEST")]
        source_digest: Option<String>,
    },
    /// Print a node of the compaction tree
    Show {
        /// The node: a day (2026-01-10), a week (2026-W02), a month (2026-01), ROOT, or the path of its file [default:
        /// ROOT]
        node: Option<String>,
    },
}

// The request type of the protocol cannot be used here: its workspace is a global option of hippoctl, and its doc
// comments are not help texts.
/// Options of `tree compact`.
#[derive(Debug, Args)]
pub struct TreeCompactArgs {
    /// Print the changes without making them
    #[arg(long)]
    pub dry_run: bool,
    /// Let hippod change a compaction tree that another program wrote; `workspace remove` and `init --undo` restore the
    /// other program's files
    #[arg(long)]
    pub take_over: bool,
    /// Update the tree as if TIME (RFC 3339 or YYYY-MM-DD) were the current time
    #[arg(long, value_name = "TIME")]
    pub at: Option<String>,
}
