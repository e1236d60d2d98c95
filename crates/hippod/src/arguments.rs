//! Command-line arguments of the daemon.
//!
//! A test of hippoctl includes this file to generate the manual page and the reference.

use std::path::PathBuf;

use clap::{Parser, Subcommand};

/// Text below the help.
const EXIT: &str = "Exit: 0 stopped as asked, 1 failed, 2 wrong usage";

/// The memory daemon that AI agents keep beside them.
#[derive(Parser)]
#[command(name = "hippod", version, after_help = EXIT)]
pub struct DaemonArguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Subcommand)]
pub enum Command {
    /// Serve in the foreground until SIGTERM or SIGINT
    Run {
        /// Configuration file instead of the usual one
        #[arg(long, value_name = "FILE")]
        config: Option<PathBuf>,
        /// Socket instead of the usual one
        #[arg(long, value_name = "PATH")]
        socket: Option<PathBuf>,
        /// File to log to, kept within bounds, instead of standard error
        #[arg(long, value_name = "FILE")]
        log_file: Option<PathBuf>,
    },
}
