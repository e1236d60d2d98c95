//! `context.fetch` and `context.touch`: stored content, and accesses to entries.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use hippo_types::context::{ContextEntry, FetchOrigin, FetchOutcome};

/// Parameters of `context.fetch`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ContextFetchRequest {
    /// Id of the session that requests the content. The fetch counts as an access to its entry.
    pub session: Option<String>,
    /// Id of an entry or of content. The id of content is `b3:` and at least 12 hexadecimal digits, or the id in a
    /// summary of `session.compact`.
    pub id: String,
}

/// Answer to `context.fetch`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContextFetchResponse {
    /// Outcome of the fetch: the full content, a part, or nothing.
    pub outcome: FetchOutcome,
    /// The content; only for the outcome `full`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// The summary of the entry; absent if the id does not belong to an entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// The reason why the content is incomplete or has changed; absent if it is complete and unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// True if the source has changed since the content was stored, or does not exist any more.
    pub stale: bool,
    /// Hash of the stored content, which is also its id: `b3:` and 64 hexadecimal digits; absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stored_hash: Option<String>,
    /// Hash of the current source; absent if it is unreadable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_hash: Option<String>,
    /// The entry after this access; absent if the id does not belong to an entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry: Option<ContextEntry>,
    /// Origin of the text: the store, the source, or the summary; null if there is no text.
    pub from: Option<FetchOrigin>,
}

/// Parameters of `context.touch`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ContextTouchRequest {
    /// Id of an open session.
    pub session: String,
    /// Id of an entry in the session.
    pub id: String,
    /// The turn in which the entry was accessed; default: the highest turn of the session.
    pub turn: Option<u64>,
}

/// Answer to `context.touch`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContextTouchResponse {
    /// The entry after this access.
    pub entry: ContextEntry,
}
