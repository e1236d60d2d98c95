//! Conversions between context requests and core inputs, and between completions and answers.

use hippo_context::capture::CaptureInput;
use hippo_context::complete::Completion;
use hippo_proto::{ContextFetchResponse, ContextPutRequest};
use hippo_types::context::ContextEntry;

/// Returns a copy of an entry with the given strength.
pub fn entry(entry: &ContextEntry, strength: f32) -> ContextEntry {
    ContextEntry {
        strength,
        ..entry.clone()
    }
}

/// Returns the core input of a put request.
pub fn put<'a>(request: &'a ContextPutRequest, id: &'a str, turn: u64) -> CaptureInput<'a> {
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

/// Returns the response for the completion of an entry or of content. A completion borrows its content as bytes,
/// whereas the response contains the content as text, and the entry.
pub fn fetched(
    completion: Completion<'_>,
    entry: Option<ContextEntry>,
    summary: &str,
) -> ContextFetchResponse {
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
