//! What remains of a session that is over: `context.close`?

use std::sync::Arc;

use hippo_core::context::lifecycle::{Kept, Trigger};
use hippo_core::time::Timestamp;
use hippo_proto::{ContextCloseRequest, ContextCloseResponse, ContextPersisted, RememberRequest, RpcError};
use hippo_store::contexts::Session;

use super::{Home, now, refusal};
use crate::clock::rfc3339;
use crate::recall::gone;
use crate::server::remember;
use crate::shared::Shared;

/// What is to be written into long-term memory.
struct Leaving {
    home: Home,
    kept: Vec<Kept>,
    texts: Vec<String>,
    not_persisted: usize,
}

/// Ends a session. What is worth it goes into the log of today first, and counts as written only then.
///
/// # Errors
/// `not-found`; those of `remember`: the session stays open then, and closing it again goes on.
pub async fn close(
    shared: &Arc<Shared>,
    request: ContextCloseRequest,
) -> Result<ContextCloseResponse, RpcError> {
    let (of, id) = (Arc::clone(shared), request.session.clone());
    let leaving = tokio::task::spawn_blocking(move || leaving(&of, &id));
    let leaving = leaving.await.map_err(gone)??;
    let mut persisted = Vec::new();
    let mut notes = Vec::new();
    if leaving.not_persisted > 0 {
        let more = leaving.not_persisted;
        notes.push(format!(
            "{more} more entries are worth keeping; they stay in the session's record"
        ));
    }
    if !leaving.kept.is_empty() {
        let lines: Vec<String> = leaving.texts.iter().map(|text| format!("- {text}")).collect();
        let written = remember(
            shared,
            RememberRequest {
                workspace: leaving.home.view.root.display().to_string(),
                text: lines.join("\n"),
                topic: Some(topic(&leaving.home.session)),
                tags: Some(vec!["session".to_owned()]),
                ..RememberRequest::default()
            },
        )
        .await?;
        notes.extend(written.notes);
        let first = written.start_line + 2;
        persisted.extend(
            leaving
                .kept
                .iter()
                .zip(first..)
                .map(|(kept, line)| ContextPersisted {
                    id: kept.entry.id.clone(),
                    path: written.path.clone(),
                    line: Some(line),
                }),
        );
    }
    let of = Arc::clone(shared);
    let ended = tokio::task::spawn_blocking(move || end(&of, leaving));
    let (session, already) = ended.await.map_err(gone)??;
    Ok(ContextCloseResponse {
        entries: session.entries,
        persisted,
        closed_at: rfc3339(Timestamp(session.closed_ms.unwrap_or_default())),
        already,
        notes,
        session: session.id,
    })
}

fn topic(session: &Session) -> String {
    match &session.agent {
        Some(agent) => format!("Session {} of {agent}", session.id),
        None => format!("Session {}", session.id),
    }
}

fn leaving(shared: &Shared, id: &str) -> Result<Leaving, RpcError> {
    let home = shared.contexts.home(shared, id)?;
    let (mut kept, mut texts, mut not_persisted) = (Vec::new(), Vec::new(), 0);
    if home.session.closed_ms.is_none() {
        let mut held = home.place.held()?;
        let (store, sessions) = held.parts()?;
        let entries = sessions.entries(store, id)?;
        let turn = home.session.turn;
        let plan = entries.plan(Trigger::SessionEnd, turn, turn);
        not_persisted = plan.not_persisted;
        plan.apply(&mut entries.kept);
        for persist in &plan.persist {
            kept.extend(entries.kept.get(persist.at).cloned());
            texts.push(persist.text.clone());
        }
        // They count as written when they are.
        sessions.forget(id);
    }
    Ok(Leaving {
        home,
        kept,
        texts,
        not_persisted,
    })
}

fn end(shared: &Shared, leaving: Leaving) -> Result<(Session, bool), RpcError> {
    let Home { view, place, session } = leaving.home;
    let mut held = place.held()?;
    let (store, sessions) = held.parts()?;
    sessions.forget(&session.id);
    if !leaving.kept.is_empty() {
        store
            .update_entries(&leaving.kept, now(shared))
            .map_err(refusal)?;
    }
    let closed = store.close_session(&session.id, now(shared)).map_err(refusal)?;
    let settings = &view.config.context;
    if let Err(error) = store.trim(settings.budget_bytes(), settings.keep_days, now(shared)) {
        tracing::warn!(%error, "contents past their time could not be forgotten");
    }
    Ok((closed.session, closed.already))
}
