//! `session.compact`: summary of a transcript, and its stored messages.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Validate, refuse_empty, refuse_unknown_word, refuse_zero};
use crate::error::RpcError;

/// Maximum number of scored messages in an answer.
pub const MAX_SCORES: usize = 50_000;

/// Parameters of `session.compact`: either `path` or `messages`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SessionCompactRequest {
    /// Path of the workspace that stores the contents, or of anything below it; without it, none are stored.
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
    /// Numbers with the keys of `sessionCompaction` in `hipocampus.config.json`; without them, those of the workspace, else
    /// the defaults.
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

/// The program that wrote a transcript.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum TranscriptFormat {
    /// Detected per record.
    #[default]
    Auto,
    /// Claude Code.
    ClaudeCode,
    /// Pi or OpenClaw.
    Pi,
    /// Codex.
    Codex,
    /// A list of messages.
    Messages,
}

impl TranscriptFormat {
    /// All variants.
    pub const ALL: [Self; 5] = [
        Self::Auto,
        Self::ClaudeCode,
        Self::Pi,
        Self::Codex,
        Self::Messages,
    ];

    /// Returns the wire name.
    pub fn name(self) -> &'static str {
        match self {
            TranscriptFormat::Auto => "auto",
            TranscriptFormat::ClaudeCode => "claude-code",
            TranscriptFormat::Pi => "pi",
            TranscriptFormat::Codex => "codex",
            TranscriptFormat::Messages => "messages",
        }
    }
}

/// Answer to `session.compact`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionCompactResponse {
    /// The summary, markdown.
    pub summary: String,
    /// Statistics.
    pub stats: CompactStats,
    /// The scores of the messages in order; for more than [`MAX_SCORES`] messages, the last ones.
    pub entries: Vec<CompactEntry>,
    /// Notes about this answer, such as unknown keys of the settings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// Statistics of a compaction.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CompactStats {
    /// The detected format; null if none.
    pub format: Option<String>,
    /// Scored messages.
    pub messages: u64,
    /// Tokens of the messages.
    pub tokens_before: u64,
    /// Tokens of the summary.
    pub tokens_after: u64,
    /// `tokens_before` divided by `tokens_after`.
    pub ratio: f64,
    /// Messages kept in full.
    pub kept: u64,
    /// Messages shortened to a line.
    pub compressed: u64,
    /// Messages reduced to a pointer.
    pub sparse: u64,
    /// Messages that do not fit into the summary; `rest` lists them.
    pub dropped: u64,
    /// The id of the list of dropped messages; null if there are none.
    pub rest: Option<String>,
    /// Messages before an earlier compaction, represented by its summary.
    pub folded: u64,
    /// Unreadable records.
    pub malformed: u64,
    /// The first unreadable records.
    pub problems: Vec<CompactProblem>,
    /// Contents newly stored in the workspace; absent without a workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stored: Option<u64>,
}

/// An unreadable record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CompactProblem {
    /// Line number, 1-based.
    pub line: u64,
    /// The problem.
    pub what: String,
}

/// The scores of one message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CompactEntry {
    /// Position among the messages of the session, 0-based.
    pub index: u64,
    /// The id to fetch its content with, if it is stored.
    pub id: String,
    /// The kind of message in snake_case: `decision`, `user_intent`, `context`, `tool_result`, `ephemeral`, `unknown`.
    #[serde(rename = "type")]
    pub type_: String,
    /// Importance before decay, 0 to 1.
    pub importance: f64,
    /// Importance after decay, 0 to 1.
    pub retention: f64,
    /// How the message is shown: `keep`, `compress` or `sparse`.
    pub tier: String,
    /// Tokens of the message.
    pub tokens: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_of_formats_match_the_wire_names() {
        for format in TranscriptFormat::ALL {
            assert_eq!(serde_json::to_value(format).unwrap(), format.name());
        }
    }
}
