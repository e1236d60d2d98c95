//! Which files does a listing name: how many of each kind, where, which are the largest and which stand out?

mod row;

use std::collections::BTreeMap;

use super::Kind;
use super::draft::Draft;
use super::lines::Text;
use super::words::{counted, extension, name_of};
pub(super) use row::{Row, row};

/// Folders that are told apart.
const FOLDERS: usize = 20_000;
/// Files that are kept to choose from.
const FILES: usize = 4_000;
/// Largest files that are told.
const LARGEST: usize = 8;
/// Levels of a tree that are told apart.
const LEVELS: usize = 24;

/// Names that say what a folder is about.
const TELLING: [&str; 16] = [
    "readme.md",
    "cargo.toml",
    "package.json",
    "pyproject.toml",
    "setup.py",
    "go.mod",
    "makefile",
    "dockerfile",
    "main.rs",
    "lib.rs",
    "main.py",
    "index.ts",
    "index.js",
    "main.go",
    "pom.xml",
    "changelog.md",
];

#[derive(Default)]
struct Found {
    files: usize,
    folders: usize,
    bytes: u64,
    endings: BTreeMap<String, usize>,
    /// Files below each folder, by the folder's first two parts.
    below: BTreeMap<String, usize>,
    states: BTreeMap<String, usize>,
    paths: Vec<String>,
    largest: Vec<(u64, String)>,
}

pub(super) fn draft(text: &Text<'_>) -> Option<Draft> {
    let mut found = Found::default();
    let mut folder = String::new();
    let mut other = Vec::new();
    let mut levels: Vec<String> = Vec::new();
    for line in text.lines() {
        match row(line.text) {
            Row::Folder(path) => folder = path.trim_end_matches('/').to_owned(),
            Row::Entry(entry) => {
                let path = match entry.level {
                    Some(level) => {
                        levels.truncate(level.min(LEVELS));
                        levels.push(entry.path.trim_end_matches('/').to_owned());
                        levels.join("/")
                    }
                    None if folder.is_empty() || folder == "." => entry.path.to_owned(),
                    None => format!("{folder}/{}", entry.path),
                };
                found.take(path.strip_prefix("./").unwrap_or(&path), &entry);
            }
            Row::Other => other.push(line.text.trim()),
            Row::Blank => {}
        }
    }
    if found.files + found.folders < 2 {
        return None;
    }
    let first = other
        .iter()
        .find(|line| line.len() > 3)
        .map(|line| (*line).to_owned());
    Some(found.told(first))
}

impl Found {
    fn take(&mut self, path: &str, entry: &row::Entry<'_>) {
        if let Some(state) = entry.state {
            *self.states.entry(state.to_owned()).or_default() += 1;
        }
        if entry.folder || path.ends_with('/') {
            self.folders += 1;
            return;
        }
        self.files += 1;
        self.bytes = self.bytes.saturating_add(entry.bytes);
        let ending = extension(path);
        if !ending.is_empty() && (self.endings.len() < FOLDERS || self.endings.contains_key(&ending)) {
            *self.endings.entry(ending).or_default() += 1;
        }
        let mut parts = path.trim_start_matches('/').split('/').rev();
        parts.next();
        let parents: Vec<&str> = parts.collect();
        let top: Vec<&str> = parents.into_iter().rev().take(2).collect();
        let top = top.join("/");
        if !top.is_empty() && (self.below.len() < FOLDERS || self.below.contains_key(&top)) {
            *self.below.entry(top).or_default() += 1;
        }
        if entry.bytes > 0 {
            self.largest.push((entry.bytes, path.to_owned()));
            if self.largest.len() > LARGEST * 4 {
                self.keep_largest();
            }
        }
        if self.paths.len() < FILES {
            self.paths.push(path.to_owned());
        }
    }

    fn keep_largest(&mut self) {
        self.largest
            .sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        self.largest.truncate(LARGEST);
    }

