//! End of a session: `context.close`.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use hippo_context::lifecycle::{SessionEntry, Trigger};
use hippo_proto::{
    ContextCloseRequest, ContextCloseResponse, ContextPersisted, ErrorKind, RememberRequest, RpcError,
};
use hippo_store::contexts::SessionRow;
use hippo_types::time::Timestamp;

use super::Contexts;
use super::session::changed;
use super::sources;
use super::{LocatedSession, now, owner, refusal};
use crate::clock::rfc3339;
use crate::tasks::run_blocking_on;

/// Maximum number of rounds of a close. Each round writes the entries that other clients added during the previous
/// one.
const ROUNDS: usize = 20;

/// Entries to write to long-term memory.
struct LastingEntries {
    root: PathBuf,
    session: SessionRow,
    ids: Vec<String>,
    texts: Vec<String>,
}

/// Progress of closing a session.
enum CloseStep {
    /// These entries must be written first.
    Leaving(LastingEntries),
    /// The session is closed.
    Closed {
        session: SessionRow,
        already: bool,
        not_persisted: usize,
    },
}

/// Closes a session. Lasting entries are written to the log of the day first, and only then marked as persisted.
/// Entries that other clients add in the meantime are included.
///
/// # Errors
/// Returns `not-found` for an unknown session, `conflict` if clients keep adding entries, and the errors of `remember`.
/// After an error, the session stays open; closing it again resumes the work.
pub async fn close(
    contexts: &Arc<Contexts>,
    request: ContextCloseRequest,
) -> Result<ContextCloseResponse, RpcError> {
    let mut persisted = Vec::new();
    let mut notes = Vec::new();
    let mut written = Vec::new();
    for _ in 0..ROUNDS {
        let id = request.session.clone();
        let step = run_blocking_on(contexts, move |contexts| step(contexts, &id, &written));
        let leaving = match step.await? {
            CloseStep::Closed {
                session,
                already,
                not_persisted,
            } => {
                if not_persisted > 0 {
                    notes.push(format!(
                        "{not_persisted} further entries that should last were not written to long-term memory, because the \
                         session reached the maximum; they stay in the record of the session"
                    ));
                }
                return Ok(ContextCloseResponse {
                    entries: session.entries,
                    persisted,
                    closed_at: rfc3339(Timestamp(session.closed_ms.unwrap_or_default())),
                    already,
                    notes,
                    session: session.id,
                });
            }
            CloseStep::Leaving(leaving) => leaving,
        };
        let lines = leaving.texts.iter().map(|text| format!("- {text}"));
        let viewer = owner(&leaving.session);
        let request = RememberRequest {
            workspace: leaving.root.display().to_string(),
            text: lines.collect::<Vec<_>>().join("\n"),
            topic: Some(topic(&leaving.session)),
            tags: Some(vec!["session".to_owned()]),
            private: viewer.0.is_some(),
            ..RememberRequest::default()
        };
        let said = contexts.memory.remember(&viewer, request).await?;
        notes.extend(said.notes);
        let first = said.start_line + 2;
        persisted.extend(
            leaving
                .ids
                .iter()
                .zip(first..)
                .map(|(id, line)| ContextPersisted {
                    id: id.clone(),
                    path: said.path.clone(),
                    line: Some(line),
                }),
        );
        written = leaving.ids;
    }
    Err(RpcError::new(
        ErrorKind::Conflict,
        format!("other clients keep writing to the session {}", request.session),
    )
    .hint("try again when the agent of the session has finished; until then, the entries of the session are kept"))
}

fn topic(session: &SessionRow) -> String {
    match &session.agent {
        Some(agent) => format!("Session {} of {agent}", session.id),
        None => format!("Session {}", session.id),
    }
}

/// Marks the written entries as persisted. Closes the session, unless more entries have to be written.
fn step(contexts: &Contexts, id: &str, written: &[String]) -> Result<CloseStep, RpcError> {
    let LocatedSession { view, place, session } = contexts.home(id)?;
    let mut held = place.held()?;
    let (store, sessions) = held.parts()?;
    if session.closed_ms.is_none() {
        sources::refresh(contexts, &view, (&mut *store, &mut *sessions), id)?;
        let entries = sessions.entries(store, id)?;
        let wrote: Vec<SessionEntry> = entries
            .kept
            .iter_mut()
            .filter(|kept| written.contains(&kept.entry.id))
            .map(|kept| {
                kept.persisted = true;
                kept.clone()
            })
            .collect();
        let plan = entries.plan(Trigger::SessionEnd, session.turn, session.turn);
        let texts = plan.persist.iter().filter_map(|persist| {
            let entry = &entries.kept.get(persist.at)?.entry;
            Some((entry.id.clone(), persist.text.clone()))
        });
        let (ids, texts): (Vec<_>, Vec<_>) = texts.unzip();
        if !ids.is_empty() {
            sessions
                .update(store, id, &wrote, now(contexts))
                .map_err(refusal)?;
            return Ok(CloseStep::Leaving(LastingEntries {
                root: view.root.clone(),
                session,
                ids,
                texts,
            }));
        }
        let not_persisted = plan.not_persisted;
        // The changed entries of the plan replace the persisted entries with the same id.
        let mut last: BTreeMap<String, SessionEntry> = wrote
            .into_iter()
            .map(|kept| (kept.entry.id.clone(), kept))
            .collect();
        let moved = changed(entries, &plan).into_iter();
        last.extend(moved.map(|kept| (kept.entry.id.clone(), kept)));
        let last: Vec<SessionEntry> = last.into_values().collect();
        sessions.forget(id);
        store.update_entries(&last, now(contexts)).map_err(refusal)?;
        let (session, already) = store.close_session(id, now(contexts)).map_err(refusal)?;
        return Ok(CloseStep::Closed {
            session,
            already,
            not_persisted,
        });
    }
    Ok(CloseStep::Closed {
        session,
        already: true,
        not_persisted: 0,
    })
}
