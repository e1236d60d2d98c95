//! Manifest of a backup, and the names that it may have.

use hippo_core::harness;
use hippo_core::layout::INDEX_FILE;
use hippo_core::source::SourceRules;
use hippo_proto::{BackupFormat, LeftOut};
use serde::{Deserialize, Serialize};

/// Name of the manifest; the last member.
pub const MANIFEST: &str = "manifest.json";
/// The version of the format that this build writes, and the newest that it reads.
pub const VERSION: u32 = 1;
/// Longest name of a member, in bytes.
pub const LONGEST_NAME: usize = 4096;
/// Longest part of one between two `/`, in bytes: no disk takes a longer one.
const LONGEST_PART: usize = 255;

/// What is in a backup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// Version of this format.
    pub version: u32,
    /// Whether databases are in it, or their tables.
    pub format: BackupFormat,
    /// Version of hippod that wrote it.
    pub hippod: String,
    /// When it was begun, RFC 3339.
    pub at: String,
    /// The workspaces.
    pub workspaces: Vec<Workspace>,
    /// All members but this one, in their order.
    pub members: Vec<Member>,
}

/// One workspace: its entry in the registry, and the schemas of its databases.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Workspace {
    /// Folder of its members: `1`, `2`, …
    pub folder: String,
    /// Canonical root.
    pub root: String,
    /// Schema of `index.db`.
    pub index_schema: i64,
    /// Schema of `contexts.db`, where there is one.
    pub contexts_schema: Option<i64>,
    /// What is not in it, and why.
    pub left_out: Vec<LeftOut>,
}

/// One file of a backup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    /// Path in the backup, with `/`.
    pub path: String,
    /// Bytes.
    pub bytes: u64,
    /// blake3 of them, hexadecimal.
    pub blake3: String,
    /// Last modification, nanoseconds since the Unix epoch; of files of a workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mtime_ns: Option<i64>,
    /// Rights, as in `chmod`; of files of a workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<u32>,
}

impl Manifest {
    /// Of nothing yet.
    pub fn new(format: BackupFormat, at: String) -> Self {
        Self {
            version: VERSION,
            format,
            hippod: env!("CARGO_PKG_VERSION").to_owned(),
            at,
            workspaces: Vec::new(),
            members: Vec::new(),
        }
    }
}

/// Where a member belongs.
#[derive(Debug, PartialEq, Eq)]
pub enum Place<'a> {
    /// A file of the workspace, by its path below the root.
    File(&'a str),
    /// A file of the workspace's state, by its path below the state folder.
    State(&'a str),
}

impl Workspace {
    /// Whether a member belongs to it.
    pub fn has(&self, path: &str) -> bool {
        self.place(path).is_some()
    }

    /// The path below the root of a member that is a file of the workspace.
    pub fn file<'a>(&self, path: &'a str) -> Option<&'a str> {
        match self.place(path)? {
            Place::File(path) => Some(path),
            Place::State(_) => None,
        }
    }

    /// Where a member of it belongs; nothing for one that is another's.
    pub fn place<'a>(&self, path: &'a str) -> Option<Place<'a>> {
        let rest = path.strip_prefix(&self.folder)?.strip_prefix('/')?;
        match rest.strip_prefix("files/") {
            Some(file) => Some(Place::File(file)),
            None => Some(Place::State(rest)),
        }
    }
}

