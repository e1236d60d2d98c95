//! `tree compact|pending|submit|show`: summaries of days, weeks and months.

use hippo_proto::{
    MAX_BODY_BYTES, TreeCompactRequest, TreePendingRequest, TreeShowRequest, TreeSubmitRequest,
};

use super::input;
use crate::connect::DaemonSession;
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::render::tree as render;
use hippoctl::args::TreeVerb;

/// Runs a verb of `tree`.
///
/// # Errors
/// Fails if no workspace is found, if the node is unknown, if the daemon refuses the request, or if a node could not be
/// written.
pub fn tree(session: &mut DaemonSession, verb: TreeVerb, out: &mut Output) -> Result<(), Failure> {
    match verb {
        TreeVerb::Compact(args) => {
            let request = TreeCompactRequest {
                workspace: session.workspace()?,
                at: args.at,
                dry_run: args.dry_run,
                take_over: args.take_over,
                ..TreeCompactRequest::default()
            };
            let answer = session.call_patiently(request)?;
            for note in &answer.notes {
                out.remark(&crate::render::one_line(note));
            }
            out.answer(&answer, |answer, style| {
                render::compacted(answer, args.dry_run, style)
            })?;
            match answer.refused.len() {
                0 => Ok(()),
                many => {
                    let files = crate::render::plural(many as u64, "file");
                    let failure = Failure::new(Exit::Failed, format!("could not read or write {files}"));
                    Err(failure
                        .hint("the reason is printed beside each file; all other files were processed"))
                }
            }
        }
        TreeVerb::Pending { limit } => {
            let request = TreePendingRequest {
                workspace: session.workspace()?,
                limit,
            };
            let answer = session.call_patiently(request)?;
            if answer.jobs.is_empty() {
                out.remark("no node needs a summary");
            }
            out.answer(&answer, render::pending)
        }
        TreeVerb::Submit {
            node,
            file,
            source_digest,
        } => {
            let workspace = session.workspace()?;
            let too_long = "to see the maximum number of tokens of each summary: hippoctl tree pending";
            let body = input::text(file.as_deref(), MAX_BODY_BYTES, too_long, out)?;
            if body.trim().is_empty() {
                let what = format!("the text for the node {node} is empty");
                return Err(Failure::new(Exit::Usage, what).hint(format!(
                    "give a file, or redirect one: hippoctl tree submit {node} FILE; to see the current \
                     text: hippoctl tree show {node}"
                )));
            }
            let request = TreeSubmitRequest {
                workspace,
                node,
                body,
                source_digest,
            };
            let answer = session.call_patiently(request)?;
            out.answer(&answer, render::submitted)
        }
        TreeVerb::Show { node } => {
            let request = TreeShowRequest {
                workspace: session.workspace()?,
                node,
            };
            let answer = session.call_patiently(request)?;
            if answer.stale {
                out.remark(
                    "the sources of the node have changed since the node was created; to create it again: \
                     hippoctl tree compact",
                );
            }
            out.answer(&answer, |answer, _| crate::render::harmless(&answer.body))
        }
    }
}
