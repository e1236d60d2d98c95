//! `recall.log` and `recall.why`: past questions, and explanations of answers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::RpcError;
use crate::types::check::refuse_outside;
use hippo_types::scope::AgentId;
use hippo_types::search::SearchMode;

/// Maximum number of questions in an answer.
const MAX_QUESTIONS: u32 = 1000;
/// Maximum length of the name of a client in bytes.
const MAX_CLIENT: usize = 64;

/// Checks the name of a client.
///
/// # Errors
/// Returns `bad-request` for a long name, and for a name with control characters.
pub(crate) fn check_client(client: Option<&str>) -> Result<(), RpcError> {
    match client {
        Some(name) if name.len() > MAX_CLIENT || name.chars().any(char::is_control) => Err(
            RpcError::bad_request("the field \"client\" is not a name").hint(format!(
                "give at most {MAX_CLIENT} bytes without control characters"
            )),
        ),
        _ => Ok(()),
    }
}

/// Parameters of `recall.log`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RecallLogRequest {
    /// Path of the workspace, or of anything below it.
    pub workspace: String,
    /// Maximum number of questions, 1 to 1,000; default: 20.
    #[schemars(range(min = 1, max = MAX_QUESTIONS))]
    pub limit: Option<u32>,
    /// Return only questions before the question with this id.
    pub before: Option<u64>,
}

impl RecallLogRequest {
    pub(crate) fn validate(&self) -> Result<(), RpcError> {
        refuse_outside("limit", self.limit, 1, MAX_QUESTIONS)
    }
}

/// Answer to `recall.log`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RecallLogResponse {
    /// The last questions of the workspace, latest first.
    pub questions: Vec<LoggedQuestion>,
    /// Maximum number of questions in the log; 0 if the log is turned off.
    pub limit: u64,
    /// Days for which the log keeps a question.
    pub days: u32,
}

/// A question in the recall log, with the answer that it got.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoggedQuestion {
    /// Number of the question, higher for later questions.
    #[serde(default)]
    pub id: u64,
    /// Time of the answer.
    pub at: String,
    /// Method of the request: `search` or `recall`.
    pub method: String,
    /// Name of the client, for example `cli`; null if the client gave none.
    pub client: Option<String>,
    /// The agent that asked; absent if the request named none. Only this agent sees the question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentId>,
    /// Id of the session, if the request had one.
    pub session: Option<String>,
    /// The beginning of the question, without secrets.
    pub question: String,
    /// The method of finding candidates.
    pub mode: SearchMode,
    /// Filters of the search in words; null without a filter.
    pub filters: Option<String>,
    /// Why passages were returned, or none; null for a search.
    pub reason: Option<String>,
    /// Minimum confidence of the best passage, 0 to 1; null for a search.
    pub floor: Option<f32>,
    /// The part of the search that was missing, for example `no-model`; null if no part was missing.
    pub degraded: Option<String>,
    /// True if all results of the search were weak.
    pub nothing_relevant: bool,
    /// The returned passages, best first, and then those that were dropped.
    pub passages: Vec<LoggedPassage>,
    /// Duration in the daemon, in milliseconds.
    pub took_ms: f64,
}

/// A passage that was found for a question.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoggedPassage {
    /// Path and line, for example `memory/2026-03-02.md:5`.
    pub place: String,
    /// Score of a search result, or confidence that the passage concerns the prompt; 0 to 1.
    pub score: f32,
    /// Score by words, 0 to 1; null if no word matches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lexical: Option<f32>,
    /// Score by meaning, 0 to 1; null without a vector.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vector: Option<f32>,
    /// `given` if the passage was returned. Otherwise the reason why not: `below-floor`, `given-before`, `session`,
    /// `instruction`, `superseded`, `no-room`, `not-needed`, `near-duplicate`, `only-heading` or `changed`; newer
    /// daemons may have others.
    pub outcome: String,
    /// Path and line of the result that corrects this passage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<String>,
}

/// Parameters of `recall.why`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RecallWhyRequest {
    /// Path of the workspace, or of anything below it.
    pub workspace: String,
    /// The question, as for `search`.
    pub query: String,
    /// The method of finding candidates; default: the configured one.
    pub mode: Option<SearchMode>,
    /// Path of the file that contains a passage, relative to the workspace. Without a path, the daemon explains the
    /// results.
    pub path: Option<String>,
    /// Line of the passage, 1-based; default: 1.
    pub line: Option<u32>,
    /// Number of results that the answer to the question has; default: the configured one, initially 10.
    #[schemars(range(min = 1, max = 200))]
    pub limit: Option<u32>,
}

impl RecallWhyRequest {
    pub(crate) fn validate(&self) -> Result<(), RpcError> {
        refuse_outside("limit", self.limit, 1, super::MAX_LIMIT)?;
        super::SearchRequest::new("", &self.query).validate()
    }
}

/// Answer to `recall.why`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RecallWhyResponse {
    /// The query as received.
    pub query: String,
    /// The explained passages.
    pub passages: Vec<ExplainedPassage>,
    /// Notes about the search.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// Why a passage was found, or not.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExplainedPassage {
    /// Path relative to the workspace, with `/`.
    pub path: String,
    /// First line, 1-based.
    pub start_line: u32,
    /// Last line, inclusive.
    pub end_line: u32,
    /// Position among the results, 1-based; null if the passage is not among them.
    pub rank: Option<u32>,
    /// Relevance, 0 to 1; null if the passage does not match.
    pub score: Option<f32>,
    /// `given` if the passage is in the answer. Otherwise the reason why not: `no-file`, `not-indexed`, `no-text`,
    /// `no-match`, `below-limit`, `equal-text`, or a reason of the recall log; newer daemons may have others.
    pub outcome: String,
    /// Sentences that explain the outcome.
    pub because: Vec<String>,
    /// The change that would find the passage.
    pub change: Option<String>,
}
