//! `top`: live view of the daemon.

use crate::connect::DaemonSession;
use crate::failure::Failure;
use crate::live::{self, Screen};
use crate::output::Output;

/// Shows what the daemon does in the workspace, until the user leaves.
///
/// # Errors
/// Fails if no workspace is found, or if standard input or standard output is not a terminal.
pub fn top(session: &mut DaemonSession, out: &Output) -> Result<(), Failure> {
    let workspace = session.workspace()?;
    let screen = Screen::open("top", "without a terminal: hippoctl status", out)?;
    live::top::top(session, screen, workspace)
}
