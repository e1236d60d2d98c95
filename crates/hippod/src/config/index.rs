//! Settings of the index file and its maintenance cycles.

use serde::{Deserialize, Serialize};

use hippo_map::consolidation;
use hippo_map::decay::DecayCurve;
use hippo_map::schedule::{self, Cron};

/// `[index]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct IndexConfig {
    /// True if the daemon maintains an index file.
    pub enabled: bool,
    /// Maximum size of the index file in tokens.
    pub max_tokens: usize,
    /// Maximum size of the index file in tokens per memory file; 0 disables this limit.
    pub tokens_per_file: usize,
    /// Maximum number of entries in the index file if it cannot hold all of them.
    pub max_entries: usize,
    /// Cosine similarity from which two entries may be merged.
    pub merge_above: f64,
    /// Set from the section `[decay]`.
    #[serde(skip)]
    pub decay: DecayProfile,
}

/// `[decay]`
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct DecayConfig {
    /// Parameters of the decay curve.
    pub profile: DecayProfile,
}

/// Parameters of the decay curve.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DecayProfile {
    /// Parameters of the protocol.
    Protocol,
    /// Parameters that the simulation suggested.
    #[default]
    Tuned,
}

/// `[cycles]`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CyclesConfig {
    /// Schedule of light cycles; if empty, they run only on request.
    pub light: String,
    /// Schedule of deep cycles.
    pub deep: String,
    /// Schedule for checking whether an archival cycle is due.
    pub archival: String,
}

impl IndexConfig {
    /// Returns the parameters of the decay curve.
    pub fn profile(&self) -> DecayCurve {
        match self.decay {
            DecayProfile::Protocol => DecayCurve::PROTOCOL,
            DecayProfile::Tuned => DecayCurve::TUNED,
        }
    }

    /// Returns the maximum size of the index file in tokens, given the number of memory files. That number is rounded
    /// up to a multiple of ten, so that one new log does not change the layout of the index file.
    pub fn tokens(&self, files: usize) -> usize {
        let bound = match self.tokens_per_file {
            0 => usize::MAX,
            each => each.saturating_mul(files.max(1).next_multiple_of(10)),
        };
        self.max_tokens.min(bound)
    }

    /// Returns the thresholds of the cycles.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a threshold from 0 to 1 needs few digits"
    )]
    pub fn consolidation(&self) -> consolidation::ConsolidationSettings {
        let standard = consolidation::ConsolidationSettings::default();
        let merge_above = self.merge_above as f32;
        consolidation::ConsolidationSettings {
            merge_above,
            // The threshold for entries with a shared pointer is lower by the same margin as in the defaults.
            merge_above_shared: merge_above - (standard.merge_above - standard.merge_above_shared),
            ..standard
        }
    }
}

impl Default for IndexConfig {
    fn default() -> Self {
        Self {
            enabled: true,
            max_tokens: 15_000,
            // In the range of specification v1 §9.1: one line for the file, and sections.
            tokens_per_file: 70,
            max_entries: 200,
            merge_above: 0.8,
            decay: DecayProfile::default(),
        }
    }
}

impl CyclesConfig {
    /// Returns the parsed schedule. The expressions were validated when the settings were loaded.
    pub fn schedule(&self) -> schedule::ScheduleSettings {
        let line = |line: &str| cron(line).ok().flatten();
        schedule::ScheduleSettings {
            light: line(&self.light),
            deep: line(&self.deep),
            archival: line(&self.archival),
        }
    }
}

impl Default for CyclesConfig {
    fn default() -> Self {
        Self {
            light: "0 * * * *".into(),
            deep: "30 2 * * *".into(),
            archival: "30 3 * * sun".into(),
        }
    }
}

/// Parses a cron expression; returns `None` for the empty one.
pub(super) fn cron(line: &str) -> Result<Option<Cron>, String> {
    if line.trim().is_empty() {
        return Ok(None);
    }
    Cron::parse(line)
        .map(Some)
        .map_err(|error| format!("could not read the cron line {line:?}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_cron_lines_are_valid() {
        let schedule = CyclesConfig::default().schedule();
        assert!(schedule.light.is_some() && schedule.deep.is_some() && schedule.archival.is_some());
        assert_eq!(cron(" ").unwrap(), None);
        assert!(cron("61 * * * *").unwrap_err().contains("61"));
    }
}
