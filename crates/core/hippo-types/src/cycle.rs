//! Consolidation cycles.

use serde::{Deserialize, Serialize};

/// A consolidation cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Cycle {
    /// Hourly: writes accesses to the index file, creates entries for new files, and moves decayed entries to the
    /// Decay Queue.
    Light,
    /// Nightly: checks pointers, merges near-duplicates, prunes decayed entries.
    Deep,
    /// Monthly: consolidates strong entries, archives decayed ones, reports the health of the index.
    Archival,
}

names!(Cycle { Light => "light", Deep => "deep", Archival => "archival" });
