//! Texts that `init` installs, from `integrations/`.

use super::platform::Harness;

macro_rules! skills {
    ($($name:literal),*) => {
        [$(($name, include_str!(concat!("../../../../integrations/claude-code/skills/", $name, "/SKILL.md")))),*]
    };
}

/// The name and text of each skill.
pub const SKILLS: [(&str, &str); 5] = skills!(
    "hippod-core",
    "hippod-compaction",
    "hippod-recall",
    "hippod-search",
    "hippod-flush"
);
/// The skills for search, which `--no-search` omits.
pub const OF_SEARCH: [&str; 2] = ["hippod-search", "hippod-recall"];
/// The working files of every platform.
#[rustfmt::skip] // keep the list compact
pub const WORKING_FILES: [(&str, &str); 3] = [
    ("SCRATCHPAD.md", include_str!("../../../../integrations/templates/SCRATCHPAD.md")),
    ("WORKING.md", include_str!("../../../../integrations/templates/WORKING.md")),
    ("TASK-QUEUE.md", include_str!("../../../../integrations/templates/TASK-QUEUE.md")),
];
/// Files that only OpenClaw needs. The other harnesses keep such files elsewhere.
#[rustfmt::skip] // keep the list compact
pub const OPENCLAW_FILES: [(&str, &str); 2] = [
    ("MEMORY.md", include_str!("../../../../integrations/templates/MEMORY.md")),
    ("USER.md", include_str!("../../../../integrations/templates/USER.md")),
];
/// The first `memory/ROOT.md`. It contains the digest of an empty list of sources, so that the first generated root
/// replaces it.
pub const ROOT: &str = include_str!("../../../../integrations/templates/ROOT.md");
/// The section of `HEARTBEAT.md`.
pub const HEARTBEAT: &str = include_str!("../../../../integrations/heartbeat.md");
/// The plugin of OpenCode.
pub const OPENCODE_PLUGIN: &str = include_str!("../../../../integrations/opencode/hippod.js");
/// The text in `MEMORY.md` before the first root exists.
pub const NO_ROOT: &str = "<!-- Generated from the daily logs, and updated automatically. -->\n";

const PROTOCOL: &str = include_str!("../../../../integrations/protocol.md");

/// Returns the protocol for a platform. If `search` is false, the part about search is omitted.
pub fn protocol(platform: Harness, search: bool, index_in_prompt: Option<bool>) -> String {
    let root = match platform {
        Harness::ClaudeCode => "Its topics are listed in `memory/ROOT.md`, which is loaded below.",
        Harness::OpenClaw if index_in_prompt == Some(true) => {
            "Its topics are listed in `MEMORY.md`, between the lines that name hippod."
        }
        Harness::OpenCode => "Its topics are listed in `memory/ROOT.md`, which every session loads.",
        Harness::OpenClaw | Harness::Codex | Harness::None => {
            "Its topics are listed in `memory/ROOT.md`; if it was not shown to you, read it first."
        }
    };
    let mut text = PROTOCOL.replace("{root}", root);
    if !search {
        let lines = text.split_inclusive('\n');
        text = lines.filter(|line| !line.contains("hippoctl search")).collect();
    }
    // v1 appendix B: agents read the index after the instructions and before MEMORY.md.
    let index = index_in_prompt.unwrap_or(platform == Harness::OpenClaw);
    if index && matches!(platform, Harness::OpenClaw | Harness::Codex | Harness::None) {
        text.push_str(
            "- **Where to look first.** When a session starts, after this file and before `MEMORY.md`, read \
             `HIPPOCAMPUS.md`: it lists the topics with their places and their age.\n",
        );
    }
    text
}
