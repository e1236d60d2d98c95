//! Conversions between core context entries and the protocol.

use hippo_context as core;
use hippo_context::capture::CaptureInput;
use hippo_context::complete::{Completion, CompletionOrigin, CompletionOutcome};
use hippo_context::render::ShownEntry;
use hippo_proto::{
    ContextDecay, ContextEncoding, ContextEntry, ContextFetchResponse, ContextLifecycle, ContextModifiers,
    ContextOrigin, ContextOutcome, ContextPriority, ContextPutRequest, ContextShown, ContextSource,
    ContextState, ContextType,
};

/// Returns the wire form of an entry with the given strength.
pub fn entry(entry: &core::ContextEntry, strength: f32) -> ContextEntry {
    ContextEntry {
        id: entry.id.clone(),
        type_: kind(entry.kind),
        source: source(&entry.source),
        summary: entry.summary.clone(),
        key_data: entry.key_data.clone(),
        strength,
        decay: ContextDecay {
            rate: entry.decay.rate,
            floor: entry.decay.floor,
            last_access: entry.decay.last_access,
        },
        modifiers: ContextModifiers {
            priority: match entry.modifiers.priority {
                core::Priority::Critical => ContextPriority::Critical,
                core::Priority::High => ContextPriority::High,
                core::Priority::Normal => ContextPriority::Normal,
                core::Priority::Low => ContextPriority::Low,
            },
            encoding: match entry.modifiers.encoding {
                core::Encoding::Manual => ContextEncoding::Manual,
                core::Encoding::Auto => ContextEncoding::Auto,
            },
            associations: entry.modifiers.associations.clone(),
        },
        lifecycle: ContextLifecycle {
            created: entry.lifecycle.created,
            expires: entry.lifecycle.expires,
            persist: entry.lifecycle.persist,
        },
    }
}

/// Returns the wire form of an entry's state.
pub fn state(shown: core::Shown) -> ContextState {
    match shown {
        core::Shown::Active => ContextState::Active,
        core::Shown::Dormant => ContextState::Dormant,
        core::Shown::Expired => ContextState::Expired,
    }
}

/// Returns the core input of a put request.
pub fn put<'a>(request: &'a ContextPutRequest, id: &'a str, turn: u64) -> CaptureInput<'a> {
    let (modifiers, lifecycle) = (request.modifiers.as_ref(), request.lifecycle.as_ref());
    CaptureInput {
        id,
        kind: Some(match request.type_ {
            ContextType::ToolResult => core::EntryKind::ToolResult,
            ContextType::Message => core::EntryKind::Message,
            ContextType::State => core::EntryKind::State,
            ContextType::Memory => core::EntryKind::Memory,
        }),
        source_type: &request.source.type_,
        source_ref: &request.source.reference,
        turn,
        content: &request.content,
        summary: request.summary.as_deref(),
        key_data: request.key_data.as_ref(),
        priority: modifiers.and_then(|modifiers| modifiers.priority).map(priority),
        encoding: modifiers
            .and_then(|modifiers| modifiers.encoding)
            .map(|encoding| match encoding {
                ContextEncoding::Manual => core::Encoding::Manual,
                ContextEncoding::Auto => core::Encoding::Auto,
            }),
        associations: modifiers
            .and_then(|modifiers| modifiers.associations.as_deref())
            .unwrap_or_default(),
        expires: lifecycle.and_then(|lifecycle| lifecycle.expires),
        persist: lifecycle.and_then(|lifecycle| lifecycle.persist),
        error: request.error,
    }
}

/// Returns the wire form of an entry in a rendered section.
pub fn shown(entry: &ShownEntry<'_>) -> ContextShown {
    ContextShown {
        id: entry.id.to_owned(),
        type_: ContextType::ALL
            .into_iter()
            .find(|type_| type_.name() == entry.kind)
            .unwrap_or_default(),
        strength: entry.strength,
        summary: entry.summary.to_owned(),
        key_data: entry.key_data.cloned(),
        source: source(entry.source),
        tokens: entry.tokens,
    }
}

/// Returns the response with the full content of an entry, or with a content.
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
        outcome: match completion.outcome {
            CompletionOutcome::Full => ContextOutcome::Full,
            CompletionOutcome::Partial => ContextOutcome::Partial,
            CompletionOutcome::Unavailable => ContextOutcome::Unavailable,
        },
        content,
        summary: entry.is_some().then(|| summary.to_owned()),
        reason: completion.reason,
        stale: completion.stale,
        stored_hash: completion.stored_hash,
        source_hash: completion.source_hash,
        entry,
        from: completion.from.map(|from| match from {
            CompletionOrigin::Store => ContextOrigin::Store,
            CompletionOrigin::Source => ContextOrigin::Source,
            CompletionOrigin::Summary => ContextOrigin::Summary,
        }),
    }
}

fn kind(kind: core::EntryKind) -> ContextType {
    match kind {
        core::EntryKind::ToolResult => ContextType::ToolResult,
        core::EntryKind::Message => ContextType::Message,
        core::EntryKind::State => ContextType::State,
        core::EntryKind::Memory => ContextType::Memory,
    }
}

fn priority(priority: ContextPriority) -> core::Priority {
    match priority {
        ContextPriority::Critical => core::Priority::Critical,
        ContextPriority::High => core::Priority::High,
        ContextPriority::Normal => core::Priority::Normal,
        ContextPriority::Low => core::Priority::Low,
    }
}

fn source(source: &core::EntrySource) -> ContextSource {
    ContextSource {
        type_: source.kind.clone(),
        reference: source.reference.clone(),
        turn: source.turn,
        retrievable: source.retrievable,
    }
}
