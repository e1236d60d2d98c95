//! What does the summary of a transcript say, with its messages kept: `session.compact`?

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Validate, at_least_one, no_empty, one_of};
use crate::error::RpcError;

/// Most messages whose scores an answer has.
pub const MAX_SCORES: usize = 50_000;

/// Parameters of `session.compact`: one of `path` and `messages`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SessionCompactRequest {
    /// Path of the workspace, or of anything below it, under which contents are kept; without it none are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// Absolute path of a transcript.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Messages as OpenAI's and Anthropic's interfaces take them, the oldest first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub messages: Option<Vec<Value>>,
    /// Who wrote it; without it each record as it looks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<TranscriptFormat>,
    /// Numbers with the keys of `hippocampus.config.json`; without it that file of the workspace, else the defaults.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<Map<String, Value>>,
    /// Most tokens of the summary, at least 1; without it as many as the rules make.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_tokens: Option<u32>,
}

impl Validate for SessionCompactRequest {
    fn check_raw(params: &Map<String, Value>) -> Result<(), RpcError> {
        let names = TranscriptFormat::ALL.map(TranscriptFormat::name);
        one_of(params, ["format", "format", "formats"], &names)
    }

    fn validate(&self) -> Result<(), RpcError> {
        no_empty("workspace", self.workspace.as_deref())?;
        no_empty("path", self.path.as_deref())?;
        at_least_one("budget_tokens", self.budget_tokens)?;
        let given = match (&self.path, &self.messages) {
            (Some(_), Some(_)) => "both \"path\" and \"messages\" are given",
            (None, None) => "neither \"path\" nor \"messages\" is given",
            _ => return Ok(()),
        };
        Err(RpcError::bad_request(given).hint("give one"))
    }
}

/// Who wrote a transcript.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum TranscriptFormat {
    /// Whoever it looks like, record by record.
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
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Auto,
        Self::ClaudeCode,
        Self::Pi,
        Self::Codex,
        Self::Messages,
    ];

    /// Its name on the wire.
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
    /// Figures.
    pub stats: CompactStats,
    /// The scores of the messages in their order; of more than [`MAX_SCORES`] the last ones.
    pub entries: Vec<CompactEntry>,
    /// What the reader should know about this answer, such as keys of the settings that are unknown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// Figures of a compaction.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CompactStats {
    /// The format that was found; null: none.
    pub format: Option<String>,
    /// Messages that were scored.
    pub messages: u64,
    /// Tokens of them.
    pub tokens_before: u64,
    /// Tokens of the summary.
    pub tokens_after: u64,
    /// One by the other.
    pub ratio: f64,
    /// Messages that are kept whole.
    pub kept: u64,
    /// Messages that are a line.
    pub compressed: u64,
    /// Messages that are a pointer.
    pub sparse: u64,
    /// Messages for which the summary has no room; all of them are behind `rest`.
    pub dropped: u64,
    /// The id of the list of these; null: there are none.
    pub rest: Option<String>,
    /// Messages before an earlier compaction, which its summary stands for.
    pub folded: u64,
    /// Records that could not be read.
    pub malformed: u64,
    /// The first of them.
    pub problems: Vec<CompactProblem>,
    /// Contents that are kept under the workspace now and were not before; absent where no workspace was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stored: Option<u64>,
}

/// A record that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CompactProblem {
    /// Where, from 1.
    pub line: u64,
    /// What is wrong with it.
    pub what: String,
}

/// The scores of one message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CompactEntry {
    /// Its place among the messages of the session, from 0.
    pub index: u64,
    /// By which its content is fetched, where it is kept.
    pub id: String,
    /// What kind of message it is, in snake_case: `decision`, `user_intent`, `context`, `tool_result`, `ephemeral`,
    /// `unknown`.
    #[serde(rename = "type")]
    pub type_: String,
    /// Before it faded, 0 to 1.
    pub importance: f64,
    /// What is left of that, 0 to 1.
    pub retention: f64,
    /// How it is shown: `keep`, `compress` or `sparse`.
    pub tier: String,
    /// Its size.
    pub tokens: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_of_formats_are_those_on_the_wire() {
        for format in TranscriptFormat::ALL {
            assert_eq!(serde_json::to_value(format).unwrap(), format.name());
        }
    }
}
