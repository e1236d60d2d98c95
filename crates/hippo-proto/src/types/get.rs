//! `get`: text of a file, section or line range.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::RpcError;
use crate::types::check::{refuse_zero, require_one};

/// Parameters of `get`: `{workspace, path, section?, from?, count?}` or `{workspace?, id}`, with `peek?`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GetRequest {
    /// Path of the workspace, or of anything below it; required with `path`.
    pub workspace: Option<String>,
    /// Path of a document, relative to the workspace.
    pub path: Option<String>,
    /// Heading of a section, or a part of the heading; case is ignored.
    pub section: Option<String>,
    /// First line to return, 1-based; counted from the start of the section if one is given, otherwise of the file.
    #[schemars(range(min = 1))]
    pub from: Option<u32>,
    /// Maximum number of lines, at least 1.
    #[schemars(range(min = 1))]
    pub count: Option<u32>,
    /// Id of a search result; cannot be combined with `path`, `section`, `from` and `count`.
    pub id: Option<String>,
    /// True if the request is not an access of the entry that points to the text, because a person looks at the memory.
    #[serde(default)]
    pub peek: bool,
}

impl GetRequest {
    pub(crate) fn validate(&self) -> Result<(), RpcError> {
        refuse_zero("from", self.from)?;
        refuse_zero("count", self.count)?;
        require_one(["path", "id"], [self.path.is_some(), self.id.is_some()])?;
        if self.path.is_some() && self.workspace.is_none() {
            return Err(RpcError::bad_request("missing field \"workspace\"")
                .hint("a path is relative to a workspace: give the workspace too"));
        }
        let by_path = self.section.is_some() || self.from.is_some() || self.count.is_some();
        match self.id.is_some() && by_path {
            true => Err(RpcError::bad_request(
                "a request with an id cannot have section, from or count",
            )),
            false => Ok(()),
        }
    }
}

/// Answer to `get`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GetResponse {
    /// Path relative to the workspace, with `/`.
    pub path: String,
    /// First line of `text`, 1-based.
    pub start_line: u32,
    /// Last line of `text`, inclusive.
    pub end_line: u32,
    /// The text, as it is on disk now.
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
