//! Consistent snapshot of a workspace's files and databases.
//!
//! A snapshot of the databases is taken first, then hippod's own files below the root are read. Both steps are
//! repeated while the index file differs from the last version recorded in the database, or while files change during
//! the read. A log may be newer than the database; a restored daemon indexes it at the start. No file may be older
//! than the database, because text that the file lacks would look deleted.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hippo_fs::{FileKind, WorkspaceDir};
use hippo_map::layout::{INDEX_FILE, foreign};
use hippo_proto::{LeftOut, RpcError};
use hippo_store::copies::DatabaseSnapshot;
use hippo_store::system;

use super::Backups;
use super::manifest::{BackupWorkspace, LONGEST_NAME, Traits, is_memory};
use super::refusal::copy_refusal;
use super::write::BackupWriter;
use crate::errors::{root_missing, store_error};
use crate::registry::state_folder;
use crate::tasks::Cancellation;
use crate::view::WorkspaceView;
use crate::{contexts, files, scan, tree};

/// hippod's own folder below a root.
pub const OWN: &str = ".hippocampus";
/// Files that are not backed up, because they belong to one machine: the watcher's canary, and a record of `init`.
pub const NOT_KEPT: [&str; 2] = [".hippocampus/canary", ".hippocampus/harness.json"];
/// Ignore files, which are backed up along with the sources.
const RULES: [&str; 2] = [".hippoignore", ".ignore"];
/// Maximum size of a file in bytes, unless the sources allow larger files.
const MOST: u64 = 64 << 20;
/// Maximum number of attempts. The last snapshot is used even if the index file and the database differ: if the daemon
/// does not accept a user's edit, they stay different.
const MOMENTS: usize = 10;
/// Pause between two attempts, about as long as the daemon takes to notice an edit.
const PAUSE: Duration = Duration::from_millis(300);

/// A file with its content.
struct FileCopy {
    path: String,
    bytes: Vec<u8>,
    traits: Traits,
}

/// A consistent snapshot of a workspace.
struct WorkspaceSnapshot {
    index: DatabaseSnapshot,
    contexts: Option<DatabaseSnapshot>,
    own: Vec<FileCopy>,
    left_out: Vec<LeftOut>,
}

/// Writes a workspace into a backup.
///
/// # Errors
/// Fails if the folder is missing, a database cannot be read, or the backup cannot be written.
#[expect(clippy::disallowed_methods, reason = "the user chose this path")]
pub fn gather(
    backups: &Backups,
    view: &WorkspaceView,
    number: u32,
    writer: &mut BackupWriter,
    cancellation: Cancellation<'_>,
) -> Result<BackupWorkspace, RpcError> {
    let state = state_folder(&backups.paths.state, &view.root);
    // If the database file was removed while the database was open, the file is written again first.
    backups.contexts.is_there(&view.root)?;
    let moment = agreeing(view, &state)?;
    let mut workspace = BackupWorkspace {
        folder: number.to_string(),
        root: view.root.display().to_string(),
        left_out: moment.left_out,
    };
    let mut taken = BTreeSet::new();
    for found in &moment.own {
        add(&workspace, found, writer, cancellation)?;
        taken.insert(found.path.clone());
    }
    watched(view, &mut workspace, &mut taken, writer, cancellation)?;
    if let Ok(bytes) = fs::read(tree::state_file(&backups.paths.state, &view.root)) {
        let name = format!("{number}/tree.json");
        writer.add(&name, &bytes, Traits::default(), cancellation)?;
    }
    for (name, snapshot) in [("index", Some(moment.index)), ("contexts", moment.contexts)] {
        if let Some(snapshot) = snapshot {
            let copied = writer.temporary_path(name);
            snapshot
                .copy(&copied, &|| cancellation.check().is_ok())
                .map_err(|error| copy_refusal(&error))?;
            writer.add_made(&format!("{number}/{name}.db"), &copied, cancellation)?;
        }
    }
    Ok(workspace)
}

/// Takes a snapshot in which the index file matches the database.
#[expect(clippy::disallowed_methods, reason = "the user chose this path")]
fn agreeing(view: &WorkspaceView, state: &Path) -> Result<WorkspaceSnapshot, RpcError> {
    let begin = |path: &Path| DatabaseSnapshot::begin(path).map_err(|error| store_error(&error));
    for last in (0..MOMENTS).rev() {
        let sessions = state.join(contexts::FILE);
        let contexts = match sessions.exists() {
            true => Some(begin(&sessions)?),
            false => None,
        };
        let index = begin(&state.join("index.db"))?;
        let (own, left_out) = own_files(&view.root);
        let written = index.base(INDEX_FILE).map_err(|error| store_error(&error))?;
        let there = own.iter().find(|found| found.path == INDEX_FILE);
        let agree = written.as_ref() == there.map(|found| &found.bytes);
        let same = |again: &[FileCopy]| {
            let bytes = |found: &FileCopy| (found.path.clone(), blake3::hash(&found.bytes));
            again.iter().map(bytes).eq(own.iter().map(bytes))
        };
        if last == 0 || agree && same(&own_files(&view.root).0) {
            return Ok(WorkspaceSnapshot {
                index,
                contexts,
                own,
                left_out,
            });
        }
        std::thread::sleep(PAUSE);
    }
    Err(root_missing(&view.root))
}

