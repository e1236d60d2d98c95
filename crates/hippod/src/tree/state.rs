//! Persistent state of a tree, stored outside the workspace.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use hippo_tree::{Fingerprint, Period};
use hippo_types::time::Timestamp;

use crate::files;
use crate::registry::{state_folder, write_atomically};

/// File name below the state folder of the workspace.
const FILE: &str = "tree.json";
/// Maximum size of a state file, in bytes.
const LARGEST: u64 = 64 << 20;

/// State of a tree. It can be rebuilt: without it, nodes by other writers are adopted again, together with their
/// current sources.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TreeState {
    /// Fingerprints of the sources of each node. For a node that is older than hippod's first run, the fingerprint
    /// dates from when the node was first seen. For `ROOT.md`, it covers the nodes below it at the last run.
    adopted: BTreeMap<String, String>,
    /// Time of the last full run, in milliseconds since the Unix epoch.
    pub last_ms: Option<i64>,
    /// Number of lines in all logs at the last full run.
    pub lines: u64,
    /// Number of sections in all logs at the last full run; each checkpoint writes one section.
    pub sections: u64,
}

impl TreeState {
    /// Reads the state of a workspace. If the file is unreadable, logs a warning and returns the default.
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

    /// Returns the source fingerprints of the adopted nodes.
    pub fn adopted(&self) -> BTreeMap<Period, Fingerprint> {
        let known = self.adopted.iter();
        let known = known.filter_map(|(period, of)| Some((Period::parse(period)?, Fingerprint::parse(of)?)));
        known.collect()
    }

    /// Records the sources of an adopted node.
    pub fn adopt(&mut self, period: Period, sources: Fingerprint) {
        self.adopted.insert(period.to_string(), sources.to_string());
    }

    /// Returns the time since the last full run, in milliseconds. Returns `None` if there was none, or if the clock was
    /// set back since.
    pub fn age_ms(&self, now: Timestamp) -> Option<u64> {
        let last = Timestamp(self.last_ms?);
        (last <= now).then(|| now.since(last))
    }

    /// Returns the path of the state file.
    pub fn file(state: &Path, root: &Path) -> PathBuf {
        state_folder(state, root).join(FILE)
    }
}

/// Reads a JSON file of hippod; returns the default if the file does not exist.
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

/// Writes a JSON file of hippod durably, and creates its folder.
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
