//! Retrieval of full content: `context.fetch`.

use std::sync::Arc;

use hippo_context::complete::{self, Completion, CompletionSources};
use hippo_proto::{ContextFetchRequest, ContextFetchResponse, ErrorKind, RpcError, Viewer};
use hippo_session::compaction;
use hippo_store::contexts::{
    ContentId, ContentPrefix, ContextReader, KeptEntry, Lookup, StoredContent, UnavailableReason,
};
use hippo_types::context::ContextEntry;
use hippo_types::time::DAY_MS;

use super::Contexts;
use super::sources::{self, SourceReader};
use super::turn::unknown;
use super::{ContextDatabase, LocatedSession, now, owner, refusal};
use crate::clock::rfc3339;
use crate::view::WorkspaceView;

/// Handles `context.fetch`.
///
/// # Errors
/// Returns `not-found` for an unknown id, `conflict` for an ambiguous prefix, `internal` if a database cannot be read.
/// If the content was removed from the store, the result is not an error.
pub fn fetch(
    contexts: &Contexts,
    viewer: &Viewer,
    request: &ContextFetchRequest,
) -> Result<ContextFetchResponse, RpcError> {
    if let Some(session) = &request.session {
        let LocatedSession { view, place, session } = contexts.home(session)?;
        if let Some(name) = content_name(&request.id)? {
            return content(&[place], name, &request.id, now(contexts));
        }
        let found = place.read(|reader| reader.entry(&request.id))?.flatten();
        // An entry of a closed session can be part of the rendered section.
        let found = found.filter(|entry| {
            entry.session == session.id || !entry.open && belongs_to(&place, entry, &owner(&session))
        });
        let found = found.ok_or_else(|| unknown(&request.id, &session))?;
        return entry(contexts, &view, &place, found);
    }
    let views = contexts.views.open();
    let place_of = |view: &Arc<WorkspaceView>| contexts.database_of(&view.root);
    if let Some(name) = content_name(&request.id)? {
        let places: Vec<Arc<ContextDatabase>> = views.iter().map(place_of).collect();
        return content(&places, name, &request.id, now(contexts));
    }
    let mut unreadable = None;
    for view in &views {
        let place = place_of(view);
        match place.read(|reader| reader.entry(&request.id)) {
            Ok(Some(Some(found))) if belongs_to(&place, &found, viewer) => {
                return entry(contexts, view, &place, found);
            }
            Ok(_) => {}
            Err(error) => unreadable = Some(error),
        }
    }
    Err(unreadable.unwrap_or_else(|| nothing(&request.id)))
}

/// Returns whether a reader may see an entry: whether its session belongs to no agent, or to the reader.
fn belongs_to(place: &ContextDatabase, entry: &KeptEntry, viewer: &Viewer) -> bool {
    let session = place.read(|reader| reader.session(&entry.session));
    let session = session.ok().flatten().flatten();
    session.is_some_and(|session| viewer.sees(&owner(&session).own_scope()))
}

fn nothing(id: &str) -> RpcError {
    RpcError::not_found(format!("no such entry or content: {id}")).hint(
        "the id of an entry begins with ctx-, and the id of a content with b3: or m; `hippoctl context list` \
         shows the entries; if the workspace was removed, add it again",
    )
}

/// Parses the id of content: `b3:…`, or the form that summaries of sessions cite. Returns `None` for other ids.
fn content_name(id: &str) -> Result<Option<ContentPrefix>, RpcError> {
    if id.starts_with("b3:") {
        return id.parse().map(Some).map_err(refusal);
    }
    let cited = compaction::ShortContentId::parse(id);
    Ok(cited.map(|id| ContentPrefix::of_bits(id.bits(), compaction::ShortContentId::BITS)))
}

/// Returns content by its id alone.
fn content(
    places: &[Arc<ContextDatabase>],
    name: ContentPrefix,
    id: &str,
    now: i64,
) -> Result<ContextFetchResponse, RpcError> {
    let (mut gone, mut unreadable) = (None, None);
    let complete = |stored: Result<&[u8], &str>, id: ContentId| {
        let hash = id.to_string();
        let completion = complete::complete(&CompletionSources {
            stored,
            source: Err("the id is a content id, and only entries have a source"),
            follows_source: false,
            stored_hash: Some(&hash),
            summary: "",
            key_data: None,
        });
        fetched(completion, None, "")
    };
    for place in places {
        let found = place.read(|reader| reader.content(name)).unwrap_or_else(|error| {
            unreadable = Some(error);
            None
        });
        match found {
            Some(Lookup::Kept(content)) => {
                used(place, &content, now);
                return Ok(complete(Ok(&content.bytes), content.id));
            }
            Some(Lookup::Gone { id, why }) => gone = Some((id, reason(&why))),
            Some(Lookup::Ambiguous) => {
                return Err(RpcError::new(
                    ErrorKind::Conflict,
                    format!("the ids of several contents begin with {id}"),
                )
                .hint(
                    "give more digits of the id; an id that begins with m may have no more digits: in that \
                     case, search the transcript for the text of the message",
                ));
            }
            Some(Lookup::Unknown) | None => {}
        }
    }
    let (whole, why) = gone.ok_or_else(|| unreadable.unwrap_or_else(|| nothing(id)))?;
    Ok(complete(Err(&why), whole))
}

