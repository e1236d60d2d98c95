//! Transcripts and exports of other programs, and the results of compacting a transcript.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

/// Program or interface that defines the format of a transcript.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum TranscriptFormat {
    /// Detects the format from the content.
    #[default]
    Auto,
    /// Claude Code.
    ClaudeCode,
    /// Pi or OpenClaw.
    Pi,
    /// Codex.
    Codex,
    /// List of messages in the format of the OpenAI or Anthropic API.
    Messages,
}

names!(TranscriptFormat {
    Auto => "auto",
    ClaudeCode => "claude-code",
    Pi => "pi",
    Codex => "codex",
    Messages => "messages",
});

/// Program with supported exports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum ExportProgram {
    /// JSON from the export script of claude-mem.
    ClaudeMem,
    /// The result of mem0's `get_all`, as JSON.
    Mem0,
}

names!(ExportProgram { ClaudeMem => "claude-mem", Mem0 => "mem0" });

/// Statistics of a compaction.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CompactStats {
    /// The detected format; null if no format was detected.
    pub format: Option<TranscriptFormat>,
    /// Number of scored messages.
    pub messages: u64,
    /// Tokens of the messages.
    pub tokens_before: u64,
    /// Tokens of the summary.
    pub tokens_after: u64,
    /// `tokens_before` divided by `tokens_after`.
    pub ratio: f64,
    /// Number of messages kept in full.
    pub kept: u64,
    /// Number of messages shortened to a line.
    pub compressed: u64,
    /// Number of messages reduced to a pointer.
    pub sparse: u64,
    /// Number of messages that do not fit into the summary. `rest` is the id of their list.
    pub dropped: u64,
    /// The id of the list of dropped messages; null if there are none.
    pub rest: Option<String>,
    /// Number of messages before an earlier compaction. The summary of that compaction represents them.
    pub folded: u64,
    /// Number of unreadable records.
    pub malformed: u64,
    /// The first unreadable records.
    pub problems: Vec<TranscriptProblem>,
    /// Number of contents newly stored in the workspace; absent without a workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stored: Option<u64>,
}

/// An unreadable record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TranscriptProblem {
    /// Line number, from 1. In a list of messages, the number of the message.
    pub line: u64,
    /// Description of the problem.
    pub what: Cow<'static, str>,
}

/// The scores of one message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MessageScore {
    /// Position among the messages of the session, from 0.
    pub index: u64,
    /// The id to fetch the message's content with, if the content is stored.
    pub id: String,
    /// The kind of message in snake_case: `decision`, `user_intent`, `context`, `tool_result`, `ephemeral`, `unknown`.
    #[serde(rename = "type")]
    pub kind: Cow<'static, str>,
    /// Importance before decay, 0 to 1.
    pub importance: f64,
    /// Importance after decay, 0 to 1.
    pub retention: f64,
    /// How the message is shown: `keep`, `compress` or `sparse`.
    pub tier: Cow<'static, str>,
    /// Tokens of the message.
    pub tokens: u64,
}
