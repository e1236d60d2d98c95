//! What does `hipocampus.config.json` say that the daemon heeds?
//!
//! The engine reads what search needs when the file changes, and the tree reads it at each run: no question waits for a disk.

use std::path::Path;

use hippo_core::harness::{self, FILE, Settings};

/// More is no configuration.
const LARGEST: u64 = 1 << 20;

/// What the file of a workspace says, and what of it is passed over, each with its reason. Of one that is broken nothing is heeded.
pub fn read(root: &Path) -> (Settings, Vec<String>) {
    match hippo_fs::read(root, FILE, LARGEST) {
        Ok(bytes) => {
            let (settings, misfits) = harness::read(&bytes);
            let told = misfits
                .iter()
                .map(|misfit| format!("{FILE}: {misfit}; that is passed over"));
            (settings, told.collect())
        }
        Err(error) if hippo_fs::is_absence(&error) => (Settings::default(), Vec::new()),
        Err(error) => {
            let told = format!("{FILE} is passed over: {error}");
            (Settings::default(), vec![told])
        }
    }
}

/// Whether questions are answered by meaning as well: unless `search.vector` is `false`. Of a file that cannot be read `doctor` tells.
pub fn by_meaning(root: &Path) -> bool {
    read(root).0.vector != Some(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_says_no_switches_meaning_off() {
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
            // What else is wrong costs it nothing.
            (r#"{"platform":"vim","search":{"vector":false}}"#, false),
        ] {
            std::fs::write(folder.path().join(FILE), text).unwrap();
            assert_eq!(by_meaning(folder.path()), expected, "{text}");
        }
    }
}
