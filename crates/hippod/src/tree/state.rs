//! Stored state of a tree.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use hippo_tree::{Fingerprint, Period};
use hippo_types::time::Timestamp;

use crate::files;
use crate::registry::{state_folder, write_atomically};

/// Name of the state file in the state folder of the workspace.
const FILE: &str = "tree.json";
/// Maximum size in bytes of a state file that is read.
const LARGEST: u64 = 64 << 20;

/// State of a tree, which is stored outside the workspace. If the file is lost, the next run assumes that nodes by
/// other writers match their current sources.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TreeState {
    /// Fingerprints of the sources of nodes that hippod did not write, by period. hippod makes the fingerprint when it
    /// first finds such a node. For `ROOT.md`, it is the fingerprint of all nodes at the last run.
    adopted: BTreeMap<String, String>,
    /// Time of the last full run, in milliseconds since the Unix epoch.
    pub last_ms: Option<i64>,
    /// Number of lines in all daily logs at the last full run.
    pub lines: u64,
    /// Number of sections in all daily logs at the last full run. Each checkpoint of an agent adds one section.
    pub sections: u64,
    /// Fingerprints of the daily logs at the last run, by path.
    pub logs: BTreeMap<String, String>,
}

impl TreeState {
    /// Reads the state of a workspace's tree. If the file cannot be read, logs a warning and returns an empty state.
    pub fn read(state: &Path, root: &Path) -> Self {
        let file = Self::file(state, root);
        read_json(&file).unwrap_or_else(|error| {
            tracing::warn!(file = %file.display(), %error, "could not read the state of the tree; starting with an empty one");
            Self::default()
        })
    }

    /// Writes the state durably.
    ///
    /// # Errors
    /// Fails if the file could not be written.
    pub fn write(&self, state: &Path, root: &Path) -> io::Result<()> {
        write_json(&Self::file(state, root), self)
    }

    /// Returns the fingerprints of the sources of nodes that hippod did not write, by period.
    pub fn adopted(&self) -> BTreeMap<Period, Fingerprint> {
        let known = self.adopted.iter();
        let known = known.filter_map(|(period, of)| Some((Period::parse(period)?, Fingerprint::parse(of)?)));
        known.collect()
    }

    /// Records the fingerprint of the sources of a node that hippod did not write.
    pub fn adopt(&mut self, period: Period, sources: Fingerprint) {
        self.adopted.insert(period.to_string(), sources.to_string());
    }

    /// Returns the time since the last full run, in milliseconds; `None` before the first full run, or if the clock has
    /// been set back since.
    pub fn age_ms(&self, now: Timestamp) -> Option<u64> {
        let last = Timestamp(self.last_ms?);
        (last <= now).then(|| now.since(last))
    }

    /// Returns the path of the state file.
    pub fn file(state: &Path, root: &Path) -> PathBuf {
        state_folder(state, root).join(FILE)
    }
}

/// Reads a JSON file from hippod's own folder. Returns the default value if the file does not exist.
///
/// # Errors
/// Fails if the file could not be read or is damaged.
pub(super) fn read_json<T: Default + DeserializeOwned>(file: &Path) -> io::Result<T> {
    match files::read(file, LARGEST) {
        Ok(bytes) => serde_json::from_slice(&bytes).map_err(io::Error::other),
        Err(error) if files::is_absence(&error) => Ok(T::default()),
        Err(error) => Err(error),
    }
}

/// Writes a JSON file in hippod's own folder durably, and creates the folder if necessary.
///
/// # Errors
/// Fails if the file could not be written.
#[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
pub(super) fn write_json(file: &Path, value: &impl Serialize) -> io::Result<()> {
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder)?;
    }
    write_atomically(file, &serde_json::to_vec(value).map_err(io::Error::other)?)
}
