//! Request ids.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Number;

/// The id of a request and of its answer.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Id {
    /// A number.
    Number(Number),
    /// A string.
    String(String),
    /// Null. An answer has this id if the daemon could not parse the id of the line.
    Null,
}

impl From<u64> for Id {
    fn from(number: u64) -> Self {
        Id::Number(number.into())
    }
}
