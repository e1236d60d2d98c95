//! Detection of the harness whose agents work in a folder.

pub use hippoctl::args::Harness;

use super::{LayoutConfig, PathSnapshot, PathState};

/// The files by which each harness is recognized, most reliable first.
#[rustfmt::skip] // keep the list compact
const SIGNS: [(Harness, &[&str]); 4] = [
    (Harness::OpenCode, &["opencode.json", "opencode.jsonc", ".opencode"]),
    (Harness::Codex, &[".codex"]),
    (Harness::OpenClaw, &["openclaw.json", "SOUL.md", "IDENTITY.md", "HEARTBEAT.md", "BOOTSTRAP.md"]),
    (Harness::ClaudeCode, &["CLAUDE.md", ".claude"]),
];

/// Returns the files that are inspected to detect the platform.
pub fn signs() -> impl Iterator<Item = &'static str> {
    let named = SIGNS.iter().flat_map(|(_, names)| names.iter().copied());
    named.chain(["AGENTS.md", "MEMORY.md", "USER.md", "TOOLS.md"])
}

/// The detected platform, with the evidence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DetectedPlatform {
    /// The platform.
    pub platform: Harness,
    /// The file that identified the platform, or the reason for the default.
    pub by: String,
    /// The other platforms of which the folder contains files.
    pub others: Vec<Harness>,
}

/// Detects the platform of a folder: from its configuration, otherwise from its files; the default is Claude Code.
pub fn detect(snapshot: &PathSnapshot, config: &LayoutConfig) -> DetectedPlatform {
    let there = |name: &&&str| !matches!(snapshot.state(name), PathState::Missing);
    let signs: Vec<(Harness, &str)> = SIGNS
        .iter()
        .filter_map(|(platform, names)| Some((*platform, *names.iter().find(there)?)))
        .collect();
    let others = |chosen: Harness| {
        let rest = signs.iter().map(|(platform, _)| *platform);
        rest.filter(|platform| *platform != chosen).collect()
    };
    if let Some(platform) = config.platform {
        return DetectedPlatform {
            platform,
            by: super::CONFIG.to_owned(),
            others: Vec::new(),
        };
    }
    if let Some((platform, by)) = signs.first() {
        return DetectedPlatform {
            platform: *platform,
            by: (*by).to_owned(),
            others: others(*platform),
        };
    }
    // Several harnesses read `AGENTS.md`. Only together with memory files does it indicate a workspace of OpenClaw.
    let memory = ["MEMORY.md", "USER.md", "TOOLS.md"];
    let platform = match (there(&&"AGENTS.md"), memory.iter().find(there)) {
        (true, Some(_)) => Harness::OpenClaw,
        (true, None) => Harness::Codex,
        (false, _) => {
            return DetectedPlatform {
                platform: Harness::ClaudeCode,
                by: "no platform was detected; choose one with --platform".to_owned(),
                others: Vec::new(),
            };
        }
    };
    DetectedPlatform {
        platform,
        by: "AGENTS.md".to_owned(),
        others: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;

    use super::*;

    #[test]
    fn the_platform_is_detected_from_files() {
        let found = |files: &[&str]| {
            let snapshot = PathSnapshot::of(files.iter().map(|name| (*name, "")));
            let found = detect(&snapshot, &LayoutConfig::default());
            (found.platform, found.others)
        };
        assert_eq!(found(&[]), (Harness::ClaudeCode, vec![]));
        assert_eq!(found(&["CLAUDE.md"]), (Harness::ClaudeCode, vec![]));
        assert_eq!(found(&["AGENTS.md"]), (Harness::Codex, vec![]));
        assert_eq!(found(&["AGENTS.md", "MEMORY.md"]), (Harness::OpenClaw, vec![]));
        assert_eq!(found(&["AGENTS.md", "SOUL.md"]), (Harness::OpenClaw, vec![]));
        assert_eq!(
            found(&["opencode.json", "CLAUDE.md"]),
            (Harness::OpenCode, vec![Harness::ClaudeCode])
        );
        let config = LayoutConfig {
            platform: Some(Harness::Codex),
            ..LayoutConfig::default()
        };
        assert_eq!(
            detect(&PathSnapshot::of([("CLAUDE.md", "")]), &config).platform,
            Harness::Codex
        );
    }

    #[test]
    fn platform_names_match_the_option_values() {
        for platform in Harness::value_variants() {
            let value = platform.to_possible_value().unwrap();
            assert_eq!(value.get_name(), platform.name());
            let json = serde_json::to_value(platform).unwrap();
            assert_eq!(json, platform.name());
        }
    }
}
