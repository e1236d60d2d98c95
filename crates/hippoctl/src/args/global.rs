//! Options of every verb

use std::path::PathBuf;

use clap::Args;

use hippo_types::scope::AgentId;

use super::ProgressMode;

/// Options of every verb.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Global options")]
pub struct Global {
    /// Print the answer as one line of JSON; print a failure as one line of JSON to standard error
    #[arg(long, global = true)]
    pub json: bool,
    /// Use this workspace; `search` accepts this option several times [default: the nearest registered folder at or
    /// above the current folder]
    #[arg(short, long, global = true, value_name = "DIR")]
    pub workspace: Vec<PathBuf>,
    /// Read and write as this agent of the workspace: besides shared texts, find the texts that only this agent may read
    /// [default: from HIPPOD_AGENT]
    #[arg(long, global = true, value_name = "ID")]
    pub agent: Option<AgentId>,
    /// Connect to the daemon at this socket [default: from HIPPOD_SOCKET or HIPPOD_HOME, otherwise the default path]
    #[arg(long, global = true, value_name = "PATH")]
    pub socket: Option<PathBuf>,
    /// Do not start the daemon: fail if no daemon answers
    #[arg(long, global = true)]
    pub no_start: bool,
    /// How to show the progress of a long command on standard error
    #[arg(long, global = true, value_enum, value_name = "HOW", default_value_t)]
    pub progress: ProgressMode,
}
