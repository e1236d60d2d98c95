//! Reading and writing of the files of a tree.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;

use hippo_fs::{FileKind, WorkspaceDir};
use hippo_proto::RpcError;
use hippo_store::shared_file::SharedFile;
use hippo_text::chunk;
use hippo_text::scope::ScopeRules;
use hippo_text::source::{SourceKind, SourceRules, date_in_name};
use hippo_tree::{BodyAuthor, Fingerprint, Node, Period, SourceFile};

use crate::config::Config;
use crate::scan;
use crate::tasks::Cancellation;

/// Minimum length of a daily log in bytes, without whitespace at both ends. Shorter logs are not part of the tree.
const LEAST: usize = 50;
/// Maximum size in bytes of a node that is read or written.
pub const LARGEST_NODE: u64 = 16 << 20;
/// Folder, relative to the workspace, for copies of nodes that people or other programs wrote and that hippod replaced.
pub const REPLACED: &str = ".hippocampus/replaced";

/// A node, with the content of its file.
#[derive(Debug, Clone)]
pub struct DiskNode {
    /// Path of the file, relative to the workspace.
    pub path: String,
    /// Parsed content.
    pub node: Node,
    /// Content of the file. A write replaces the file only if it still has this content.
    pub bytes: Vec<u8>,
}

/// Daily logs and nodes that were read from a workspace.
#[derive(Debug, Default)]
pub struct Disk {
    /// Daily logs by day, in the order of their paths.
    pub logs: BTreeMap<Period, Vec<SourceFile>>,
    /// Total number of lines in all daily logs.
    pub lines: u64,
    /// Total number of `## ` headings in all daily logs.
    pub sections: u64,
    /// Number of empty lines at the start of a daily log, by path. Logs without such lines are omitted.
    pub leading: BTreeMap<String, u32>,
    /// Nodes by period.
    pub nodes: BTreeMap<Period, DiskNode>,
    /// Paths of files and folders that could not be read, with the reason.
    pub refused: Vec<(String, String)>,
    /// Days for which a daily log could not be read.
    unread_logs: BTreeSet<Period>,
    /// Periods of the nodes whose file could not be read.
    unread_nodes: BTreeSet<Period>,
    /// True if the root or a folder could not be read, so that it is unknown which files exist.
    pub unread_folders: bool,
    /// Paths and fingerprints of files that not all agents may read, if the tree could contain their text.
    pub private: Vec<SourceFile>,
}

impl Disk {
    /// Returns whether a node must not be written, because the node itself or one of its sources could not be read. A
    /// new version would lack the unread content.
    pub fn is_held(&self, period: Period) -> bool {
        let is_there = self.nodes.contains_key(&period);
        let from_unread = |unread: &Period| unread.parent() == Some(period) || period == Period::All;
        self.unread_folders
            || self.unread_nodes.contains(&period)
            || (is_there && (self.unread_logs.contains(&period) || self.unread_nodes.iter().any(from_unread)))
    }

    /// Records a file that could not be read, if it is a node or a daily log.
    fn refuse(&mut self, path: String, why: String) {
        if let Some(period) = Period::of_path(&path) {
            self.unread_nodes.insert(period);
        } else if SourceKind::from_path(&path) == SourceKind::DailyLog
            && let Some(date) = date_in_name(&path)
        {
            self.unread_logs.insert(Period::Day(date));
        } else {
            return;
        }
        self.refused.push((path, why));
    }
}

