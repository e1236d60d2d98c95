//! `context.render`: context of a session as a prompt section.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{ContextSource, ContextType, check_session_id};
use crate::error::{ErrorKind, RpcError};
use crate::types::{Validate, refuse_empty, refuse_unknown_word, refuse_zero};

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
    /// Format of the section; default `markdown`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<ContextFormat>,
    /// The agent's next step; matching dormant entries are reactivated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cue: Option<String>,
}

impl Validate for ContextRenderRequest {
    fn check_raw(params: &Map<String, Value>) -> Result<(), RpcError> {
        let names = ContextFormat::ALL.map(ContextFormat::name);
        refuse_unknown_word(params, ["format", "format", "formats"], &names)
    }

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

/// The format of a rendered section.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ContextFormat {
    /// A list.
    #[default]
    Markdown,
    /// An object.
    Json,
}

impl ContextFormat {
    /// Both variants.
    pub const ALL: [Self; 2] = [Self::Markdown, Self::Json];

    /// Returns the wire name.
    pub fn name(self) -> &'static str {
        match self {
            ContextFormat::Markdown => "markdown",
            ContextFormat::Json => "json",
        }
    }
}

/// Answer to `context.render`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ContextRenderResponse {
    /// The section between its markers, in the requested format; empty if there is nothing to show.
    pub markdown: String,
    /// The shown entries in order.
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

/// A shown entry.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ContextShown {
    /// The id to fetch its content with.
    pub id: String,
    /// The kind of content.
    #[serde(rename = "type")]
    pub type_: ContextType,
    /// Current strength, 0 to 1.
    pub strength: f32,
    /// Summary in one to a few lines.
    pub summary: String,
    /// Values that are likely to be needed again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_data: Option<Map<String, Value>>,
    /// The source of the content.
    pub source: ContextSource,
    /// Tokens as markdown.
    pub tokens: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_of_formats_match_the_wire_names() {
        for format in ContextFormat::ALL {
            assert_eq!(serde_json::to_value(format).unwrap(), format.name());
        }
    }
}
