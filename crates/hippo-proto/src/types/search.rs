//! What can be asked of `search`, and what does it answer?

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::moment::looks_like_a_date;
use super::{IndexBand, Validate, no_empty, one_of};
use crate::error::{ErrorKind, RpcError};

/// Most results that one request may ask for.
pub const MAX_LIMIT: u32 = 200;
/// Longest query of a search, in bytes.
pub const MAX_QUERY_BYTES: usize = 16 * 1024;

/// How candidates are found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// By the entries of the index file first; where those do not answer, by words and by meaning, fused by scores.
    #[default]
    Hybrid,
    /// By words alone; needs no model.
    Lexical,
    /// By meaning alone.
    Vector,
    /// By the entries of the index file alone: what they point at answers.
    Index,
}

impl Mode {
    /// All of them, the default first.
    pub const ALL: [Self; 4] = [Self::Hybrid, Self::Lexical, Self::Vector, Self::Index];

    /// Its name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Mode::Hybrid => "hybrid",
            Mode::Lexical => "lexical",
            Mode::Vector => "vector",
            Mode::Index => "index",
        }
    }
}

/// Parameters of `search`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SearchRequest {
    /// Path of the workspace, or of anything below it.
    pub workspace: String,
    /// The question, in plain words; never read as a query language.
    pub query: String,
    /// How candidates are found; without it as the configuration says, which says hybrid by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
    /// Most results, 1 to [`MAX_LIMIT`]; without it as many as fit into `budget_tokens`, and without that as the
    /// configuration says, which says 10 by itself.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = MAX_LIMIT)))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// Most tokens that the texts of all results may have together; at least 1.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_tokens: Option<u32>,
    /// Leave out results below this score, 0 to 1.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1)))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_score: Option<f32>,
    /// Only documents whose path in the workspace fits this glob.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Only what is dated on or after this day, `YYYY-MM-DD`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// Only what is dated on or before this day, `YYYY-MM-DD`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// The agent that asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Say the features of each result's score, and how the entries of the index file led to the answer.
    #[serde(default)]
    pub explain: bool,
    /// Whether the query may leave a trace: strengthen the entries that answered, create one for what none points at.
    #[serde(default = "yes")]
    pub record: bool,
}

fn yes() -> bool {
    true
}

impl SearchRequest {
    /// A query with everything else at its default.
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
            agent: None,
            explain: false,
            record: yes(),
        }
    }
}

impl Validate for SearchRequest {
    fn check_raw(params: &Map<String, Value>) -> Result<(), RpcError> {
        one_of(params, ["mode", "mode", "modes"], &Mode::ALL.map(Mode::name))
    }

    fn validate(&self) -> Result<(), RpcError> {
        no_empty("workspace", Some(&self.workspace))?;
        no_empty("query", Some(&self.query))?;
        if self.query.len() > MAX_QUERY_BYTES {
            let what = format!("the query is longer than {MAX_QUERY_BYTES} bytes");
            return Err(RpcError::new(ErrorKind::TooLarge, what)
                .hint("ask for a part of it; a question is a few sentences"));
        }
        no_empty("path", self.path.as_deref())?;
        if let Some(limit) = self.limit
            && !(1..=MAX_LIMIT).contains(&limit)
        {
            return Err(
                RpcError::bad_request(format!("the limit {limit} is out of range"))
                    .hint(format!("ask for 1 to {MAX_LIMIT} results")),
            );
        }
        if self.budget_tokens == Some(0) {
            return Err(RpcError::bad_request("a budget of 0 tokens holds nothing")
                .hint("leave \"budget_tokens\" out, or give at least 1"));
        }
        if self.min_score.is_some_and(|score| !(0.0..=1.0).contains(&score)) {
            return Err(
                RpcError::bad_request("the field \"min_score\" is out of range").hint("scores are 0 to 1")
            );
        }
        for (field, date) in [("since", &self.since), ("until", &self.until)] {
            if date.as_deref().is_some_and(|date| !looks_like_a_date(date)) {
                return Err(RpcError::bad_request(format!("the field \"{field}\" is no date"))
                    .hint("dates are written YYYY-MM-DD"));
            }
        }
        Ok(())
    }
}

/// Which route found the results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Strategy {
    /// The index entries alone.
    Index,
    /// The search over the documents alone.
    Search,
    /// Both.
    Hybrid,
}

/// Answer to `search`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SearchResponse {
    /// As it was asked.
    pub query: String,
    /// The mode that was asked for; `index.degraded` says where less was possible.
    pub mode: Mode,
    /// The route that found the results.
    pub strategy: Strategy,
    /// Best first; `score` never rises down the list.
    pub results: Vec<SearchHit>,
    /// Tokens of all texts together.
    pub tokens: u64,
    /// The state of the index that answered.
    pub index: IndexState,
    /// What the reader should know about this answer, for example how tokens were counted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// How the entries of the index file led to the answer, when `explain` was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<SearchTrace>,
    /// Milliseconds inside the daemon.
    pub took_ms: f64,
}

/// One result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SearchHit {
    /// Names this piece of text for `get`; valid while the text stays as it is.
    pub id: String,
    /// Relative to the workspace, with `/`.
    pub path: String,
    /// First line, from 1.
    pub start_line: u32,
    /// Last line, inclusive.
    pub end_line: u32,
    /// The headings above it, outermost first.
    pub heading: Vec<String>,
    /// How well it fits, 0 to 1.
    pub score: f32,
    /// Its parts, where there are any.
    pub scores: Option<Scores>,
    /// Strength of its index entry, 0 to 1.
    pub strength: Option<f32>,
    /// Id of its index entry.
    pub entry: Option<String>,
    /// Tokens of `text`, by the model's tokenizer, or bytes/4 where a note says so.
    pub tokens: u32,
    /// The text on disk, read when the answer was made.
    pub text: String,
    /// The day it belongs to, `YYYY-MM-DD`.
    pub date: Option<String>,
    /// Feature → number, when `explain` was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explain: Option<BTreeMap<String, f32>>,
}

/// How the entries of the index file led to an answer.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SearchTrace {
    /// Why this route was taken, for a person.
    pub reason: String,
    /// Entries that fit the question, the most relevant first.
    pub matches: Vec<TraceMatch>,
    /// Pointers of these entries that lead nowhere now, as `path` or `path §section`.
    pub stale: Vec<String>,
    /// Id of the entry that is created for what no entry pointed at; null: none.
    pub created: Option<String>,
    /// Ids of the entries that are strengthened.
    pub refreshed: Vec<String>,
}

/// An entry that fits a question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TraceMatch {
    /// Its id.
    pub entry: String,
    /// Its heading.
    pub topic: String,
    /// How well it fits, 0 to 1.
    pub relevance: f32,
    /// Its strength, 0 to 1, which does not count into the relevance.
    pub strength: f32,
    /// What such a strength is good for.
    pub band: IndexBand,
}

/// Parts of a score, each 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Scores {
    /// By words; null where no word fits or words were not asked.
    pub lexical: Option<f32>,
    /// By meaning; null where there is no vector or meaning was not asked.
    pub vector: Option<f32>,
}

/// The state of the index behind an answer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IndexState {
    /// Grows with every change that became searchable.
    pub generation: u64,
    /// Files that wait to be read and chunks that wait for their vectors.
    pub pending: u64,
    /// Age of the oldest change that is not searchable yet, in milliseconds; 0 when there is none.
    pub lag_ms: u64,
    /// What is missing, in one kebab-case word (for example `no-model`), or null.
    pub degraded: Option<String>,
    /// Why it is degraded and what to do; only where it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}
