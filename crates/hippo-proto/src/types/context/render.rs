//! What does a session's context look like in a prompt: `context.render`?

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{ContextSource, ContextType, a_session};
use crate::error::{ErrorKind, RpcError};
use crate::types::{Validate, at_least_one, no_empty, one_of};

/// Longest cue, in bytes.
const MAX_CUE_BYTES: usize = 16 * 1024;

/// Parameters of `context.render`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ContextRenderRequest {
    /// Id of a session.
    pub session: String,
    /// Most tokens, at least 1; without it what the configuration says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_tokens: Option<u32>,
    /// The form of the section; `markdown` without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<ContextFormat>,
    /// What the agent is about to do: dormant entries that fit it come back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cue: Option<String>,
}

impl Validate for ContextRenderRequest {
    fn check_raw(params: &Map<String, Value>) -> Result<(), RpcError> {
        let names = ContextFormat::ALL.map(ContextFormat::name);
        one_of(params, ["format", "format", "formats"], &names)
    }

    fn validate(&self) -> Result<(), RpcError> {
        a_session(&self.session)?;
        at_least_one("budget_tokens", self.budget_tokens)?;
        no_empty("cue", self.cue.as_deref())?;
        match &self.cue {
            Some(cue) if cue.len() > MAX_CUE_BYTES => {
                let what = format!("the cue is longer than {MAX_CUE_BYTES} bytes");
                Err(RpcError::new(ErrorKind::TooLarge, what).hint("a cue is a question or a few words"))
            }
            _ => Ok(()),
        }
    }
}

/// The form of the section that `context.render` makes.
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
    /// Both.
    pub const ALL: [Self; 2] = [Self::Markdown, Self::Json];

    /// Its name on the wire.
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
    /// The section between its marks, in the form asked for; empty where there is nothing to show.
    pub markdown: String,
    /// What it shows, in its order.
    pub entries: Vec<ContextShown>,
    /// Tokens of the section.
    pub tokens: u64,
    /// Active entries for which the budget has no room.
    pub left_out: u64,
    /// Entries that are dormant or expired.
    pub dormant: u64,
    /// Tokens of all contents that can be fetched.
    pub retrievable_tokens: u64,
    /// What the reader should know about this answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// An entry that is shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ContextShown {
    /// By which its content is fetched.
    pub id: String,
    /// What it stands for.
    #[serde(rename = "type")]
    pub type_: ContextType,
    /// Now, 0 to 1.
    pub strength: f32,
    /// One to a few lines.
    pub summary: String,
    /// Values that will be asked for again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_data: Option<Map<String, Value>>,
    /// Where its content comes from.
    pub source: ContextSource,
    /// What it takes as markdown.
    pub tokens: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_of_formats_are_those_on_the_wire() {
        for format in ContextFormat::ALL {
            assert_eq!(serde_json::to_value(format).unwrap(), format.name());
        }
    }
}
