//! `search`: search in the memory.

use hippo_proto::SearchRequest;

use crate::connect::DaemonSession;
use crate::failure::Failure;
use crate::output::Output;
use crate::render;
use hippoctl::args::SearchArgs;

/// Searches the memory of the workspace, and prints the results.
///
/// # Errors
/// Fails if no workspace is found, or if the daemon refuses the request.
pub fn search(session: &mut DaemonSession, args: SearchArgs, out: &mut Output) -> Result<(), Failure> {
    let request = SearchRequest {
        workspace: session.workspace()?,
        query: args.query.join(" "),
        mode: args.mode,
        limit: args.limit,
        budget_tokens: args.budget,
        min_score: args.min_score,
        path: args.path,
        since: args.since,
        until: args.until,
        explain: args.explain,
        record: args.record,
    };
    let answer = session.call(request)?;
    for note in render::search::notes(&answer) {
        out.remark(&note);
    }
    out.answer(&answer, render::search::search)
}
