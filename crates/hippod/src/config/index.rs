//! Settings of the index file and of its cycles

use serde::{Deserialize, Serialize};

use hippo_core::consolidation;
use hippo_core::decay::DecayCurve;
use hippo_core::schedule::{self, Cron};

/// `[index]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Index {
    /// Whether there is an index file.
    pub enabled: bool,
    /// Tokens of the file, at most.
    pub max_tokens: usize,
    /// Tokens of the file for each file of the memory, at most; 0: no such bound.
    pub tokens_per_file: usize,
    /// Entries in the file once not all fit.
    pub max_entries: usize,
    /// Cosine from which two entries may be one.
    pub merge_above: f64,
    /// Set from `[decay]`.
    #[serde(skip)]
    pub decay: DecayProfile,
}

/// `[decay]`
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Decay {
    /// Which numbers the curve has.
    pub profile: DecayProfile,
}

/// Which numbers the curve has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DecayProfile {
    /// Those of the protocol.
    #[default]
    Protocol,
    /// Those that the simulation proposes.
    Tuned,
}

/// `[cycles]`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cycles {
    /// When light cycles run; empty: only when asked for.
    pub light: String,
    /// When deep cycles run.
    pub deep: String,
    /// When it is checked whether an archival cycle is due.
    pub archival: String,
}

impl Index {
    /// The numbers of the curve.
    pub fn profile(&self) -> DecayCurve {
        match self.decay {
            DecayProfile::Protocol => DecayCurve::PROTOCOL,
            DecayProfile::Tuned => DecayCurve::TUNED,
        }
    }

    /// Tokens of the index file at most, for a memory of so many files. They are counted by tens, so that a new log does not
    /// lay the file out anew.
    pub fn tokens(&self, files: usize) -> usize {
        let bound = match self.tokens_per_file {
            0 => usize::MAX,
            each => each.saturating_mul(files.max(1).next_multiple_of(10)),
        };
        self.max_tokens.min(bound)
    }

    /// The thresholds of the cycles.
    #[expect(clippy::cast_possible_truncation, reason = "a share of two digits")]
    pub fn consolidation(&self) -> consolidation::ConsolidationSettings {
        let standard = consolidation::ConsolidationSettings::default();
        let merge_above = self.merge_above as f32;
        consolidation::ConsolidationSettings {
            merge_above,
            // Entries that point at the same place need as much less as by default.
            merge_above_shared: merge_above - (standard.merge_above - standard.merge_above_shared),
            ..standard
        }
    }
}

impl Default for Index {
    fn default() -> Self {
        Self {
            enabled: true,
            max_tokens: 15_000,
            // The upper end of v1 §9.1.
            tokens_per_file: 100,
            max_entries: 200,
            merge_above: 0.8,
            decay: DecayProfile::default(),
        }
    }
}

impl Cycles {
    /// As the schedule reads it. Lines were checked when they were read.
    pub fn schedule(&self) -> schedule::Settings {
        let line = |line: &str| cron(line).ok().flatten();
        schedule::Settings {
            light: line(&self.light),
            deep: line(&self.deep),
            archival: line(&self.archival),
        }
    }
}

impl Default for Cycles {
    fn default() -> Self {
        Self {
            light: "0 * * * *".into(),
            deep: "30 2 * * *".into(),
            archival: "30 3 * * sun".into(),
        }
    }
}

/// The cron line of a setting; `None` for the empty one.
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
    fn the_lines_of_the_defaults_are_those_of_the_schedule() {
        assert_eq!(
            Cycles::default().schedule(),
            schedule::Settings::standard().unwrap()
        );
        assert_eq!(cron(" ").unwrap(), None);
        assert!(cron("61 * * * *").unwrap_err().contains("61"));
    }
}
