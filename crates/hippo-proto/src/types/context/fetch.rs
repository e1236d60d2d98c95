//! How is content had again, and an entry kept from fading: `context.fetch`, `context.touch`?

use serde::{Deserialize, Serialize};

use super::{ContextEntry, a_session, perhaps_a_session};
use crate::error::RpcError;
use crate::types::{Validate, no_empty};

/// Parameters of `context.fetch`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ContextFetchRequest {
    /// The session that asks: an entry of it is accessed by this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Of an entry; or of content: `b3:` and at least 12 hexadecimal digits, or the id that a summary of
    /// `session.compact` has for it.
    pub id: String,
}

impl Validate for ContextFetchRequest {
    fn validate(&self) -> Result<(), RpcError> {
        perhaps_a_session(self.session.as_deref())?;
        no_empty("id", Some(&self.id))?;
        let Some(hash) = self.id.strip_prefix("b3:") else {
            return Ok(());
        };
        if (12..=64).contains(&hash.len()) && hash.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return Ok(());
        }
        Err(
            RpcError::bad_request("the field \"id\" cannot be the id of content")
                .hint("such an id is b3: with 12 to 64 hexadecimal digits"),
        )
    }
}

/// How much of the content could be had.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ContextOutcome {
    /// All of a content: as it was put, or the source as it is now.
    Full,
    /// The summary and the key data alone.
    Partial,
    /// Nothing.
    Unavailable,
}

/// Where an answer to `context.fetch` comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ContextOrigin {
    /// The content that was kept.
    Store,
    /// The source, read again.
    Source,
    /// The summary of the entry.
    Summary,
}

/// Answer to `context.fetch`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ContextFetchResponse {
    /// How much could be had.
    pub outcome: ContextOutcome,
    /// The content; only where the outcome is full.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// The summary of the entry; absent where the id is not one of an entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// Why it is not all, or not what was put; absent where it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Whether the source has changed since, or is gone.
    pub stale: bool,
    /// Of the content that was put: `b3:` and 64 hexadecimal digits; absent where unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stored_hash: Option<String>,
    /// Of the source as it is now; absent where it could not be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_hash: Option<String>,
    /// The entry as it is after this access; absent where the id is not one of an entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry: Option<ContextEntry>,
    /// Where the answer comes from; null: from nowhere.
    pub from: Option<ContextOrigin>,
}

/// Parameters of `context.touch`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ContextTouchRequest {
    /// Id of an open session.
    pub session: String,
    /// Of an entry of it.
    pub id: String,
    /// The turn of the access; without it the highest of the session so far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<u64>,
}

impl Validate for ContextTouchRequest {
    fn validate(&self) -> Result<(), RpcError> {
        a_session(&self.session)?;
        no_empty("id", Some(&self.id))
    }
}

/// Answer to `context.touch`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ContextTouchResponse {
    /// The entry as it is after this access.
    pub entry: ContextEntry,
}
