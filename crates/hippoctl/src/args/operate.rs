//! Arguments of the verbs that look after the daemon

use clap::Args;
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
    /// Delete the index and build it again from the files
    #[arg(long)]
    pub rebuild: bool,
    /// Fix what can be fixed without changing anyone's text, and print what remains
    #[arg(long)]
    pub fix: bool,
    /// With --fix: print the fixes without making them
    #[arg(long, requires = "fix")]
    pub dry_run: bool,
    /// Measure memory quality instead: duplicates, stale entries, contradictions, secrets
    ///
    /// Prints no text of the memory. The result is stored, and the next audit shows the change.
    #[arg(long, conflicts_with_all = ["rebuild", "fix"])]
    pub audit: bool,
    /// With --audit: maximum examples of each kind
    #[arg(short = 'n', long, default_value_t = 5, value_name = "N", requires = "audit",
          value_parser = clap::value_parser!(u32).range(0..=i64::from(MAX_EXAMPLES)))]
    pub examples: u32,
    /// With --audit: do not store the result
    #[arg(long, requires = "audit")]
    pub no_record: bool,
}

/// Options of `logs`.
#[derive(Debug, Args)]
pub struct LogsArgs {
    /// Print the log of hooks instead: the failures in them
    #[arg(long)]
    pub hooks: bool,
    /// Keep printing new lines
    #[arg(short, long)]
    pub follow: bool,
    /// Number of last lines to print
    #[arg(short = 'n', long, default_value_t = 50, value_name = "N")]
    pub lines: usize,
}
