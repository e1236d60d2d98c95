//! New content in sessions: `context.open` and `context.put`.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::thread;

use hippo_context::capture::{self, CaptureInput, Indexing};
use hippo_context::lifecycle::SessionEntry;
use hippo_proto::folder::Trust;
use hippo_proto::{
    ContextOpenRequest, ContextOpenResponse, ContextPutOutcome, ContextPutRequest, ContextPutResponse,
    ErrorKind, RpcError, Viewer,
};
use hippo_store::contexts::{NewContent, NewEntry, PackedContent, PutOutcome};

use super::Contexts;
use super::session::TrackedEntry;
use super::sources::{self, SourceReader};
use super::{ContextDatabase, LocatedSession, now, owner, policies, refusal};
use crate::view::WorkspaceView;

/// Minimum size in bytes of contents that another thread packs. For smaller contents, starting a thread takes longer
/// than packing.
const LONG: usize = 16 << 10;

/// Opens or resumes a session.
///
/// # Errors
/// Returns `conflict` if the session is closed or belongs to another workspace, `warming` while a workspace that may
/// have it is being opened, `internal` otherwise.
pub fn open(
    contexts: &Contexts,
    viewer: &Viewer,
    view: &WorkspaceView,
    request: &ContextOpenRequest,
) -> Result<ContextOpenResponse, RpcError> {
    let id = match &request.session {
        Some(id) => id.clone(),
        None => format!("s{:016x}", random()),
    };
    if request.session.is_some() {
        match contexts.home(&id) {
            Ok(home) if home.view.root != view.root => {
                let whose = home.view.root.display();
                let what = format!("the session {id} belongs to {whose}");
                return Err(RpcError::new(ErrorKind::Conflict, what)
                    .hint("choose another session id, or omit the id"));
            }
            Ok(home) if !viewer.sees(&owner(&home.session).own_scope()) && viewer.0.is_some() => {
                return Err(
                    RpcError::new(ErrorKind::Conflict, format!("the session id {id} is in use"))
                        .hint("choose another session id, or omit the id"),
                );
            }
            // A workspace that is still being opened may contain this session.
            Err(error) if error.data.kind == ErrorKind::Warming => return Err(error),
            _ => {}
        }
    }
    let place = contexts.database_of(&view.root);
    let (session, resumed) =
        place.write(|store| store.open_session(&id, request.agent.as_deref(), now(contexts)))?;
    Ok(ContextOpenResponse {
        session: session.id,
        turn: session.turn,
        entries: session.entries,
        resumed,
    })
}

/// Puts content into a session.
///
/// # Errors
/// Returns `not-found` for an unknown session, `conflict` for a closed session, `budget` if the store is full,
/// `internal` otherwise. After an error, nothing is stored.
pub fn put(contexts: &Contexts, request: &ContextPutRequest) -> Result<ContextPutResponse, RpcError> {
    let LocatedSession { view, place, session } = contexts.home(&request.session)?;
    let turn = request.turn.max(session.turn);
    let (rules, why) = policies::read(&view.root, &Trust::of(&contexts.state, &view.root));
    let settings = view.config.context.capture();
    let content = request.content.as_bytes();
    let id = format!("ctx-{:010x}", random() >> 24);
    let capture = || capture::capture(&capture_input(request, &id, turn), &rules, &settings);
    let (captured, mut ready) = match content.len() {
        LONG.. => pack_beside(&place, content, capture),
        _ => (capture(), None),
    };
    let mut answer = ContextPutResponse {
        entry: None,
        outcome: ContextPutOutcome::Entry,
        reason: Some(captured.reason),
        rule: captured.rule,
        content_id: None,
        tokens: captured.tokens,
        entry_tokens: captured.entry_tokens,
        notes: why.iter().cloned().collect(),
    };
    let entry = match (captured.indexing, captured.entry) {
        (Indexing::Entry, Some(entry)) => entry,
        (indexing, _) => {
            answer.outcome = match indexing {
                Indexing::Dropped => ContextPutOutcome::Dropped,
                _ => ContextPutOutcome::Passed,
            };
            return Ok(answer);
        }
    };
    let extracted = request.summary.is_none() && request.key_data.is_none();
    let reader = SourceReader::new(&view, Some(&session));
    let file = sources::source_file(&reader, &entry, content, extracted);
    // Pack the content before taking the lock, so that other callers do not wait for the packing.
    if ready.is_none() && captured.store {
        ready = place.ready(content);
    }
    let mut held = place.held()?;
    let (store, sessions) = held.parts()?;
    let new = NewEntry {
        session: &request.session,
        entry: &entry,
        file,
        content: Some(NewContent {
            bytes: content,
            tokens: captured.tokens,
            withhold: !captured.store,
            packed: ready.as_ref(),
        }),
        budget_bytes: view.config.context.budget_bytes(),
        now_ms: now(contexts),
    };
    let entries = sessions.entries(store, &request.session)?;
    match store.put(&new).map_err(refusal)? {
        PutOutcome::Entry { content, .. } => {
            answer.content_id = content.map(|content| content.to_string());
            answer.entry = Some(entry.clone());
            entries.push(TrackedEntry {
                kept: SessionEntry {
                    file,
                    ..SessionEntry::new(entry)
                },
                content,
                tokens: captured.tokens,
            });
        }
        PutOutcome::Known(known) => {
            let mut kept = known.kept.clone();
            let asked = request.summary.is_some()
                || request.key_data.is_some()
                || request.modifiers.is_some()
                || request.lifecycle.is_some();
            kept.renew(entry, file, turn, asked);
            store
                .update_entries(std::slice::from_ref(&kept), now(contexts))
                .map_err(refusal)?;
            answer.outcome = ContextPutOutcome::Known;
            answer.content_id = known.content.map(|content| content.to_string());
            answer.entry = Some(kept.entry.clone());
            if let Some(at) = entries.position(&kept.entry.id) {
                entries.replace(at, kept);
            }
        }
    }
    Ok(answer)
}

/// Runs `work` while another thread packs the content. If no thread can be started, nothing is packed.
fn pack_beside<T>(
    place: &ContextDatabase,
    content: &[u8],
    work: impl FnOnce() -> T,
) -> (T, Option<PackedContent>) {
    thread::scope(|scope| {
        let packing = thread::Builder::new()
            .name("packer".to_owned())
            .spawn_scoped(scope, || place.ready(content));
        let done = work();
        let ready = packing.ok().and_then(|packing| packing.join().ok());
        (done, ready.flatten())
    })
}

/// Returns a random number, from the random keys of a hash map.
fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}

/// Returns the capture input of a put request.
fn capture_input<'a>(request: &'a ContextPutRequest, id: &'a str, turn: u64) -> CaptureInput<'a> {
    let (modifiers, lifecycle) = (request.modifiers.as_ref(), request.lifecycle.as_ref());
    CaptureInput {
        id,
        kind: Some(request.type_),
        source_type: &request.source.type_,
        source_ref: &request.source.reference,
        turn,
        content: &request.content,
        summary: request.summary.as_deref(),
        key_data: request.key_data.as_ref(),
        priority: modifiers.and_then(|modifiers| modifiers.priority),
        encoding: modifiers.and_then(|modifiers| modifiers.encoding),
        associations: modifiers
            .and_then(|modifiers| modifiers.associations.as_deref())
            .unwrap_or_default(),
        expires: lifecycle.and_then(|lifecycle| lifecycle.expires),
        persist: lifecycle.and_then(|lifecycle| lifecycle.persist),
        error: request.error,
    }
}
