//! `search`: parameters and results.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::RpcError;
use crate::types::check::{refuse_larger, refuse_outside, refuse_zero};
use hippo_types::entry::StrengthBand;
use hippo_types::search::SearchMode;

/// Maximum number of results in a request.
pub const MAX_LIMIT: u32 = 200;
/// Maximum length of a query in bytes.
const MAX_QUERY_BYTES: usize = 16 * 1024;

/// Parameters of `search`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SearchRequest {
    /// Path of the workspace, or of anything below it.
    pub workspace: String,
    /// The query in natural language, without a query syntax.
    pub query: String,
    /// The method of finding candidates; default: the configured one, initially `hybrid`.
    pub mode: Option<SearchMode>,
    /// Maximum number of results, 1 to [`MAX_LIMIT`]. By default, as many results as fit into `budget_tokens` are
    /// returned; without a budget, the configured number, initially 10.
    #[schemars(range(min = 1, max = MAX_LIMIT))]
    pub limit: Option<u32>,
    /// Maximum total tokens of all results, at least 1.
    #[schemars(range(min = 1))]
    pub budget_tokens: Option<u32>,
    /// Minimum score of a result, 0 to 1.
    #[schemars(range(min = 0, max = 1))]
    pub min_score: Option<f32>,
    /// Only documents whose relative path matches this glob.
    pub path: Option<String>,
    /// Only text dated on or after this day, `YYYY-MM-DD`.
    pub since: Option<String>,
    /// Only text dated on or before this day, `YYYY-MM-DD`.
    pub until: Option<String>,
    /// Return the features of each score, and a trace of the index entries.
    #[serde(default)]
    pub explain: bool,
    /// True if the query may change the index: strengthen the entries that answered, create an entry for results without one.
    #[serde(default = "default_true")]
    pub record: bool,
}

fn default_true() -> bool {
    true
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
        }
    }
}

impl SearchRequest {
    pub(crate) fn validate(&self) -> Result<(), RpcError> {
        refuse_larger("query", self.query.len(), MAX_QUERY_BYTES)?;
        refuse_outside("limit", self.limit, 1, MAX_LIMIT)?;
        refuse_zero("budget_tokens", self.budget_tokens)?;
        match self.min_score {
            Some(score) if !(0.0..=1.0).contains(&score) => {
                Err(RpcError::bad_request("the field \"min_score\" is out of range")
                    .hint("scores are 0 to 1"))
            }
            _ => Ok(()),
        }
    }
}

/// The route to the results.
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
    /// The requested mode; see `index.degraded` for limitations.
    pub mode: SearchMode,
    /// The route to the results.
    pub strategy: Strategy,
    /// Results, best first.
    pub results: Vec<SearchHit>,
    /// Total tokens of all texts.
    pub tokens: u64,
    /// The state of the index.
    pub index: IndexState,
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
    /// Id of this text for `get`; valid while the text is unchanged.
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
    /// Strength of the index entry, 0 to 1.
    pub strength: Option<f32>,
    /// Id of the index entry.
    pub entry: Option<String>,
    /// Tokens of `text` by the model's tokenizer, or bytes/4 if a note states this.
    pub tokens: u32,
    /// The current text on disk.
    pub text: String,
    /// Date of the text, `YYYY-MM-DD`.
    pub date: Option<String>,
    /// Path and line of a result of a later day that changes a value of this text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<String>,
    /// Features of the score, if `explain` was requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explain: Option<BTreeMap<String, f32>>,
}

/// The contribution of index entries to an answer.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SearchTrace {
    /// The reason for the route, as text.
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
    /// Strength, 0 to 1; not part of the relevance.
    pub strength: f32,
    /// The band of the entry's strength.
    pub band: StrengthBand,
}

/// Components of a score, each 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Scores {
    /// Lexical score; null without a matching word or without lexical search.
    pub lexical: Option<f32>,
    /// Vector score; null without a vector or without vector search.
    pub vector: Option<f32>,
}

/// The state of the index at the time of an answer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IndexState {
    /// Incremented by every change that becomes searchable.
    pub generation: u64,
    /// Files to index and chunks without a vector.
    pub pending: u64,
    /// Age of the oldest change that is not searchable yet, in milliseconds; 0 if all changes are searchable.
    pub lag_ms: u64,
    /// The missing part as one kebab-case word (for example `no-model`), or null.
    pub degraded: Option<String>,
    /// The reason and the fix; only if degraded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}
