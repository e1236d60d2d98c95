//! Arguments of `search`

use clap::Args;
use hippo_proto::MAX_LIMIT;
use hippo_types::search::SearchMode;

// The request type of the protocol cannot be used here, because a command line has the query as a list of words.
/// Options of `search`.
#[derive(Debug, Args)]
pub struct SearchArgs {
    /// The question, in plain words
    #[arg(required_unless_present = "interactive", num_args = 1.., value_name = "QUERY")]
    pub query: Vec<String>,
    /// Search while you type; Enter opens the result in the editor of VISUAL or EDITOR, Ctrl-Y copies its pointer
    #[arg(short, long, conflicts_with_all = ["all", "budget", "explain", "record"])]
    pub interactive: bool,
    /// Search all registered workspaces, and print absolute paths
    #[arg(long)]
    pub all: bool,
    /// Maximum number of results [default: 10; with --budget, as many as fit into the budget]
    #[arg(short = 'n', long, value_name = "N",
          value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_LIMIT)))]
    pub limit: Option<u32>,
    /// Search mode [default: hybrid]
    #[arg(short, long, value_enum)]
    pub mode: Option<SearchMode>,
    /// Maximum number of tokens of all results together
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u32).range(1..))]
    pub budget: Option<u32>,
    /// Minimum score of a result, 0 to 1
    #[arg(long, value_name = "X")]
    pub min_score: Option<f32>,
    /// Search only files whose path matches this glob
    #[arg(long, value_name = "GLOB")]
    pub path: Option<String>,
    /// Search only text dated on or after this day, YYYY-MM-DD
    #[arg(long, value_name = "DATE")]
    pub since: Option<String>,
    /// Search only text dated on or before this day, YYYY-MM-DD, as if you had searched on that day
    #[arg(long, visible_alias = "as-of", value_name = "DATE")]
    pub until: Option<String>,
    /// Also print the parts of each score, and how the entries of the index file led to the results
    #[arg(long)]
    pub explain: bool,
    /// Record an access of each entry that the search finds, which raises the strength of the entry; for searches by
    /// agents
    #[arg(long)]
    pub record: bool,
}
