//! `search`: what does the memory say?

use hippo_proto::{SearchRequest, SearchResponse};

use crate::args::SearchArgs;
use crate::connect::Session;
use crate::failure::Failure;
use crate::output::Output;
use crate::render;

/// Searches the workspace.
///
/// # Errors
/// No workspace, or the daemon refuses.
pub fn search(session: &mut Session, args: SearchArgs, out: &mut Output) -> Result<(), Failure> {
    let SearchArgs {
        query,
        limit,
        mode,
        budget,
        min_score,
        path,
        since,
        until,
        agent,
        explain,
        no_record,
    } = args;
    let request = SearchRequest {
        workspace: session.workspace()?,
        query: query.join(" "),
        mode: mode.map(Into::into),
        limit,
        budget_tokens: budget,
        min_score,
        path,
        since,
        until,
        agent,
        explain,
        record: !no_record,
    };
    let answer: SearchResponse = session.call(request)?;
    if !out.json {
        for note in render::search::notes(&answer) {
            out.note(&note);
        }
    }
    out.answer(&answer, render::search::search)
}
