//! `index.edit`: changes to text, tags, sources or priority.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::super::{Validate, refuse_empty};
use super::{IndexEntry, check_entry_id, check_priority};
use crate::error::RpcError;
use crate::methods::shorten;
use hippo_types::entry::{EntryPriority, Pointer};

/// Maximum length of a topic in characters.
pub const MAX_TOPIC_CHARS: usize = 200;
/// Maximum length of a summary in characters, because summaries are part of prompts.
pub const MAX_SUMMARY_CHARS: usize = 1_000;
/// Maximum number of tags.
pub const MAX_TAGS: usize = 32;
/// Maximum length of a tag in characters.
pub const MAX_TAG_CHARS: usize = 64;

/// Parameters of `index.edit`: absent fields stay unchanged; at least one must be given.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct IndexEditRequest {
    /// Path of the workspace, or of anything below it.
    pub workspace: String,
    /// Id of the entry.
    pub id: String,
    /// The heading, not empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topic: Option<String>,
    /// The summary; empty to remove it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// All tags; empty to remove them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tags: Option<Vec<String>>,
    /// All sources, most important first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pointers: Option<Vec<Pointer>>,
    /// Resistance to decay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<EntryPriority>,
    /// True: the entry no longer decays. False: the former priority of the entry is restored. Not allowed together with
    /// `priority`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pinned: Option<bool>,
}

impl Validate for IndexEditRequest {
    fn check_raw(params: &Map<String, Value>) -> Result<(), RpcError> {
        check_priority(params)?;
        // `Pointer` is also part of answers, so its deserialisation accepts unknown members.
        let pointers = params.get("pointers").and_then(Value::as_array);
        let members = pointers.into_iter().flatten().filter_map(Value::as_object);
        match members
            .flat_map(Map::keys)
            .find(|key| !["path", "section"].contains(&key.as_str()))
        {
            Some(unknown) => {
                let error =
                    RpcError::bad_request(format!("unknown field \"{}\" of a pointer", shorten(unknown)));
                Err(error.hint("a pointer has \"path\" and \"section\""))
            }
            None => Ok(()),
        }
    }

    fn validate(&self) -> Result<(), RpcError> {
        check_entry_id(&self.workspace, &self.id)?;
        refuse_empty("topic", self.topic.as_deref())?;
        refuse_longer("topic", self.topic.as_deref(), MAX_TOPIC_CHARS)?;
        refuse_longer("summary", self.summary.as_deref(), MAX_SUMMARY_CHARS)?;
        if self.tags.as_ref().is_some_and(|tags| tags.len() > MAX_TAGS) {
            let what = format!("the field \"tags\" has more than {MAX_TAGS} tags");
            return Err(RpcError::bad_request(what)
                .hint("keep the tags that distinguish the entry from other entries"));
        }
        for tag in self.tags.iter().flatten() {
            refuse_empty("tags", Some(tag))?;
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
            refuse_empty("path", Some(&pointer.path))?;
            refuse_empty("section", pointer.section.as_deref())?;
        }
        let texts = self.topic.is_some() || self.summary.is_some();
        if texts || self.tags.is_some() || self.pointers.is_some() {
            return Ok(());
        }
        if self.priority.is_some() || self.pinned.is_some() {
            return Ok(());
        }
        Err(RpcError::bad_request("no field to change is given")
            .hint("give at least one of topic, summary, tags, pointers, priority and pinned"))
    }
}

fn refuse_longer(field: &str, text: Option<&str>, most: usize) -> Result<(), RpcError> {
    match text {
        Some(text) if text.chars().nth(most).is_some() => Err(RpcError::bad_request(format!(
            "the field \"{field}\" is longer than {most} characters"
        ))
        .hint("an entry only points at a text; put the rest of the text into a memory file")),
        _ => Ok(()),
    }
}

/// Answer to `index.edit`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IndexEditResponse {
    /// The changed entry.
    pub entry: IndexEntry,
}