/// Reads the daily logs and the nodes of a workspace. Only a hash of each log is kept in memory.
///
/// # Errors
/// Returns `internal` if the client has disconnected.
pub fn read(
    root: &Path,
    (rules, scopes): (&SourceRules, &ScopeRules),
    config: &Config,
    cancellation: Cancellation<'_>,
) -> Result<Disk, RpcError> {
    let mut disk = Disk::default();
    let found = scan::scan(root, rules, config, &|| ());
    for skipped in found
        .skipped
        .into_iter()
        .filter(|skipped| !skipped.is_second_name)
    {
        disk.refuse(skipped.rel, skipped.reason);
    }
    for folder in found.unreadable_dirs {
        disk.unread_folders = true;
        disk.refused.push((
            folder.display().to_string(),
            "could not read the folder; until it can be read, hippod creates no nodes".to_owned(),
        ));
    }
    let dir = match WorkspaceDir::open(root) {
        Ok(dir) => dir,
        Err(error) => {
            disk.unread_folders = true;
            disk.refused.push((String::new(), error.to_string()));
            return Ok(disk);
        }
    };
    for file in found.files {
        cancellation.check()?;
        let node = Period::of_path(&file.rel);
        let log = node.is_none() && SourceKind::from_path(&file.rel) == SourceKind::DailyLog;
        let target = dir.resolve(&file.rel).unwrap_or_else(|_| (&file.rel).into());
        let place = scopes
            .of_path(&file.rel)
            .meet(scopes.of_path(&target.to_string_lossy()));
        // A private file may have been a log before it was moved.
        if node.is_none() && !log && place.is_shared() {
            continue;
        }
        let read = match node {
            Some(_) => read_node(root, &file.rel),
            None => dir.read_source(&file.rel, config.sources.max_file_bytes),
        };
        let bytes = match read {
            Ok(bytes) => bytes,
            Err(error) => {
                disk.refuse(file.rel, error.to_string());
                continue;
            }
        };
        if node.is_none() && !chunk::scope_restriction(&bytes).apply(place).is_shared() {
            disk.private.push(SourceFile {
                digest: Fingerprint::of(&bytes),
                path: file.rel,
            });
        } else if let Some(period) = node {
            let node = Node::read(period, &String::from_utf8_lossy(&bytes));
            let path = file.rel;
            disk.nodes.insert(period, DiskNode { path, node, bytes });
        } else if let Some(date) = date_in_name(&file.rel) {
            if bytes.trim_ascii().len() < LEAST {
                continue;
            }
            let lines = bytes.split(|byte| *byte == b'\n');
            let headings = lines.filter(|line| line.starts_with(b"## "));
            disk.sections += headings.count() as u64;
            let leading = bytes.iter().take_while(|byte| matches!(byte, b'\n' | b'\r'));
            let leading = leading.filter(|byte| **byte == b'\n').count();
            if leading > 0 {
                let leading = u32::try_from(leading).unwrap_or(u32::MAX);
                disk.leading.insert(file.rel.clone(), leading);
            }
            disk.lines += bytes.iter().filter(|byte| **byte == b'\n').count() as u64;
            disk.logs.entry(Period::Day(date)).or_default().push(SourceFile {
                digest: Fingerprint::of(&bytes),
                path: file.rel,
            });
        }
    }
    Ok(disk)
}

/// Returns the content of the file of a node. Follows links that stay within the workspace. The content is not
/// converted, because a write compares it with the file.
///
/// # Errors
/// Fails if the file could not be read, or if it is not in UTF-8.
pub fn read_node(root: &Path, path: &str) -> io::Result<Vec<u8>> {
    let dir = WorkspaceDir::open(root)?;
    let bytes = dir.read(dir.resolve(path)?, LARGEST_NODE)?;
    if let Some(encoding) = hippo_fs::foreign_encoding(&bytes) {
        let what = format!("the file is in {encoding}, but hippod writes UTF-8: save the file in UTF-8");
        return Err(io::Error::new(io::ErrorKind::InvalidData, what));
    }
    Ok(bytes)
}

