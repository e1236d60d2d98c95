//! Command-line arguments of the daemon.
//!
//! A test of hippoctl includes this file to generate the manual page and the command reference.

use std::path::PathBuf;

use clap::{Parser, Subcommand};

/// Text below the help.
const EXIT: &str = "Exit: 0 stopped on request, 1 failed, 2 wrong usage";

/// The memory daemon for AI agents.
#[derive(Parser)]
#[command(name = "hippod", version, after_help = EXIT)]
pub struct DaemonArguments {
    /// The subcommand.
    #[command(subcommand)]
    pub command: Command,
}

/// The subcommands of hippod.
#[derive(Subcommand)]
pub enum Command {
    /// Run the daemon in the foreground until SIGTERM or SIGINT
    Run {
        /// Use this configuration file instead of the default one
        #[arg(long, value_name = "FILE")]
        config: Option<PathBuf>,
        /// Use this socket instead of the default one
        #[arg(long, value_name = "PATH")]
        socket: Option<PathBuf>,
        /// Write the log to this file instead of standard error; the daemon limits the size of the file
        #[arg(long, value_name = "FILE")]
        log_file: Option<PathBuf>,
    },
}