fn entry(
    contexts: &Contexts,
    view: &WorkspaceView,
    place: &ContextDatabase,
    found: KeptEntry,
) -> Result<ContextFetchResponse, RpcError> {
    let stored = match found.content {
        None => Err("the entry was created without content".to_owned()),
        Some(id) => bytes_of(place, id, now(contexts))?,
    };
    let session = place.read(|reader| reader.session(&found.session))?.flatten();
    let reader = SourceReader::new(view, session.as_ref());
    let source = sources::source_now(&reader, &found.kept.entry);
    let hash = found.content.map(|id| id.to_string());
    let mut now_so = found.kept.clone();
    if found.open {
        let mut held = place.held()?;
        let (store, sessions) = held.parts()?;
        let turn = store
            .read()
            .session(&found.session)
            .map_err(refusal)?
            .map_or(0, |session| session.turn);
        sources::refresh(contexts, view, (&mut *store, &mut *sessions), &found.session)?;
        let entries = sessions.entries(store, &found.session)?;
        if let Some(at) = entries.position(&found.kept.entry.id) {
            let mut kept = entries.kept[at].clone();
            kept.touch(turn);
            match store.update_entries(std::slice::from_ref(&kept), now(contexts)) {
                Ok(()) => {
                    entries.kept[at] = kept.clone();
                    now_so = kept;
                }
                // The content is returned even if the access cannot be recorded.
                Err(error) => tracing::warn!(%error, "could not record the access to an entry"),
            }
        }
    }
    let at_hand = CompletionSources {
        stored: stored.as_deref().map_err(String::as_str),
        source: source.as_deref().map_err(String::as_str),
        follows_source: sources::follows_source(&reader, &now_so, found.open),
        stored_hash: hash.as_deref(),
        summary: &now_so.entry.summary,
        key_data: now_so.entry.key_data.as_ref(),
    };
    let completion = complete::complete(&at_hand);
    let mut told = now_so.entry.clone();
    if found.content.is_some() {
        told.source.retrievable &= completion.content.is_some();
    }
    Ok(fetched(completion, Some(told), &now_so.entry.summary))
}

/// Records the use of content, at most once a day, because the retention period begins at the last use. Contents of
/// open sessions are always retained.
fn used(place: &ContextDatabase, content: &StoredContent, now: i64) {
    if now.saturating_sub(content.used_ms) < DAY_MS {
        return;
    }
    let noted = place.write(|store| store.use_contents(&[content.id], now));
    // The content is returned even if this fails.
    if let Err(error) = noted {
        tracing::warn!(error = error.message, "could not record the use of a content");
    }
}

fn bytes_of(place: &ContextDatabase, id: ContentId, now: i64) -> Result<Result<Vec<u8>, String>, RpcError> {
    let ask = |reader: &ContextReader| reader.content(ContentPrefix::from(id));
    Ok(match place.read(ask)? {
        Some(Lookup::Kept(content)) => {
            used(place, &content, now);
            Ok(content.bytes)
        }
        Some(Lookup::Gone { why, .. }) => Err(reason(&why)),
        Some(Lookup::Unknown | Lookup::Ambiguous) | None => Err("it is no longer in the store".to_owned()),
    })
}

fn reason(why: &UnavailableReason) -> String {
    match why {
        UnavailableReason::Forgotten { at_ms } => {
            let when = rfc3339(hippo_types::time::Timestamp(*at_ms));
            format!(
                "it was removed on {when} to make room for newer content, because the disk space that \
                 context.budget_mb allows was used up"
            )
        }
        UnavailableReason::Expired { at_ms } => {
            let when = rfc3339(hippo_types::time::Timestamp(*at_ms));
            format!("it was removed on {when}, because it had not been used for context.keep_days days")
        }
        UnavailableReason::Withheld => {
            "it contains a secret and was never stored, because context.store_secrets is off".to_owned()
        }
        UnavailableReason::Damaged { reason } => format!("the stored content is damaged: {reason}"),
    }
}

/// Converts a completion into a response. The completion borrows its content as bytes; the response owns it as text.
fn fetched(completion: Completion<'_>, entry: Option<ContextEntry>, summary: &str) -> ContextFetchResponse {
    // Stored contents are text, and a source that is not text is rejected.
    let content = completion
        .content
        .map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    ContextFetchResponse {
        outcome: completion.outcome,
        content,
        summary: entry.is_some().then(|| summary.to_owned()),
        reason: completion.reason,
        stale: completion.stale,
        stored_hash: completion.stored_hash,
        source_hash: completion.source_hash,
        entry,
        from: completion.from,
    }
}
