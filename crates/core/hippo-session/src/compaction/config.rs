//! Settings for the summaries of sessions.

use serde_json::{Map, Value};

use super::classify::EntryType;
use hippo_text::text::clip;

/// Key of the settings in `hipocampus.config.json`.
pub const CONFIG_KEY: &str = "sessionCompaction";

/// Compaction settings, with the names and defaults of the hippocampus.md extension.
#[derive(Debug, Clone, PartialEq)]
pub struct CompactionConfig {
    /// Decay rate λ of each type, in the order of [`EntryType::ALL`]; at least 0.
    pub decay_rates: [f64; EntryType::COUNT],
    /// The summary shows messages with a lower retention than this as pointers.
    pub sparse_threshold: f64,
    /// The summary shows messages with a lower retention than this as lines.
    pub compress_threshold: f64,
    /// Minimum retention of each type, in the order of [`EntryType::ALL`]; 0 for none.
    pub retention_floor: [f64; EntryType::COUNT],
    /// Maximum tokens of the sparse index.
    pub max_sparse_index_tokens: usize,
}

impl Default for CompactionConfig {
    fn default() -> Self {
        Self {
            decay_rates: EntryType::ALL.map(EntryType::decay_rate),
            sparse_threshold: 0.25,
            compress_threshold: 0.65,
            retention_floor: EntryType::ALL.map(EntryType::floor),
            max_sparse_index_tokens: 2_500,
        }
    }
}

impl CompactionConfig {
    /// Reads the settings from their keys. Returns the settings and warnings. A missing key has its default. An invalid
    /// value is replaced by the default, with a warning, so that an error in the file never prevents a compaction.
    #[must_use]
    pub fn read(keys: &Map<String, Value>) -> (Self, Vec<String>) {
        let (mut config, mut warnings) = (Self::default(), Vec::new());
        for (key, value) in keys {
            let taken = match key.as_str() {
                "decayRates" => read_rates(value, key, f64::MAX, &mut config.decay_rates, &mut warnings),
                "retentionFloor" => read_rates(value, key, 1.0, &mut config.retention_floor, &mut warnings),
                "sparseThreshold" => read_number(value, 1.0).map(|number| config.sparse_threshold = number),
                "compressThreshold" => {
                    read_number(value, 1.0).map(|number| config.compress_threshold = number)
                }
                "maxSparseIndexTokens" => value.as_u64().map(|tokens| {
                    config.max_sparse_index_tokens = usize::try_from(tokens).unwrap_or(usize::MAX);
                }),
                // The extension has these keys. They are accepted, but have no effect.
                "debug" | "logFile" => Some(()),
                unknown => {
                    warnings.push(format!("{CONFIG_KEY}: unknown key {unknown}"));
                    Some(())
                }
            };
            if taken.is_none() {
                warnings.push(refusal(key, value));
            }
        }
        let (sparse, compress) = (config.sparse_threshold, config.compress_threshold);
        if sparse > compress {
            warnings.push(format!(
                "{CONFIG_KEY}: sparseThreshold {sparse} is above compressThreshold {compress}; nothing is compressed"
            ));
        }
        (config, warnings)
    }

    /// Removes the settings that require trust. A folder without trust may only lower `maxSparseIndexTokens`. Returns
    /// the remaining settings, with the names of the removed keys.
    #[must_use]
    pub fn narrowed(&self) -> (Self, Vec<&'static str>) {
        let usual = Self::default();
        let index = self.max_sparse_index_tokens.min(usual.max_sparse_index_tokens);
        let wider = [
            ("decayRates", self.decay_rates != usual.decay_rates),
            ("sparseThreshold", self.sparse_threshold != usual.sparse_threshold),
            (
                "compressThreshold",
                self.compress_threshold != usual.compress_threshold,
            ),
            ("retentionFloor", self.retention_floor != usual.retention_floor),
            ("maxSparseIndexTokens", self.max_sparse_index_tokens != index),
        ];
        let narrowed = Self {
            max_sparse_index_tokens: index,
            ..usual
        };
        let keys = wider.into_iter().filter(|(_, wider)| *wider).map(|(key, _)| key);
        (narrowed, keys.collect())
    }
}

/// Reads a number for each type of message into `into`.
fn read_rates(
    value: &Value,
    key: &str,
    most: f64,
    into: &mut [f64; EntryType::COUNT],
    warnings: &mut Vec<String>,
) -> Option<()> {
    for (name, value) in value.as_object()? {
        let Some(at) = EntryType::ALL.iter().position(|kind| kind.name() == name) else {
            warnings.push(format!("{CONFIG_KEY}: unknown key {key}.{name}"));
            continue;
        };
        match read_number(value, most) {
            Some(number) => into[at] = number,
            None => warnings.push(refusal(&format!("{key}.{name}"), value)),
        }
    }
    Some(())
}

/// Returns the value as a number; `None` if it is not a number from 0 to `most`.
fn read_number(value: &Value, most: f64) -> Option<f64> {
    value.as_f64().filter(|number| (0.0..=most).contains(number))
}

fn refusal(key: &str, value: &Value) -> String {
    let value = clip(&value.to_string(), 60);
    format!("{CONFIG_KEY}: {key} cannot be {value}; using its default")
}
