//! Manifest of a backup, and the names that it may have.

use std::collections::HashSet;

use hippo_core::harness;
use hippo_core::layout::INDEX_FILE;
use hippo_core::source::SourceRules;
use hippo_core::text::start;
use hippo_proto::LeftOut;
use serde::{Deserialize, Serialize};

/// Name of the manifest; the last member.
pub const MANIFEST: &str = "manifest.json";
/// The version of the format that this build writes, and the newest that it reads.
pub const VERSION: u32 = 1;
/// Largest manifest that is read, in bytes: a hundred thousand files have less.
pub const LARGEST: usize = 64 << 20;
/// Bytes of a reason that are shown.
const SAID: usize = 200;
/// Longest name of a member, in bytes.
pub const LONGEST_NAME: usize = 4096;
/// Longest part of one between two `/`, in bytes: no disk takes a longer one.
const LONGEST_PART: usize = 255;

/// What is in a backup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// Version of this format.
    pub version: u32,
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
    pub fn new(at: String) -> Self {
        Self {
            version: VERSION,
            hippod: env!("CARGO_PKG_VERSION").to_owned(),
            at,
            workspaces: Vec::new(),
            members: Vec::new(),
        }
    }

    /// Reads one.
    ///
    /// # Errors
    /// It is no JSON of this kind, or too large.
    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        if bytes.len() > LARGEST {
            return Err(format!("it has more than {} MiB", LARGEST >> 20));
        }
        // What serde says may repeat what stands there.
        serde_json::from_slice(bytes).map_err(|error| start(&error.to_string(), SAID).to_owned())
    }

    /// Checks that each workspace has the number of its place, and that each member has a name of its own that belongs to one of them.
    ///
    /// # Errors
    /// The member, and what is wrong.
    pub fn check(&self) -> Result<(), (&str, &'static str)> {
        let mut roots = HashSet::new();
        for (number, workspace) in (1_usize..).zip(&self.workspaces) {
            // By another one a file of the workspace would be taken for one of its state.
            if workspace.folder != number.to_string() {
                return Err((MANIFEST, "a workspace has another number than its place"));
            }
            if !roots.insert(&workspace.root) {
                return Err((MANIFEST, "a workspace is there twice"));
            }
        }
        let mut names = HashSet::new();
        for Member { path, .. } in &self.members {
            let twice = !names.insert(path.as_str());
            let homeless = self.workspace_of(path).is_none();
            let reason = why_not(path)
                .or(twice.then_some("it is there twice"))
                .or(homeless.then_some("it belongs to no workspace"));
            if let Some(reason) = reason {
                return Err((path, reason));
            }
        }
        let mut sorted: Vec<&str> = names.into_iter().collect();
        // What lies in a folder follows the name of the folder at once.
        sorted.sort_unstable_by(|one, other| one.split('/').cmp(other.split('/')));
        for pair in sorted.windows(2) {
            let below = pair[1].strip_prefix(pair[0]);
            if below.is_some_and(|rest| rest.starts_with('/')) {
                return Err((pair[1], "another member stands where its folder would be"));
            }
        }
        Ok(())
    }

    fn workspace_of(&self, path: &str) -> Option<&Workspace> {
        let number: usize = path.split('/').next()?.parse().ok()?;
        let workspace = self.workspaces.get(number.checked_sub(1)?)?;
        workspace.has(path).then_some(workspace)
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

    const SEEDS: [&str; 3] = [
        r#"{"version":1,"hippod":"0.1.0","at":"2026-03-02T10:00:00Z","workspaces":[{"folder":"1","root":"/w","index_schema":6,"contexts_schema":null,"left_out":[]}],"members":[{"path":"1/index.db","bytes":1,"blake3":"00"},{"path":"1/files/MEMORY.md","bytes":2,"blake3":"00","mtime_ns":1,"mode":420}]}"#,
        r#"{"version":1,"hippod":"","at":"","workspaces":[],"members":[]}"#,
        r#"{"path":"1/files/MEMORY.md/a.md","bytes":2,"blake3":""},{"folder":"2","root":"/v","index_schema":1,"contexts_schema":1,"left_out":[]},"#,
    ];

    /// What is read is written and read again as it is, and what is found sound leads nowhere else.
    fn law(data: &[u8]) {
        let Ok(manifest) = Manifest::parse(&data[1.min(data.len())..]) else {
            return;
        };
        let again = serde_json::to_vec(&manifest).unwrap();
        assert_eq!(Manifest::parse(&again).as_ref(), Ok(&manifest));
        if manifest.check().is_ok() {
            for Member { path, .. } in &manifest.members {
                assert_eq!(why_not(path), None);
                let homes = manifest.workspaces.iter().filter(|workspace| workspace.has(path));
                assert_eq!(homes.count(), 1, "{path}");
            }
        }
    }

    #[test]
    fn any_bytes_of_a_manifest_are_read_as_written_or_refused() {
        assert!(
            SEEDS[..2]
                .iter()
                .all(|seed| Manifest::parse(seed.as_bytes()).is_ok())
        );
        crate::inputs::assert_holds_for_any_bytes("manifest", law, &SEEDS);
        let large = vec![b' '; LARGEST + 1];
        assert_eq!(Manifest::parse(&large), Err("it has more than 64 MiB".to_owned()));
    }

    #[test]
    fn members_in_the_place_of_folders_are_found_among_many_deep_ones() {
        let mut manifest = Manifest::parse(SEEDS[0].as_bytes()).unwrap();
        let member = manifest.members[1].clone();
        // Each folder above each member cannot be looked up: a manifest has room for 16,000 such names.
        let deep = format!("1/files/{}", "a/".repeat((LONGEST_NAME - 20) / 2));
        manifest.members.extend((0..200).map(|number| Member {
            path: format!("{deep}{number}.md"),
            ..member.clone()
        }));
        assert_eq!(manifest.check(), Ok(()));
        manifest.members.push(Member {
            path: format!("{deep}7.md/x.md"),
            ..member.clone()
        });
        let reason = "another member stands where its folder would be";
        assert_eq!(manifest.check().unwrap_err().1, reason);
        for (path, reason) in [
            ("2/index.db", "it belongs to no workspace"),
            ("01/index.db", "it belongs to no workspace"),
            ("1/index.db", "it is there twice"),
        ] {
            manifest.members.truncate(2);
            manifest.members.push(Member {
                path: path.to_owned(),
                ..member.clone()
            });
            assert_eq!(manifest.check(), Err((path, reason)));
        }
        manifest.members.truncate(2);
        manifest.workspaces.push(Workspace {
            folder: "2".to_owned(),
            ..manifest.workspaces[0].clone()
        });
        assert_eq!(manifest.check(), Err((MANIFEST, "a workspace is there twice")));
    }

    #[test]
    fn names_that_lead_elsewhere_are_refused() {
        for good in [
            "manifest.json",
            "1/files/memory/a b.md",
            "12/index.db",
            "1/contexts.db",
            "1/audits.json",
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
