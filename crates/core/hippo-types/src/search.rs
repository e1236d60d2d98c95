//! Modes of search.

use serde::{Deserialize, Serialize};

/// Method of finding candidates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum SearchMode {
    /// The index file first, then words and meaning.
    #[default]
    Hybrid,
    /// Words only.
    Lexical,
    /// Meaning only.
    Vector,
    /// Entries of the index file only, and the text they point at.
    Index,
}

names!(SearchMode { Hybrid => "hybrid", Lexical => "lexical", Vector => "vector", Index => "index" });
