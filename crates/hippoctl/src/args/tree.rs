//! Arguments of `tree`

use std::path::PathBuf;

use clap::{Args, Subcommand};
use hippo_proto::MAX_JOBS;

/// Text below the help of `tree`.
pub const EXAMPLES: &str = "Examples:
  hippoctl tree compact --dry-run     list the nodes that would be written
  hippoctl tree compact               write them, and create the tree
  hippoctl tree compact --take-over   the same for the tree of another program
  hippoctl tree show                  print memory/ROOT.md
  hippoctl tree show 2026-W02         print the node of a week
  hippoctl tree pending               list the nodes that need a summary
  hippoctl tree submit 2026-01-10 < summary.md";

/// Verbs of `tree`.
#[derive(Debug, Subcommand)]
pub enum TreeVerb {
    /// Update the nodes whose sources have changed, from the days up to ROOT.md
    Compact(TreeCompactArgs),
    /// List the nodes that need a summary from an agent, with their instructions
    Pending {
        /// Maximum number of nodes [default: 10]
        #[arg(short = 'n', long, value_name = "N",
              value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_JOBS)))]
        limit: Option<u32>,
    },
    /// Submit the summary of a node, from a file or standard input
    ///
    /// The summary stays until the sources of the node change. A summary that is too long or does not match its
    /// sources is rejected.
    Submit {
        /// The node: 2026-01-10, 2026-W02, 2026-01, or the path of its file
        node: String,
        /// The file with the summary [default: standard input]
        file: Option<PathBuf>,
        /// Digest of the summarized sources, from `tree pending`; the summary is rejected if the sources have changed
        /// since
        #[arg(long, value_name = "DIGEST")]
        source_digest: Option<String>,
    },
    /// Print a node
    Show {
        /// The node: 2026-01-10, 2026-W02, 2026-01, ROOT, or the path of its file [default: ROOT]
        node: Option<String>,
    },
}

// The type of the request is not used here, because the workspace is a global option, and the help is for people.
/// Options of `tree compact`.
#[derive(Debug, Args)]
pub struct TreeCompactArgs {
    /// Print the changes without making them
    #[arg(long)]
    pub dry_run: bool,
    /// Take over the tree of another program; `workspace remove` and `init --undo` restore that tree byte for byte
    #[arg(long)]
    pub take_over: bool,
    /// Run as if it were this time, RFC 3339 or YYYY-MM-DD
    #[arg(long, value_name = "TIME")]
    pub at: Option<String>,
}
