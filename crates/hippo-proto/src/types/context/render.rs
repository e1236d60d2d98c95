//! `context.render`: context of a session as a prompt section.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::RpcError;
use crate::types::check::{refuse_larger, refuse_zero};
use hippo_types::context::ContextShown;

/// Maximum length of a cue in bytes.
const MAX_CUE_BYTES: usize = 16 * 1024;

/// Parameters of `context.render`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ContextRenderRequest {
    /// Id of a session.
    pub session: String,
    /// Maximum size of the section in tokens, at least 1; default 5000.
    pub budget_tokens: Option<u32>,
    /// Description of the agent's next step. Dormant entries that match it are reactivated. Matching entries of earlier
    /// sessions are added.
    pub cue: Option<String>,
}

impl ContextRenderRequest {
    pub(crate) fn validate(&self) -> Result<(), RpcError> {
        refuse_zero("budget_tokens", self.budget_tokens)?;
        refuse_larger("cue", self.cue.as_ref().map_or(0, String::len), MAX_CUE_BYTES)
    }
}

/// Answer to `context.render`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContextRenderResponse {
    /// The section with its start and end markers; empty if there is nothing to show.
    pub markdown: String,
    /// The entries in the section, in order.
    pub entries: Vec<ContextShown>,
    /// Tokens of the section.
    pub tokens: u64,
    /// Number of active entries that do not fit into the budget.
    pub left_out: u64,
    /// Number of dormant or expired entries.
    pub dormant: u64,
    /// Size in tokens of all contents that can be fetched.
    pub retrievable_tokens: u64,
    /// Notes about this answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}
