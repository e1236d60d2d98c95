//! What remains of a session that is over: `context.close`?

use std::sync::Arc;

use hippo_core::context::lifecycle::{Kept, Settings, Trigger, promoted};
use hippo_core::time::Timestamp;
use hippo_proto::{ContextCloseRequest, ContextCloseResponse, ContextPersisted, RememberRequest, RpcError};
use hippo_store::contexts::Session;

use super::{Home, now, refusal};
use crate::clock::{date_in, rfc3339};
use crate::own_part;
use crate::recall::gone;
use crate::server::remember;
use crate::shared::Shared;

/// The file that agents read at the beginning of every session.
const MEMORY: &str = "MEMORY.md";
/// The block of it that sessions write.
const BLOCK: &str = "sessions";

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
        if leaving.home.view.config.context.persist_to_memory_md {
            notes.extend(promote(shared, &leaving).await?);
        }
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

/// Writes what remains of a session into `MEMORY.md` as well; answers what is to be told of it.
async fn promote(shared: &Arc<Shared>, leaving: &Leaving) -> Result<Option<String>, RpcError> {
    let view = &leaving.home.view;
    let (root, texts) = (view.root.clone(), leaving.texts.clone());
    let today = date_in(shared.clock.now(), &shared.zone_of(view));
    let write = move || {
        let most = Settings::default().persist_tokens;
        own_part::change(&root, MEMORY, BLOCK, |body| promoted(body, today, &texts, most))
    };
    let written = tokio::task::spawn_blocking(write).await.map_err(gone)?;
    // The daily log has it: that is what counts.
    Ok(written
        .err()
        .map(|error| format!("not in {MEMORY}: {}; {}", error.message, error.data.hint)))
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
    let Home { place, session, .. } = leaving.home;
    let mut held = place.held()?;
    let (store, sessions) = held.parts()?;
    sessions.forget(&session.id);
    if !leaving.kept.is_empty() {
        store
            .update_entries(&leaving.kept, now(shared))
            .map_err(refusal)?;
    }
    let closed = store.close_session(&session.id, now(shared)).map_err(refusal)?;
    Ok((closed.session, closed.already))
}
