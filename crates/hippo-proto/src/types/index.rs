//! What is in the index file, how strong is it, and how is it changed: `index.*`?

mod edit;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::moment::a_moment;
use super::{Validate, no_empty, one_of};
use crate::error::RpcError;

pub use edit::{IndexEditRequest, IndexEditResponse};

/// Most entries that one request may ask for.
pub const MAX_ENTRIES: u32 = 10_000;

/// Parameters of `index.list`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct IndexListRequest {
    /// Path of the workspace, or of anything below it.
    pub workspace: String,
    /// Strengths as of this moment, RFC 3339 or `YYYY-MM-DD`; without it as of now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// Most entries, 1 to [`MAX_ENTRIES`], which holds without it too.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = MAX_ENTRIES)))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// Also what is out of the index file: archived or forgotten.
    #[serde(default)]
    pub archived: bool,
}

impl Validate for IndexListRequest {
    fn validate(&self) -> Result<(), RpcError> {
        no_empty("workspace", Some(&self.workspace))?;
        a_moment(self.at.as_deref())?;
        match self.limit {
            Some(limit) if !(1..=MAX_ENTRIES).contains(&limit) => {
                let error = RpcError::bad_request(format!("the limit {limit} is out of range"));
                Err(error.hint(format!("ask for 1 to {MAX_ENTRIES} entries")))
            }
            _ => Ok(()),
        }
    }
}

/// Answer to `index.list`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IndexListResponse {
    /// The strongest first, equal ones in order of their ids.
    pub entries: Vec<IndexEntry>,
    /// How many there are without the limit.
    pub total: u64,
    /// Tokens of the index file.
    pub tokens: u64,
    /// What the reader should know about this answer, for example how tokens were counted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// One topic of the index file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IndexEntry {
    /// Its name in the workspace, which never changes.
    pub id: String,
    /// The heading.
    pub topic: String,
    /// One line that says what there is to know; may be empty.
    pub summary: String,
    /// Where it is told, the most important first.
    pub pointers: Vec<IndexPointer>,
    /// At the time asked for, 0 to 1.
    pub strength: f32,
    /// What a strength like this is good for.
    pub band: IndexBand,
    /// Where the entry stands now.
    pub place: IndexPlace,
    /// What it is filed under in the index file; may be empty.
    pub group: String,
    /// Words that it is known by.
    pub tags: Vec<String>,
    /// Ids of entries that belong to it.
    pub related: Vec<String>,
    /// How it resists decay.
    pub priority: IndexPriority,
    /// Who made it.
    pub origin: IndexOrigin,
    /// When it was made, RFC 3339.
    pub created: String,
    /// When it was last accessed, or made, RFC 3339.
    pub accessed: String,
    /// Accesses so far.
    pub hits: u32,
    /// How often it was modified, from 1.
    pub version: u32,
}

/// Where a topic is told.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IndexPointer {
    /// Relative to the workspace, with `/`.
    pub path: String,
    /// Title of the section; absent where the whole file is meant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub section: Option<String>,
}

/// What an entry of some strength is good for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum IndexBand {
    /// From 0.8: answers, with confidence.
    Strong,
    /// From 0.5: answers.
    Moderate,
    /// From 0.3: answers, and search verifies.
    Weak,
    /// From 0.1: belongs into the queue of what fades.
    Decaying,
    /// Below: no answer from the index; search still finds the text.
    Silent,
}

/// Where an entry stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum IndexPlace {
    /// In the index file or a file below it.
    Index,
    /// In the index file's queue of what fades.
    Queue,
    /// Out of the file: archived or forgotten; `index.restore` brings it back.
    Archive,
}

/// How an entry resists decay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum IndexPriority {
    /// Never fades.
    Amygdala,
    /// Fades as `normal` does and is shown first.
    High,
    /// The default.
    Normal,
    /// Fades faster.
    Low,
}

impl IndexPriority {
    /// All of them, the most resistant first.
    pub const ALL: [Self; 4] = [Self::Amygdala, Self::High, Self::Normal, Self::Low];

    /// Its name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            IndexPriority::Amygdala => "amygdala",
            IndexPriority::High => "high",
            IndexPriority::Normal => "normal",
            IndexPriority::Low => "low",
        }
    }

    /// Refuses a `priority` that is none.
    pub(super) fn check(params: &Map<String, Value>) -> Result<(), RpcError> {
        let names = Self::ALL.map(Self::name);
        one_of(params, ["priority", "priority", "priorities"], &names)
    }
}

/// Who made an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum IndexOrigin {
    /// A consolidation run.
    Defrag,
    /// A person or an agent; fades more slowly.
    Manual,
    /// A search that found what no entry pointed at.
    Retrieval,
    /// The scan of a file.
    Auto,
}

/// Parameters of `index.show`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct IndexShowRequest {
    /// Path of the workspace, or of anything below it.
    pub workspace: String,
    /// Id of the entry.
    pub id: String,
    /// Strength as of this moment, RFC 3339 or `YYYY-MM-DD`; without it as of now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
}

impl Validate for IndexShowRequest {
    fn validate(&self) -> Result<(), RpcError> {
        an_entry(&self.workspace, &self.id)?;
        a_moment(self.at.as_deref())
    }
}

/// Answer to `index.show`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IndexShowResponse {
    /// The entry.
    pub entry: IndexEntry,
    /// Its strength when it was last accessed, 0 to 1: where the curve begins.
    pub base_strength: f32,
    /// The formula of its strength with the numbers of this entry, for a person.
    pub curve: String,
    /// What changes the curve of this entry, each in a few words for a person.
    pub modifiers: Vec<String>,
    /// The rule that set the priority; null where a person or nobody did.
    pub priority_rule: Option<String>,
    /// What will become of it unless it is accessed, the next first.
    pub forecast: Vec<IndexForecast>,
    /// Pointers that lead nowhere now, as `path` or `path §section`.
    pub stale: Vec<String>,
    /// The file that it stands in, relative to the workspace; absent where it is in none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
}

/// Something that happens to an entry that nobody accesses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IndexForecast {
    /// The band that it falls into, as in [`IndexBand`], or what else happens, in kebab-case (`archive`).
    pub event: String,
    /// When, RFC 3339; null: never.
    pub at: Option<String>,
}

/// Parameters of `index.forget`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct IndexForgetRequest {
    /// Path of the workspace, or of anything below it.
    pub workspace: String,
    /// Id of the entry.
    pub id: String,
}

impl Validate for IndexForgetRequest {
    fn validate(&self) -> Result<(), RpcError> {
        an_entry(&self.workspace, &self.id)
    }
}

/// Answer to `index.forget`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IndexForgetResponse {
    /// The entry that is out of the index file now.
    pub id: String,
}

/// Parameters of `index.restore`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct IndexRestoreRequest {
    /// Path of the workspace, or of anything below it.
    pub workspace: String,
    /// Id of the entry.
    pub id: String,
}

impl Validate for IndexRestoreRequest {
    fn validate(&self) -> Result<(), RpcError> {
        an_entry(&self.workspace, &self.id)
    }
}

/// Answer to `index.restore`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IndexRestoreResponse {
    /// The entry as it is now.
    pub entry: IndexEntry,
}

fn an_entry(workspace: &str, id: &str) -> Result<(), RpcError> {
    no_empty("workspace", Some(workspace))?;
    no_empty("id", Some(id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_of_priorities_are_those_on_the_wire() {
        for priority in IndexPriority::ALL {
            assert_eq!(serde_json::to_value(priority).unwrap(), priority.name());
        }
    }
}
