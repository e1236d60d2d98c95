//! `context.render`: context of a session as a prompt section.

use serde::{Deserialize, Serialize};

use super::check_session_id;
use crate::error::{ErrorKind, RpcError};
use crate::types::{Validate, refuse_empty, refuse_zero};
use hippo_types::context::ContextShown;

/// Maximum length of a cue in bytes.
const MAX_CUE_BYTES: usize = 16 * 1024;

/// Parameters of `context.render`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ContextRenderRequest {
    /// Id of a session.
    pub session: String,
    /// Maximum tokens, at least 1; the default is in the configuration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_tokens: Option<u32>,
    /// The agent's next step; matching dormant entries are reactivated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cue: Option<String>,
}

impl Validate for ContextRenderRequest {
    fn validate(&self) -> Result<(), RpcError> {
        check_session_id(&self.session)?;
        refuse_zero("budget_tokens", self.budget_tokens)?;
        refuse_empty("cue", self.cue.as_deref())?;
        match &self.cue {
            Some(cue) if cue.len() > MAX_CUE_BYTES => {
                let what = format!("the cue is longer than {MAX_CUE_BYTES} bytes");
                Err(RpcError::new(ErrorKind::TooLarge, what).hint("a cue is a question or a few words"))
            }
            _ => Ok(()),
        }
    }
}

/// Answer to `context.render`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ContextRenderResponse {
    /// The section between its markers; empty if there is nothing to show.
    pub markdown: String,
    /// The entries in the section, in order.
    pub entries: Vec<ContextShown>,
    /// Tokens of the section.
    pub tokens: u64,
    /// Active entries that do not fit into the budget.
    pub left_out: u64,
    /// Dormant or expired entries.
    pub dormant: u64,
    /// Tokens of all contents that can be fetched.
    pub retrievable_tokens: u64,
    /// Notes about this answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}
