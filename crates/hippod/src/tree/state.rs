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
    /// Work that the configured program did today.
    pub spend: Spend,
    /// True if the tree was first written by a build that leaves trees of other programs alone. Earlier builds took
    /// them over without asking.
    pub asks: bool,
    /// Sources for which the program's summary was rejected, by node. The program is not asked again to summarize the
    /// same sources.
    refused: BTreeMap<String, String>,
}

/// Work that the configured program did on one day.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Spend {
    /// The day as `YYYY-MM-DD`.
    pub day: String,
    /// Number of requested summaries.
    pub jobs: u32,
    /// Number of consecutive failures.
    pub failures: u32,
    /// Total run time, in milliseconds.
    pub ms: u64,
    /// Message of the last failure.
    pub error: Option<String>,
}

impl Spend {
    /// Returns the work of a day. On another day, starts from zero.
    pub fn on(self, day: &str) -> Self {
        if self.day == day {
            return self;
        }
        Self {
            day: day.to_owned(),
            ..Self::default()
        }
    }
}

impl TreeState {
    /// Reads the state of a workspace. If the file is unreadable, logs a warning and returns the default.
    pub fn read(state: &Path, root: &Path) -> Self {
        Self::try_read(state, root).unwrap_or_else(|error| {
            let file = Self::file(state, root);
            tracing::warn!(file = %file.display(), %error, "could not read the state of the tree; starting with an empty one");
            Self::default()
        })
    }

    /// Reads the state of a workspace; returns the default if the file does not exist.
    ///
    /// # Errors
    /// Fails if the file could not be read or is damaged.
    pub fn try_read(state: &Path, root: &Path) -> io::Result<Self> {
        read_json(&Self::file(state, root))
    }

    /// Writes the state durably.
    ///
    /// # Errors
    /// Fails if the file could not be written.
    pub fn write(&self, state: &Path, root: &Path) -> io::Result<()> {
        write_json(&Self::file(state, root), self)
    }

    /// Returns whether an earlier build wrote the tree. Such builds took over trees of other programs without asking,
    /// so the tree belongs to hippod now.
    pub fn is_of_an_earlier_build(&self) -> bool {
        self.last_ms.is_some() && !self.asks
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

    /// Records that the program's summary of these sources was rejected.
    pub fn refuse(&mut self, period: Period, sources: Fingerprint) {
        self.refused.insert(period.to_string(), sources.to_string());
    }

    /// Returns whether the program's summary of these sources was rejected.
    pub fn was_refused(&self, period: Period, sources: Fingerprint) -> bool {
        let refused = self.refused.get(&period.to_string());
        refused.is_some_and(|known| *known == sources.to_string())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_damaged_tree_state_is_an_error() {
        let (state, root) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        assert_eq!(
            TreeState::try_read(state.path(), root.path()).unwrap(),
            TreeState::default()
        );
        let file = TreeState::file(state.path(), root.path());
        TreeState::default().write(state.path(), root.path()).unwrap();
        assert!(file.is_file(), "the tree keeps it elsewhere");
        std::fs::write(&file, "{").unwrap();
        assert!(TreeState::try_read(state.path(), root.path()).is_err());
    }
}
