//! What may be said to `search`?

use clap::{Args, ValueEnum};
use hippo_proto::{MAX_LIMIT, Mode};

use super::QmdSearch;

/// How `search` finds candidates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ModeArg {
    /// By the index file first, then by words and by meaning
    Hybrid,
    /// By words alone
    Lexical,
    /// By meaning alone
    Vector,
    /// By the entries of the index file alone: what they point at answers
    Index,
}

impl From<ModeArg> for Mode {
    fn from(mode: ModeArg) -> Self {
        match mode {
            ModeArg::Hybrid => Mode::Hybrid,
            ModeArg::Lexical => Mode::Lexical,
            ModeArg::Vector => Mode::Vector,
            ModeArg::Index => Mode::Index,
        }
    }
}

/// Options of `search`.
#[derive(Debug, Args)]
pub struct SearchArgs {
    /// The question, in plain words
    #[arg(required = true, num_args = 1.., value_name = "QUERY")]
    pub query: Vec<String>,
    /// Most results [default: 10, or as many as the budget holds]
    #[arg(short = 'n', long, value_name = "N",
          value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_LIMIT)))]
    pub limit: Option<u32>,
    /// How candidates are found [default: hybrid]
    #[arg(short, long, value_enum)]
    pub mode: Option<ModeArg>,
    /// Most tokens of text in all results together
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u32).range(1..))]
    pub budget: Option<u32>,
    /// Leave out results below this score, 0 to 1
    #[arg(long, value_name = "X")]
    pub min_score: Option<f32>,
    /// Only documents whose path fits
    #[arg(long, value_name = "GLOB")]
    pub path: Option<String>,
    /// Only what is dated on or after this day, YYYY-MM-DD
    #[arg(long, value_name = "DATE")]
    pub since: Option<String>,
    /// Only what is dated on or before this day, YYYY-MM-DD
    #[arg(long, value_name = "DATE")]
    pub until: Option<String>,
    /// The agent that asks
    #[arg(long, value_name = "NAME")]
    pub agent: Option<String>,
    /// Say what each score is made of, and how the index file led to the answer
    #[arg(long)]
    pub explain: bool,
    /// Leave no trace: strengthen no entry and create none
    #[arg(long)]
    pub no_record: bool,
    /// What qmd calls so, too.
    #[command(flatten)]
    pub qmd: QmdSearch,
}
