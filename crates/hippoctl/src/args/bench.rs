//! Which words does `bench` understand?

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use hippo_proto::MAX_LIMIT;

/// A row of the benchmark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum BenchMode {
    /// The daemon, by words and by meaning
    Hybrid,
    /// The daemon, by words alone
    Lexical,
    /// The daemon, by meaning alone
    Vector,
    /// The daemon, by the entries of the index file alone
    Index,
    /// The five files with most of the question's words, read whole
    Grep,
    /// Every file, read whole
    FullScan,
}

/// What counts as one place in the ranking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Distinct {
    /// Every result
    None,
    /// The first result of each section (file and headings up to the second)
    Section,
    /// The first result of each file
    File,
}

/// Options of `bench`.
#[derive(Debug, Args)]
pub struct BenchArgs {
    /// Questions, one JSON object a line: {"id","query","evidence":[{"path","start_line","end_line"}],"group"}.
    /// The workspace is --workspace, or the folder `workspace` beside this file
    pub file: PathBuf,
    /// What to measure
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        default_value = "hybrid,lexical,vector,grep,full-scan"
    )]
    pub modes: Vec<BenchMode>,
    /// Depths of recall@k and hit@k
    #[arg(short, value_delimiter = ',', default_value = "1,5,10", value_name = "K",
          value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_LIMIT)))]
    pub k: Vec<u32>,
    /// Token budgets; each costs one more request a question
    #[arg(long, value_delimiter = ',', default_value = "500,1000,2000,3500", value_name = "TOKENS",
          value_parser = clap::value_parser!(u32).range(1..))]
    pub budgets: Vec<u32>,
    /// What counts as one place in the ranking
    #[arg(long, value_enum, default_value_t = Distinct::None)]
    pub distinct: Distinct,
    /// Ask only so many questions, spread evenly over the file
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub limit_questions: Option<u32>,
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::args::{Cli, Verb};

    fn parse(line: &str) -> Result<Cli, clap::Error> {
        Cli::try_parse_from(line.split(' '))
    }

    #[test]
    fn bench_has_the_documented_defaults() {
        let Verb::Bench(args) = parse("hippoctl bench q.jsonl").unwrap().verb else {
            panic!("no bench")
        };
        assert_eq!(args.k, [1, 5, 10]);
        assert_eq!(args.budgets, [500, 1000, 2000, 3500]);
        assert_eq!(args.modes.len(), 5);
        assert_eq!(args.distinct, Distinct::None);
        let Verb::Bench(args) = parse("hippoctl bench q.jsonl --modes index,grep").unwrap().verb else {
            panic!("no bench")
        };
        assert_eq!(args.modes, [BenchMode::Index, BenchMode::Grep]);
    }
}
