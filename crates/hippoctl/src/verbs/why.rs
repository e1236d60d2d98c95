//! `why`: explanations of what hippod did.

use hippo_proto::RecallLastRequest;

use crate::connect::DaemonSession;
use crate::failure::Failure;
use crate::output::Output;
use crate::render;

/// Explains the answers to the last prompts of the workspace.
///
/// # Errors
/// Fails if no workspace is found, or if the daemon refuses the request.
pub fn last(session: &mut DaemonSession, out: &mut Output) -> Result<(), Failure> {
    let workspace = session.workspace()?;
    let answer = session.call(RecallLastRequest { workspace })?;
    out.answer(&answer, render::why::last)
}