/// Why a name cannot be that of a member: it leads elsewhere, or is none that a backup writes.
pub fn why_not(path: &str) -> Option<&'static str> {
    if path.len() > LONGEST_NAME {
        return Some("its name is too long");
    }
    if path.split('/').any(|part| part.len() > LONGEST_PART) {
        return Some("a part of its name is too long");
    }
    if path.starts_with('/') {
        return Some("its name is an absolute path");
    }
    if path.contains('\0') {
        return Some("its name has a NUL");
    }
    let mut parts = path.split('/');
    if parts.clone().any(|part| matches!(part, "" | "." | "..")) {
        return Some("its name leads out of the backup");
    }
    if path == MANIFEST {
        return None;
    }
    let is_number = parts
        .next()
        .is_some_and(|part| part.bytes().all(|byte| byte.is_ascii_digit()));
    let rest: Vec<&str> = parts.collect();
    if rest
        .get(1)
        .is_some_and(|part| part.as_bytes().get(1) == Some(&b':'))
    {
        return Some("its name begins with a drive");
    }
    let known = match rest.as_slice() {
        // What programs heed without being told about it: hooks, settings of a shell, of git.
        ["files", inside @ ..] if !is_memory(inside) => return Some("no backup has a hidden file like this"),
        ["files", _, ..] | ["index.db" | "contexts.db" | "tree.json" | "audits.json"] => true,
        ["tables", "index" | "contexts", table] => table.ends_with(".jsonl"),
        _ => false,
    };
    (!is_number || !known).then_some("no backup has such a member")
}

/// Whether a backup of a workspace with these rules has a file, by its path below the root.
pub fn is_written(rules: &SourceRules, path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    path == INDEX_FILE
        || path == harness::FILE
        || path.starts_with(".hippocampus/")
        || matches!(name, ".hippoignore" | ".ignore")
        || rules.is_source(path)
}

/// Whether a file may be one that is watched or hippod's own, by its path below the root.
pub fn is_memory(path: &[&str]) -> bool {
    let is_hidden = |part: &&str| part.starts_with('.');
    match path {
        [".hippocampus", ..] => true,
        [folders @ .., ".hippoignore" | ".ignore"] => !folders.iter().any(is_hidden),
        [.., name] => name.ends_with(".md") || !path.iter().any(is_hidden),
        [] => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_that_a_backup_writes_are_written() {
        let rules = SourceRules::new(&["notes/*.txt".to_owned()], &[]).unwrap();
        for path in [
            "MEMORY.md",
            "AGENTS.md",
            "memory/a/b.md",
            "notes/a.txt",
            "HIPPOCAMPUS.md",
            "hipocampus.config.json",
            ".hippocampus/topics/a.md",
            "plans/.hippoignore",
        ] {
            assert!(is_written(&rules, path), "{path}");
        }
        for path in [
            "Makefile",
            "CLAUDE.md",
            "src/main.rs",
            "notes/a.md",
            "package.json",
            "a/HIPPOCAMPUS.md",
        ] {
            assert!(!is_written(&rules, path), "{path}");
        }
    }

    #[test]
    fn names_that_lead_elsewhere_are_refused() {
        for good in [
            "manifest.json",
            "1/files/memory/a b.md",
            "12/index.db",
            "1/contexts.db",
            "1/audits.json",
            "1/tables/index/entries.jsonl",
            "1/files/..md",
            "1/files/.hippocampus/config.toml",
            "1/files/plans/.hippoignore",
            "1/files/.claude/memory/x.md",
        ] {
            assert_eq!(why_not(good), None, "{good}");
        }
        for bad in [
            "",
            "/etc/passwd",
            "../x",
            "1/files/../../x",
            "1/files/./x",
            "1/files//x",
            "1/files",
            "1/files/",
            "1/other.db",
            "1/index.db/x",
            "x/files/a",
            "1/tables/index/../x.jsonl",
            "1/tables/other/x.jsonl",
            "1/files/a\0b",
            "1/files/.envrc",
            "1/files/.git/config",
            "1/files/.claude/settings.json",
            "1/files/.git/.ignore",
            "1/files/C:/x.md",
            "1/files/c:x.md",
        ] {
            assert!(why_not(bad).is_some(), "{bad}");
        }
        assert!(why_not(&format!("1/files/{}", "x/".repeat(LONGEST_NAME))).is_some());
        let part = |length| format!("1/files/{}/x.md", "x".repeat(length));
        assert_eq!(why_not(&part(LONGEST_PART)), None);
        assert!(why_not(&part(LONGEST_PART + 1)).is_some());
    }
}
