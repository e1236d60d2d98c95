//! `search`: parameters and results.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::RpcError;
use crate::types::Origin;
use crate::types::check::{refuse_larger, refuse_outside, refuse_zero};
use hippo_types::entry::StrengthBand;
use hippo_types::scope::Scope;
use hippo_types::search::SearchMode;

/// Maximum number of results in an answer.
pub const MAX_LIMIT: u32 = 200;
/// Maximum length of a query in bytes.
pub const MAX_QUERY_BYTES: usize = 16 * 1024;

/// Parameters of `search`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SearchRequest {
    /// Path of the workspace, or of anything below it.
    pub workspace: String,
    /// The query in natural language, without a query syntax.
    pub query: String,
    /// The method of finding candidates; default: the configured one, initially `hybrid`.
    pub mode: Option<SearchMode>,
    /// Maximum number of results, 1 to [`MAX_LIMIT`]. By default, the daemon returns as many results as fit into
    /// `budget_tokens`. Without `budget_tokens`, it returns the configured number, initially 10.
    #[schemars(range(min = 1, max = MAX_LIMIT))]
    pub limit: Option<u32>,
    /// Maximum size of all results in tokens, at least 1.
    #[schemars(range(min = 1))]
    pub budget_tokens: Option<u32>,
    /// Minimum score of a result, 0 to 1.
    #[schemars(range(min = 0, max = 1))]
    pub min_score: Option<f32>,
    /// Return only text of documents whose path, relative to the workspace, matches this glob.
    pub path: Option<String>,
    /// Return only text dated on or after this day, `YYYY-MM-DD`.
    pub since: Option<String>,
    /// Return only text dated on or before this day, `YYYY-MM-DD`.
    pub until: Option<String>,
    /// True to return the features of each score, and a trace of the index entries.
    #[serde(default)]
    pub explain: bool,
    /// True if the query may change the index. The daemon then strengthens the entries whose text was found, and
    /// creates an entry for results without one.
    #[serde(default = "default_true")]
    pub record: bool,
    /// Name of the program that asks, for the recall log, for example `cli`; at most 64 bytes.
    pub client: Option<String>,
    /// True if the recall log keeps the question. Set this to false for searches while a person types.
    #[serde(default = "default_true")]
    pub log: bool,
}

fn default_true() -> bool {
    true
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde needs")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

impl SearchRequest {
    /// Creates a query with default parameters.
    pub fn new(workspace: impl Into<String>, query: impl Into<String>) -> Self {
        Self {
            workspace: workspace.into(),
            query: query.into(),
            mode: None,
            limit: None,
            budget_tokens: None,
            min_score: None,
            path: None,
            since: None,
            until: None,
            explain: false,
            record: default_true(),
            client: None,
            log: default_true(),
        }
    }
}

impl SearchRequest {
    pub(crate) fn validate(&self) -> Result<(), RpcError> {
        refuse_larger("query", self.query.len(), MAX_QUERY_BYTES)?;
        refuse_outside("limit", self.limit, 1, MAX_LIMIT)?;
        refuse_zero("budget_tokens", self.budget_tokens)?;
        super::log::check_client(self.client.as_deref())?;
        match self.min_score {
            Some(score) if !(0.0..=1.0).contains(&score) => {
                Err(RpcError::bad_request("the field \"min_score\" is out of range")
                    .hint("scores are 0 to 1"))
            }
            _ => Ok(()),
        }
    }
}

/// Source of the results: the entries, the documents, or both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Strategy {
    /// Index entries only.
    Index,
    /// Search in the documents only.
    Search,
    /// Index entries, and search in the documents.
    Hybrid,
}

/// Answer to `search`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SearchResponse {
    /// The query as received.
    pub query: String,
    /// The requested mode. `index.degraded` reports a part of the search that was missing.
    pub mode: SearchMode,
    /// Source of the results: the entries, the documents, or both.
    pub strategy: Strategy,
    /// Results, best first.
    pub results: Vec<SearchHit>,
    /// Size of all returned texts in tokens.
    pub tokens: u64,
    /// The state of the index.
    pub index: IndexState,
    /// True if all results of a hybrid search are weak: their scores are low, and none contains all words of the query.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub nothing_relevant: bool,
    /// Notes about this answer, such as the method of counting tokens.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The trace of the index entries, if `explain` was requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<SearchTrace>,
    /// Duration in the daemon, in milliseconds.
    pub took_ms: f64,
}

/// One result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SearchHit {
    /// Id of this text for `get`. It is valid while the text is unchanged.
    pub id: String,
    /// Path relative to the workspace, with `/`.
    pub path: String,
    /// First line, 1-based.
    pub start_line: u32,
    /// Last line, inclusive.
    pub end_line: u32,
    /// The headings above the text, outermost first.
    pub heading: Vec<String>,
    /// Relevance, 0 to 1.
    pub score: f32,
    /// The components of the score, if known.
    pub scores: Option<Scores>,
    /// Strength of the result's index entry, 0 to 1; null without an entry.
    pub strength: Option<f32>,
    /// Id of the result's index entry; null without an entry.
    pub entry: Option<String>,
    /// Size of `text` in tokens of the model's tokenizer; if a note says so, a quarter of the bytes instead.
    pub tokens: u32,
    /// The current text on disk.
    pub text: String,
    /// The scope of the text: `private:` and the id of the agent. Absent for a text that all agents may read.
    #[serde(default, skip_serializing_if = "Scope::is_shared")]
    pub scope: Scope,
    /// Author of a message: `user`, `assistant` or `other`. Absent for text that is no message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speaker: Option<String>,
    /// Date of the text, `YYYY-MM-DD`.
    pub date: Option<String>,
    /// Number of other places with the same text, which the answer leaves out.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub copies: u32,
    /// Path and line of another result that is dated later and changes a value of this text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<String>,
    /// Origin of the text, if it is not from this workspace. `get` cannot read a text of the team.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// Components of the score by name, if `explain` was requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explain: Option<BTreeMap<String, f32>>,
}

/// The contribution of index entries to an answer.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SearchTrace {
    /// The reason for the strategy, as text.
    pub reason: String,
    /// Matching entries, most relevant first.
    pub matches: Vec<TraceMatch>,
    /// Id of the entry that was created for results without an entry; null if none was created.
    pub created: Option<String>,
    /// Ids of the strengthened entries.
    pub refreshed: Vec<String>,
}

/// An entry that matches the query.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TraceMatch {
    /// Id of the entry.
    pub entry: String,
    /// Heading of the entry.
    pub topic: String,
    /// Relevance, 0 to 1.
    pub relevance: f32,
    /// Strength of the entry, 0 to 1; it does not affect the relevance.
    pub strength: f32,
    /// The band of the entry's strength.
    pub band: StrengthBand,
}

/// Components of a score, each 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Scores {
    /// Lexical score; null if no word matches or without lexical search.
    pub lexical: Option<f32>,
    /// Vector score; null if the text has no vector or without vector search.
    pub vector: Option<f32>,
}

/// The state of the index at the time of an answer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IndexState {
    /// Counter of changes: each change of the searchable text increases the number.
    pub generation: u64,
    /// Number of files to index plus number of chunks without a vector.
    pub pending: u64,
    /// Age of the oldest change that is not searchable yet, in milliseconds; 0 if all changes are searchable.
    pub lag_ms: u64,
    /// The missing part as one kebab-case word, for example `no-model`; null if no part is missing.
    pub degraded: Option<String>,
    /// The reason why the part is missing, and the fix; absent if `degraded` is null.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}
