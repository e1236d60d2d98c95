//! Shares between workspaces of one machine.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::check::{refuse_empty, refuse_larger};
use crate::error::RpcError;
use hippo_types::memory::MemoryType;

/// Maximum number of values of one selector.
const MAX_SELECTORS: usize = 32;
/// Maximum length of a value of a selector in bytes.
const MAX_SELECTOR_BYTES: usize = 512;

/// Conditions on the entries of a share. An entry must match each kind of condition that has values, and one value of
/// the kind.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ShareSelectors {
    /// Globs for the paths of the texts, relative to the workspace.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    /// Topics or ids of entries; case is ignored.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub topics: Vec<String>,
    /// Tags; case is ignored.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Kinds of memory.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub types: Vec<MemoryType>,
}

/// A share: lets one workspace read chosen entries of another.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Share {
    /// Id of the share; empty for a share that was not created.
    pub id: String,
    /// Root of the workspace that owns the text.
    pub from: String,
    /// Root of the workspace that reads the text.
    pub to: String,
    /// Name of the share in pointers: `@NAME/memory/a.md`.
    pub name: String,
    /// The entries; empty for a withdrawn share.
    pub selectors: ShareSelectors,
    /// Time of creation.
    pub created: String,
    /// Time of withdrawal; absent for a share in effect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub removed: Option<String>,
    /// Number of entries that the share covers now; null if the workspace of the owner is not open.
    pub entries: Option<u64>,
}

/// An entry as the other workspace sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SharedEntry {
    /// Pointer to the text, such as `@project/memory/a.md §Deploy`.
    pub pointer: String,
    /// Topic of the entry.
    pub topic: String,
    /// Summary of the text.
    pub summary: String,
}

/// Parameters of `share.add`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ShareAddRequest {
    /// Path of the workspace that owns the text, or of anything below it.
    pub workspace: String,
    /// Path of the workspace that may read the text, or of anything below it.
    pub to: String,
    /// Name of the share in pointers, at most 64 bytes, without `/`; default: the name of the owner's folder.
    pub name: Option<String>,
    /// The entries. At least one condition is required.
    #[serde(default)]
    pub selectors: ShareSelectors,
    /// True to list the entries without sharing them.
    #[serde(default)]
    pub dry_run: bool,
}

impl ShareAddRequest {
    pub(crate) fn validate(&self) -> Result<(), RpcError> {
        let ShareSelectors {
            paths,
            topics,
            tags,
            types,
        } = &self.selectors;
        let counts = [paths.len(), topics.len(), tags.len(), types.len()];
        if counts == [0; 4] {
            return Err(RpcError::bad_request("the share has no condition")
                .hint("give a path, topic, tag or type; to share all entries, give the path **"));
        }
        if counts.into_iter().any(|count| count > MAX_SELECTORS) {
            let what = format!("the share has more than {MAX_SELECTORS} conditions of one kind");
            return Err(RpcError::bad_request(what).hint("use globs, or several shares"));
        }
        [paths, topics, tags].into_iter().flatten().try_for_each(|value| {
            refuse_empty("selectors", value)?;
            refuse_larger("selectors", value.len(), MAX_SELECTOR_BYTES)
        })
    }
}

/// Answer to `share.add`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ShareAddResponse {
    /// The share.
    pub share: Share,
    /// True if the share is new; false if the same share existed, and for a dry run.
    pub added: bool,
    /// The entries that the other workspace sees now.
    pub entries: Vec<SharedEntry>,
}

/// Parameters of `share.list`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ShareListRequest {
    /// Path of a workspace whose shares in both directions are listed; default: all workspaces.
    pub workspace: Option<String>,
    /// True to include withdrawn shares.
    #[serde(default)]
    pub removed: bool,
}

/// Answer to `share.list`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ShareListResponse {
    /// The shares, in the order of creation.
    pub shares: Vec<Share>,
}

/// Parameters of `share.remove`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ShareRemoveRequest {
    /// Id of the share.
    pub id: String,
}

/// Answer to `share.remove`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ShareRemoveResponse {
    /// The withdrawn share.
    pub share: Share,
    /// Notes, for example that the other workspace is not registered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}
