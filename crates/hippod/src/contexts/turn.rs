//! Turns of a session: `context.turn`, `context.render`, `context.touch`, `context.list`.

use hippo_context::lifecycle::Trigger;
use hippo_context::render as core;
use hippo_proto::{
    ContextListRequest, ContextListResponse, ContextListed, ContextMove, ContextRenderRequest,
    ContextRenderResponse, ContextSession, ContextTouchRequest, ContextTouchResponse, ContextTurnRequest,
    ContextTurnResponse, RpcError, Viewer,
};
use hippo_store::contexts::{ContextReader, SessionRow};
use hippo_types::context::{ContextEntry, ContextState};
use hippo_types::time::Timestamp;

use super::Contexts;
use super::session::changed;
use super::sources::{self, SourceReader};
use super::{LocatedSession, earlier, now, owner, refusal};
use crate::clock::rfc3339;
use crate::view::WorkspaceView;

/// Maximum number of dormant entries that one cue reactivates.
const BROUGHT_BACK: usize = 5;
/// Share of a cue's words, weighted by rarity, that an entry must contain to be reactivated.
pub(super) const STRONG_CUE: f32 = 0.6;
/// If at least this share of the context window is used, the end of a turn runs a deep cycle.
const THRESHOLD: f64 = 0.8;
/// Default maximum size of a rendered section in tokens.
const RENDER_TOKENS: u32 = 5_000;
/// Default maximum number of entries or sessions in one answer.
const LISTED: usize = 10_000;

/// Records the end of a turn.
///
/// # Errors
/// Returns `not-found` for an unknown session, `conflict` for a closed session, `internal` otherwise.
pub fn turn(contexts: &Contexts, request: &ContextTurnRequest) -> Result<ContextTurnResponse, RpcError> {
    let LocatedSession { place, .. } = contexts.home(&request.session)?;
    let mut held = place.held()?;
    let (store, sessions) = held.parts()?;
    let highest = store
        .advance(&request.session, request.turn, now(contexts))
        .map_err(refusal)?;
    let entries = sessions.entries(store, &request.session)?;
    let trigger = Trigger::of_turn(request.context_tokens, request.context_limit, THRESHOLD);
    let plan = entries.plan(trigger, request.turn, highest);
    let moved: Vec<ContextMove> = plan
        .moved
        .iter()
        .filter_map(|step| {
            Some(ContextMove {
                id: entries.kept.get(step.at)?.entry.id.clone(),
                from: step.from,
                to: step.to,
            })
        })
        .collect();
    let changed = changed(entries, &plan);
    sessions
        .update(store, &request.session, &changed, now(contexts))
        .map_err(refusal)?;
    Ok(ContextTurnResponse {
        turn: plan.turn,
        active: plan.count(ContextState::Active) as u64,
        dormant: plan.count(ContextState::Dormant) as u64,
        expired: plan.count(ContextState::Expired) as u64,
        tokens: plan.tokens,
        cycle: trigger.cycle(),
        moved,
        note: plan.went_back.then(|| {
            let (given, turn) = (request.turn, plan.turn);
            format!(
                "turn {turn} was already reported, so the request for the earlier turn {given} counts as \
                 turn {turn}"
            )
        }),
    })
}

/// Returns a section for the prompt that contains the session's active entries.
///
/// # Errors
/// Returns `not-found` for an unknown session, `internal` otherwise.
pub fn render(
    contexts: &Contexts,
    request: &ContextRenderRequest,
) -> Result<ContextRenderResponse, RpcError> {
    let LocatedSession { view, place, session } = contexts.home(&request.session)?;
    let mut held = place.held()?;
    let (store, sessions) = held.parts()?;
    if session.closed_ms.is_none() {
        sources::refresh(contexts, &view, (&mut *store, &mut *sessions), &session.id)?;
    }
    let entries = sessions.entries(store, &session.id)?;
    let mut notes = Vec::new();
    let mut earlier = Vec::new();
    if let Some(cue) = request.cue.as_deref().filter(|_| session.closed_ms.is_none()) {
        let dormant = |id: &str| {
            let kept = entries.position(id).and_then(|at| entries.kept.get(at));
            kept.is_some_and(|kept| kept.shown == ContextState::Dormant)
        };
        let hits = store
            .read()
            .search(&session.id, cue, BROUGHT_BACK, dormant)
            .map_err(refusal)?;
        if view.config.context.earlier_sessions {
            let (own, zone) = (owner(&session), view.zone(&*contexts.clock));
            let found = {
                let reader = SourceReader::new(&view, Some(&session));
                earlier::matching(store.read(), &reader, (&own, entries), cue, &zone)
            };
            earlier = found.map_err(refusal)?;
        }
        let meant = hits.iter().filter(|hit| hit.score >= STRONG_CUE);
        let back: Vec<usize> = meant.filter_map(|hit| entries.position(&hit.id)).collect();
        let mut touched = Vec::new();
        for at in back {
            if let Some(kept) = entries.kept.get_mut(at) {
                kept.touch(session.turn);
                notes.push(format!("the cue reactivated {}", kept.entry.id));
                touched.push(kept.clone());
            }
        }
        if let Err(error) = sessions.update(store, &session.id, &touched, now(contexts)) {
            // The section is returned even if the changes cannot be stored.
            notes = vec![format!(
                "could not reactivate the entries that match the cue: {error}"
            )];
        }
    }
    let entries = sessions.entries(store, &session.id)?;
    let plan = entries.plan(Trigger::TurnComplete, session.turn, session.turn);
    let budget = request.budget_tokens.unwrap_or(RENDER_TOKENS);
    let all: Vec<&ContextEntry> = entries.kept.iter().map(|kept| &kept.entry).collect();
    let count = |text: &str| hippo_types::tokens::of(text) as u64;
    let least = |at: usize| entries.size(at);
    let (strengths, states) = (&plan.strengths, &plan.states);
    let mut section = core::render(&all, strengths, states, budget.into(), count, least);
    let mut shown = core::shown_entries(&section, &all, strengths, count);
    shown.extend(core::append_earlier(&mut section, &earlier, budget.into(), count));
    Ok(ContextRenderResponse {
        entries: shown,
        markdown: section.text,
        tokens: section.tokens,
        left_out: section.left_out as u64,
        dormant: section.dormant as u64,
        retrievable_tokens: entries.contents.iter().map(|(_, tokens)| tokens).sum(),
        notes,
    })
}

