//! Arguments of the verbs that maintain the daemon

use clap::{Args, ValueEnum};
use hippo_proto::MAX_EXAMPLES;

/// Options of `status`.
#[derive(Debug, Args)]
pub struct StatusArgs {
    /// Print counters and timings in the text format of Prometheus
    #[arg(long)]
    pub metrics: bool,
}

/// Options of `doctor`.
#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// Check all workspaces, not only the workspace of the current folder
    #[arg(long, conflicts_with = "audit")]
    pub all: bool,
    /// Delete the index and rebuild it from the files
    #[arg(long)]
    pub rebuild: bool,
    /// Make all fixes that leave the text of people and other programs unchanged, and print the remaining problems
    #[arg(long)]
    pub fix: bool,
    /// With --fix: print the fixes without making them
    #[arg(long, requires = "fix")]
    pub dry_run: bool,
    /// Measure the quality of the memory, in place of the usual checks: duplicates, stale entries, contradictions,
    /// secrets, and text that reads like an instruction
    #[arg(long, conflicts_with_all = ["rebuild", "fix"])]
    pub audit: bool,
    /// With --audit: print at most N examples for each kind of finding [default: 5 with --verbose, otherwise none]
    #[arg(short = 'n', long, value_name = "N", requires = "audit",
          value_parser = clap::value_parser!(u32).range(0..=i64::from(MAX_EXAMPLES)))]
    pub examples: Option<u32>,
    /// Also print the checks that passed; with --audit: also print the numbers of each kind, with examples
    #[arg(short, long)]
    pub verbose: bool,
}

/// Options of `service logs`.
#[derive(Debug, Args)]
pub struct LogsArgs {
    /// Print the failures of hooks, in place of the log of the daemon
    #[arg(long)]
    pub hooks: bool,
    /// Number of lines to print, counted from the end of the log
    #[arg(short = 'n', long, default_value_t = 50, value_name = "N")]
    pub lines: usize,
}

/// Options of `sync`.
#[derive(Debug, Args)]
pub struct SyncArgs {
    /// Wait until search finds all text by keyword and, if a model is installed, by meaning
    #[arg(long)]
    pub wait: bool,
    /// Confirm deletions that are held back because they affect many files or many entries of the index file
    #[arg(long)]
    pub accept_deletions: bool,
}

/// How the progress of a long command is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum ProgressMode {
    /// On a terminal, draw the progress; without a terminal, show nothing
    #[default]
    Auto,
    /// Print a line every 10 seconds, even without a terminal
    Plain,
}
