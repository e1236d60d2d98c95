//! Settings for the compaction tree of a workspace.
//!
//! The settings come from the user's configuration and from the workspace's `hipocampus.config.json`.

use std::path::Path;

use hippo_proto::folder::Trust;

use crate::config::{COOLDOWN_HOURS, SummaryAuthor, TreeConfig};
use crate::harness;

/// The settings that apply to one tree.
#[derive(Debug, Clone, PartialEq)]
pub struct TreeSettings {
    /// Maximum size of `ROOT.md` in tokens.
    pub root_max_tokens: usize,
    /// Minimum time between two full runs, in milliseconds. Growth of the daily logs can shorten it.
    pub cooldown_ms: u64,
    /// True if agents are asked for summaries, which then replace the extracted text of nodes.
    pub improved: bool,
    /// Problems in the workspace's settings file. The affected settings are ignored.
    pub notes: Vec<String>,
}

impl TreeSettings {
    /// Returns the settings for the tree of a workspace. `trust` is the user's trust in its settings files.
    pub fn of(root: &Path, trust: &Trust, config: &TreeConfig) -> Self {
        let (harness, notes) = harness::read(root, trust, config);
        let hours = harness.cooldown_hours;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the time is at most a year"
        )]
        let cooldown_ms = (hours.unwrap_or(f64::from(COOLDOWN_HOURS)) * 3_600_000.0) as u64;
        Self {
            root_max_tokens: harness.root_max_tokens.unwrap_or(config.root_max_tokens) as usize,
            cooldown_ms,
            improved: config.summaries != SummaryAuthor::Off,
            notes,
        }
    }
}

#[cfg(test)]
mod tests {
    use hippo_fs::harness::FILE;

    use super::*;

    #[test]
    fn a_trusted_harness_overrides_the_configuration_and_errors_are_noted() {
        let folder = tempfile::tempdir().unwrap();
        let of = |text: Option<&str>| {
            let mut trust = Trust::default();
            if let Some(text) = text {
                trust.add(FILE, &hippo_proto::folder::hash(text.as_bytes()));
            }
            let file = folder.path().join(FILE);
            match text {
                Some(text) => std::fs::write(file, text).unwrap(),
                None => drop(std::fs::remove_file(file)),
            }
            TreeSettings::of(folder.path(), &trust, &crate::config::Config::default().tree)
        };
        assert_eq!(
            (of(None).root_max_tokens, of(None).cooldown_ms),
            (3_000, 10_800_000)
        );
        let own = of(Some(
            r#"{"platform":"openclaw","search":{"vector":true},"compaction":{"rootMaxTokens":1500,"cooldownHours":0.5}}"#,
        ));
        assert_eq!((own.root_max_tokens, own.cooldown_ms), (1_500, 1_800_000));
        let commented = "{\n  // short\n  \"compaction\": { \"rootMaxTokens\": 1200, /* h */ \"cooldownHours\": 2, },\n}\n";
        let commented = of(Some(commented));
        assert_eq!(
            (commented.root_max_tokens, commented.cooldown_ms),
            (1_200, 7_200_000)
        );
        assert_eq!(commented.notes, [""; 0]);
        let broken = of(Some("{"));
        assert_eq!(broken.root_max_tokens, 3_000);
        assert!(broken.notes[0].contains(FILE));
        let odd = of(Some(r#"{"compaction":{"rootMaxTokens":1,"cooldownHours":-4}}"#));
        assert_eq!((odd.root_max_tokens, odd.cooldown_ms), (3_000, 10_800_000));
        let place = |note: &String| note.contains("compaction.");
        assert!(odd.notes.len() == 2 && odd.notes.iter().all(place), "{odd:?}");
        let half = of(Some(
            r#"{"compaction":{"rootMaxTokens":"many","cooldownHours":2}}"#,
        ));
        assert_eq!((half.root_max_tokens, half.cooldown_ms), (3_000, 7_200_000));
    }

    #[test]
    fn an_untrusted_harness_can_only_narrow_settings() {
        let folder = tempfile::tempdir().unwrap();
        let of = |tokens: u32, hours: f64| {
            let text = format!(r#"{{"compaction":{{"rootMaxTokens":{tokens},"cooldownHours":{hours}}}}}"#);
            std::fs::write(folder.path().join(FILE), text).unwrap();
            TreeSettings::of(
                folder.path(),
                &Trust::default(),
                &crate::config::Config::default().tree,
            )
        };
        let small = of(1_500, 5.0);
        assert_eq!((small.root_max_tokens, small.cooldown_ms), (1_500, 18_000_000));
        assert!(small.notes.is_empty(), "{:?}", small.notes);
        let large = of(1_000_000, 0.0);
        assert_eq!((large.root_max_tokens, large.cooldown_ms), (3_000, 10_800_000));
    }
}
