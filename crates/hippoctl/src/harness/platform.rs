//! Detection of the harness whose agents work in a folder.

pub use hippoctl::args::Harness;

use super::{CONFIG, LayoutConfig, PathSnapshot, PathState};

/// The files that identify each harness. If files of several harnesses exist, the first harness in this list is chosen.
#[rustfmt::skip] // keep the list compact
const SIGNS: [(Harness, &[&str]); 5] = [
    (Harness::OpenCode, &["opencode.json", "opencode.jsonc", ".opencode"]),
    (Harness::Codex, &[".codex"]),
    (Harness::Pi, &[".pi"]),
    (Harness::OpenClaw, &["openclaw.json", "SOUL.md", "IDENTITY.md", "HEARTBEAT.md", "BOOTSTRAP.md"]),
    (Harness::ClaudeCode, &["CLAUDE.md", ".claude"]),
];
/// A file that several harnesses read. If memory files of OpenClaw exist as well, this file identifies OpenClaw,
/// otherwise Codex.
const SHARED: &str = "AGENTS.md";
/// The memory files of OpenClaw.
const OPENCLAW_MEMORY: [&str; 3] = ["MEMORY.md", "USER.md", "TOOLS.md"];

/// Returns the paths that [`detect`] needs in its snapshot.
pub fn signs() -> impl Iterator<Item = &'static str> {
    let named = SIGNS.iter().flat_map(|(_, names)| names.iter().copied());
    named.chain([SHARED]).chain(OPENCLAW_MEMORY)
}

/// The reason for [`Harness::None`] if neither the folder nor the machine has a harness.
pub const NO_AGENT: &str = "no agent was detected";

/// Detects the harness of a folder. Also returns the file that identified the harness, or the reason for the default.
/// The configuration file takes precedence over all other files. The default is Claude Code, or no harness if
/// `is_installed` is false: no harness is installed on this machine.
pub fn detect(snapshot: &PathSnapshot, config: &LayoutConfig, is_installed: bool) -> (Harness, &'static str) {
    let there = |name: &&&str| !matches!(snapshot.state(name), PathState::Missing);
    if let Some(platform) = config.platform {
        return (platform, CONFIG);
    }
    for (platform, names) in SIGNS {
        if let Some(by) = names.iter().find(there) {
            return (platform, by);
        }
    }
    if !there(&&SHARED) && !is_installed {
        return (Harness::None, NO_AGENT);
    }
    if !there(&&SHARED) {
        let why = "no platform was detected; choose one with --platform";
        return (Harness::ClaudeCode, why);
    }
    match OPENCLAW_MEMORY.iter().any(|name| there(&name)) {
        true => (Harness::OpenClaw, SHARED),
        false => (Harness::Codex, SHARED),
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
            detect(&snapshot, &LayoutConfig::default(), true).0
        };
        assert_eq!(found(&[]), Harness::ClaudeCode);
        assert_eq!(found(&["CLAUDE.md"]), Harness::ClaudeCode);
        assert_eq!(found(&["AGENTS.md"]), Harness::Codex);
        assert_eq!(found(&["AGENTS.md", ".pi"]), Harness::Pi);
        assert_eq!(found(&["AGENTS.md", "MEMORY.md"]), Harness::OpenClaw);
        assert_eq!(found(&["AGENTS.md", "SOUL.md"]), Harness::OpenClaw);
        assert_eq!(found(&["opencode.json", "CLAUDE.md"]), Harness::OpenCode);
        let config = LayoutConfig {
            platform: Some(Harness::Codex),
            ..LayoutConfig::default()
        };
        assert_eq!(
            detect(&PathSnapshot::of([("CLAUDE.md", "")]), &config, true).0,
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
