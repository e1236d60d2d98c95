//! `context`: sparse context of a running session.

use hippo_proto::{
    ContextCloseRequest, ContextEncoding, ContextFetchRequest, ContextListRequest, ContextOpenRequest,
    ContextPutLifecycle, ContextPutModifiers, ContextPutRequest, ContextRenderRequest, ContextTurnRequest,
    MAX_CONTENT_BYTES,
};

use super::input;
use crate::connect::DaemonSession;
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::render::context as render;
use crate::render::one_line;
use hippoctl::args::{ContextListArgs, ContextPutArgs, ContextRenderArgs, ContextTurnArgs, ContextVerb};

/// The hint for content that is larger than the limit.
const TOO_LONG: &str = "store the content in a file, and put only the relevant part, with that file as its \
                        source";

/// Runs a verb of `context`.
///
/// # Errors
/// Fails without a workspace, if the session or the entry is unknown, if the content is not available, or if the
/// daemon refuses.
pub fn context(session: &mut DaemonSession, verb: ContextVerb, out: &mut Output) -> Result<(), Failure> {
    match verb {
        ContextVerb::Open { agent, session: id } => open(session, agent, id, out),
        ContextVerb::Put(args) => put(session, args, out),
        ContextVerb::Turn(args) => turn(session, args, out),
        ContextVerb::Render(args) => show(session, args, out),
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

/// Opens a session. Prints only its id, for use in scripts.
fn open(
    session: &mut DaemonSession,
    agent: Option<String>,
    id: Option<String>,
    out: &mut Output,
) -> Result<(), Failure> {
    let request = ContextOpenRequest {
        workspace: session.workspace()?,
        agent,
        session: id,
    };
    let answer = session.call(request)?;
    out.remark(&render::opened(&answer));
    out.answer(&answer, |answer, _| format!("{}\n", one_line(&answer.session)))
}

fn put(session: &mut DaemonSession, args: ContextPutArgs, out: &mut Output) -> Result<(), Failure> {
    let modifiers = ContextPutModifiers {
        priority: args.priority,
        encoding: args.manual.then_some(ContextEncoding::Manual),
        ..ContextPutModifiers::default()
    };
    let lifecycle = args.persist.then(|| ContextPutLifecycle {
        persist: Some(true),
        ..ContextPutLifecycle::default()
    });
    let request = ContextPutRequest {
        session: args.session,
        turn: args.turn,
        type_: args.type_,
        source: args.source,
        content: input::text(args.file.as_deref(), MAX_CONTENT_BYTES, TOO_LONG, out)?,
        summary: args.summary,
        modifiers: (modifiers != ContextPutModifiers::default()).then_some(modifiers),
        lifecycle,
        error: args.error,
        ..ContextPutRequest::default()
    };
    let answer = session.call(request)?;
    out.notes(&answer.notes);
    out.answer(&answer, render::put)
}

fn turn(session: &mut DaemonSession, args: ContextTurnArgs, out: &mut Output) -> Result<(), Failure> {
    let request = ContextTurnRequest {
        session: args.session,
        turn: args.turn,
        context_tokens: args.context_tokens,
        context_limit: args.context_limit,
    };
    let answer = session.call(request)?;
    out.notes(answer.note.as_slice());
    out.answer(&answer, render::turn)
}

/// Prints only the section, because scripts insert the output into a prompt.
fn show(session: &mut DaemonSession, args: ContextRenderArgs, out: &mut Output) -> Result<(), Failure> {
    let request = ContextRenderRequest {
        session: args.session,
        budget_tokens: args.budget,
        cue: args.cue,
    };
    let answer = session.call(request)?;
    out.notes(&answer.notes);
    out.remark(&render::shown(&answer));
    out.answer(&answer, |answer, _| answer.markdown.clone())
}

/// Prints only the content, byte for byte.
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
