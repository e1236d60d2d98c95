//! Manifest of a backup and validation of its member names.

use std::collections::HashSet;

use hippo_fs::harness;
use hippo_map::layout::INDEX_FILE;
use hippo_proto::LeftOut;
use hippo_text::source::SourceRules;
use hippo_text::text::start;
use serde::{Deserialize, Serialize};

/// Name of the manifest, which is the last member of a backup.
pub const MANIFEST: &str = "manifest.json";
/// Format version that this build writes and reads.
pub const VERSION: u32 = 1;
/// Maximum size of a manifest in bytes. A manifest with a hundred thousand files is smaller.
pub const LARGEST: usize = 64 << 20;
/// Maximum length of a quoted parser error, in bytes.
const SAID: usize = 200;
/// Maximum length of a member name, in bytes.
pub const LONGEST_NAME: usize = 4096;
/// Maximum length of a name component between two `/`, in bytes. Common file systems have the same limit.
const LONGEST_PART: usize = 255;

/// Content of a backup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackupManifest {
    /// Version of the format.
    pub version: u32,
    /// Version of hippod that wrote the backup.
    pub hippod: String,
    /// Start time of the backup, RFC 3339.
    pub at: String,
    /// The workspaces.
    pub workspaces: Vec<BackupWorkspace>,
    /// All members except the manifest, in order.
    pub members: Vec<BackupMember>,
}

/// One workspace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackupWorkspace {
    /// Folder of the workspace's members: `1`, `2`, …
    pub folder: String,
    /// Canonical root.
    pub root: String,
    /// Files that the backup omits, each with the reason.
    pub left_out: Vec<LeftOut>,
}

/// One file of a backup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackupMember {
    /// Path in the backup, separated by `/`.
    pub path: String,
    /// Size in bytes.
    pub bytes: u64,
    /// BLAKE3 hash of the content, in hexadecimal.
    pub blake3: String,
    /// Metadata of a workspace's file; empty for a file of the workspace's state.
    #[serde(flatten)]
    pub traits: Traits,
}

/// Metadata of a workspace's file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Traits {
    /// Last modification in nanoseconds since the Unix epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mtime_ns: Option<i64>,
    /// Permission bits as in `chmod`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<u32>,
}

impl BackupManifest {
    /// Creates an empty manifest.
    pub fn new(at: String) -> Self {
        Self {
            version: VERSION,
            hippod: env!("CARGO_PKG_VERSION").to_owned(),
            at,
            workspaces: Vec::new(),
            members: Vec::new(),
        }
    }

    /// Parses a manifest.
    ///
    /// # Errors
    /// Fails if there are too many bytes, or if they are not valid JSON of this type.
    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        if bytes.len() > LARGEST {
            return Err(format!("it is larger than {} MiB", LARGEST >> 20));
        }
        // A serde error may quote the content, so it is shortened.
        serde_json::from_slice(bytes).map_err(|error| start(&error.to_string(), SAID).to_owned())
    }

    /// Checks that workspaces are numbered in order, and that every member has a valid, unique name and belongs to one
    /// of the workspaces.
    ///
    /// # Errors
    /// Returns the member and the problem.
    pub fn check(&self) -> Result<(), (&str, &'static str)> {
        let mut roots = HashSet::new();
        for (number, workspace) in (1_usize..).zip(&self.workspaces) {
            // A different folder name could make a file of the workspace look like a file of its state.
            if workspace.folder != number.to_string() {
                return Err((MANIFEST, "the number of a workspace does not match its position"));
            }
            if !roots.insert(&workspace.root) {
                return Err((MANIFEST, "a workspace is listed twice"));
            }
        }
        let mut names = HashSet::new();
        for BackupMember { path, .. } in &self.members {
            let twice = !names.insert(path.as_str());
            let homeless = self.workspace_of(path).is_none();
            let reason = why_not(path)
                .or(twice.then_some("it is listed twice"))
                .or(homeless.then_some("it does not belong to a workspace"));
            if let Some(reason) = reason {
                return Err((path, reason));
            }
        }
        let mut sorted: Vec<&str> = names.into_iter().collect();
        // After sorting by components, the content of a folder directly follows the folder's own name.
        sorted.sort_unstable_by(|one, other| one.split('/').cmp(other.split('/')));
        for pair in sorted.windows(2) {
            let below = pair[1].strip_prefix(pair[0]);
            if below.is_some_and(|rest| rest.starts_with('/')) {
                return Err((pair[1], "a folder and another member have the same name"));
            }
        }
        Ok(())
    }

    fn workspace_of(&self, path: &str) -> Option<&BackupWorkspace> {
        let number: usize = path.split('/').next()?.parse().ok()?;
        let workspace = self.workspaces.get(number.checked_sub(1)?)?;
        workspace.has(path).then_some(workspace)
    }
}

/// Destination of a member.
#[derive(Debug, PartialEq, Eq)]
pub enum MemberPath<'a> {
    /// A file of the workspace, as a path below the root.
    File(&'a str),
    /// A file of the workspace's state, as a path below the state folder.
    State(&'a str),
}

impl BackupWorkspace {
    /// Returns whether a member belongs to the workspace.
    pub fn has(&self, path: &str) -> bool {
        self.member_path(path).is_some()
    }

    /// Returns the path below the root if the member is a file of the workspace.
    pub fn file<'a>(&self, path: &'a str) -> Option<&'a str> {
        match self.member_path(path)? {
            MemberPath::File(path) => Some(path),
            MemberPath::State(_) => None,
        }
    }

    /// Returns the destination of a member, or `None` if it belongs to another workspace.
    pub fn member_path<'a>(&self, path: &'a str) -> Option<MemberPath<'a>> {
        let rest = path.strip_prefix(&self.folder)?.strip_prefix('/')?;
        match rest.strip_prefix("files/") {
            Some(file) => Some(MemberPath::File(file)),
            None => Some(MemberPath::State(rest)),
        }
    }
}

