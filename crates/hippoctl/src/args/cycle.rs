//! Arguments of `consolidate`

use clap::{Args, Subcommand};
use hippo_proto::MAX_RUNS;

/// Text below the help of `consolidate`.
pub const EXAMPLES: &str = "Examples:
  hippoctl consolidate deep --dry-run    print what the cycle would do
  hippoctl consolidate deep              run the deep cycle
  hippoctl consolidate history           list the runs with their numbers
  hippoctl consolidate undo 12           undo run 12";

/// Verbs of `consolidate`.
#[derive(Debug, Subcommand)]
pub enum CycleVerb {
    /// Write strengths and accesses to the index file, add entries for new files, and move faded entries to the Decay
    /// Queue [scheduled hourly]
    Light(CycleArgs),
    /// Correct pointers, merge near-duplicate entries, and archive faded entries [scheduled nightly]
    Deep(CycleArgs),
    /// Archive entries that have been in the Decay Queue for a month, and write a health report [scheduled every four
    /// weeks]
    Archival(CycleArgs),
    /// List past runs of cycles, the newest first, or print the report of one run
    History(HistoryArgs),
    /// Undo the changes that a run of a cycle made to the index file
    ///
    /// A second undo of the same run changes nothing.
    Undo {
        /// Number of the run, as `hippoctl consolidate history` lists it
        #[arg(value_parser = clap::value_parser!(i64).range(1..))]
        run: i64,
    },
}

/// Options of a cycle.
#[derive(Debug, Args)]
pub struct CycleArgs {
    /// Print what the cycle would do, without changing anything
    #[arg(long)]
    pub dry_run: bool,
    /// Print all steps, not only the first steps of each rule
    #[arg(short, long)]
    pub verbose: bool,
    /// Run the cycle as if TIME (RFC 3339 or YYYY-MM-DD) were the current time
    #[arg(long, value_name = "TIME")]
    pub at: Option<String>,
}

/// Options of `consolidate history`.
#[derive(Debug, Args)]
pub struct HistoryArgs {
    /// Maximum number of runs [default: 20]
    #[arg(short = 'n', long, value_name = "N",
          value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_RUNS)))]
    pub limit: Option<u32>,
    /// Print the full report of the run with this number, in place of the list of runs
    #[arg(long, value_name = "RUN", value_parser = clap::value_parser!(i64).range(1..))]
    pub run: Option<i64>,
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::args::{Cli, Verb};

    fn parse(line: &str) -> Result<CycleVerb, clap::Error> {
        match Cli::try_parse_from(line.split(' '))?.verb {
            Verb::Consolidate { verb } => Ok(verb),
            _ => panic!("no verb of consolidate: {line}"),
        }
    }

    #[test]
    fn cycle_and_run_arguments_are_parsed() {
        let CycleVerb::Archival(args) =
            parse("hippoctl consolidate archival --at 2026-03-01 --dry-run").unwrap()
        else {
            panic!("no archival cycle")
        };
        assert_eq!((args.dry_run, args.at.as_deref()), (true, Some("2026-03-01")));
        let CycleVerb::History(args) = parse("hippoctl consolidate history -n 3 --run 12").unwrap() else {
            panic!("no history")
        };
        assert_eq!((args.limit, args.run), (Some(3), Some(12)));
        assert!(matches!(
            parse("hippoctl consolidate undo 12").unwrap(),
            CycleVerb::Undo { run: 12 }
        ));
    }

    #[test]
    fn wrong_usage_exits_with_2() {
        for line in [
            "hippoctl consolidate",
            "hippoctl consolidate all",
            "hippoctl consolidate deep --at",
            "hippoctl consolidate history -n 0",
            "hippoctl consolidate history -n 1001",
            "hippoctl consolidate history --run 0",
            "hippoctl consolidate undo",
            "hippoctl consolidate undo last",
            "hippoctl consolidate undo 0",
            "hippoctl heartbeat now",
        ] {
            assert_eq!(parse(line).unwrap_err().exit_code(), 2, "{line}");
        }
    }
}
