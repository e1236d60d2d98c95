//! `remember`: new entries of today's log.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::index::check_priority;
use super::{IndexEntry, Validate, refuse_empty, refuse_unknown_word};
use crate::error::{ErrorKind, RpcError};
use hippo_types::entry::EntryPriority;
use hippo_types::memory::MemoryType;

/// Maximum length of a text in bytes.
pub const MAX_TEXT_BYTES: usize = 64 * 1024;

/// Parameters of `remember`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RememberRequest {
    /// Path of the workspace, or of anything below it.
    pub workspace: String,
    /// The text, markdown of one or more lines; at most [`MAX_TEXT_BYTES`] bytes.
    #[serde(default)]
    pub text: String,
    /// The topic in one line; by default the daemon derives it from the text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topic: Option<String>,
    /// The kind of memory.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub type_: Option<MemoryType>,
    /// Keywords of the entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tags: Option<Vec<String>>,
    /// Resistance of the entry to decay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<EntryPriority>,
    /// The request of the user. With this or one of the following fields, the entry is structured and `text` may be empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
    /// The findings of the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub analysis: Option<String>,
    /// The decision and its reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<String>,
    /// The result and the open work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    /// The feedback of the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feedback: Option<String>,
    /// Files and URLs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub references: Option<String>,
}

impl RememberRequest {
    /// Returns the fields of a structured entry with their names.
    fn fields(&self) -> [(&'static str, Option<&str>); 6] {
        [
            ("request", self.request.as_deref()),
            ("analysis", self.analysis.as_deref()),
            ("decision", self.decision.as_deref()),
            ("outcome", self.outcome.as_deref()),
            ("feedback", self.feedback.as_deref()),
            ("references", self.references.as_deref()),
        ]
    }
}

impl Validate for RememberRequest {
    fn check_raw(params: &Map<String, Value>) -> Result<(), RpcError> {
        refuse_unknown_word(
            params,
            ["type", "type", "types"],
            &MemoryType::ALL.map(MemoryType::name),
        )?;
        check_priority(params)
    }

    fn validate(&self) -> Result<(), RpcError> {
        refuse_empty("workspace", Some(&self.workspace))?;
        let mut bytes = self.text.len();
        for (name, said) in self.fields() {
            refuse_empty(name, said)?;
            bytes += said.map_or(0, str::len);
        }
        if bytes == self.text.len() {
            refuse_empty("text", Some(&self.text))?;
        }
        if bytes > MAX_TEXT_BYTES {
            let what = format!("the text is longer than {MAX_TEXT_BYTES} bytes");
            return Err(RpcError::new(ErrorKind::TooLarge, what)
                .hint("remember a summary instead, or store the text as a separate file in the workspace"));
        }
        refuse_empty("topic", self.topic.as_deref())?;
        if self
            .topic
            .as_deref()
            .is_some_and(|topic| topic.contains(['\n', '\r']))
        {
            return Err(RpcError::bad_request("the field \"topic\" has several lines")
                .hint("a topic is a heading: put the rest into \"text\""));
        }
        for tag in self.tags.iter().flatten() {
            refuse_empty("tags", Some(tag))?;
        }
        Ok(())
    }
}

/// Answer to `remember`, sent after the text was stored durably.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RememberResponse {
    /// The log, relative to the workspace.
    pub path: String,
    /// First line of the entry, 1-based.
    pub start_line: u32,
    /// Last line, inclusive.
    pub end_line: u32,
    /// The entry in the index file; null if the index file is disabled.
    pub entry: Option<IndexEntry>,
    /// Kinds of suspected secrets in the input, without their values; `notes` contain instructions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<String>,
    /// Notes, such as the reason for a missing entry.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}
