//! `session.flush`: transfer of new transcript parts to the daily log.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::RpcError;
use hippo_types::transcript::{TranscriptFormat, TranscriptProblem};

/// Parameters of `session.flush`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionFlushRequest {
    /// Path of the workspace whose logs are written, or of anything below it.
    pub workspace: String,
    /// Absolute path of the transcript.
    pub path: String,
    /// The harness's id of the session; part of the marker after the appended text.
    pub session: Option<String>,
    /// Format of the transcript; without it, the format of each record is detected.
    pub format: Option<TranscriptFormat>,
    /// True to answer after the flush. With false, the answer is immediate and the flush runs in the background.
    #[serde(default = "default_true")]
    pub wait: bool,
    /// Also store the content of each message, as `session.compact` does.
    #[serde(default)]
    pub compact: bool,
    /// After the flush, close the context session with this id, as `context.close` does; requires `session`. A missing
    /// session is not an error.
    #[serde(default)]
    pub close: bool,
    /// After the flush, update the compaction tree, as `tree.compact` does.
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
    /// True if the flush is done; false if it was only accepted, and the other members then have no meaning.
    pub done: bool,
    /// Appended text, one item per log.
    pub appended: Vec<FlushedLog>,
    /// Number of new messages.
    pub messages: u64,
    /// Number of messages that were flushed before, from this transcript or from a copy.
    pub known: u64,
    /// The detected format; null if there is none or nothing is new.
    pub format: Option<String>,
    /// Number of unreadable records.
    pub malformed: u64,
    /// The first unreadable records; lines are counted from the start of this read.
    pub problems: Vec<TranscriptProblem>,
    /// Bytes of the transcript that were flushed before and not read again.
    pub from: u64,
    /// Number of newly stored message contents; absent if `compact` was not requested.
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
