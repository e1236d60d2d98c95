//! Which numbers does `hippocampus.config.json` give to compaction, and what of it is not understood?

use serde_json::{Map, Value};

use super::classify::EntryType;

/// The name of the file, in the root of a workspace.
pub const CONFIG_FILE: &str = "hippocampus.config.json";

/// The numbers of compaction, with the extension's names and defaults.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// λ of each type, by [`EntryType::ALL`]; not negative.
    pub decay_rates: [f64; EntryType::COUNT],
    /// Below this retention an entry is a pointer only.
    pub sparse_threshold: f64,
    /// Below this retention an entry is a line.
    pub compress_threshold: f64,
    /// The least retention of each type, by [`EntryType::ALL`]; 0 for none.
    pub retention_floor: [f64; EntryType::COUNT],
    /// Tokens of the sparse index, at most.
    pub max_sparse_index_tokens: usize,
    /// Whether the caller should tell more about what was done.
    pub debug: bool,
    /// Where the caller keeps a log of compactions, relative to the workspace.
    pub log_file: String,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            decay_rates: EntryType::ALL.map(EntryType::decay_rate),
            sparse_threshold: 0.25,
            compress_threshold: 0.65,
            retention_floor: EntryType::ALL.map(EntryType::floor),
            max_sparse_index_tokens: 2_500,
            debug: false,
            log_file: ".pi/hippocampus.log".to_owned(),
        }
    }
}

impl Config {
    /// Reads the file's bytes. What is missing has its default; what is not understood keeps its default and is named in a
    /// warning, so that a slip in the file never costs a session its compaction.
    #[must_use]
    pub fn parse(bytes: &[u8]) -> (Self, Vec<String>) {
        let mut config = Self::default();
        let mut warnings = Vec::new();
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        match serde_json::from_slice::<Value>(bytes) {
            Ok(Value::Object(keys)) => config.take(&keys, &mut warnings),
            Ok(_) => warnings.push(format!("{CONFIG_FILE} is no JSON object; the defaults are used")),
            Err(error) => warnings.push(format!(
                "{CONFIG_FILE} is no JSON ({error}); the defaults are used"
            )),
        }
        (config, warnings)
    }

    /// These numbers as far as a folder may set them without trust, which is a smaller index alone; and the keys that need it.
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

    fn take(&mut self, keys: &Map<String, Value>, warnings: &mut Vec<String>) {
        for (key, value) in keys {
            let taken = match key.as_str() {
                "decayRates" => rates(value, key, f64::MAX, &mut self.decay_rates, warnings),
                "retentionFloor" => rates(value, key, 1.0, &mut self.retention_floor, warnings),
                "sparseThreshold" => number(value, 1.0).map(|number| self.sparse_threshold = number),
                "compressThreshold" => number(value, 1.0).map(|number| self.compress_threshold = number),
                "maxSparseIndexTokens" => value.as_u64().map(|tokens| {
                    self.max_sparse_index_tokens = usize::try_from(tokens).unwrap_or(usize::MAX)
                }),
                "debug" => value.as_bool().map(|debug| self.debug = debug),
                "logFile" => value.as_str().map(|path| path.clone_into(&mut self.log_file)),
                // Editors write it for their own use.
                "$schema" => Some(()),
                unknown => {
                    warnings.push(format!("{CONFIG_FILE}: unknown key {unknown}"));
                    Some(())
                }
            };
            if taken.is_none() {
                warnings.push(format!(
                    "{CONFIG_FILE}: {key} cannot be {}; its default is used",
                    shown(value)
                ));
            }
        }
        if self.sparse_threshold > self.compress_threshold {
            warnings.push(format!(
                "{CONFIG_FILE}: sparseThreshold {} is above compressThreshold {}; nothing is compressed",
                self.sparse_threshold, self.compress_threshold
            ));
        }
    }
}

/// Reads one number for each named type into `into`.
fn rates(
    value: &Value,
    key: &str,
    most: f64,
    into: &mut [f64; EntryType::COUNT],
    warnings: &mut Vec<String>,
) -> Option<()> {
    for (name, value) in value.as_object()? {
        let Some(at) = EntryType::ALL.iter().position(|kind| kind.name() == name) else {
            warnings.push(format!("{CONFIG_FILE}: unknown key {key}.{name}"));
            continue;
        };
        match number(value, most) {
            Some(number) => into[at] = number,
            None => warnings.push(format!(
                "{CONFIG_FILE}: {key}.{name} cannot be {}; its default is used",
                shown(value)
            )),
        }
    }
    Some(())
}

/// A number from 0 to `most`.
fn number(value: &Value, most: f64) -> Option<f64> {
    value.as_f64().filter(|number| (0.0..=most).contains(number))
}

fn shown(value: &Value) -> String {
    match value {
        Value::Object(_) => "an object".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        other => other.to_string(),
    }
}
