//! What of a session goes into the daily log: `session.flush`?

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{CompactProblem, TranscriptFormat, Validate, no_empty, one_of};
use crate::error::RpcError;

/// Parameters of `session.flush`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SessionFlushRequest {
    /// Path of the workspace, or of anything below it, into whose logs it goes.
    pub workspace: String,
    /// Absolute path of the transcript.
    pub path: String,
    /// By which the harness knows the session; stands in the mark behind what is appended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Who wrote the transcript; without it each record as it looks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<TranscriptFormat>,
    /// Whether to answer when all is done. With false the answer comes at once, and the work is done meanwhile.
    #[serde(default = "yes")]
    pub wait: bool,
    /// Keep the content of each message as well, as `session.compact` does.
    #[serde(default)]
    pub compact: bool,
    /// Close the context session of that name afterwards, as `context.close` does; needs `session`. None of that name is no error.
    #[serde(default)]
    pub close: bool,
    /// Bring the compaction tree up to date afterwards, as `tree.compact` does.
    #[serde(default)]
    pub tree: bool,
}

fn yes() -> bool {
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

impl Validate for SessionFlushRequest {
    fn check_raw(params: &Map<String, Value>) -> Result<(), RpcError> {
        let names = TranscriptFormat::ALL.map(TranscriptFormat::name);
        one_of(params, ["format", "format", "formats"], &names)
    }

    fn validate(&self) -> Result<(), RpcError> {
        no_empty("workspace", Some(&self.workspace))?;
        no_empty("path", Some(&self.path))?;
        no_empty("session", self.session.as_deref())?;
        if self.close && self.session.is_none() {
            let what = "close is given without the session that is to be closed";
            return Err(RpcError::bad_request(what).hint("give its id as session, or leave close out"));
        }
        Ok(())
    }
}

/// Answer to `session.flush`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionFlushResponse {
    /// Whether it is done; false: it was accepted, and the rest of the answer says nothing.
    pub done: bool,
    /// What was appended, one for each log.
    pub appended: Vec<FlushedLog>,
    /// Messages that were new.
    pub messages: u64,
    /// Messages that had been taken up before, from this transcript or a copy of it.
    pub known: u64,
    /// The format that was found; null: none, or nothing new.
    pub format: Option<String>,
    /// Records that could not be read.
    pub malformed: u64,
    /// The first of them; lines are counted from where the reading began.
    pub problems: Vec<CompactProblem>,
    /// Bytes of the transcript that had been taken up before, and were not read again.
    pub from: u64,
    /// Contents that are kept now and were not before; absent where that was not asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stored: Option<u64>,
    /// What the reader should know about this.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// What was appended to a log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FlushedLog {
    /// The log, relative to the workspace.
    pub path: String,
    /// Its first line there, from 1.
    pub start_line: u32,
    /// Its last line, inclusive.
    pub end_line: u32,
    /// Titles of its sections.
    pub topics: Vec<String>,
}