/// Returns the reason why a member name is invalid: the name points outside the backup, or backups do not contain such
/// a name. Returns `None` for a valid name.
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
        return Some("its name contains a NUL character");
    }
    let mut parts = path.split('/');
    if parts.clone().any(|part| matches!(part, "" | "." | "..")) {
        return Some("its name points outside the backup");
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
        return Some("its name begins with a drive letter");
    }
    let known = match rest.as_slice() {
        // This rejects hidden files that other programs execute or obey, such as hooks and the settings of a shell or
        // of git.
        ["files", inside @ ..] if !is_memory(inside) => {
            return Some("backups do not contain this kind of hidden file");
        }
        ["files", _, ..] | ["index.db" | "contexts.db" | "tree.json"] => true,
        _ => false,
    };
    (!is_number || !known).then_some("backups do not contain such a member")
}

/// Returns whether a backup of a workspace with these rules would contain a file, given its path below the root.
pub fn is_written(rules: &SourceRules, path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    path == INDEX_FILE
        || path == harness::FILE
        || path.starts_with(".hippocampus/")
        || matches!(name, ".hippoignore" | ".ignore")
        || rules.is_source(path)
}

/// Returns whether a path below the root can belong to a watched file or to a file of hippod's own.
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
    fn a_restore_writes_only_files_that_a_backup_contains() {
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
            "src/main.rs",
            "notes/a.log",
            "vendor/a.md",
            "package.json",
            "a/HIPPOCAMPUS.md",
        ] {
            assert!(!is_written(&rules, path), "{path}");
        }
    }

    const SEEDS: [&str; 3] = [
        r#"{"version":1,"hippod":"0.1.0","at":"2026-03-02T10:00:00Z","workspaces":[{"folder":"1","root":"/w","left_out":[]}],"members":[{"path":"1/index.db","bytes":1,"blake3":"00"},{"path":"1/files/MEMORY.md","bytes":2,"blake3":"00","mtime_ns":1,"mode":420}]}"#,
        r#"{"version":1,"hippod":"","at":"","workspaces":[],"members":[]}"#,
        r#"{"path":"1/files/MEMORY.md/a.md","bytes":2,"blake3":""},{"folder":"2","root":"/v","left_out":[]},"#,
    ];

    /// A parsed manifest survives serialization unchanged, and the members of a valid manifest have valid names, each
    /// in one workspace.
    fn law(data: &[u8]) {
        let Ok(manifest) = BackupManifest::parse(&data[1.min(data.len())..]) else {
            return;
        };
        let again = serde_json::to_vec(&manifest).unwrap();
        assert_eq!(BackupManifest::parse(&again).as_ref(), Ok(&manifest));
        if manifest.check().is_ok() {
            for BackupMember { path, .. } in &manifest.members {
                assert_eq!(why_not(path), None);
                let homes = manifest.workspaces.iter().filter(|workspace| workspace.has(path));
                assert_eq!(homes.count(), 1, "{path}");
            }
        }
    }

    #[test]
    fn any_manifest_bytes_survive_a_round_trip_or_are_refused() {
        assert!(
            SEEDS[..2]
                .iter()
                .all(|seed| BackupManifest::parse(seed.as_bytes()).is_ok())
        );
        crate::inputs::assert_holds_for_any_bytes("manifest", law, &SEEDS);
        let large = vec![b' '; LARGEST + 1];
        assert_eq!(
            BackupManifest::parse(&large),
            Err("it is larger than 64 MiB".to_owned())
        );
    }

    #[test]
    fn members_at_paths_of_folders_are_detected_among_many_deep_paths() {
        let mut manifest = BackupManifest::parse(SEEDS[0].as_bytes()).unwrap();
        let member = manifest.members[1].clone();
        // Looking up every parent folder of every member would be too slow: a manifest can contain 16,000 names as deep
        // as this one.
        let deep = format!("1/files/{}", "a/".repeat((LONGEST_NAME - 20) / 2));
        manifest.members.extend((0..200).map(|number| BackupMember {
            path: format!("{deep}{number}.md"),
            ..member.clone()
        }));
        assert_eq!(manifest.check(), Ok(()));
        manifest.members.push(BackupMember {
            path: format!("{deep}7.md/x.md"),
            ..member.clone()
        });
        let reason = "a folder and another member have the same name";
        assert_eq!(manifest.check().unwrap_err().1, reason);
        for (path, reason) in [
            ("2/index.db", "it does not belong to a workspace"),
            ("01/index.db", "it does not belong to a workspace"),
            ("1/index.db", "it is listed twice"),
        ] {
            manifest.members.truncate(2);
            manifest.members.push(BackupMember {
                path: path.to_owned(),
                ..member.clone()
            });
            assert_eq!(manifest.check(), Err((path, reason)));
        }
        manifest.members.truncate(2);
        manifest.workspaces.push(BackupWorkspace {
            folder: "2".to_owned(),
            ..manifest.workspaces[0].clone()
        });
        assert_eq!(manifest.check(), Err((MANIFEST, "a workspace is listed twice")));
    }

    #[test]
    fn member_names_that_leave_the_archive_folder_are_refused() {
        for good in [
            "manifest.json",
            "1/files/memory/a b.md",
            "12/index.db",
            "1/contexts.db",
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
            "1/tables/index/entries.jsonl",
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