    fn told(mut self, first: Option<String>) -> Draft {
        let mut said = counted(self.files, "file");
        if self.folders > 0 {
            said.push_str(&format!(", {}", counted(self.folders, "folder")));
        }
        if self.bytes > 0 {
            said.push_str(&format!(", {}", size(self.bytes)));
        }
        let mut endings: Vec<_> = std::mem::take(&mut self.endings).into_iter().collect();
        endings.sort_by_key(|(ending, count)| (std::cmp::Reverse(*count), ending.clone()));
        let shown: Vec<String> = endings
            .iter()
            .take(4)
            .map(|(ending, count)| format!("{count} .{ending}"))
            .collect();
        if !shown.is_empty() {
            said.push_str(&format!(": {}", shown.join(", ")));
        }
        let mut draft = Draft::new(Kind::Listing, said);
        if let Some(first) = first {
            draft.say(first);
        }
        let states: Vec<String> = self
            .states
            .iter()
            .map(|(state, count)| format!("{count} {state}"))
            .collect();
        draft.say(states.join(", "));
        draft.list("paths", self.ranked(), 4);
        self.keep_largest();
        let largest = std::mem::take(&mut self.largest)
            .into_iter()
            .map(|(bytes, path)| (path, size(bytes)));
        draft.pairs("largest", largest, 2);
        let mut below: Vec<_> = self.below.into_iter().collect();
        below.sort_by_key(|(folder, count)| (std::cmp::Reverse(*count), folder.clone()));
        draft.pairs("folders", below, 2);
        draft.pairs("endings", endings, 0);
        draft
    }

    /// Files by how likely they are asked for: telling names, sources near the top, no folder full of them.
    fn ranked(&mut self) -> Vec<String> {
        let below = &self.below;
        let mut paths: Vec<(usize, usize, String)> = std::mem::take(&mut self.paths)
            .into_iter()
            .enumerate()
            .map(|(at, path)| (rank(&path, below), at, path))
            .collect();
        paths.sort_unstable();
        paths.into_iter().map(|(.., path)| path).collect()
    }
}

/// The lower, the earlier it is asked for.
fn rank(path: &str, below: &BTreeMap<String, usize>) -> usize {
    let name = name_of(path).to_ascii_lowercase();
    let ending = extension(path);
    let parts: Vec<&str> = path.trim_start_matches('/').split('/').collect();
    let top = parts.len().saturating_sub(1).min(2);
    let crowd = below
        .get(&parts.get(..top).unwrap_or_default().join("/"))
        .copied()
        .unwrap_or(0);
    let hidden = parts.iter().any(|part| part.starts_with('.') && part.len() > 2);
    let made = parts.iter().any(|part| {
        [
            "node_modules",
            "vendor",
            "dist",
            "build",
            "target",
            "third_party",
            "__pycache__",
            "examples",
        ]
        .contains(part)
    });
    let kind = match ending.as_str() {
        _ if TELLING.contains(&name.as_str()) => 0,
        "rs" | "py" | "ts" | "tsx" | "js" | "jsx" | "go" | "java" | "c" | "cpp" | "h" | "rb" | "cs"
        | "kt" | "swift" => 1,
        "md" | "toml" | "yaml" | "yml" | "sh" | "sql" | "ipynb" => 2,
        "lock" | "map" | "svg" | "png" | "jpg" | "embedding" | "" => 6,
        _ => 4,
    };
    let tests = usize::from(name.contains("test") || name.contains("lock"));
    let bulk = crowd.checked_ilog2().unwrap_or(0) as usize;
    kind * 3 + parts.len() * 2 + bulk + tests * 2 + usize::from(hidden) * 8 + usize::from(made) * 12
}

/// Bytes for people.
pub(super) fn size(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{:.0} kB", bytes as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", bytes as f64 / 1e6),
        _ => format!("{:.1} GB", bytes as f64 / 1e9),
    }
}
