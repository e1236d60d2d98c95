//! Modes of search.

use serde::{Deserialize, Serialize};

/// Method of finding candidates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum SearchMode {
    /// First the entries of the index file, then a keyword search combined with a search by meaning.
    #[default]
    Hybrid,
    /// Keyword search only.
    Lexical,
    /// Search by meaning only.
    Vector,
    /// Only entries of the index file, and the text that they point at.
    Index,
}

names!(SearchMode { Hybrid => "hybrid", Lexical => "lexical", Vector => "vector", Index => "index" });
