//! `index.*`: entries of the index file.

mod edit;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::RpcError;
use hippo_types::entry::{EntryOrigin, EntryPlace, EntryPriority, Pointer, StrengthBand};
use hippo_types::scope::Scope;

use crate::types::check::refuse_outside;
pub use edit::*;

/// Maximum number of entries in an answer.
pub const MAX_ENTRIES: u32 = 10_000;

/// Parameters of `index.list`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IndexListRequest {
    /// Path of the workspace, or of anything below it.
    pub workspace: String,
    /// Time for which the strengths are computed, RFC 3339 or `YYYY-MM-DD`; entries that were created later are omitted.
    /// Default: now.
    pub at: Option<String>,
    /// Maximum number of entries, 1 to [`MAX_ENTRIES`]; default [`MAX_ENTRIES`].
    #[schemars(range(min = 1, max = MAX_ENTRIES))]
    pub limit: Option<u32>,
    /// Include archived and forgotten entries.
    #[serde(default)]
    pub archived: bool,
    /// Return only the entries of the files that only the agent of the request may read.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub private: bool,
}

impl IndexListRequest {
    pub(crate) fn validate(&self) -> Result<(), RpcError> {
        refuse_outside("limit", self.limit, 1, MAX_ENTRIES)
    }
}

/// Answer to `index.list`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IndexListResponse {
    /// Entries, strongest first, then by id.
    pub entries: Vec<IndexEntry>,
    /// Number of entries that exist, regardless of `limit`.
    pub total: u64,
    /// Size of the index file in tokens.
    pub tokens: u64,
    /// Notes about this answer, such as the method of counting tokens.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// One entry of the index file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IndexEntry {
    /// Id in the workspace; it never changes.
    pub id: String,
    /// The topic, which is the heading of the entry in the index file.
    pub topic: String,
    /// Summary in one line; may be empty.
    pub summary: String,
    /// Pointers to the sources of the entry, most important first.
    pub pointers: Vec<Pointer>,
    /// Strength at the requested time, 0 to 1.
    pub strength: f32,
    /// The band of the entry's strength.
    pub band: StrengthBand,
    /// Place of the entry: the index file, its Decay Queue, or the archive.
    pub place: EntryPlace,
    /// The group in the index file; may be empty.
    pub group: String,
    /// Keywords.
    pub tags: Vec<String>,
    /// Ids of related entries.
    pub related: Vec<String>,
    /// Resistance to decay.
    pub priority: EntryPriority,
    /// Creator of the entry: a cycle, a user or agent, a search, or the scan of a file.
    pub origin: EntryOrigin,
    /// Time of creation, RFC 3339.
    pub created: String,
    /// Time of the last access, RFC 3339; before the first access, the time of creation.
    pub accessed: String,
    /// Number of accesses.
    pub hits: u32,
    /// Number of the entry's version, from 1.
    pub version: u32,
    /// The scope of the entry: `private:` and the id of the agent. Absent for an entry that all agents may read.
    #[serde(default, skip_serializing_if = "Scope::is_shared")]
    pub scope: Scope,
}

/// Parameters of `index.show`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IndexShowRequest {
    /// Path of the workspace, or of anything below it.
    pub workspace: String,
    /// Id of the entry.
    pub id: String,
    /// Time for which the strength is computed, RFC 3339 or `YYYY-MM-DD`; default: now.
    pub at: Option<String>,
}

/// Answer to `index.show`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IndexShowResponse {
    /// The entry.
    pub entry: IndexEntry,
    /// Strength right after the last access, 0 to 1. The decay starts from this value.
    pub base_strength: f32,
    /// The formula of the strength, with the numbers of this entry, as text.
    pub curve: String,
    /// Factors of the entry's decay curve, as text.
    pub modifiers: Vec<String>,
    /// The rule that set the priority; null if no rule did.
    pub priority_rule: Option<String>,
    /// Future events of the entry if it is not accessed again, earliest first.
    pub forecast: Vec<IndexForecast>,
    /// Sources that no longer exist, as `path` or `path §section`.
    pub stale: Vec<String>,
    /// The file that contains the entry, relative to the workspace; absent if the entry is in no file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Time at which the entry was removed or archived, RFC 3339; absent if the entry is not in the archive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub archived: Option<String>,
}

/// A future event of an entry that is not accessed again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IndexForecast {
    /// The new band, as in [`StrengthBand`], or another event in kebab-case (`archive`).
    pub event: String,
    /// Time, RFC 3339; null if the event never happens.
    pub at: Option<String>,
}

/// Parameters of `index.forget`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IndexForgetRequest {
    /// Path of the workspace, or of anything below it.
    pub workspace: String,
    /// Id of the entry.
    pub id: String,
}

/// Answer to `index.forget`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IndexForgetResponse {
    /// Id of the removed entry.
    pub id: String,
}

/// Parameters of `index.restore`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IndexRestoreRequest {
    /// Path of the workspace, or of anything below it.
    pub workspace: String,
    /// Id of the entry.
    pub id: String,
}

/// Answer to `index.restore`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IndexRestoreResponse {
    /// The restored entry.
    pub entry: IndexEntry,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_of_priorities_match_the_wire_names() {
        for priority in EntryPriority::ALL {
            assert_eq!(serde_json::to_value(priority).unwrap(), priority.name());
        }
    }
}
