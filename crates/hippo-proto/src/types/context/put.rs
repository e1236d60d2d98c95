//! `context.put`: new content of a session.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::error::RpcError;
use crate::types::check::{refuse_empty, refuse_larger, refuse_longer, refuse_outside};
use hippo_types::context::{ContextEncoding, ContextEntry, ContextKind, ContextPriority};

/// Maximum size of content in a request, in bytes. Even with JSON escapes, such content stays below the maximum length
/// of a line in requests and answers.
pub const MAX_CONTENT_BYTES: usize = 8 * 1024 * 1024;
/// Maximum length of a source type in characters.
const MAX_SOURCE_CHARS: usize = 128;
/// Maximum length of a source reference in characters.
const MAX_REF_CHARS: usize = 4_096;
/// Maximum length of a summary in characters, because summaries are part of prompts.
const MAX_SUMMARY_CHARS: usize = 4_000;
/// Maximum size of the key data as JSON, in bytes, because key data is part of prompts.
const MAX_KEY_DATA_BYTES: usize = 16 * 1024;
/// Maximum number of related entries.
const MAX_ASSOCIATIONS: usize = 16;

/// Parameters of `context.put`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContextPutRequest {
    /// Id of an open session.
    pub session: String,
    /// The turn in which the content was created.
    pub turn: u64,
    /// The kind of content.
    #[serde(rename = "type")]
    pub type_: ContextKind,
    /// The source of the content.
    pub source: ContextPutSource,
    /// The whole content, at most [`MAX_CONTENT_BYTES`] bytes.
    pub content: String,
    /// Summary in a few lines; by default it is extracted from the content.
    pub summary: Option<String>,
    /// Values that are likely to be needed again; by default they are extracted from the content.
    pub key_data: Option<Map<String, Value>>,
    /// Factors of the entry's decay. The policies set the factors that are absent.
    pub modifiers: Option<ContextPutModifiers>,
    /// Lifetime of the entry. The policies set the values that are absent.
    pub lifecycle: Option<ContextPutLifecycle>,
    /// True if the content reports a failure. Such content gets an entry even if it is small.
    #[serde(default)]
    pub error: bool,
}

/// The source of content.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ContextPutSource {
    /// Method that created the content and can create it again, for example `browser.snapshot`, `file` or `exec`.
    #[serde(rename = "type")]
    pub type_: String,
    /// The place that the content is from: a path, a command or an address; may be empty.
    #[serde(rename = "ref")]
    pub reference: String,
}

/// Factors that slow or speed up the decay of the new entry.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ContextPutModifiers {
    /// The importance of the entry.
    pub priority: Option<ContextPriority>,
    /// Kind of creation: `manual` if the agent creates the entry deliberately.
    pub encoding: Option<ContextEncoding>,
    /// Ids of related entries; unknown ids are ignored.
    pub associations: Option<Vec<String>>,
}

/// Lifetime of the new entry.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ContextPutLifecycle {
    /// The first turn in which the entry is no longer in the context; must be after the turn of the request.
    pub expires: Option<u64>,
    /// True to write the entry to long-term memory when the session closes.
    pub persist: Option<bool>,
}

impl ContextPutRequest {
    pub(crate) fn validate(&self) -> Result<(), RpcError> {
        let ContextPutSource { type_, reference } = &self.source;
        refuse_empty("source.type", type_)?;
        refuse_longer("source.type", Some(type_), MAX_SOURCE_CHARS)?;
        refuse_longer("source.ref", Some(reference), MAX_REF_CHARS)?;
        refuse_larger("content", self.content.len(), MAX_CONTENT_BYTES)?;
        refuse_empty("summary", self.summary.as_deref().unwrap_or("none"))?;
        refuse_longer("summary", self.summary.as_deref(), MAX_SUMMARY_CHARS)?;
        // `to_vec` cannot fail for parsed JSON.
        let key_data = self
            .key_data
            .as_ref()
            .and_then(|data| serde_json::to_vec(data).ok());
        refuse_larger(
            "key_data",
            key_data.map_or(0, |json| json.len()),
            MAX_KEY_DATA_BYTES,
        )?;
        let associations = self
            .modifiers
            .as_ref()
            .and_then(|modifiers| modifiers.associations.as_ref());
        refuse_outside(
            "number of associations",
            associations.map(Vec::len),
            0,
            MAX_ASSOCIATIONS,
        )?;
        for id in associations.into_iter().flatten() {
            refuse_empty("associations", id)?;
            refuse_longer("associations", Some(id), MAX_SOURCE_CHARS)?;
        }
        match self.lifecycle.as_ref().and_then(|lifecycle| lifecycle.expires) {
            Some(expires) if expires <= self.turn => {
                let what = format!("the entry would expire in turn {expires}, before it is created");
                Err(RpcError::bad_request(what).hint(format!(
                    "\"expires\" must be greater than {}, the turn of the request",
                    self.turn
                )))
            }
            _ => Ok(()),
        }
    }
}

/// The result of `context.put`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ContextPutOutcome {
    /// The content is stored and has an entry.
    Entry,
    /// The content is small and was not stored.
    Passed,
    /// The session already has this content from this source. The request counts as an access to its entry.
    Known,
    /// A policy excludes the content; nothing was stored.
    Dropped,
}

/// Answer to `context.put`. The reported changes are stored durably.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContextPutResponse {
    /// The entry of the content; null if it has none.
    pub entry: Option<ContextEntry>,
    /// The result.
    pub outcome: ContextPutOutcome,
    /// The reason for the outcome, as text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Location of the policy rule that decided, such as `line 4`; absent if no rule did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// `b3:` and the BLAKE3 hash of the content, 64 hexadecimal digits; absent if the content is not stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_id: Option<String>,
    /// Size of the content in tokens.
    pub tokens: u64,
    /// Size of the entry in a prompt, in tokens; 0 without an entry.
    pub entry_tokens: u64,
    /// Notes, such as an unusable policy file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}
