//! `audit`: how sound is what a workspace remembers?

use hippo_proto::{AuditRequest, AuditResponse};

use crate::connect::Session;
use crate::failure::Failure;
use crate::output::Output;
use crate::render;
use hippoctl::args::AuditArgs;

/// Asks for the numbers and shows them beside the last ones.
///
/// # Errors
/// No daemon, no workspace, or no answer.
pub fn audit(session: &mut Session, args: &AuditArgs, out: &mut Output) -> Result<(), Failure> {
    let request = AuditRequest {
        workspace: session.workspace()?,
        examples: Some(args.examples),
        record: !args.no_record,
    };
    let answer: AuditResponse = session.call_patiently(request, |_| {})?;
    out.answer(&answer, render::audit::audit)
}
