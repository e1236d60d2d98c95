//! `index list|show|edit|pin|unpin|forget|restore`: entries of the index file.

use hippo_proto::{
    EntryPriority, IndexEditRequest, IndexEditResponse, IndexForgetRequest, IndexForgetResponse,
    IndexListRequest, IndexListResponse, IndexRestoreRequest, IndexRestoreResponse, IndexShowRequest,
    IndexShowResponse,
};

use crate::connect::DaemonSession;
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::render;
use hippoctl::args::{IndexEditArgs, IndexListArgs, IndexVerb};

/// Runs a verb of `index`.
///
/// # Errors
/// Fails without a workspace, for an unknown entry, or if the daemon refuses.
pub fn index(session: &mut DaemonSession, verb: IndexVerb, out: &mut Output) -> Result<(), Failure> {
    let workspace = session.workspace()?;
    match verb {
        IndexVerb::List(args) => list(session, workspace, args, out),
        IndexVerb::Show { id, at } => {
            let request = IndexShowRequest {
                workspace,
                id,
                at: at.clone(),
            };
            let answer: IndexShowResponse = session.call(request)?;
            out.answer(&answer, |answer, style| {
                render::index::show(answer, at.as_deref(), style)
            })
        }
        IndexVerb::Edit(args) => edit(session, "changed", request(workspace, args), out),
        IndexVerb::Pin { id } => {
            let request = pin(workspace, id, true);
            edit(session, "pinned", request, out)
        }
        IndexVerb::Unpin { id } => {
            let shown: IndexShowResponse = session.call(IndexShowRequest {
                workspace: workspace.clone(),
                id: id.clone(),
                at: None,
            })?;
            let what = match shown.entry.priority {
                EntryPriority::Amygdala => "unpinned",
                _ => "not pinned:",
            };
            edit(session, what, pin(workspace, id, false), out)
        }
        IndexVerb::Forget { id } => {
            let answer: IndexForgetResponse = session.call(IndexForgetRequest { workspace, id })?;
            out.answer(&answer, render::index::forgot)
        }
        IndexVerb::Export => export(session, workspace, out),
        IndexVerb::Restore { id } => {
            let answer: IndexRestoreResponse = session.call(IndexRestoreRequest { workspace, id })?;
            out.answer(&answer, |answer, style| {
                render::index::changed("restored", &answer.entry, style)
            })
        }
    }
}

fn list(
    session: &mut DaemonSession,
    workspace: String,
    args: IndexListArgs,
    out: &mut Output,
) -> Result<(), Failure> {
    let request = IndexListRequest {
        workspace,
        at: args.at,
        limit: args.limit,
        archived: args.archived,
    };
    let answer: IndexListResponse = session.call(request)?;
    if !out.json {
        for note in render::index::notes(&answer) {
            out.note(&note);
        }
    }
    out.answer(&answer, render::index::list)
}

/// Prints all entries as JSON.
///
/// # Errors
/// Fails without a workspace, or if the entries are too many for one response.
fn export(session: &mut DaemonSession, workspace: String, out: &mut Output) -> Result<(), Failure> {
    let request = IndexListRequest {
        workspace,
        archived: true,
        ..IndexListRequest::default()
    };
    let answer: IndexListResponse = session.call(request)?;
    out.json = true;
    out.answer(&answer, render::index::list)?;
    match answer.total == answer.entries.len() as u64 {
        true => Ok(()),
        false => Err(Failure::new(
            Exit::Failed,
            format!(
                "printed only the strongest {} out of {} entries",
                answer.entries.len(),
                answer.total
            ),
        )
        .hint("the remaining entries are in HIPPOCAMPUS.md and .hippocampus/archive")),
    }
}

fn edit(
    session: &mut DaemonSession,
    what: &str,
    request: IndexEditRequest,
    out: &mut Output,
) -> Result<(), Failure> {
    let answer: IndexEditResponse = session.call(request)?;
    out.answer(&answer, |answer, style| {
        render::index::changed(what, &answer.entry, style)
    })
}

fn pin(workspace: String, id: String, pinned: bool) -> IndexEditRequest {
    IndexEditRequest {
        workspace,
        id,
        pinned: Some(pinned),
        ..IndexEditRequest::default()
    }
}

fn request(workspace: String, args: IndexEditArgs) -> IndexEditRequest {
    IndexEditRequest {
        workspace,
        id: args.id,
        topic: args.changes.topic,
        summary: args.changes.summary,
        tags: args.changes.tags.map(tags),
        priority: args.changes.priority,
        ..IndexEditRequest::default()
    }
}

/// Removes empty tags, so `--tags ""` removes all tags.
pub fn tags(given: Vec<String>) -> Vec<String> {
    let tags = given.iter().map(|tag| tag.trim());
    tags.filter(|tag| !tag.is_empty()).map(str::to_owned).collect()
}
