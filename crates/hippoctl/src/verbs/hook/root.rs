//! Section of the prompt that a session begins with: ROOT.md of a registered workspace, fenced and within its budget.
//!
//! The folder of a session may come from a stranger, and the hook runs in every folder. So only registered workspaces have a section, the
//! file is read without following a link, and the budget is the user's: the folder can only lower it.

use std::fs::{self, File, Metadata};
use std::io::Read;
use std::path::{Component, Path, PathBuf};

use hippo_core::context::render::fenced;
use hippo_core::harness::FILE;
use hippo_core::redact::redact;
use hippo_proto::folder::{self, Trust};
use hippo_proto::{Paths, Pending};

/// The file, in a workspace.
const ROOT: &str = "memory/ROOT.md";
/// Bytes of it that are read.
const LONGEST: u64 = 1 << 20;
/// Tokens that are printed unless the user says otherwise.
const BUDGET: u32 = 3_000;
/// The user's setting of it, in `config.toml` and in the environment.
const SETTING: (&str, &str, &str) = ("tree", "root_max_tokens", "HIPPOD_TREE_ROOT_MAX_TOKENS");
/// Tokens of what waits.
const PENDING: usize = 500;
/// How the instructions of Claude Code bring the file into the prompt by themselves.
const IMPORT: &str = "@memory/ROOT.md";
/// Where they do.
const IMPORTING: [&str; 2] = ["CLAUDE.md", ".claude/CLAUDE.md"];

/// The section for the prompt of a session in a folder; nothing where the folder is in no registered workspace, there is no such file, or
/// the prompt has it already. `imports`: the harness follows the imports of `CLAUDE.md`, as Claude Code alone does.
pub fn section(paths: &Paths, folder: &Path, budget: Option<u32>, imports: bool) -> Option<String> {
    let workspace = workspace(&paths.state, folder)?;
    let owner = fs::metadata(paths.state.join(folder::REGISTRY)).ok()?;
    let imported = |name: &str| {
        let text = read(&workspace.join(name)).unwrap_or_default();
        text.lines().any(|line| line.trim() == IMPORT)
    };
    if imports && IMPORTING.into_iter().any(imported) {
        return None;
    }
    let text = own_text(&workspace, ROOT, &owner)?;
    let budget = match budget {
        Some(tokens) => tokens,
        None => configured(paths, &workspace, &owner),
    };
    let section = fenced(&redact(body(&text)), budget as usize, ROOT);
    (!section.is_empty()).then_some(section)
}

/// What waits for the agent, as a section of its own.
pub fn pending(pending: &[Pending]) -> Option<String> {
    let mut text = String::new();
    for one in pending {
        let line: Vec<&str> = one.text.split_whitespace().collect();
        text.push_str(&format!("- pending ({}): {}\n", one.kind, line.join(" ")));
    }
    let section = fenced(&text, PENDING, "hippoctl heartbeat");
    (!section.is_empty()).then_some(section)
}

/// The nearest registered workspace at or above a folder.
fn workspace(state: &Path, folder: &Path) -> Option<PathBuf> {
    let registered = folder::registered(state);
    let folder = folder.canonicalize().ok()?;
    folder
        .ancestors()
        .find(|above| registered.contains(*above))
        .map(Path::to_path_buf)
}

/// The cap on tokens: the user's, which the workspace's configuration can only lower unless it is trusted.
fn configured(paths: &Paths, workspace: &Path, owner: &Metadata) -> u32 {
    let user = of_user(&paths.config_file).unwrap_or(BUDGET);
    let Some(text) = own_text(workspace, FILE, owner) else {
        return user;
    };
    let (said, _) = hippo_core::harness::read(text.as_bytes());
    let trusted = Trust::of(&paths.state, workspace).covers(FILE, text.as_bytes());
    match said.root_max_tokens {
        Some(tokens) if trusted => tokens,
        Some(tokens) => tokens.min(user),
        None => user,
    }
}

/// What the user's own configuration says.
fn of_user(config: &Path) -> Option<u32> {
    let (section, name, variable) = SETTING;
    let set = std::env::var(variable)
        .ok()
        .and_then(|value| value.trim().parse().ok());
    set.or_else(|| {
        let table: toml::Table = read(config)?.parse().ok()?;
        table.get(section)?.get(name)?.as_integer()?.try_into().ok()
    })
}

/// The text of a file of a workspace, which is reached without a link and belongs, like the workspace, to the owner of `owner`.
fn own_text(root: &Path, path: &str, owner: &Metadata) -> Option<String> {
    let mut at = root.to_path_buf();
    if !same_owner(&fs::symlink_metadata(&at).ok()?, owner) {
        return None;
    }
    for part in Path::new(path).components() {
        let Component::Normal(part) = part else {
            return None;
        };
        at.push(part);
        let there = fs::symlink_metadata(&at).ok()?;
        if there.is_symlink() || !same_owner(&there, owner) {
            return None;
        }
    }
    read(&at)
}

#[cfg(unix)]
fn same_owner(one: &Metadata, other: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    one.uid() == other.uid()
}

#[cfg(not(unix))]
fn same_owner(_one: &Metadata, _other: &Metadata) -> bool {
    true
}

fn read(path: &Path) -> Option<String> {
    // A pipe in its place would be waited for.
    if !path.metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    File::open(path)
        .ok()?
        .take(LONGEST)
        .read_to_end(&mut bytes)
        .ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// The text without its front matter.
fn body(text: &str) -> &str {
    let text = text.trim_start_matches('\u{feff}');
    let Some(rest) = text
        .strip_prefix("---\n")
        .or_else(|| text.strip_prefix("---\r\n"))
    else {
        return text;
    };
    let end = rest.match_indices("\n---").find(|(at, mark)| {
        let behind = &rest[at + mark.len()..];
        behind.is_empty() || behind.starts_with(['\n', '\r'])
    });
    end.map_or(text, |(at, mark)| &rest[at + mark.len()..])
}

#[cfg(test)]
mod tests;
