//! How does content come into a session: `context.put`?

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{ContextEncoding, ContextEntry, ContextPriority, ContextType, a_session};
use crate::error::{ErrorKind, RpcError};
use crate::types::{Validate, known_members, no_empty, one_of};

/// Longest content of one request, in bytes: it and its escapes stay below the limit of a line both ways.
pub const MAX_CONTENT_BYTES: usize = 8 * 1024 * 1024;
/// Longest type of a source, in characters.
const MAX_SOURCE_CHARS: usize = 128;
/// Longest reference of a source, in characters.
const MAX_REF_CHARS: usize = 4_096;
/// Longest summary, in characters: it stands in prompts.
const MAX_SUMMARY_CHARS: usize = 4_000;
/// Key data are at most this long as JSON, in bytes: they stand in prompts too.
const MAX_KEY_DATA_BYTES: usize = 16 * 1024;
/// Most related entries.
const MAX_ASSOCIATIONS: usize = 16;

/// Parameters of `context.put`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ContextPutRequest {
    /// Id of an open session.
    pub session: String,
    /// The turn in which the content came up.
    pub turn: u64,
    /// What it is.
    #[serde(rename = "type")]
    pub type_: ContextType,
    /// Where it comes from.
    pub source: ContextPutSource,
    /// All of it; at most [`MAX_CONTENT_BYTES`].
    pub content: String,
    /// What it says, in a few lines; without it the daemon takes it from the content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// Values that will be asked for again; without it the daemon takes them from the content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_data: Option<Map<String, Value>>,
    /// What makes its entry fade slower or faster; what is absent is left to the policies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modifiers: Option<ContextPutModifiers>,
    /// When its entry ends; what is absent is left to the policies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lifecycle: Option<ContextPutLifecycle>,
    /// Whether it tells of a failure: then it gets an entry though it is small.
    #[serde(default)]
    pub error: bool,
}

/// Where content comes from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ContextPutSource {
    /// How it was made, and how it can be made again: `browser.snapshot`, `file`, `exec`.
    #[serde(rename = "type")]
    pub type_: String,
    /// What it is of: a path, a command, an address; may be empty.
    #[serde(rename = "ref")]
    pub reference: String,
}

/// What makes the new entry fade slower or faster.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ContextPutModifiers {
    /// How much it matters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<ContextPriority>,
    /// Whether somebody makes it on purpose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encoding: Option<ContextEncoding>,
    /// Ids of related entries; ids that are unknown mean nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub associations: Option<Vec<String>>,
}

/// When the new entry ends.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ContextPutLifecycle {
    /// From this turn on it is out of the context; after the turn of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<u64>,
    /// Whether it goes into long-term memory when the session ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub persist: Option<bool>,
}

impl Validate for ContextPutRequest {
    fn check_raw(params: &Map<String, Value>) -> Result<(), RpcError> {
        let types = ContextType::ALL.map(ContextType::name);
        one_of(params, ["type", "type", "types"], &types)?;
        known_members(params, "source", &["type", "ref"])?;
        known_members(params, "modifiers", &["priority", "encoding", "associations"])?;
        known_members(params, "lifecycle", &["expires", "persist"])?;
        let Some(Value::Object(modifiers)) = params.get("modifiers") else {
            return Ok(());
        };
        let priorities = ContextPriority::ALL.map(ContextPriority::name);
        one_of(modifiers, ["priority", "priority", "priorities"], &priorities)?;
        let encodings = ContextEncoding::ALL.map(ContextEncoding::name);
        one_of(modifiers, ["encoding", "encoding", "encodings"], &encodings)
    }

    fn validate(&self) -> Result<(), RpcError> {
        a_session(&self.session)?;
        let ContextPutSource { type_, reference } = &self.source;
        no_empty("source.type", Some(type_))?;
        no_longer("source.type", type_, MAX_SOURCE_CHARS)?;
        no_longer("source.ref", reference, MAX_REF_CHARS)?;
        if self.content.len() > MAX_CONTENT_BYTES {
            let what = format!("the content is longer than {MAX_CONTENT_BYTES} bytes");
            return Err(RpcError::new(ErrorKind::TooLarge, what)
                .hint("keep it in a file, and put what matters of it with that file as its source"));
        }
        if let Some(summary) = &self.summary {
            no_empty("summary", Some(summary))?;
            no_longer("summary", summary, MAX_SUMMARY_CHARS)?;
        }
        self.check_key_data()?;
        let modifiers = self.modifiers.as_ref();
        let associations = modifiers.and_then(|modifiers| modifiers.associations.as_ref());
        if associations.is_some_and(|ids| ids.len() > MAX_ASSOCIATIONS) {
            let what = format!("the field \"associations\" has more than {MAX_ASSOCIATIONS} ids");
            return Err(RpcError::bad_request(what).hint("name those that are closest"));
        }
        for id in associations.into_iter().flatten() {
            no_empty("associations", Some(id))?;
            no_longer("associations", id, MAX_SOURCE_CHARS)?;
        }
        match self.lifecycle.as_ref().and_then(|lifecycle| lifecycle.expires) {
            Some(expires) if expires <= self.turn => {
                let what = format!("the entry would expire in turn {expires}, before it is made");
                Err(RpcError::bad_request(what).hint(format!(
                    "\"expires\" is a turn after {}, that of the request",
                    self.turn
                )))
            }
            _ => Ok(()),
        }
    }
}

impl ContextPutRequest {
    fn check_key_data(&self) -> Result<(), RpcError> {
        // What cannot be written as JSON did not come from JSON.
        let written = self
            .key_data
            .as_ref()
            .and_then(|data| serde_json::to_vec(data).ok());
        if written.is_none_or(|json| json.len() <= MAX_KEY_DATA_BYTES) {
            return Ok(());
        }
        let what = format!("the key data are longer than {MAX_KEY_DATA_BYTES} bytes");
        Err(RpcError::new(ErrorKind::TooLarge, what)
            .hint("key data stand in prompts: give the few values that will be asked for again"))
    }
}

fn no_longer(field: &str, text: &str, most: usize) -> Result<(), RpcError> {
    if text.chars().nth(most).is_none() {
        return Ok(());
    }
    let what = format!("the field \"{field}\" is longer than {most} characters");
    Err(RpcError::bad_request(what).hint("it stands in prompts: the whole goes into \"content\""))
}

/// What became of the content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ContextPutOutcome {
    /// It is kept, and has an entry.
    Entry,
    /// It is small enough to pass through: nothing was kept.
    Passed,
    /// The session has the same content of the same source: that entry was accessed.
    Known,
    /// A policy wants no entry for it: nothing was kept.
    Dropped,
}

/// Answer to `context.put`; what it tells of is on disk.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ContextPutResponse {
    /// What stands for the content; null where nothing does.
    pub entry: Option<ContextEntry>,
    /// What became of the content.
    pub outcome: ContextPutOutcome,
    /// Why, for a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Where the rule stands that decided so, for a person; absent where none did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// `b3:` and the BLAKE3 of the content, 64 hexadecimal digits; absent where it is not kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_id: Option<String>,
    /// Tokens of the content.
    pub tokens: u64,
    /// Tokens of the entry as it is rendered; 0 where there is none.
    pub entry_tokens: u64,
    /// What the reader should know about this, such as a policy file that cannot be used.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}
