//! The git repository that contains a workspace.

use std::path::Path;

use hippo_text::own_block::BlockMarks;

use super::layout::LayoutPart;
use crate::git;

/// The file with the rules that exclude memory files from the repository.
pub const GITIGNORE: &str = ".gitignore";

/// Name of the blocks with which `sync-check --setup` marks a memory that git shares.
pub const SHARED: &str = "memory on several machines";
/// Maximum size in bytes of a file of git that is read.
pub const MAX_BYTES: u64 = 1 << 20;

/// Returns whether a folder is in a git repository.
pub fn contains(root: &Path) -> bool {
    root.ancestors().any(|folder| hippo_fs::exists(folder, ".git"))
}

/// Removes the lines of `.gitignore` that match files which the repository already tracks. git would ignore further
/// files of that kind, although the user shares them. Returns a note about each removed line.
pub fn keep_tracked(root: &Path, parts: &mut Vec<LayoutPart>) -> Vec<String> {
    let mut notes = Vec::new();
    let has_rules = parts.iter().any(|part| part.path() == GITIGNORE);
    let Some(prefix) = (has_rules && contains(root)).then(|| prefix(root)).flatten() else {
        return notes;
    };
    let attributes = hippo_fs::read(root, ".gitattributes", MAX_BYTES).unwrap_or_default();
    if BlockMarks::HASH
        .span(&attributes, SHARED)
        .is_ok_and(|block| block.is_some())
    {
        parts.retain(|part| part.path() != GITIGNORE);
        notes.push(format!(
            "{GITIGNORE} gets no lines, because git shares this memory between machines"
        ));
        return notes;
    }
    for part in parts.iter_mut() {
        let LayoutPart::Block(GITIGNORE, _, body) = part else {
            continue;
        };
        let lines: Vec<&str> = body.lines().collect();
        if tracked(root, &prefix, &lines).is_empty() {
            continue;
        }
        let mut kept = String::new();
        for line in lines {
            let files = tracked(root, &prefix, &[line]);
            let Some(first) = files.first() else {
                kept += &format!("{line}\n");
                continue;
            };
            let others = match files.len() - 1 {
                0 => String::new(),
                others => format!(" and {}", crate::render::plural(others as u64, "other file")),
            };
            notes.push(format!(
                "{GITIGNORE} gets no line {line}, because git tracks {first}{others}"
            ));
        }
        *body = kept;
    }
    parts.retain(|part| !matches!(part, LayoutPart::Block(GITIGNORE, _, body) if body.is_empty()));
    notes
}

/// Returns the path of a folder relative to its repository, with `/` at the end; empty for the folder of the repository.
fn prefix(root: &Path) -> Option<String> {
    let shown = git::ask(root, &["rev-parse", "--show-prefix"])?;
    Some(shown.trim_end_matches('\n').to_owned())
}

/// Returns the tracked files that match lines of a `.gitignore` in `root`, relative to `root`.
fn tracked(root: &Path, prefix: &str, lines: &[&str]) -> Vec<String> {
    // git applies the rules of an option to the whole repository.
    let prefix = prefix.replace(['\\', '*', '?', '['], "?");
    let rules: Vec<String> = lines
        .iter()
        .map(|line| format!("--exclude=/{prefix}{}", &line[1..]))
        .collect();
    let mut words = vec!["ls-files", "-z", "--cached", "--ignored"];
    words.extend(rules.iter().map(String::as_str));
    git::paths(root, &words)
}
