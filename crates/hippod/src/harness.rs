//! Keys of `hipocampus.config.json` that the daemon uses.
//!
//! The engine reads the search settings when the file changes, and the tree reads its settings on each run.
//! Queries never wait for the disk.

use std::path::Path;

use hippo_fs::harness::{self, FILE, HarnessSettings, WiderSetting};
use hippo_proto::folder::Trust;

use crate::config::{COOLDOWN_HOURS, Config, TreeConfig};

/// Maximum file size in bytes; larger files are not read.
const LARGEST: u64 = 1 << 20;

/// Returns the settings in the workspace's file, limited by trust, and a message for each ignored setting. An
/// invalid file has no effect.
pub fn read(root: &Path, trust: &Trust, tree: &TreeConfig) -> (HarnessSettings, Vec<String>) {
    match hippo_fs::read(root, FILE, LARGEST) {
        Ok(bytes) => {
            let (said, misfits) = harness::read(&bytes);
            let told = misfits
                .iter()
                .map(|misfit| format!("{FILE}: {misfit}; this setting is ignored"));
            let settings = if trust.covers(FILE, &bytes) {
                said
            } else {
                said.narrowed(tree.root_max_tokens, f64::from(COOLDOWN_HOURS)).0
            };
            (settings, told.collect())
        }
        Err(error) if hippo_fs::is_absence(&error) => (HarnessSettings::default(), Vec::new()),
        Err(error) => {
            let told = format!("{FILE} is ignored: {error}");
            (HarnessSettings::default(), vec![told])
        }
    }
}

/// Returns those settings of a file that take effect only with trust.
pub fn wider(bytes: &[u8], tree: &TreeConfig) -> Vec<WiderSetting> {
    let (said, _) = harness::read(bytes);
    said.narrowed(tree.root_max_tokens, f64::from(COOLDOWN_HOURS)).1
}

/// Returns whether semantic search is enabled. Only the value `false` of `search.vector` disables it, even without
/// trust. `doctor` reports an unreadable file.
pub fn by_meaning(root: &Path) -> bool {
    read(root, &Trust::default(), &Config::default().tree).0.vector != Some(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_explicit_false_disables_vector_search() {
        let folder = tempfile::tempdir().unwrap();
        assert!(by_meaning(folder.path()));
        for (text, expected) in [
            (
                r#"{"platform":"codex","search":{"vector":false,"embedModel":"auto"}}"#,
                false,
            ),
            ("// no vectors here\n{\"search\": {\"vector\": false,}}", false),
            (r#"{"search":{"vector":true}}"#, true),
            (r#"{"search":{}}"#, true),
            (r#"{"search":{"vector":null}}"#, true),
            ("{", true),
            (r#"{"search":{"vector":"false"}}"#, true),
            // Other invalid settings do not affect this one.
            (r#"{"platform":"vim","search":{"vector":false}}"#, false),
        ] {
            std::fs::write(folder.path().join(FILE), text).unwrap();
            assert_eq!(by_meaning(folder.path()), expected, "{text}");
        }
    }
}
