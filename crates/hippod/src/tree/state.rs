//! What does the tree of a workspace remember beside its files?

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use hippo_core::time::Timestamp;
use hippo_core::tree::{Fingerprint, Period};

use crate::files;
use crate::registry::{state_folder, write_atomically};

/// The file below the state folder of the workspace.
const FILE: &str = "tree.json";
/// More is no state of ours.
const LARGEST: u64 = 64 << 20;

/// Nothing in it is lost for good: without it, nodes that others wrote are adopted anew with the sources that they have.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct State {
    /// Nodes that were there before hippod → their sources when they were seen first; `ROOT.md`, whoever wrote it → the nodes below
    /// it when it was looked at last.
    adopted: BTreeMap<String, String>,
    /// When the tree was last made, milliseconds since the Unix epoch.
    pub last_ms: Option<i64>,
    /// Lines of all logs then.
    pub lines: u64,
    /// Sections of all logs then: each checkpoint writes one.
    pub sections: u64,
    /// What the configured program did today.
    pub spend: Spend,
    /// Whether a build wrote this that leaves trees of other programs alone; earlier ones took them over unasked.
    pub asks: bool,
    /// Nodes of which its body was refused → the sources that it was made from: it is not asked again for these.
    refused: BTreeMap<String, String>,
}

/// What the configured program did on one day.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Spend {
    /// The day, `YYYY-MM-DD`.
    pub day: String,
    /// Summaries that it was asked for.
    pub jobs: u32,
    /// Failures in a row.
    pub failures: u32,
    /// Milliseconds that it ran.
    pub ms: u64,
    /// The last failure.
    pub error: Option<String>,
}

impl Spend {
    /// That of a day: with another one it begins anew.
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

impl State {
    /// That of a workspace; what cannot be read is none.
    pub fn read(state: &Path, root: &Path) -> Self {
        Self::try_read(state, root).unwrap_or_else(|error| {
            let file = Self::file(state, root);
            tracing::warn!(file = %file.display(), %error, "could not read what is known of the tree; it begins anew");
            Self::default()
        })
    }

    /// That of a workspace; the default where nothing was kept yet.
    ///
    /// # Errors
    /// It cannot be read, or is damaged.
    pub fn try_read(state: &Path, root: &Path) -> io::Result<Self> {
        match files::read(&Self::file(state, root), LARGEST) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(io::Error::other),
            Err(error) if files::is_absence(&error) => Ok(Self::default()),
            Err(error) => Err(error),
        }
    }

    /// Keeps it, durably.
    ///
    /// # Errors
    /// As the system says.
    #[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
    pub fn write(&self, state: &Path, root: &Path) -> io::Result<()> {
        let file = Self::file(state, root);
        if let Some(folder) = file.parent() {
            std::fs::create_dir_all(folder)?;
        }
        write_atomically(&file, &serde_json::to_vec(self).map_err(io::Error::other)?)
    }

    /// Whether the tree was made by a build that took trees of other programs over unasked: this one is hippod's by now.
    pub fn is_of_an_earlier_build(&self) -> bool {
        self.last_ms.is_some() && !self.asks
    }

    /// Sources of the adopted nodes.
    pub fn adopted(&self) -> BTreeMap<Period, Fingerprint> {
        let known = self.adopted.iter();
        let known = known.filter_map(|(period, of)| Some((Period::parse(period)?, Fingerprint::parse(of)?)));
        known.collect()
    }

    /// Takes a node that was there before.
    pub fn adopt(&mut self, period: Period, sources: Fingerprint) {
        self.adopted.insert(period.to_string(), sources.to_string());
    }

    /// Remembers that a body of the program was refused.
    pub fn refuse(&mut self, period: Period, sources: Fingerprint) {
        self.refused.insert(period.to_string(), sources.to_string());
    }

    /// Whether a body of the program was refused that was made from these sources.
    pub fn was_refused(&self, period: Period, sources: Fingerprint) -> bool {
        let refused = self.refused.get(&period.to_string());
        refused.is_some_and(|known| *known == sources.to_string())
    }

    /// How long ago the tree was made; `None`: never, or the clock was set back since.
    pub fn age_ms(&self, now: Timestamp) -> Option<u64> {
        let last = Timestamp(self.last_ms?);
        (last <= now).then(|| now.since(last))
    }

    /// Where it is kept.
    pub fn file(state: &Path, root: &Path) -> PathBuf {
        state_folder(state, root).join(FILE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_damaged_state_is_no_state_and_says_so() {
        let (state, root) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        assert_eq!(
            State::try_read(state.path(), root.path()).unwrap(),
            State::default()
        );
        let file = State::file(state.path(), root.path());
        State::default().write(state.path(), root.path()).unwrap();
        assert!(file.is_file(), "the tree keeps it elsewhere");
        std::fs::write(&file, "{").unwrap();
        assert!(State::try_read(state.path(), root.path()).is_err());
    }
}
