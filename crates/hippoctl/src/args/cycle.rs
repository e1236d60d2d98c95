//! Which words do `consolidate`, `history` and `undo` understand?

use clap::{Args, ValueEnum};
use hippo_proto::{CycleName, MAX_RUNS};

/// Below the help.
pub const EXAMPLES: &str = "Examples:
  hippoctl consolidate deep --dry-run    what would it do?
  hippoctl consolidate deep              do it
  hippoctl history                       which number has the run?
  hippoctl undo 12                       take it back";

/// A consolidation cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CycleArg {
    /// Accesses into the index file, entries for new files, what fades into the queue [by itself: hourly]
    Light,
    /// Pointers checked, near-duplicates merged, what has faded archived [by itself: every night]
    Deep,
    /// What stays strong kept, what faded long ago archived, a health report [by itself: every month]
    Archival,
}

impl From<CycleArg> for CycleName {
    fn from(cycle: CycleArg) -> Self {
        match cycle {
            CycleArg::Light => CycleName::Light,
            CycleArg::Deep => CycleName::Deep,
            CycleArg::Archival => CycleName::Archival,
        }
    }
}

/// Options of `consolidate`.
#[derive(Debug, Args)]
pub struct ConsolidateArgs {
    /// Which cycle
    #[arg(value_enum)]
    pub cycle: CycleArg,
    /// Only say what would be done; changes nothing
    #[arg(long)]
    pub dry_run: bool,
    /// As if it were this time, RFC 3339 or YYYY-MM-DD
    #[arg(long, value_name = "TIME")]
    pub at: Option<String>,
}

/// Options of `history`.
#[derive(Debug, Args)]
pub struct HistoryArgs {
    /// Most runs [default: 20]
    #[arg(short = 'n', long, value_name = "N",
          value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_RUNS)))]
    pub limit: Option<u32>,
    /// The whole report of this run instead of the list
    #[arg(long, value_name = "RUN", value_parser = clap::value_parser!(i64).range(1..))]
    pub run: Option<i64>,
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::args::{Cli, Verb};

    fn parse(line: &str) -> Result<Verb, clap::Error> {
        Cli::try_parse_from(line.split(' ')).map(|cli| cli.verb)
    }

    #[test]
    fn cycles_and_runs_are_understood() {
        let Verb::Consolidate(args) =
            parse("hippoctl consolidate archival --at 2026-03-01 --dry-run").unwrap()
        else {
            panic!("no consolidate")
        };
        assert_eq!(
            (args.cycle, args.dry_run, args.at.as_deref()),
            (CycleArg::Archival, true, Some("2026-03-01"))
        );
        let Verb::History(args) = parse("hippoctl history -n 3 --run 12").unwrap() else {
            panic!("no history")
        };
        assert_eq!((args.limit, args.run), (Some(3), Some(12)));
        assert!(matches!(
            parse("hippoctl undo 12").unwrap(),
            Verb::Undo { run: 12 }
        ));
        assert!(matches!(parse("hippoctl heartbeat").unwrap(), Verb::Heartbeat));
    }

    #[test]
    fn wrong_usage_is_exit_2() {
        for line in [
            "hippoctl consolidate",
            "hippoctl consolidate all",
            "hippoctl consolidate deep --at",
            "hippoctl history -n 0",
            "hippoctl history -n 1001",
            "hippoctl history --run 0",
            "hippoctl undo",
            "hippoctl undo last",
            "hippoctl undo 0",
            "hippoctl heartbeat now",
        ] {
            assert_eq!(parse(line).unwrap_err().exit_code(), 2, "{line}");
        }
    }
}
