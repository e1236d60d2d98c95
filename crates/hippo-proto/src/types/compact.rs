//! `session.compact`: summary of a transcript, and storage of its messages.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::error::RpcError;
use crate::types::check::{refuse_zero, require_one};
use hippo_types::transcript::{CompactStats, MessageScore, TranscriptFormat};

/// Maximum number of message scores in an answer.
pub const MAX_SCORES: usize = 50_000;

/// Parameters of `session.compact`, with either `path` or `messages`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionCompactRequest {
    /// Path of the workspace that stores the messages, or of anything below it. Without a workspace, no messages are
    /// stored.
    pub workspace: Option<String>,
    /// Absolute path of a transcript.
    pub path: Option<String>,
    /// Messages in the format of the OpenAI or Anthropic API, oldest first.
    pub messages: Option<Vec<Value>>,
    /// Format of the transcript; without it, the format of each record is detected.
    pub format: Option<TranscriptFormat>,
    /// Settings with the keys of `sessionCompaction` in `hipocampus.config.json`. By default, the settings of the
    /// workspace apply if it has any, otherwise the built-in defaults.
    pub config: Option<Map<String, Value>>,
    /// Maximum size of the summary in tokens, at least 1; by default, the settings determine the size.
    #[schemars(range(min = 1))]
    pub budget_tokens: Option<u32>,
}

impl SessionCompactRequest {
    pub(crate) fn validate(&self) -> Result<(), RpcError> {
        refuse_zero("budget_tokens", self.budget_tokens)?;
        require_one(
            ["path", "messages"],
            [self.path.is_some(), self.messages.is_some()],
        )
    }
}

/// Answer to `session.compact`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionCompactResponse {
    /// The summary, markdown.
    pub summary: String,
    /// Statistics of the compaction.
    pub stats: CompactStats,
    /// The scores of the messages, in order. With more than [`MAX_SCORES`] messages, only the last scores are
    /// included.
    pub entries: Vec<MessageScore>,
    /// Notes about this answer, such as unknown keys of the settings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}
