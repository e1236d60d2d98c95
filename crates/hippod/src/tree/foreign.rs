//! Take-over of a tree from another program, and its restore.
//!
//! After a take-over, a ledger records which nodes hippod has replaced, and their original content is kept. Both are
//! stored only in the user's state folder, because files of a workspace must not determine what hippod writes to that
//! workspace.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use hippo_fs::WorkspaceDir;
use hippo_tree::{Node, Period};
use serde::{Deserialize, Serialize};

use super::disk::{self, Disk, LARGEST_NODE};
use super::state::{read_json, write_json};
use crate::files;
use crate::registry::{state_folder, write_atomically};

/// Name of the ledger file in the state folder of the workspace.
const FILE: &str = "tree-taken-over.json";
/// Name of the folder with the original content of the replaced nodes, in the same folder as the ledger.
const ORIGINALS: &str = "tree-originals";
/// Suffix of a restored original if its node was edited after the take-over. The node then keeps its name and its
/// edits.
const BESIDE: &str = "before-hippod";
/// Number of hashes in the ledger for each node: those of hippod's current text and of its previous one.
const LAST: usize = 2;

/// Record of the nodes that hippod replaced or created after it took over a tree.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Ledger {
    /// True if a person confirmed the take-over.
    pub taken_over: bool,
    /// Hashes of the last texts that hippod wrote, by the path of the node.
    made: BTreeMap<String, Vec<String>>,
    /// Hashes of the original content, by the path of the node. The content itself is stored below [`ORIGINALS`].
    originals: BTreeMap<String, String>,
}

/// Result of the restore of another program's tree.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RestoredTree {
    /// Paths of the files whose original content was restored.
    pub restored: Vec<String>,
    /// Paths of the nodes that hippod had created and that were removed.
    pub removed: Vec<String>,
    /// Messages about files that were left unchanged because they were edited after hippod wrote them.
    pub notes: Vec<String>,
    /// Messages about files that could not be restored, with the reason.
    pub failed: Vec<String>,
}

/// Returns the paths of the nodes that another program wrote.
pub fn nodes(disk: &Disk) -> Vec<String> {
    let found = disk.nodes.values().filter(|found| found.node.is_foreign());
    found.map(|found| found.path.clone()).collect()
}

impl Ledger {
    /// Reads the ledger of a workspace. Returns an empty one if the file does not exist.
    ///
    /// # Errors
    /// Fails if the file could not be read or is damaged.
    pub fn read(state: &Path, root: &Path) -> io::Result<Self> {
        read_json(&state_folder(state, root).join(FILE))
    }

    /// Writes the ledger durably.
    ///
    /// # Errors
    /// Fails if the file could not be written.
    pub fn write(&self, state: &Path, root: &Path) -> io::Result<()> {
        write_json(&state_folder(state, root).join(FILE), self)
    }

    /// Records a write to a node before the write happens. The record contains the hash of the new text. Before the
    /// first write to a node, the original content is stored as well.
    ///
    /// # Errors
    /// Fails if the record cannot be written. The node must then not be written.
    #[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
    pub fn note(
        &mut self,
        state: &Path,
        root: &Path,
        path: &str,
        before: Option<&[u8]>,
        text: &str,
    ) -> io::Result<()> {
        if let Some(before) = before
            && !self.made.contains_key(path)
            && !self.originals.contains_key(path)
        {
            let file = original(state, root, path);
            if let Some(folder) = file.parent() {
                std::fs::create_dir_all(folder)?;
            }
            write_atomically(&file, before)?;
            self.originals.insert(path.to_owned(), hash(before));
        }
        let made = self.made.entry(path.to_owned()).or_default();
        made.push(hash(text.as_bytes()));
        let more = made.len().saturating_sub(LAST);
        made.drain(..more);
        self.write(state, root)
    }

    /// Returns the original `ROOT.md` of the other program, and the time at which it was stored; `None` if there is
    /// none or it is damaged.
    pub fn root(&self, state: &Path, root: &Path) -> Option<(Node, std::time::SystemTime)> {
        let path = Period::All.path();
        let known = self.originals.get(&path)?;
        let file = original(state, root, &path);
        let bytes = files::read(&file, LARGEST_NODE).ok()?;
        if hash(&bytes) != *known {
            return None;
        }
        let kept = files::open(&file).ok()?.1.modified().ok()?;
        Some((Node::read(Period::All, &String::from_utf8_lossy(&bytes)), kept))
    }
}

/// Returns whether originals can be restored. If the ledger cannot be read, this returns true.
pub fn has_originals(state: &Path, root: &Path) -> bool {
    Ledger::read(state, root).map_or(true, |ledger| !ledger.originals.is_empty())
}

