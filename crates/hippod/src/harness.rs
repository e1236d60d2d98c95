//! What does `hipocampus.config.json` say that the daemon heeds?
//!
//! The engine reads what search needs when the file changes, and the tree reads it at each run: no question waits for a disk.

use std::path::Path;

use hippo_core::harness::{FILE, as_people_write};
use serde::Deserialize;

use crate::files;

/// More is no configuration.
const LARGEST: u64 = 1 << 20;

/// What the daemon heeds of it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Harness {
    /// Of search.
    search: Search,
    /// Of the compaction tree.
    pub compaction: Compaction,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Search {
    vector: Option<bool>,
}

/// Of the compaction tree.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Compaction {
    /// Most tokens of `ROOT.md`.
    pub root_max_tokens: Option<u32>,
    /// Hours between two runs.
    pub cooldown_hours: Option<f64>,
}

/// What the file of a workspace says; of one that is broken nothing is heeded, and the second value says why.
pub fn read(root: &Path) -> (Harness, Option<String>) {
    let passed_over = |error: String| {
        (
            Harness::default(),
            Some(format!("{FILE} is passed over: {error}")),
        )
    };
    match files::read(&root.join(FILE), LARGEST) {
        Ok(bytes) => parse(&bytes).map_or_else(passed_over, |harness| (harness, None)),
        Err(error) if files::is_absence(&error) => (Harness::default(), None),
        Err(error) => passed_over(error.to_string()),
    }
}

/// Whether questions are answered by meaning as well: unless `search.vector` is `false`. Of a file that cannot be read `doctor` tells.
pub fn by_meaning(root: &Path) -> bool {
    read(root).0.search.vector != Some(false)
}

fn parse(bytes: &[u8]) -> Result<Harness, String> {
    let text = std::str::from_utf8(bytes).map_err(|error| error.to_string())?;
    jsonc_parser::parse_to_serde_value(text, &as_people_write()).map_err(|error| error.to_string())
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
        ] {
            std::fs::write(folder.path().join(FILE), text).unwrap();
            assert_eq!(by_meaning(folder.path()), expected, "{text}");
        }
    }
}
