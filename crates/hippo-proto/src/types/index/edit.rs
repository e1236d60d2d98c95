//! `index.edit`: changes to text, tags, sources or priority.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use super::IndexEntry;
use crate::error::RpcError;
use crate::types::check::{refuse_empty, refuse_longer, refuse_outside};
use hippo_types::entry::{EntryPriority, Pointer};

/// Maximum length of a topic in characters.
const MAX_TOPIC_CHARS: usize = 200;
/// Maximum length of a summary in characters, because summaries are part of prompts.
const MAX_SUMMARY_CHARS: usize = 1_000;
/// Maximum number of tags.
const MAX_TAGS: usize = 32;
/// Maximum length of a tag in characters.
const MAX_TAG_CHARS: usize = 64;

/// Parameters of `index.edit`. Absent fields stay unchanged; at least one field to change is required.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IndexEditRequest {
    /// Path of the workspace, or of anything below it.
    pub workspace: String,
    /// Id of the entry.
    pub id: String,
    /// New heading of the entry; must not be empty.
    pub topic: Option<String>,
    /// New summary; an empty text removes the summary.
    pub summary: Option<String>,
    /// New tags, which replace all tags; an empty list removes them.
    pub tags: Option<Vec<String>>,
    /// New pointers to the sources, most important first; they replace all pointers.
    #[serde(default, deserialize_with = "exact_pointers")]
    pub pointers: Option<Vec<Pointer>>,
    /// Resistance to decay.
    pub priority: Option<EntryPriority>,
    /// True to stop the decay of the entry, false to restore its former priority. Not allowed together with
    /// `priority`.
    pub pinned: Option<bool>,
}

/// Reads the pointers of a request. An unknown field is an error, unlike in an answer.
fn exact_pointers<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Vec<Pointer>>, D::Error> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct ExactPointer {
        path: String,
        section: Option<String>,
    }
    let pointers = Option::<Vec<ExactPointer>>::deserialize(from)?;
    let convert = |ExactPointer { path, section }| Pointer { path, section };
    Ok(pointers.map(|pointers| pointers.into_iter().map(convert).collect()))
}

impl IndexEditRequest {
    pub(crate) fn validate(&self) -> Result<(), RpcError> {
        refuse_longer("topic", self.topic.as_deref(), MAX_TOPIC_CHARS)?;
        refuse_longer("summary", self.summary.as_deref(), MAX_SUMMARY_CHARS)?;
        refuse_outside("number of tags", self.tags.as_ref().map(Vec::len), 0, MAX_TAGS)?;
        for tag in self.tags.iter().flatten() {
            refuse_empty("tags", tag)?;
            refuse_longer("tags", Some(tag), MAX_TAG_CHARS)?;
        }
        if self.pinned.is_some() && self.priority.is_some() {
            return Err(
                RpcError::bad_request("the fields \"pinned\" and \"priority\" cannot be combined").hint(
                    "\"pinned\": true sets the priority, and \"pinned\": false restores the earlier priority",
                ),
            );
        }
        for pointer in self.pointers.iter().flatten() {
            refuse_empty("path", &pointer.path)?;
            refuse_empty("section", pointer.section.as_deref().unwrap_or("none"))?;
        }
        let texts = self.topic.is_some() || self.summary.is_some() || self.tags.is_some();
        if texts || self.pointers.is_some() || self.priority.is_some() || self.pinned.is_some() {
            return Ok(());
        }
        Err(RpcError::bad_request("no field to change is given")
            .hint("give at least one of topic, summary, tags, pointers, priority and pinned"))
    }
}

/// Answer to `index.edit`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IndexEditResponse {
    /// The changed entry.
    pub entry: IndexEntry,
}
