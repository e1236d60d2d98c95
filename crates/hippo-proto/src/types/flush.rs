//! `session.flush`: new messages of a transcript for the daily log.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::RpcError;
use hippo_types::scope::AgentId;
use hippo_types::transcript::{TranscriptFormat, TranscriptProblem};

/// Parameters of `session.flush`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionFlushRequest {
    /// Path of the workspace whose logs are written, or of anything below it.
    pub workspace: String,
    /// Absolute path of the transcript.
    pub path: String,
    /// Id that the harness gave the session. It is part of the marker after the appended text.
    pub session: Option<String>,
    /// The agent of the session. The messages then go to the agent's own log.
    pub agent: Option<AgentId>,
    /// Format of the transcript; without it, the format of each record is detected.
    pub format: Option<TranscriptFormat>,
    /// True to answer after the flush; false to answer at once and flush in the background.
    #[serde(default = "default_true")]
    pub wait: bool,
    /// True to store the content of each message as well, as `session.compact` does.
    #[serde(default)]
    pub compact: bool,
    /// True to close the context session with the id `session` after the flush, as `context.close` does; requires
    /// `session`. A missing context session is not an error.
    #[serde(default)]
    pub close: bool,
    /// True to update the compaction tree after the flush, as `tree.compact` does.
    #[serde(default)]
    pub tree: bool,
}

fn default_true() -> bool {
    true
}

impl Default for SessionFlushRequest {
    fn default() -> Self {
        Self {
            workspace: String::new(),
            path: String::new(),
            session: None,
            agent: None,
            format: None,
            wait: true,
            compact: false,
            close: false,
            tree: false,
        }
    }
}

impl SessionFlushRequest {
    pub(crate) fn validate(&self) -> Result<(), RpcError> {
        if self.close && self.session.is_none() {
            let what = "the field \"close\" is given without \"session\"";
            return Err(RpcError::bad_request(what).hint("give the id of the session, or omit \"close\""));
        }
        Ok(())
    }
}

/// Answer to `session.flush`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionFlushResponse {
    /// True if the flush is done. False if it was only accepted; then ignore all other members.
    pub done: bool,
    /// The appended text, one item for each log.
    pub appended: Vec<FlushedLog>,
    /// Number of new messages.
    pub messages: u64,
    /// Number of messages that were flushed before, from this transcript or from a copy.
    pub known: u64,
    /// The detected format; null if no format was detected or nothing is new.
    pub format: Option<String>,
    /// Number of records that could not be read.
    pub malformed: u64,
    /// The first records that could not be read. Their lines are counted from the position `from`.
    pub problems: Vec<TranscriptProblem>,
    /// Number of bytes at the start of the transcript that an earlier flush had read, so that this flush skipped them.
    pub from: u64,
    /// Number of message contents that were stored for the first time; absent without `compact`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stored: Option<u64>,
    /// Notes about this flush.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// Text appended to one log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FlushedLog {
    /// The log, relative to the workspace.
    pub path: String,
    /// First line, 1-based.
    pub start_line: u32,
    /// Last line, inclusive.
    pub end_line: u32,
    /// Titles of the appended sections.
    pub topics: Vec<String>,
}
