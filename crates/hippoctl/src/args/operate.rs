//! Options of the verbs by which the daemon is looked after.

use clap::{Args, ValueEnum};
use hippo_proto::MAX_EXAMPLES;

/// Options of `status`.
#[derive(Debug, Args)]
pub struct StatusArgs {
    /// Print what is counted and measured, in the text format of Prometheus
    #[arg(long)]
    pub metrics: bool,
}

/// Options of `doctor`.
#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// Throw away what is derived from the files and build it anew
    #[arg(long)]
    pub rebuild: bool,
    /// Do what can be done without touching anybody's text, and say what remains
    #[arg(long)]
    pub fix: bool,
    /// With --fix: only say what would be done
    #[arg(long, requires = "fix")]
    pub dry_run: bool,
}

/// Options of `logs`.
#[derive(Debug, Args)]
pub struct LogsArgs {
    /// Show the log of the hooks of agents instead: what went wrong in them
    #[arg(long)]
    pub hooks: bool,
    /// Go on printing what is added
    #[arg(short, long)]
    pub follow: bool,
    /// How many of the last lines to print
    #[arg(short = 'n', long, default_value_t = 50, value_name = "N")]
    pub lines: usize,
    /// Only what was written since then: 10m, 2h, 3d, 14:30, 2026-01-10 or 2026-01-10T14:30
    #[arg(long, value_name = "TIME")]
    pub since: Option<String>,
    /// Only what is as bad as this at least
    #[arg(long, value_enum, value_name = "LEVEL")]
    pub level: Option<Level>,
}

/// Levels of the log, the worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum Level {
    /// Something failed
    Error,
    /// Something is not as it should be
    Warn,
    /// What happens
    Info,
    /// For who looks for a fault
    Debug,
    /// For who looks for a fault in hippod
    Trace,
}

/// Options of `audit`.
#[derive(Debug, Args)]
pub struct AuditArgs {
    /// Examples of each kind
    #[arg(short = 'n', long, default_value_t = 5, value_name = "N",
          value_parser = clap::value_parser!(u32).range(0..=i64::from(MAX_EXAMPLES)))]
    pub examples: u32,
    /// Do not keep the numbers for the next audit to be compared with
    #[arg(long)]
    pub no_record: bool,
}