/// Counts an access to an entry.
///
/// # Errors
/// Returns `not-found` for an unknown session or entry, `conflict` for a closed session, `internal` otherwise.
pub fn touch(contexts: &Contexts, request: &ContextTouchRequest) -> Result<ContextTouchResponse, RpcError> {
    let LocatedSession { place, session, .. } = contexts.home(&request.session)?;
    let turn = request.turn.unwrap_or(session.turn).max(session.turn);
    let mut held = place.held()?;
    let (store, sessions) = held.parts()?;
    let entries = sessions.entries(store, &session.id)?;
    let at = entries
        .position(&request.id)
        .ok_or_else(|| unknown(&request.id, &session))?;
    let mut kept = entries.kept[at].clone();
    kept.touch(turn);
    store
        .update_entries(std::slice::from_ref(&kept), now(contexts))
        .map_err(refusal)?;
    let entry = kept.entry.clone();
    entries.kept[at] = kept;
    Ok(ContextTouchResponse { entry })
}

/// Returns the error for an unknown entry id.
pub(super) fn unknown(id: &str, session: &SessionRow) -> RpcError {
    RpcError::not_found(format!("the session {} has no entry {id}", session.id)).hint(format!(
        "to list the entries of the session: hippoctl context list --session {}",
        session.id
    ))
}

/// Lists the sessions, or the entries of one session.
///
/// # Errors
/// Returns `not-found` for an unknown session, `internal` otherwise.
pub fn list(
    contexts: &Contexts,
    viewer: &Viewer,
    only: Option<&WorkspaceView>,
    request: &ContextListRequest,
) -> Result<ContextListResponse, RpcError> {
    let limit = request.limit.map_or(LISTED, |limit| limit as usize);
    let Some(id) = &request.session else {
        return sessions(contexts, viewer, only, limit);
    };
    let LocatedSession { view, place, session } = contexts.home(id)?;
    let mut held = place.held()?;
    let (store, sessions) = held.parts()?;
    if session.closed_ms.is_none() {
        sources::refresh(contexts, &view, (&mut *store, &mut *sessions), id)?;
    }
    let entries = sessions.entries(store, id)?;
    let turn = request.at_turn.unwrap_or(session.turn);
    let plan = entries.plan(Trigger::TurnComplete, turn, 0);
    let mut shown: Vec<_> = entries
        .kept
        .iter()
        .zip(&plan.strengths)
        .zip(&plan.states)
        .collect();
    shown.sort_by(|((kept, strength), _), ((other, weaker), _)| {
        weaker
            .total_cmp(strength)
            .then_with(|| kept.entry.id.cmp(&other.entry.id))
    });
    let listed = shown.into_iter().map(|((kept, strength), state)| ContextListed {
        entry: ContextEntry {
            strength: *strength,
            ..kept.entry.clone()
        },
        state: *state,
    });
    Ok(ContextListResponse {
        sessions: None,
        entries: Some(listed.take(limit).collect()),
        turn: Some(turn),
        total: entries.kept.len() as u64,
    })
}

fn sessions(
    contexts: &Contexts,
    viewer: &Viewer,
    only: Option<&WorkspaceView>,
    limit: usize,
) -> Result<ContextListResponse, RpcError> {
    let mut all: Vec<(i64, ContextSession)> = Vec::new();
    for view in contexts.views.open() {
        if only.is_some_and(|only| only.root != view.root) {
            continue;
        }
        let place = contexts.database_of(&view.root);
        let found = match place.read(ContextReader::sessions) {
            Ok(found) => found.unwrap_or_default(),
            // The other workspaces are still listed; `doctor` reports the unreadable one.
            Err(error) if only.is_none() => {
                tracing::warn!(root = %view.root.display(), error = error.message, "could not list the sessions of a \
                    workspace");
                continue;
            }
            Err(error) => return Err(error),
        };
        let moment = |at: i64| rfc3339(Timestamp(at));
        let found = found.into_iter();
        let found = found.filter(|session| viewer.sees(&owner(session).own_scope()));
        all.extend(found.map(|session| {
            let told = ContextSession {
                session: session.id,
                workspace: view.root.display().to_string(),
                agent: session.agent,
                turn: session.turn,
                entries: session.entries,
                opened: moment(session.opened_ms),
                used: moment(session.last_used_ms),
                closed: session.closed_ms.map(moment),
            };
            (session.last_used_ms, told)
        }));
    }
    all.sort_by_key(|(used, _)| std::cmp::Reverse(*used));
    let total = all.len() as u64;
    let told = all.into_iter().take(limit).map(|(_, session)| session);
    Ok(ContextListResponse {
        sessions: Some(told.collect()),
        entries: None,
        turn: None,
        total,
    })
}
