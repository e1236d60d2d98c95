//! What did another memory program know: `import`?

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Validate, refuse_empty as no_empty, refuse_unknown_word as one_of};
use crate::error::RpcError;

/// Most damaged places that an answer names.
pub const MAX_PROBLEMS: usize = 100;

/// A program whose memories can be taken over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ImportFrom {
    /// hippo-memory: a folder `.hippo`, or its `hippo.db`.
    HippoMemory,
    /// basic-memory: a folder of notes.
    BasicMemory,
    /// claude-mem: its export, or `claude-mem.db`.
    ClaudeMem,
    /// mem0: the JSON of `get_all`, or `history.db`.
    Mem0,
}

impl ImportFrom {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::HippoMemory, Self::BasicMemory, Self::ClaudeMem, Self::Mem0];

    /// Its name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            ImportFrom::HippoMemory => "hippo-memory",
            ImportFrom::BasicMemory => "basic-memory",
            ImportFrom::ClaudeMem => "claude-mem",
            ImportFrom::Mem0 => "mem0",
        }
    }
}

/// Parameters of `import`. `progress` notifications come before the answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ImportRequest {
    /// Path of the workspace, or of anything below it.
    pub workspace: String,
    /// Which program made it.
    pub from: ImportFrom,
    /// Absolute path of its export or store.
    pub path: String,
    /// Folder below the workspace that everything goes into; without it logs go to `memory/` and the rest to
    /// `knowledge/imported/`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub into: Option<String>,
    /// Write. Without it the answer says what would be written.
    #[serde(default)]
    pub apply: bool,
}

impl Validate for ImportRequest {
    fn check_raw(params: &Map<String, Value>) -> Result<(), RpcError> {
        let names = ImportFrom::ALL.map(ImportFrom::name);
        one_of(params, ["from", "program", "programs"], &names)
    }

    fn validate(&self) -> Result<(), RpcError> {
        no_empty("workspace", Some(&self.workspace))?;
        no_empty("path", Some(&self.path))?;
        no_empty("into", self.into.as_deref())
    }
}

/// Answer to `import`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ImportResponse {
    /// Whether it was written.
    pub applied: bool,
    /// Memories that were found.
    pub memories: u64,
    /// Of these, they stand in the workspace already, or were found twice.
    pub known: u64,
    /// What gets new ones, in the order of their paths.
    pub files: Vec<ImportedFile>,
    /// Records that are no memories, such as prompts, or that were deleted there.
    pub left_out: u64,
    /// New memories in which something was redacted as a secret.
    pub redacted: u64,
    /// New memories that read like an instruction to an agent; each says so.
    pub flagged: u64,
    /// Damaged places that were passed over.
    pub malformed: u64,
    /// The first [`MAX_PROBLEMS`] of them.
    pub problems: Vec<ImportProblem>,
    /// What the reader should know about this.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// A file that gets memories.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ImportedFile {
    /// Relative to the workspace.
    pub path: String,
    /// So many are new there.
    pub memories: u64,
    /// There is none of this name yet.
    pub new: bool,
    /// First line of them, from 1; null in a dry run.
    pub start_line: Option<u32>,
    /// Last line, inclusive; null in a dry run.
    pub end_line: Option<u32>,
}

/// A damaged place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ImportProblem {
    /// The file, below the path that was given, or that path itself.
    pub path: String,
    /// Line, from 1; null where it has none.
    pub line: Option<u32>,
    /// What is wrong, and with which record or row (the first is 1), with its id where it has one.
    pub what: String,
}
