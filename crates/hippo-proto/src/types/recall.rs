//! `recall`: passages for a prompt that did not ask for them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use hippo_types::scope::Scope;

use crate::error::RpcError;
use crate::types::check::{refuse_larger, refuse_outside};

/// Maximum length of a prompt in bytes.
const MAX_PROMPT_BYTES: usize = 1 << 20;

/// Maximum value of `wait_ms`.
const MAX_WAIT_MS: u32 = 60_000;

/// Parameters of `recall`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RecallRequest {
    /// Path of the workspace, or of anything below it.
    pub workspace: String,
    /// The user's prompt, at most 1 MiB.
    pub prompt: String,
    /// Id of the session in the harness. The daemon returns each passage only once for a session.
    pub session: Option<String>,
    /// Maximum time in milliseconds for the search, 1 to 60,000; default: 300. If the search takes longer, the daemon
    /// returns no passage.
    #[schemars(range(min = 1, max = MAX_WAIT_MS))]
    pub wait_ms: Option<u32>,
    /// Name of the program that asks, for the recall log, for example `hook`; at most 64 bytes.
    pub client: Option<String>,
}

impl RecallRequest {
    pub(crate) fn validate(&self) -> Result<(), RpcError> {
        refuse_larger("prompt", self.prompt.len(), MAX_PROMPT_BYTES)?;
        super::log::check_client(self.client.as_deref())?;
        refuse_outside("wait_ms", self.wait_ms, 1, MAX_WAIT_MS)
    }
}

/// Answer to `recall`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RecallResponse {
    /// Section for the prompt, which marks the passages as stored material; empty if no passage was chosen.
    pub text: String,
    /// Size of `text` in tokens, estimated as bytes / 4; at most 300.
    pub tokens: u64,
    /// The chosen passages, best first; at most three.
    pub passages: Vec<RecalledPassage>,
    /// Why the daemon chose these passages, or none.
    pub reason: String,
    /// Duration in the daemon, in milliseconds.
    pub took_ms: f64,
}

/// A passage that the daemon chose for a prompt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RecalledPassage {
    /// Id of this text for `get`.
    pub id: String,
    /// Path relative to the workspace, with `/`.
    pub path: String,
    /// First line, 1-based.
    pub start_line: u32,
    /// Last line, inclusive.
    pub end_line: u32,
    /// The headings above the text, outermost first.
    pub heading: Vec<String>,
    /// Date of the text, `YYYY-MM-DD`.
    pub date: Option<String>,
    /// The scope of the text: `private:` and the id of the agent. Absent for a text that all agents may read.
    #[serde(default, skip_serializing_if = "Scope::is_shared")]
    pub scope: Scope,
    /// Confidence that the passage concerns the prompt, 0 to 1.
    pub confidence: f32,
    /// The text without secrets, shortened if it is long.
    pub text: String,
}
