//! `session.compact`: summary of a transcript, and its stored messages.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Validate, refuse_empty, refuse_unknown_word, refuse_zero};
use crate::error::RpcError;
use hippo_types::transcript::{CompactStats, MessageScore, TranscriptFormat};

/// Maximum number of scored messages in an answer.
pub const MAX_SCORES: usize = 50_000;

/// Parameters of `session.compact`: either `path` or `messages`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SessionCompactRequest {
    /// Path of the workspace that stores the contents of the messages, or of anything below it; without a workspace, no
    /// contents are stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// Absolute path of a transcript.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Messages in the format of the OpenAI or Anthropic API, oldest first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub messages: Option<Vec<Value>>,
    /// Format of the transcript; without it, the format of each record is detected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<TranscriptFormat>,
    /// Numbers with the keys of `sessionCompaction` in `hipocampus.config.json`; without them, the settings of the
    /// workspace apply, otherwise the defaults.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<Map<String, Value>>,
    /// Maximum tokens of the summary, at least 1; without it, the rules decide.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_tokens: Option<u32>,
}

impl Validate for SessionCompactRequest {
    fn check_raw(params: &Map<String, Value>) -> Result<(), RpcError> {
        let names = TranscriptFormat::ALL.map(TranscriptFormat::name);
        refuse_unknown_word(params, ["format", "format", "formats"], &names)
    }

    fn validate(&self) -> Result<(), RpcError> {
        refuse_empty("workspace", self.workspace.as_deref())?;
        refuse_empty("path", self.path.as_deref())?;
        refuse_zero("budget_tokens", self.budget_tokens)?;
        let given = match (&self.path, &self.messages) {
            (Some(_), Some(_)) => "both \"path\" and \"messages\" are given",
            (None, None) => "neither \"path\" nor \"messages\" is given",
            _ => return Ok(()),
        };
        Err(RpcError::bad_request(given).hint("give one"))
    }
}

/// Answer to `session.compact`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionCompactResponse {
    /// The summary, markdown.
    pub summary: String,
    /// Statistics of the compaction.
    pub stats: CompactStats,
    /// The scores of the messages in order; for more than [`MAX_SCORES`] messages, the last ones.
    pub entries: Vec<MessageScore>,
    /// Notes about this answer, such as unknown keys of the settings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}