/// Restores the tree of the other program: restores every node that hippod replaced, and removes the nodes that hippod
/// created. Nodes that were edited later are left unchanged. Does nothing if hippod has replaced no node. If `dry_run`
/// is true, only reports what would change.
///
/// # Errors
/// Fails if the ledger could not be read.
pub fn give_back(state: &Path, root: &Path, dry_run: bool) -> io::Result<RestoredTree> {
    let mut done = RestoredTree::default();
    let ledger = Ledger::read(state, root)?;
    if ledger.originals.is_empty() {
        return Ok(done);
    }
    let restore = |path: &str, bytes: Option<&[u8]>, now: Option<&[u8]>| {
        if dry_run {
            return Ok(true);
        }
        disk::restore(root, path, bytes, now)
    };
    for (path, made) in &ledger.made {
        // Never write to a path that is not a node, even if the ledger contains it.
        if Period::of_path(path).is_none() {
            continue;
        }
        let now = match hippo_fs::read(root, path, LARGEST_NODE) {
            Ok(bytes) => Some(bytes),
            Err(error) if files::is_absence(&error) => None,
            Err(error) => {
                done.failed.push(format!("{path} could not be read: {error}"));
                continue;
            }
        };
        let is_ours = now.as_ref().is_some_and(|now| made.contains(&hash(now)));
        let told = match (ledger.originals.get(path), is_ours) {
            (None, false) => continue,
            (None, true) => restore(path, None, now.as_deref()).map(|done| (done, None)),
            (Some(known), _) => {
                let file = original(state, root, path);
                put_original(&file, path, known, now.as_deref(), is_ours, &restore)
            }
        };
        match told {
            Ok((false, _)) => done
                .failed
                .push(format!("another program changed {path} during the restore")),
            Ok((true, None)) if ledger.originals.contains_key(path) => done.restored.push(path.clone()),
            Ok((true, None)) => done.removed.push(path.clone()),
            Ok((true, Some(note))) => done.notes.push(note),
            Err(error) => done.failed.push(format!("{path}: {error}")),
        }
    }
    for path in done.removed.iter().filter(|_| !dry_run) {
        // This fails if the folder contains other files, which is not an error here.
        let _ = remove_folder(root, path);
    }
    Ok(done)
}

/// Removes the parent folder of a path if it is empty.
fn remove_folder(root: &Path, path: &str) -> io::Result<()> {
    let Some(folder) = Path::new(path).parent() else {
        return Ok(());
    };
    let dir = WorkspaceDir::open(root)?;
    let (above, name) = dir.parent(folder)?;
    above.remove_folder(name)
}

/// Function that changes a file if it has the expected content, and returns whether it had that content. The arguments
/// are the path, the new content (`None` removes the file), and the expected content (`None` if the file must not
/// exist).
type Restore<'a> = dyn Fn(&str, Option<&[u8]>, Option<&[u8]>) -> io::Result<bool> + 'a;

/// Restores the original of one node. Returns false if the file changed at the same moment. If the node was edited,
/// writes the original under another name in the same folder, and returns a message about it.
fn put_original(
    kept: &Path,
    path: &str,
    known: &str,
    now: Option<&[u8]>,
    is_ours: bool,
    restore: &Restore<'_>,
) -> io::Result<(bool, Option<String>)> {
    if now.is_some_and(|now| hash(now) == known) {
        return Ok((true, None));
    }
    let bytes = files::read(kept, LARGEST_NODE)?;
    if hash(&bytes) != known {
        return Err(io::Error::other("the kept original is damaged"));
    }
    if is_ours || now.is_none() {
        return Ok((restore(path, Some(&bytes), now)?, None));
    }
    let beside = format!("{path}.{BESIDE}");
    let note = format!(
        "{path} has changed since hippod wrote it, so it stays unchanged; the original is in {beside}"
    );
    Ok((restore(&beside, Some(&bytes), None)?, Some(note)))
}

fn original(state: &Path, root: &Path, path: &str) -> PathBuf {
    let name = hash(path.as_bytes());
    state_folder(state, root).join(ORIGINALS).join(name)
}

fn hash(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn taken_over_files_are_restored_and_edited_ones_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        let (state, root) = (base.join("state"), base.join("root"));
        std::fs::create_dir_all(root.join("memory/daily")).unwrap();
        let write = |path: &str, text: &str| std::fs::write(root.join(path), text).unwrap();
        let read = |path: &str| std::fs::read_to_string(root.join(path)).ok();
        let theirs = ["memory/ROOT.md", "memory/daily/2026-01-10.md"];
        let made = "memory/weekly/2026-W02.md";
        for path in theirs {
            write(path, "theirs");
        }
        let mut ledger = Ledger::default();
        for text in ["ours", "ours again"] {
            for path in theirs {
                let before = read(path).unwrap();
                ledger
                    .note(&state, &root, path, Some(before.as_bytes()), text)
                    .unwrap();
                write(path, text);
            }
        }
        ledger.note(&state, &root, made, None, "ours").unwrap();
        std::fs::create_dir_all(root.join("memory/weekly")).unwrap();
        write(made, "ours");
        assert_eq!(ledger.root(&state, &root).unwrap().0.body, "theirs");
        write(theirs[1], "a person's");
        let would = give_back(&state, &root, true).unwrap();
        assert_eq!(read(theirs[0]).as_deref(), Some("ours again"));
        let done = give_back(&state, &root, false).unwrap();
        assert_eq!(would, done);
        assert_eq!(
            (done.restored, done.removed),
            (vec![theirs[0].to_owned()], vec![made.to_owned()])
        );
        assert_eq!(read(theirs[0]).as_deref(), Some("theirs"));
        assert_eq!(read(theirs[1]).as_deref(), Some("a person's"));
        let beside = "memory/daily/2026-01-10.md.before-hippod";
        assert_eq!(read(beside).as_deref(), Some("theirs"));
        assert!(!root.join("memory/weekly").exists());
        assert!(done.notes[0].contains(beside), "{:?}", done.notes);
    }
}
