//! Prompt section for the start of a session.
//!
//! The section names the index file, and contains the open items of the most recent daily log and the `memory/ROOT.md`
//! of a registered workspace between fence lines, within a token budget. The hook runs in every folder, including
//! untrusted folders. Therefore, only a registered workspace has a section, and its files are read without following
//! links. The settings of an untrusted folder can lower the user's budget, but not raise it.

use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use hippo_fs::harness::FILE;
use hippo_fs::{WorkspaceDir, is_absence};
use hippo_proto::folder::{self, Trust};
use hippo_proto::{Paths, Pending};
use hippo_redact::redact;
use hippo_text::chunk::scope_restriction;
use hippo_text::fence::fenced;
use hippo_text::instruction::is_instruction;
use hippo_text::scope::ScopeRules;
use hippo_text::source::SourceKind;
use hippo_text::text::{clip, one_line};
use hippo_tree::item::{self, StatementKind};
use hippo_tree::{Node, NodeSource, Period};

use crate::harness::layout::{INDEX, ROOT, has_import};
use crate::harness::loaded::INNER_CLAUDE;

/// The first line of the section if the workspace has an index file.
const INDEX_LINE: &str = "`HIPPOCAMPUS.md` lists the topics of the memory with their files and strength.\n";
/// Maximum number of bytes that are read from a file.
const LONGEST: u64 = 1 << 20;
/// Default budget of the section in tokens.
const BUDGET: u32 = 3_000;
/// The setting for the user's budget: its section and key in `config.toml`, and its environment variable.
const SETTING: (&str, &str, &str) = ("tree", "root_max_tokens", "HIPPOD_TREE_ROOT_MAX_TOKENS");
/// The default of the setting `scopes.private`.
const PRIVATE: &str = "agents/{agent}/**";
/// The workspace's own settings.
const SETTINGS: &str = ".hippocampus/config.toml";
/// The folder with the daily logs.
const LOGS: &str = "memory";
/// Maximum number of open items in the section.
const ITEMS: usize = 8;
/// Maximum number of bytes of an open item.
const ITEM: usize = 200;
/// Budget for pending work, in tokens.
const PENDING: usize = 500;
/// The line in the instructions for Claude Code that imports `memory/ROOT.md` into the prompt.
const IMPORT: &str = "@memory/ROOT.md";
/// The files that can contain the import line.
const IMPORTING: [&str; 2] = ["CLAUDE.md", INNER_CLAUDE];

/// Returns the prompt section for a session in a folder. Returns `None` if no registered workspace contains the folder,
/// or if the section would be empty. The section omits ROOT.md if the prompt already contains it. `imports` is true if
/// the harness follows the imports in `CLAUDE.md`, as only Claude Code does.
///
/// # Errors
/// Fails if `memory/ROOT.md` exists, but is a link, a pipe, or owned by another user.
pub fn section(
    paths: &Paths,
    folder: &Path,
    budget: Option<u32>,
    imports: bool,
) -> Result<Option<String>, String> {
    let Some(workspace) = find_workspace(&paths.state, folder) else {
        return Ok(None);
    };
    let failed = |path: &Path, error: io::Error| format!("could not read {}: {error}", path.display());
    let dir = match WorkspaceDir::open(&workspace) {
        Ok(dir) => dir,
        Err(error) if is_absence(&error) => return Ok(None),
        Err(error) => return Err(failed(&workspace, error)),
    };
    let Some(owner) = owner(&paths.state) else {
        return Ok(None);
    };
    let imported = |name: &str| {
        let text = dir.open_source(name).and_then(|(file, _)| text(file));
        has_import(text.unwrap_or_default().as_bytes(), IMPORT)
    };
    let open = open_items(&dir, &owner, &scopes(paths, &dir, &owner));
    let imported = imports && IMPORTING.into_iter().any(imported);
    if imported && open.is_empty() {
        return Ok(None);
    }
    let root = match own_text(&dir, ROOT, &owner) {
        _ if imported => String::new(),
        Ok(root) => root,
        Err(error) if is_absence(&error) => String::new(),
        Err(error) => return Err(failed(&workspace.join(ROOT), error)),
    };
    let budget = match budget {
        Some(tokens) => tokens,
        None => configured(paths, &dir, &owner),
    };
    let index = dir.stat(INDEX[0]).ok().flatten().map_or("", |_| INDEX_LINE);
    let text = format!("{index}{open}{}", redact(&Node::read(Period::All, &root).body));
    let section = fenced(&text, budget as usize, ROOT);
    Ok((!section.is_empty()).then_some(section))
}

