//! Modes of search.

use serde::{Deserialize, Serialize};

/// Mode of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum SearchMode {
    /// Search the text by keyword and by meaning, and use matching entries of the index file.
    #[default]
    Hybrid,
    /// Search the text by keyword only.
    Lexical,
    /// Search the text by meaning only.
    Vector,
    /// Search the entries of the index file, and return the text to which the best entries point.
    Index,
}

names!(SearchMode { Hybrid => "hybrid", Lexical => "lexical", Vector => "vector", Index => "index" });
