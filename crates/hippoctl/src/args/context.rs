//! Arguments of `context`

use clap::{Args, Subcommand};
use hippo_proto::MAX_ENTRIES;

/// Text below the help of `context fetch`.
const FETCH_EXAMPLES: &str = "\
Examples:
  hippoctl context fetch ctx-04f1a2b3c4 > output.txt
  hippoctl context fetch b3:7d1f0c2a9e7b

Exit: 0 if the command printed the content, or the current state of its source; 4 if both are missing. With 4, the
command prints the summary of the entry to standard error.";

/// Verbs of `context`.
#[derive(Debug, Subcommand)]
pub enum ContextVerb {
    /// Print the stored content of a context entry, byte for byte
    #[command(after_help = FETCH_EXAMPLES)]
    Fetch {
        /// Id of a context entry, of a content (b3: and at least 12 digits), or of a message in a summary by `hippoctl
        /// compact --store`
        id: String,
        /// Id of the session that requests the content; with this option, the daemon records an access of the entry
        #[arg(long, value_name = "ID")]
        session: Option<String>,
    },
    /// List the sessions of the workspace, or the context entries of a session
    List(ContextListArgs),
    /// Close a session, and write its lasting context entries to today's log
    Close {
        /// Id of the session
        #[arg(long, value_name = "ID")]
        session: String,
    },
}

/// Options of `context list`.
#[derive(Debug, Args)]
pub struct ContextListArgs {
    /// List the context entries of this session
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// Show the strengths of the context entries at this turn
    #[arg(long, value_name = "N", requires = "session")]
    pub at_turn: Option<u64>,
    /// List the sessions of all workspaces
    #[arg(long, conflicts_with_all = ["session", "workspace"])]
    pub all: bool,
    /// Maximum number of sessions or entries to list
    #[arg(short = 'n', long, value_name = "N",
          value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_ENTRIES)))]
    pub limit: Option<u32>,
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::args::{Cli, Verb};

    fn parse(line: &str) -> Result<ContextVerb, clap::Error> {
        match Cli::try_parse_from(line.split(' '))?.verb {
            Verb::Context { verb } => Ok(verb),
            _ => panic!("no verb of context: {line}"),
        }
    }

    #[test]
    fn wrong_usage_exits_with_2() {
        for line in [
            "hippoctl context",
            "hippoctl context fetch",
            "hippoctl context list --at-turn 3",
            "hippoctl context list --all --session s",
            "hippoctl context list --all --workspace /w",
            "hippoctl context list -n 0",
            "hippoctl context close",
        ] {
            assert_eq!(parse(line).unwrap_err().exit_code(), 2, "{line}");
        }
    }
}
