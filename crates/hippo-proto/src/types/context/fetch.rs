//! `context.fetch` and `context.touch`: stored content and access times.

use serde::{Deserialize, Serialize};

use super::{check_optional_session_id, check_session_id};
use crate::error::RpcError;
use crate::types::{Validate, refuse_empty};
use hippo_types::context::{ContextEntry, FetchOrigin, FetchOutcome};

/// Parameters of `context.fetch`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ContextFetchRequest {
    /// The requesting session; the fetch counts as an access to its entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Id of an entry or of content: `b3:` and at least 12 hexadecimal digits, or the id from a summary of `session.compact`.
    pub id: String,
}

impl Validate for ContextFetchRequest {
    fn validate(&self) -> Result<(), RpcError> {
        check_optional_session_id(self.session.as_deref())?;
        refuse_empty("id", Some(&self.id))?;
        let Some(hash) = self.id.strip_prefix("b3:") else {
            return Ok(());
        };
        if (12..=64).contains(&hash.len()) && hash.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return Ok(());
        }
        Err(
            RpcError::bad_request("the field \"id\" is not a valid content id")
                .hint("a content id is b3: followed by 12 to 64 hexadecimal digits"),
        )
    }
}

/// Answer to `context.fetch`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ContextFetchResponse {
    /// The completeness of the content.
    pub outcome: FetchOutcome,
    /// The content; only for the outcome `full`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// The summary of the entry; absent if the id does not belong to an entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// The reason why the content is incomplete or changed; absent if it is neither.
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
    /// The origin of the answer; null if there is no content.
    pub from: Option<FetchOrigin>,
}

/// Parameters of `context.touch`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ContextTouchRequest {
    /// Id of an open session.
    pub session: String,
    /// Id of an entry in the session.
    pub id: String,
    /// The turn of the access; default: the highest turn of the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<u64>,
}

impl Validate for ContextTouchRequest {
    fn validate(&self) -> Result<(), RpcError> {
        check_session_id(&self.session)?;
        refuse_empty("id", Some(&self.id))
    }
}

/// Answer to `context.touch`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ContextTouchResponse {
    /// The entry after this access.
    pub entry: ContextEntry,
}