/// Returns the text of a daily log, with U+FFFD in place of invalid UTF-8.
///
/// # Errors
/// Fails if the file could not be read.
pub fn text(root: &Path, path: &str, limit: u64) -> io::Result<String> {
    let bytes = hippo_fs::read_source(root, path, limit)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Replaces the file of a node durably if it still has the content `before`; `None` if the file must not exist. Returns
/// false if another program changed the file in the meantime.
///
/// # Errors
/// Fails if a component of the path is a link, or if the file cannot be written.
pub fn put(root: &Path, path: &str, text: &str, before: Option<&[u8]>) -> io::Result<bool> {
    let dir = WorkspaceDir::open(root)?;
    let file = open_node(&dir, path)?;
    tidy(&dir, path, &file)?;
    let replaced = file.replace(text.as_bytes(), 0)?;
    if replaced.as_deref() == before || replaced.as_deref() == Some(text.as_bytes()) {
        return file.settle(0).map(|()| true);
    }
    // Another program wrote the file in the meantime. Restore its version, which the next run reads.
    match replaced {
        Some(theirs) => {
            let ours = file.replace(&theirs, 1)?;
            if ours.as_deref() == Some(text.as_bytes()) {
                file.settle(1)?;
            } else {
                file.set_aside(1)?;
            }
            file.settle(0)?;
        }
        // Another program removed the file. Remove the new file as well. The next run may create the node again.
        None => {
            file.take_away(0)?;
            file.settle(0)?;
        }
    }
    Ok(false)
}

/// If the current content of a file is `now`, replaces it with `bytes`, or removes the file if `bytes` is `None`.
/// Returns whether the current content was `now`.
///
/// # Errors
/// See [`put`].
pub fn restore(root: &Path, path: &str, bytes: Option<&[u8]>, now: Option<&[u8]>) -> io::Result<bool> {
    let dir = WorkspaceDir::open(root)?;
    let file = open_node(&dir, path)?;
    tidy(&dir, path, &file)?;
    let there = match dir.read(path, LARGEST_NODE) {
        Ok(bytes) => Some(bytes),
        Err(error) if hippo_fs::is_absence(&error) => None,
        Err(error) => return Err(error),
    };
    if there.as_deref() != now {
        return Ok(false);
    }
    let replaced = match bytes {
        Some(bytes) => file.replace(bytes, 0)?,
        None => file.take_away(0)?,
    };
    if replaced.as_deref() == now {
        file.settle(0)?;
    } else {
        // Another program wrote the file at the same moment. Keep that version under another name in the same folder.
        file.set_aside(0)?;
    }
    Ok(true)
}

/// Stores a copy of a node before a new version replaces it. Does nothing if hippod wrote the node, or if the node is
/// only a placeholder.
///
/// # Errors
/// Fails if the copy cannot be written. The node must then not be replaced.
pub fn keep_replaced(root: &Path, found: &DiskNode) -> io::Result<()> {
    if found.node.writer == BodyAuthor::Hippod || found.node.is_placeholder() {
        return Ok(());
    }
    let (period, mark) = (found.node.period, Fingerprint::of(&found.bytes));
    let (dir, path) = (
        WorkspaceDir::open(root)?,
        format!("{REPLACED}/{period}-{mark}.md"),
    );
    if dir
        .read(&path, LARGEST_NODE)
        .is_ok_and(|there| there == found.bytes)
    {
        return Ok(());
    }
    dir.write_whole(path, &found.bytes)
}

/// Opens the file of a node for writing, and creates its folder if necessary.
fn open_node(dir: &WorkspaceDir, path: &str) -> io::Result<SharedFile> {
    let file = SharedFile::open_in_new_folder(dir, path)?;
    match dir.stat(path)? {
        Some(there) if there.kind != FileKind::File => Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("{path} is a link or a folder; replace this link or folder with a file, or remove it"),
        )),
        _ => Ok(file),
    }
}

/// Cleans up after a process that stopped between two steps of a write. A temporary file is deleted if it contains a
/// node that hippod wrote or equals the current file. Any other temporary file is kept under another name.
fn tidy(dir: &WorkspaceDir, path: &str, file: &SharedFile) -> io::Result<()> {
    file.tidy();
    for slot in [0, 1] {
        let Some(left) = file.read_slot(slot)? else {
            continue;
        };
        let node = Node::read(Period::All, &String::from_utf8_lossy(&left));
        if node.writer == BodyAuthor::Hippod || dir.read(path, LARGEST_NODE).is_ok_and(|now| now == left) {
            file.settle(slot)?;
        } else {
            let kept = file.set_aside(slot)?;
            tracing::warn!(file = %kept.display(), "kept an earlier version of a node after an interrupted write");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replaced_foreign_bodies_are_kept_and_generated_ones_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let period = Period::parse("2026-01-10").unwrap();
        let found = |text: &str| DiskNode {
            path: period.path(),
            node: Node::read(period, text),
            bytes: text.as_bytes().to_vec(),
        };
        keep_replaced(&root, &found("mine\n")).unwrap();
        keep_replaced(&root, &found("mine\n")).unwrap();
        let mut ours = Node::read(period, "ours\n");
        ours.writer = BodyAuthor::Hippod;
        keep_replaced(&root, &found(&ours.write())).unwrap();
        let names: Vec<_> = std::fs::read_dir(root.join(REPLACED)).unwrap().collect();
        assert_eq!(names.len(), 1);
    }

    #[test]
    fn a_linked_folder_outside_the_workspace_receives_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let (root, out) = (folder.path().join("w"), folder.path().join("out"));
        std::fs::create_dir_all(&root).unwrap();
        std::fs::create_dir_all(&out).unwrap();
        std::os::unix::fs::symlink(&out, root.join(".hippocampus")).unwrap();
        let root = root.canonicalize().unwrap();
        let period = Period::parse("2026-01-10").unwrap();
        let found = DiskNode {
            path: period.path(),
            node: Node::read(period, "mine\n"),
            bytes: b"mine\n".to_vec(),
        };
        assert!(keep_replaced(&root, &found).is_err());
        assert_eq!(std::fs::read_dir(&out).unwrap().count(), 0, "not even folders");
    }
}
