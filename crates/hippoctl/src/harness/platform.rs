//! Detection of the harness whose agents work in a folder.

pub use hippoctl::args::Platform;

use super::{Config, Snapshot, State};

/// The files by which each harness is recognized, most reliable first.
const SIGNS: [(Platform, &[&str]); 4] = [
    (
        Platform::OpenCode,
        &["opencode.json", "opencode.jsonc", ".opencode"],
    ),
    (Platform::Codex, &[".codex"]),
    (
        Platform::OpenClaw,
        &[
            "openclaw.json",
            "SOUL.md",
            "IDENTITY.md",
            "HEARTBEAT.md",
            "BOOTSTRAP.md",
        ],
    ),
    (Platform::ClaudeCode, &["CLAUDE.md", ".claude"]),
];

/// Returns the files that are inspected to detect the platform.
pub fn signs() -> impl Iterator<Item = &'static str> {
    let named = SIGNS.iter().flat_map(|(_, names)| names.iter().copied());
    named.chain(["AGENTS.md", "MEMORY.md", "USER.md", "TOOLS.md"])
}

/// The detected platform, with the evidence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The platform.
    pub platform: Platform,
    /// The file that identified the platform, or the reason for the default.
    pub by: String,
    /// The other platforms of which the folder contains files.
    pub others: Vec<Platform>,
}

/// Detects the platform of a folder: from its configuration, otherwise from its files; the default is Claude Code.
pub fn detect(snapshot: &Snapshot, config: &Config) -> Found {
    let there = |name: &&&str| !matches!(snapshot.state(name), State::Missing);
    let signs: Vec<(Platform, &str)> = SIGNS
        .iter()
        .filter_map(|(platform, names)| Some((*platform, *names.iter().find(there)?)))
        .collect();
    let others = |chosen: Platform| {
        let rest = signs.iter().map(|(platform, _)| *platform);
        rest.filter(|platform| *platform != chosen).collect()
    };
    if let Some(platform) = config.platform {
        return Found {
            platform,
            by: super::CONFIG.to_owned(),
            others: Vec::new(),
        };
    }
    if let Some((platform, by)) = signs.first() {
        return Found {
            platform: *platform,
            by: (*by).to_owned(),
            others: others(*platform),
        };
    }
    // Several harnesses read `AGENTS.md`. Only together with memory files does it indicate a workspace of OpenClaw.
    let memory = ["MEMORY.md", "USER.md", "TOOLS.md"];
    let platform = match (there(&&"AGENTS.md"), memory.iter().find(there)) {
        (true, Some(_)) => Platform::OpenClaw,
        (true, None) => Platform::Codex,
        (false, _) => {
            return Found {
                platform: Platform::ClaudeCode,
                by: "no platform was detected; choose one with --platform".to_owned(),
                others: Vec::new(),
            };
        }
    };
    Found {
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
    fn files_tell_the_platform() {
        let found = |files: &[&str]| {
            let snapshot = Snapshot::of(files.iter().map(|name| (*name, "")));
            let found = detect(&snapshot, &Config::default());
            (found.platform, found.others)
        };
        assert_eq!(found(&[]), (Platform::ClaudeCode, vec![]));
        assert_eq!(found(&["CLAUDE.md"]), (Platform::ClaudeCode, vec![]));
        assert_eq!(found(&["AGENTS.md"]), (Platform::Codex, vec![]));
        assert_eq!(found(&["AGENTS.md", "MEMORY.md"]), (Platform::OpenClaw, vec![]));
        assert_eq!(found(&["AGENTS.md", "SOUL.md"]), (Platform::OpenClaw, vec![]));
        assert_eq!(
            found(&["opencode.json", "CLAUDE.md"]),
            (Platform::OpenCode, vec![Platform::ClaudeCode])
        );
        let config = Config {
            platform: Some(Platform::Codex),
            ..Config::default()
        };
        assert_eq!(
            detect(&Snapshot::of([("CLAUDE.md", "")]), &config).platform,
            Platform::Codex
        );
    }

    #[test]
    fn every_name_is_the_one_of_the_option() {
        for platform in Platform::value_variants() {
            let value = platform.to_possible_value().unwrap();
            assert_eq!(value.get_name(), platform.name());
            let json = serde_json::to_value(platform).unwrap();
            assert_eq!(json, platform.name());
        }
    }
}