/// Returns the open items of the most recent shared daily log as lines with a title, or an empty text. A log that cannot be
/// read has no items: the rest of the section is still useful.
fn open_items(dir: &WorkspaceDir, owner: &Metadata, scopes: &ScopeRules) -> String {
    let mut names: Vec<String> = (dir.entries(LOGS).unwrap_or_default().into_iter())
        .filter_map(|entry| entry.name.into_string().ok())
        .filter(|name| SourceKind::from_path(&format!("{LOGS}/{name}")) == SourceKind::DailyLog)
        .collect();
    names.sort_unstable();
    let logs = names.into_iter().rev().map(|name| format!("{LOGS}/{name}"));
    let mut logs = logs.map(|path| (own_text(dir, &path, owner).unwrap_or_default(), path));
    // Other agents would read the items of a private log.
    let is_shared = |(text, path): &(String, String)| {
        scope_restriction(text.as_bytes())
            .apply(scopes.of_path(path))
            .is_shared()
    };
    let Some((text, path)) = logs.find(is_shared) else {
        return String::new();
    };
    let source = NodeSource {
        text,
        first_line: 1,
        date: None,
        path,
    };
    let statements = item::read(&source).statements.into_iter();
    let items: Vec<String> = statements
        .filter(|statement| statement.kind == StatementKind::Open && !is_instruction(&statement.text))
        .map(|statement| format!("- {}\n", clip(&one_line(&statement.text), ITEM)))
        .take(ITEMS)
        .collect();
    match items.is_empty() {
        true => String::new(),
        false => format!("Open items in `{}`:\n{}\n", source.path, items.concat()),
    }
}

/// Returns the prompt section with the pending work of the agent, or `None` if there is no pending work.
pub fn pending(pending: &[Pending]) -> Option<String> {
    let mut text = String::new();
    for one in pending {
        text += &format!("- pending ({}): {}\n", one.kind, one_line(&one.text));
    }
    let section = fenced(&text, PENDING, "hippoctl heartbeat");
    (!section.is_empty()).then_some(section)
}

/// Returns the nearest registered workspace at or above a canonical folder.
pub fn find_workspace(state: &Path, folder: &Path) -> Option<PathBuf> {
    let registered = folder::registered(state);
    let found = folder.ancestors().find(|above| registered.contains(*above));
    found.map(Path::to_path_buf)
}

/// Returns the budget in tokens. The configuration of a workspace can lower the user's budget. Only a trusted
/// configuration can raise the budget.
fn configured(paths: &Paths, dir: &WorkspaceDir, owner: &Metadata) -> u32 {
    let user = of_user(&paths.config_file).unwrap_or(BUDGET);
    let Ok(text) = own_text(dir, FILE, owner) else {
        return user;
    };
    let (said, _) = hippo_fs::harness::read(text.as_bytes());
    let trusted = Trust::of(&paths.state, dir.root()).covers(FILE, text.as_bytes());
    match said.root_max_tokens {
        Some(tokens) if trusted => tokens,
        Some(tokens) => tokens.min(user),
        None => user,
    }
}

/// Returns the rules for private files: those of the user's configuration and of the workspace's own. Invalid rules are
/// left out, because the daemon does not use them either.
fn scopes(paths: &Paths, dir: &WorkspaceDir, owner: &Metadata) -> ScopeRules {
    let patterns = |text: Option<String>| -> Option<Vec<String>> {
        let table: toml::Table = text?.parse().ok()?;
        let list = table.get("scopes")?.get("private")?.as_array()?;
        let list = list.iter().map(|one| one.as_str().map(str::to_owned));
        list.collect()
    };
    let mut all = patterns(read_own(&paths.config_file)).unwrap_or_else(|| vec![PRIVATE.to_owned()]);
    all.extend(patterns(own_text(dir, SETTINGS, owner).ok()).unwrap_or_default());
    all.retain(|pattern| ScopeRules::new(std::slice::from_ref(pattern)).is_ok());
    ScopeRules::new(&all).unwrap_or_default()
}

/// Returns the token budget that the user configured.
fn of_user(config: &Path) -> Option<u32> {
    let (section, name, variable) = SETTING;
    let set = std::env::var(variable).ok();
    set.and_then(|value| value.trim().parse().ok()).or_else(|| {
        let table: toml::Table = read_own(config)?.parse().ok()?;
        table.get(section)?.get(name)?.as_integer()?.try_into().ok()
    })
}

/// Returns the metadata of a file in the state folder, which belongs to the user. Files in a workspace must have the
/// same owner.
#[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
fn owner(state: &Path) -> Option<Metadata> {
    fs::metadata(state.join(folder::REGISTRY)).ok()
}

/// Returns the text of a file in a workspace. The file is opened without following links. The file and the workspace
/// must have the same owner as the file with the metadata `owner`.
fn own_text(dir: &WorkspaceDir, path: &str, owner: &Metadata) -> io::Result<String> {
    text(dir.open_file_owned_like(owner, path)?.0)
}

/// Returns the text of the user's configuration.
#[expect(clippy::disallowed_methods, reason = "the user's own folder")]
fn read_own(path: &Path) -> Option<String> {
    // A pipe is not opened, because opening a pipe would block.
    if !path.is_file() {
        return None;
    }
    text(File::open(path).ok()?).ok()
}

fn text(file: File) -> io::Result<String> {
    let mut bytes = Vec::new();
    file.take(LONGEST).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests;
