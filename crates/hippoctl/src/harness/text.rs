//! Texts that `init` installs, from `integrations/`.

use super::LayoutConfig;
use super::platform::Harness;

macro_rules! skills {
    ($($name:literal),*) => {
        [$(($name, include_str!(concat!("../../../../integrations/claude-code/skills/", $name, "/SKILL.md")))),*]
    };
}

macro_rules! extension {
    ($($name:literal),*) => {
        [$((concat!($name, ".ts"), include_str!(concat!("../../../../integrations/openclaw/src/", $name, ".ts")))),*]
    };
}

/// The name and text of each skill. `init` installs the first one, and all of them with `--full`.
pub const SKILLS: [(&str, &str); 4] = skills!(
    "hippod-core",
    "hippod-compaction",
    "hippod-recall",
    "hippod-flush"
);
/// The files for an agent's current work, which `init --full` creates for every platform.
#[rustfmt::skip] // keep the list compact
pub const WORKING_FILES: [(&str, &str); 3] = [
    ("SCRATCHPAD.md", include_str!("../../../../integrations/templates/SCRATCHPAD.md")),
    ("WORKING.md", include_str!("../../../../integrations/templates/WORKING.md")),
    ("TASK-QUEUE.md", include_str!("../../../../integrations/templates/TASK-QUEUE.md")),
];
/// Files that only OpenClaw needs, with `--full`. Other harnesses have files of their own for this content.
#[rustfmt::skip] // keep the list compact
pub const OPENCLAW_FILES: [(&str, &str); 2] = [
    ("MEMORY.md", include_str!("../../../../integrations/templates/MEMORY.md")),
    ("USER.md", include_str!("../../../../integrations/templates/USER.md")),
];
/// The initial text of `memory/ROOT.md`. Its digest is the digest of an empty list of sources, so the first root that
/// the daemon generates replaces this text.
pub const ROOT: &str = include_str!("../../../../integrations/templates/ROOT.md");
/// The section that is inserted into `HEARTBEAT.md`.
pub const HEARTBEAT: &str = include_str!("../../../../integrations/heartbeat.md");
/// The plugin for OpenCode.
pub const OPENCODE_PLUGIN: &str = include_str!("../../../../integrations/opencode/hippod.js");
/// The file that Pi loads, and the files that it imports: the name and text of each file.
pub const PI_EXTENSION: [(&str, &str); 4] = extension!("index", "daemon", "entries", "session");
/// The manifests that OpenClaw reads: the name and text of each file.
#[rustfmt::skip] // keep the list compact
pub const OPENCLAW_MANIFESTS: [(&str, &str); 2] = [
    ("package.json", include_str!("../../../../integrations/openclaw/plugin/package.json")),
    ("openclaw.plugin.json", include_str!("../../../../integrations/openclaw/plugin/openclaw.plugin.json")),
];
/// The file that OpenClaw loads, and the files that it imports.
pub const OPENCLAW_PLUGIN: [(&str, &str); 4] = extension!("openclaw", "daemon", "entries", "session");
/// The content of the block in `MEMORY.md` while `memory/ROOT.md` has no text.
pub const NO_ROOT: &str = "<!-- Generated from the daily logs, and updated automatically. -->\n";

const PROTOCOL: &str = include_str!("../../../../integrations/protocol.md");

/// The part of the protocol about the files for current work.
const WORK: &str = include_str!("../../../../integrations/working-files.md");

/// Returns the instructions for the agents of a platform.
pub fn protocol(platform: Harness, config: &LayoutConfig) -> String {
    let index_in_prompt = config.index_in_prompt;
    let root = match platform {
        Harness::ClaudeCode => "Its topics are listed in `memory/ROOT.md`, which is loaded below.",
        Harness::OpenClaw if index_in_prompt == Some(true) => {
            "Its topics are listed in `MEMORY.md`, between the lines that name hippod."
        }
        Harness::OpenCode => "Its topics are listed in `memory/ROOT.md`, which every session loads.",
        Harness::OpenClaw | Harness::Codex | Harness::Pi | Harness::None => {
            "Its topics are listed in `memory/ROOT.md`; if it was not shown to you, read it first."
        }
    };
    let work = if config.full { WORK } else { "" };
    let mut text = PROTOCOL.replace("{root}", root).replace("{work}", work);
    // Agents read the index file after the instructions and before MEMORY.md.
    let index = index_in_prompt.unwrap_or(platform == Harness::OpenClaw);
    if index
        && matches!(
            platform,
            Harness::OpenClaw | Harness::Codex | Harness::Pi | Harness::None
        )
    {
        text.push_str(
            "- **Where to look first.** When a session starts, after this file and before `MEMORY.md`, read \
             `HIPPOCAMPUS.md`: it lists the topics with their places and their age.\n",
        );
    }
    text
}