/// Returns the index file, the harness file, and everything below `.hippocampus`.
fn own_files(root: &Path) -> (Vec<FileCopy>, Vec<LeftOut>) {
    let (mut found, mut left_out) = (Vec::new(), Vec::new());
    let Ok(dir) = WorkspaceDir::open(root) else {
        return (found, left_out);
    };
    let mut paths: Vec<PathBuf> = [INDEX_FILE, hippo_fs::harness::FILE]
        .iter()
        .map(PathBuf::from)
        .filter(|path| dir.exists(path))
        .collect();
    let mut folders = vec![PathBuf::from(OWN)];
    while let Some(folder) = folders.pop() {
        let entries = match dir.entries(&folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) if hippo_fs::refusal(&error).is_some() => {
                left_out.push(reason(&folder, "a link"));
                continue;
            }
            Err(error) => {
                left_out.push(reason(&folder, &format!("could not be read: {error}")));
                continue;
            }
        };
        for entry in entries {
            let path = folder.join(entry.name);
            match entry.kind {
                FileKind::Link => left_out.push(reason(&path, "a link")),
                FileKind::Folder => folders.push(path),
                _ if !NOT_KEPT.iter().any(|name| path == Path::new(name)) => paths.push(path),
                _ => {}
            }
        }
    }
    paths.sort();
    for path in paths {
        match read(&dir, &path, MOST) {
            Ok(mut file) => {
                if file.path == INDEX_FILE {
                    // The entries of other workspaces are not data of this workspace.
                    file.bytes = foreign::split(&file.bytes).0;
                }
                found.push(file);
            }
            Err(left) => left_out.extend(left),
        }
    }
    (found, left_out)
}

/// Adds the watched files and the ignore files.
fn watched(
    view: &WorkspaceView,
    workspace: &mut BackupWorkspace,
    taken: &mut BTreeSet<String>,
    writer: &mut BackupWriter,
    cancellation: Cancellation<'_>,
) -> Result<(), RpcError> {
    let scan = scan::scan(&view.root, &view.rules, &view.config, &|| ());
    if !scan.root_present {
        return Err(root_missing(&view.root));
    }
    let dir = WorkspaceDir::open(&view.root).map_err(|_| root_missing(&view.root))?;
    let folders = scan
        .dirs
        .iter()
        .filter_map(|folder| folder.strip_prefix(&view.root).ok());
    let rules = folders.flat_map(|folder| RULES.map(|name| folder.join(name)));
    let rules = rules.filter(|path| dir.is_file(path));
    let most = view.config.sources.max_file_bytes.max(MOST);
    for path in scan
        .files
        .iter()
        .map(|file| PathBuf::from(&file.rel))
        .chain(rules)
    {
        match read(&dir, &path, most) {
            Ok(found) => {
                if taken.insert(found.path.clone()) {
                    add(workspace, &found, writer, cancellation)?;
                }
            }
            Err(left) => workspace.left_out.extend(left),
        }
    }
    for skipped in scan.skipped {
        // Both scans report a link below hippod's own folder, but it is listed once.
        if workspace.left_out.iter().all(|left| left.path != skipped.rel) {
            workspace.left_out.push(LeftOut {
                path: skipped.rel,
                reason: skipped.reason,
            });
        }
    }
    Ok(())
}

/// Reads a file with its metadata. The error is the reason for omitting the file; it is `None` if the file does not
/// exist.
fn read(dir: &WorkspaceDir, path: &Path, most: u64) -> Result<FileCopy, Option<LeftOut>> {
    let name = path.to_str().map(|_| files::slashed(path));
    let Some(name) = name.filter(|name| name.len() < LONGEST_NAME / 2) else {
        return Err(Some(reason(path, "its name is too long or is not valid UTF-8")));
    };
    if !is_memory(&name.split('/').collect::<Vec<_>>()) {
        return Err(Some(reason(path, "a hidden file that is not Markdown")));
    }
    let read = dir.open_source(path).and_then(|(file, metadata)| {
        let traits = Traits {
            mtime_ns: Some(system::modified_ns(&metadata)),
            mode: Some(system::mode(&metadata) & 0o777),
        };
        Ok((hippo_fs::read_all((file, metadata), most)?, traits))
    });
    match read {
        Ok((bytes, traits)) => Ok(FileCopy {
            path: name,
            bytes,
            traits,
        }),
        // The file was removed during the backup.
        Err(error) if files::is_absence(&error) => Err(None),
        Err(error) => Err(Some(reason(path, &error.to_string()))),
    }
}

fn reason(path: &Path, reason: &str) -> LeftOut {
    LeftOut {
        path: files::slashed(path),
        reason: reason.to_owned(),
    }
}

fn add(
    workspace: &BackupWorkspace,
    found: &FileCopy,
    writer: &mut BackupWriter,
    cancellation: Cancellation<'_>,
) -> Result<(), RpcError> {
    let member = format!("{}/files/{}", workspace.folder, found.path);
    writer.add(&member, &found.bytes, found.traits, cancellation)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unreadable_own_folder_is_reported() {
        let root = tempfile::tempdir().unwrap();
        assert!(own_files(root.path()).1.is_empty(), "there is no folder yet");
        fs::create_dir(root.path().join(OWN)).unwrap();
        fs::write(root.path().join(OWN).join("meta.json"), "{}").unwrap();
        assert_eq!(own_files(root.path()).0.len(), 1);
        fs::remove_dir_all(root.path().join(OWN)).unwrap();
        // A regular file cannot be listed, whatever its permissions are.
        fs::write(root.path().join(OWN), "").unwrap();
        let left_out = own_files(root.path()).1;
        assert_eq!(left_out[0].path, OWN);
        assert!(
            left_out[0].reason.starts_with("could not be read: "),
            "{left_out:?}"
        );
    }
}
