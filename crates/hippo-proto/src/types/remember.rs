//! `remember`: new entries of today's log.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::IndexEntry;
use crate::error::RpcError;
use crate::types::check::{refuse_empty, refuse_larger};
use hippo_types::entry::EntryPriority;
use hippo_types::memory::MemoryType;

/// Maximum length of a text in bytes.
pub const MAX_TEXT_BYTES: usize = 64 * 1024;

/// Parameters of `remember`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RememberRequest {
    /// Path of the workspace, or of anything below it.
    pub workspace: String,
    /// The text: one or more lines of markdown, at most [`MAX_TEXT_BYTES`] bytes.
    #[serde(default)]
    pub text: String,
    /// The topic in one line; by default, the daemon derives the topic from the text.
    pub topic: Option<String>,
    /// The kind of memory.
    #[serde(rename = "type")]
    pub type_: Option<MemoryType>,
    /// Keywords of the entry.
    pub tags: Option<Vec<String>>,
    /// Resistance of the entry to decay.
    pub priority: Option<EntryPriority>,
    /// True to write to a log that only the agent of the request may read. The text then has no entry in the index file.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub private: bool,
}

impl RememberRequest {
    pub(crate) fn validate(&self) -> Result<(), RpcError> {
        refuse_empty("text", &self.text)?;
        refuse_larger("text", self.text.len(), MAX_TEXT_BYTES)?;
        if self
            .topic
            .as_deref()
            .is_some_and(|topic| topic.contains(['\n', '\r']))
        {
            return Err(RpcError::bad_request("the field \"topic\" has several lines")
                .hint("a topic is a heading: put the rest into \"text\""));
        }
        self.tags
            .iter()
            .flatten()
            .try_for_each(|tag| refuse_empty("tags", tag))
    }
}

/// Answer to `remember`, sent after the text is stored durably.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RememberResponse {
    /// The log, relative to the workspace.
    pub path: String,
    /// First line of the appended text, 1-based.
    pub start_line: u32,
    /// Last line of the appended text, inclusive.
    pub end_line: u32,
    /// The entry in the index file; null for a private text, and if the index file is disabled.
    pub entry: Option<IndexEntry>,
    /// Kinds of suspected secrets in the request, without their values. `notes` describes how to remove them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<String>,
    /// Notes, such as the reason for a missing entry.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}
