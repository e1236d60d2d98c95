//! Files that a platform needs in a workspace.

use std::collections::BTreeSet;
use std::iter;

use hippo_text::own_block::BlockMarks;
use hippo_tree::{Node, Period};

use super::json::{self, JsonInsertion};
use super::nodes::NODE_FOLDERS;
use super::plan;
use super::platform::{Harness, signs};
use super::text;
use super::{CONFIG, LayoutConfig, PathSnapshot, PathState};

/// Name of the block that contains the topics of the memory, in a file that the harness loads. The daemon updates
/// this block whenever `memory/ROOT.md` changes.
pub const ROOT_BLOCK: &str = "root";
/// The index file, and the folder for hippod's other files in the workspace.
pub const INDEX: [&str; 2] = ["HIPPOCAMPUS.md", ".hippocampus"];

/// The folders for the user's memory. All but the first are created with `--full` only.
const MINE: [&str; 3] = ["memory", "knowledge", "plans"];
/// The files in `memory/` that agents and hippod write.
const WRITTEN: [&str; 5] = ["ROOT.md", "daily/", "weekly/", "monthly/", "????-??-??*.md"];
/// The root file of the compaction tree.
pub const ROOT: &str = "memory/ROOT.md";
/// The folder of a git repository, or the file of a worktree.
const GIT: &str = ".git";
const CODEX_TOML: &str = ".codex/config.toml";
/// hippod's MCP server in the configuration of Codex.
pub const CODEX_SERVER: &str = "[mcp_servers.hippod]\ncommand = \"hippoctl\"\nargs = [\"mcp\"]\n";

/// The hooks of Claude Code: events and commands. The daily log is written after a completed task, but not after each
/// turn.
const CLAUDE_EVENTS: &[(&str, &str)] = &[
    ("SessionStart", "hippoctl hook session-start --pending"),
    ("UserPromptSubmit", "hippoctl hook user-prompt"),
    ("PostToolUse", "hippoctl hook tool-result"),
    ("PreCompact", "hippoctl hook pre-compact"),
    ("TaskCompleted", "hippoctl hook task-completed"),
    ("SessionEnd", "hippoctl hook session-end"),
];
/// Commands and tools that only read the memory. Claude Code runs them without asking the user.
const CLAUDE_RULES: &[&str] = &[
    "Bash(hippoctl search:*)",
    "Bash(hippoctl get:*)",
    "Bash(hippoctl context fetch:*)",
    "mcp__hippod__memory_search",
    "mcp__hippod__memory_get",
    "mcp__hippod__context_fetch",
];
/// The hooks of Codex: events and commands. Codex has no event for a completed task or for the end of a session. Its
/// event `Stop` occurs after each turn.
const CODEX_EVENTS: &[(&str, &str)] = &[
    ("SessionStart", "hippoctl hook session-start --pending"),
    ("UserPromptSubmit", "hippoctl hook user-prompt"),
    ("PostToolUse", "hippoctl hook tool-result"),
    ("PreCompact", "hippoctl hook pre-compact"),
    ("Stop", "hippoctl hook task-completed"),
];

