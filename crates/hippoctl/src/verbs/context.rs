//! `context`: sessions, context entries and their contents.

use hippo_proto::{ContextCloseRequest, ContextFetchRequest, ContextListRequest};

use crate::connect::DaemonSession;
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::render::context as render;
use crate::render::one_line;
use hippoctl::args::{ContextListArgs, ContextVerb};

/// Runs a verb of `context`.
///
/// # Errors
/// Fails if no workspace is found, if the session or the entry is unknown, if the content is not available, or if the
/// daemon refuses the request.
pub fn context(session: &mut DaemonSession, verb: ContextVerb, out: &mut Output) -> Result<(), Failure> {
    match verb {
        ContextVerb::Fetch { id, session: of } => fetch(session, id, of, out),
        ContextVerb::List(args) => list(session, args, out),
        ContextVerb::Close { session: id } => {
            let request = ContextCloseRequest { session: id };
            let answer = session.call_patiently(request)?;
            out.notes(&answer.notes);
            out.answer(&answer, render::closed)
        }
    }
}

/// Prints only the content of an entry. In a pipe or a file, every byte is unchanged.
fn fetch(
    session: &mut DaemonSession,
    id: String,
    of: Option<String>,
    out: &mut Output,
) -> Result<(), Failure> {
    let request = ContextFetchRequest {
        session: of,
        id: id.clone(),
    };
    let answer = session.call(request)?;
    let reason = answer.reason.as_deref().map(one_line).unwrap_or_default();
    if out.json {
        out.answer(&answer, |_, _| String::new())?;
    } else if let Some(content) = &answer.content {
        out.data(content.as_bytes())?;
        if let Some(note) = render::fetched(&answer) {
            out.note(&note);
        }
    }
    if answer.content.is_some() {
        return Ok(());
    }
    if out.json {
        return Err(Failure::silent(Exit::NotFound));
    }
    if let Some(left) = render::render_without_content(&answer) {
        out.note(&left);
    }
    let colon = if reason.is_empty() { "" } else { ": " };
    let what = format!("could not get the content of {}{colon}{reason}", one_line(&id));
    Err(Failure::new(Exit::NotFound, what).hint(match answer.summary {
        Some(_) => "only the summary above is left; to get the content again, read its source",
        None => "to list the entries of a session: hippoctl context list --session ID",
    }))
}

fn list(session: &mut DaemonSession, args: ContextListArgs, out: &mut Output) -> Result<(), Failure> {
    let workspace = match args.session.is_some() || args.all {
        true => None,
        false => Some(session.workspace()?),
    };
    let request = ContextListRequest {
        workspace,
        session: args.session,
        at_turn: args.at_turn,
        limit: args.limit,
    };
    let answer = session.call(request)?;
    out.remark(&render::count(&answer));
    out.answer(&answer, |answer, style| render::list(answer, args.all, style))
}
