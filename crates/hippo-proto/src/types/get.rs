//! `get`: text of a file, section or line range.

use serde::{Deserialize, Serialize};

use super::{Validate, refuse_empty};
use crate::error::RpcError;

/// Parameters of `get`: `{workspace, path, section?, from?, count?}` or `{workspace?, id}`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct GetRequest {
    /// Path of the workspace, or of anything below it; needed with `path`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// Path of a document, relative to the workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Heading of a section, or a part of it, in any case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub section: Option<String>,
    /// First line, 1-based; relative to the section if one is given, otherwise to the file.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<u32>,
    /// Maximum number of lines, at least 1.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u32>,
    /// Id of a search result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
}

impl Validate for GetRequest {
    fn validate(&self) -> Result<(), RpcError> {
        let fields = [
            ("workspace", &self.workspace),
            ("path", &self.path),
            ("section", &self.section),
            ("id", &self.id),
        ];
        for (field, value) in fields {
            refuse_empty(field, value.as_deref())?;
        }
        for (field, value) in [("from", self.from), ("count", self.count)] {
            if value == Some(0) {
                return Err(RpcError::bad_request(format!(
                    "the field \"{field}\" must be at least 1"
                )));
            }
        }
        let by_path = self.section.is_some() || self.from.is_some() || self.count.is_some();
        match (&self.path, &self.id) {
            (Some(_), Some(_)) => {
                Err(RpcError::bad_request("both \"path\" and \"id\" are given").hint("give one"))
            }
            (None, None) => {
                Err(RpcError::bad_request("neither \"path\" nor \"id\" is given").hint("give one"))
            }
            (Some(_), None) if self.workspace.is_none() => {
                Err(RpcError::bad_request("missing field \"workspace\"")
                    .hint("a path is relative to a workspace: give the workspace too"))
            }
            (None, Some(_)) if by_path => Err(RpcError::bad_request(
                "a request with an id cannot have section, from or count",
            )),
            _ => Ok(()),
        }
    }
}

/// Answer to `get`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GetResponse {
    /// Path relative to the workspace, with `/`.
    pub path: String,
    /// First line of `text`, 1-based.
    pub start_line: u32,
    /// Last line of `text`, inclusive.
    pub end_line: u32,
    /// The current text on disk.
    pub text: String,
    /// The headings above the first line, outermost first.
    pub heading: Vec<String>,
    /// BLAKE3 hash of the whole file, 32 hexadecimal digits (128 bits).
    pub hash: String,
    /// Number of lines of the whole file.
    pub total_lines: u32,
    /// True if the requested text continues after `end_line`.
    pub truncated: bool,
}