/// A file, folder, block or JSON insertion of a layout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LayoutPart {
    /// A folder.
    Folder(&'static str),
    /// A file that is created if it is missing. After that, the file belongs to the user.
    Template(&'static str, String),
    /// A file of hippod. A later version of hippoctl may replace the file, unless the user has changed it.
    Own(String, &'static str),
    /// A block in a file of the user: the path of the file, the name of the block, and the content.
    Block(&'static str, String, String),
    /// Entries in a JSON file.
    Json(&'static str, JsonInsertion),
}

impl LayoutPart {
    /// Returns the path of the folder or file.
    pub fn path(&self) -> &str {
        match self {
            Self::Folder(path) | Self::Template(path, _) | Self::Json(path, _) | Self::Block(path, ..) => {
                path
            }
            Self::Own(path, _) => path,
        }
    }
}

/// Returns the style of the marker lines for blocks in a file.
pub fn block_marks(path: &str) -> BlockMarks {
    match path.ends_with(".md") {
        true => BlockMarks::MARKDOWN,
        false => BlockMarks::HASH,
    }
}

/// Returns the parts that `init --bare` installs. `memory/ROOT.md` is one of them, because the daemon maintains a
/// compaction tree only if this file exists. `init --undo` moves hippod's nodes out of the folders that init created.
pub fn bare() -> Vec<LayoutPart> {
    let folders = iter::once("memory").chain(NODE_FOLDERS).map(LayoutPart::Folder);
    folders
        .chain([LayoutPart::Template(ROOT, text::ROOT.to_owned())])
        .collect()
}

/// Returns the parts that init installs for a platform. `made` lists the folders that an earlier init created.
pub fn layout(
    platform: Harness,
    config: &LayoutConfig,
    there: &PathSnapshot,
    made: &[String],
) -> Vec<LayoutPart> {
    let mut parts = bare();
    let own_files = match platform {
        Harness::OpenClaw if config.full => &text::OPENCLAW_FILES[..],
        _ => &[],
    };
    if config.full {
        parts.extend(MINE[1..].iter().copied().map(LayoutPart::Folder));
        let templates = text::WORKING_FILES.iter().chain(own_files);
        parts.extend(templates.map(|(path, text)| LayoutPart::Template(path, (*text).to_owned())));
    }
    parts.extend(of_platform(platform, config, there));
    if let Some(base) = find_skills(platform) {
        let count = if config.full { text::SKILLS.len() } else { 1 };
        for (name, text) in text::SKILLS.iter().take(count) {
            parts.push(LayoutPart::Own(format!("{base}/{name}/SKILL.md"), text));
        }
    }
    // A folder of notes outside of git gets no `.gitignore`. The folder of an agent may be added to git later.
    if platform != Harness::None || *there.state(GIT) != PathState::Missing {
        parts.push(block(".gitignore", "memory", ignored(config, there, made)));
    }
    if !own_files.is_empty() {
        let own = own_files.iter().map(|(path, _)| format!("/{path}\n")).collect();
        parts.push(block(".gitignore", "memory for openclaw", own));
    }
    parts
}

fn of_platform(platform: Harness, config: &LayoutConfig, there: &PathSnapshot) -> Vec<LayoutPart> {
    let mut protocol = text::protocol(platform, config);
    let name = format!("protocol for {}", platform.name());
    let index_in_prompt = config.index_in_prompt == Some(true);
    match platform {
        Harness::ClaudeCode => {
            let imports = [("@HIPPOCAMPUS.md", index_in_prompt), ("@memory/ROOT.md", true)];
            for (import, _) in imports.into_iter().filter(|(_, wanted)| *wanted) {
                if !imported(there.file("CLAUDE.md"), &name, import) {
                    protocol.push_str(&format!("\n{import}\n"));
                }
            }
            vec![
                block("CLAUDE.md", &name, protocol),
                LayoutPart::Json(
                    ".claude/settings.json",
                    JsonInsertion::Claude(CLAUDE_EVENTS, CLAUDE_RULES),
                ),
                LayoutPart::Json(".mcp.json", JsonInsertion::McpServer),
            ]
        }
        Harness::OpenClaw => {
            let mut parts = vec![
                block("AGENTS.md", &name, protocol),
                block("HEARTBEAT.md", "heartbeat", text::HEARTBEAT.to_owned()),
            ];
            parts.extend(extension(".openclaw", &text::OPENCLAW_MANIFESTS));
            parts.extend(extension(".openclaw", &text::OPENCLAW_PLUGIN));
            // MEMORY.md belongs to the user, so it is changed only if the setting `index.inPrompt` is true.
            if index_in_prompt {
                parts.push(block("MEMORY.md", ROOT_BLOCK, root_body(there.file(ROOT))));
            }
            parts
        }
        Harness::OpenCode => {
            let jsonc = matches!(there.state("opencode.jsonc"), PathState::Missing);
            let path = if jsonc { "opencode.json" } else { "opencode.jsonc" };
            let index = index_in_prompt.then_some("HIPPOCAMPUS.md");
            let instructions = index.into_iter().chain(["memory/ROOT.md"]).collect();
            vec![
                block("AGENTS.md", &name, protocol),
                LayoutPart::Own(".opencode/plugins/hippod.js".to_owned(), text::OPENCODE_PLUGIN),
                LayoutPart::Json(path, JsonInsertion::Instructions(instructions)),
            ]
        }
        Harness::Codex => {
            // Codex reads hooks from two files in `.codex`, but expects hooks in only one of the two files. hippod's
            // hooks are written to the file that is already in use.
            let toml = there.file(CODEX_TOML).unwrap_or_default();
            let entered = matches!(BlockMarks::HASH.span(toml, "hooks"), Ok(Some(_)));
            let is_unused = match there.state(".codex/hooks.json") {
                PathState::Missing => true,
                // The program hipocampus writes a JSON list to `.codex/hooks.json`, which Codex cannot read. In this
                // case, hippod's hooks are written to `.codex/config.toml`.
                PathState::File(file) => json::is_list(file),
                _ => false,
            };
            let hooks = match entered || is_unused {
                true => block(CODEX_TOML, "hooks", codex_toml()),
                false => LayoutPart::Json(".codex/hooks.json", JsonInsertion::Hooks(CODEX_EVENTS)),
            };
            let mut parts = vec![block("AGENTS.md", &name, protocol), hooks];
            if needs_codex_server(there) {
                parts.push(block(CODEX_TOML, "mcp", CODEX_SERVER.to_owned()));
            }
            parts
        }
        Harness::Pi => {
            let mut parts = vec![block("AGENTS.md", &name, protocol)];
            parts.extend(extension(".pi", &text::PI_EXTENSION));
            parts
        }
        Harness::None => Vec::new(),
    }
}

/// Returns the folder in which a harness looks for the skills of a project.
pub fn find_skills(platform: Harness) -> Option<&'static str> {
    match platform {
        Harness::ClaudeCode => Some(".claude/skills"),
        Harness::OpenClaw => Some("skills"),
        Harness::OpenCode => Some(".opencode/skills"),
        Harness::Codex => Some(".agents/skills"),
        Harness::Pi => Some(".pi/skills"),
        Harness::None => None,
    }
}

/// Returns files of the extension in the folder of a harness.
fn extension(folder: &str, files: &[(&'static str, &'static str)]) -> impl Iterator<Item = LayoutPart> {
    let part = move |(file, text): &(&str, &'static str)| {
        LayoutPart::Own(format!("{folder}/extensions/hippod/{file}"), text)
    };
    files.iter().map(part)
}

fn block(path: &'static str, name: &str, body: String) -> LayoutPart {
    LayoutPart::Block(path, name.to_owned(), body)
}

/// Returns the lines of `.gitignore` for the user's memory. A folder that existed before init is not ignored, because
/// the repository may contain files of the folder. `made` lists the folders that init created.
fn ignored(config: &LayoutConfig, there: &PathSnapshot, made: &[String]) -> String {
    let (files, folders) = match config.full {
        true => (&text::WORKING_FILES[..], &MINE[..]),
        false => (&[][..], &MINE[..1]),
    };
    let files = files.iter().map(|(path, _)| *path);
    let rest = ["HIPPOCAMPUS.md", ".HIPPOCAMPUS.md.*", ".hippocampus/"];
    let mut lines: Vec<String> = files.chain(rest).map(|path| format!("/{path}\n")).collect();
    for folder in folders {
        let is_made = made.iter().any(|made| made == there.real(folder));
        if is_made || *there.state(folder) != PathState::Folder {
            lines.push(format!("/{folder}/\n"));
        } else if *folder == "memory" {
            lines.extend(WRITTEN.map(|path| format!("/memory/{path}\n")));
        }
    }
    lines.concat()
}

fn codex_toml() -> String {
    let events = CODEX_EVENTS.iter().map(|(event, command)| {
        format!(
            "[[hooks.{event}]]\n[[hooks.{event}.hooks]]\ntype = \"command\"\ncommand = \"{command}\"\ntimeout = 10\n"
        )
    });
    events.collect::<Vec<_>>().join("\n")
}

/// Returns whether hippod's block with the MCP server belongs into the configuration of Codex: it is there already, or
/// the file stays valid with the block and contains no server that runs `hippoctl`.
fn needs_codex_server(there: &PathSnapshot) -> bool {
    let file = match there.state(CODEX_TOML) {
        PathState::Missing => return true,
        PathState::File(file) => file,
        PathState::Folder | PathState::Odd(_) => return false,
    };
    if !matches!(BlockMarks::HASH.span(file, "mcp"), Ok(None)) {
        return true;
    }
    let with_server = [file, &b"\n"[..], CODEX_SERVER.as_bytes()].concat();
    let text = String::from_utf8_lossy(file);
    let table = plan::check_toml(&with_server)
        .ok()
        .and_then(|()| text.parse::<toml::Table>().ok());
    table.is_some_and(|table| {
        let servers = table.get("mcp_servers");
        !servers.is_some_and(|servers| servers.to_string().contains("hippoctl"))
    })
}

/// Returns whether a file contains an import outside hippod's block.
fn imported(file: Option<&[u8]>, name: &str, import: &str) -> bool {
    let file = file.unwrap_or_default();
    let own = BlockMarks::MARKDOWN.span(file, name).ok().flatten();
    let own = own.unwrap_or(file.len()..file.len());
    has_import(&file[..own.start], import) || has_import(&file[own.end..], import)
}

/// Returns whether a line of a text is an import, such as `@memory/ROOT.md`.
pub fn has_import(text: &[u8], import: &str) -> bool {
    let text = String::from_utf8_lossy(text);
    text.lines().any(|line| line.trim() == import)
}

/// Returns the content of the block `root`: the text of `memory/ROOT.md` below its front matter.
fn root_body(root: Option<&[u8]>) -> String {
    let body = Node::read(Period::All, &String::from_utf8_lossy(root.unwrap_or_default())).body;
    let says = body
        .lines()
        .any(|line| !line.trim().is_empty() && !line.starts_with('#'));
    // A text that contains hippod's marker lines cannot be the content of a block.
    if !says || body.contains("<!-- hippod:") || body.contains("<!-- /hippod") {
        return text::NO_ROOT.to_owned();
    }
    body.trim_matches('\n').to_owned() + "\n"
}

/// Returns all paths whose state a plan may need, for any platform.
pub fn paths() -> BTreeSet<String> {
    let nothing = PathSnapshot::default();
    let asked = LayoutConfig {
        index_in_prompt: Some(true),
        full: true,
        ..LayoutConfig::default()
    };
    let mut paths: BTreeSet<String> = signs().map(str::to_owned).collect();
    for platform in clap::ValueEnum::value_variants() {
        let parts = layout(*platform, &asked, &nothing, &[]);
        paths.extend(parts.iter().map(|part| part.path().to_owned()));
    }
    let further = [CONFIG, GIT, ".gitignore", "opencode.jsonc", ".codex/hooks.json"];
    paths.extend(further.into_iter().chain(INDEX).map(str::to_owned));
    paths
}
