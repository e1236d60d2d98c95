//! Files below `.hippocampus/` that only hippod writes.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::ops::Bound;
use std::path::Path;
use std::time::Instant;

use hippo_fs::{FileKind, PathRefusal, WorkspaceDir};
use hippo_map::hierarchy::FOLDER;
use hippo_map::layout;
use hippo_store::db::RunFile;

/// Text in each file that identifies hippod as its writer.
const MARK: &[u8] = b"<!-- Written by hippod";
/// Maximum size in bytes of a generated file. Each file contains one group or month, and the index file is far smaller.
pub(super) const LARGEST: u64 = 64 << 20;
/// Suffix of a file name while the file is being written.
const DRAFT: &str = ".new";

/// Records a changed file. If the file was already recorded, its first `before` is kept.
pub(super) fn note(changed: &mut Vec<RunFile>, path: &str, before: Option<Vec<u8>>, after: Vec<u8>) {
    match changed.iter_mut().find(|file| file.path == path) {
        Some(file) => file.after = after,
        None => changed.push(RunFile {
            path: path.to_owned(),
            before,
            after,
        }),
    }
}

/// The files to be written, and the progress of writing them.
#[derive(Debug)]
pub(super) struct OutputFiles {
    files: BTreeMap<String, Vec<u8>>,
    /// Last path, in sorted order, up to which all files have the wanted content.
    upto: Option<String>,
}

impl OutputFiles {
    pub(super) const fn new(files: BTreeMap<String, Vec<u8>>) -> Self {
        Self { files, upto: None }
    }

    /// Returns the files that may still differ from the wanted content.
    fn rest(&self) -> impl Iterator<Item = (&String, &Vec<u8>)> {
        let from = self.upto.as_ref().map_or(Bound::Unbounded, Bound::Excluded);
        self.files.range::<String, _>((from, Bound::Unbounded))
    }
}

/// Writes the files that differ, removes obsolete files, and records the changes in `changed`. After `until`, it
/// changes no file unless `changed` is empty. Returns true once all files have the wanted content.
///
/// # Errors
/// Returns the first error of the operating system.
pub(super) fn write(
    root: &Path,
    wanted: &mut OutputFiles,
    changed: &mut Vec<RunFile>,
    until: Option<Instant>,
) -> io::Result<bool> {
    let late =
        |changed: &[RunFile]| !changed.is_empty() && until.is_some_and(|until| Instant::now() >= until);
    let dir = WorkspaceDir::open(root)?;
    // The folders are synced once, after all writes.
    let mut touched: BTreeSet<String> = BTreeSet::new();
    let (mut all, mut upto) = (true, None);
    for (path, bytes) in wanted.rest() {
        let before = read(&dir, path)?;
        if before.as_ref() != Some(bytes) {
            if late(changed) {
                all = false;
                break;
            }
            if before.as_ref().is_some_and(|before| !is_ours(before)) {
                let what = format!("hippod did not create the file {path}; move the file elsewhere");
                return Err(io::Error::other(what));
            }
            write_whole(&dir, path, bytes)?;
            touched.insert(folder_of(path));
            note(changed, path, before, bytes.clone());
        }
        upto = Some(path.clone());
    }
    for path in if all { made_here(&dir)? } else { Vec::new() } {
        if !wanted.files.contains_key(&path) {
            let Some(before) = read(&dir, &path)?.filter(|before| is_ours(before)) else {
                continue;
            };
            if late(changed) {
                all = false;
                break;
            }
            dir.remove_file(&path)?;
            touched.insert(folder_of(&path));
            note(changed, &path, Some(before), Vec::new());
        }
    }
    touched.iter().try_for_each(|folder| dir.folder(folder)?.sync())?;
    if upto.is_some() {
        wanted.upto = upto;
    }
    Ok(all)
}

/// Returns the content of a file; `None` if it does not exist.
fn read(dir: &WorkspaceDir, path: &str) -> io::Result<Option<Vec<u8>>> {
    match dir.read(path, LARGEST) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) if matches!(hippo_fs::refusal(&error), Some(PathRefusal::NotRegular(_))) => Err(
            io::Error::other(format!("{path} is not a regular file; move {path} elsewhere")),
        ),
        Err(error) if hippo_fs::refusal(&error).is_some() => Err(error),
        Err(error) => Err(io::Error::new(error.kind(), format!("{path}: {error}"))),
    }
}

/// Returns whether hippod wrote a file: it contains hippod's mark. Other tools may keep files in the same folder.
pub(super) fn is_ours(bytes: &[u8]) -> bool {
    bytes.is_empty() || bytes.windows(MARK.len()).take(1_000).any(|part| part == MARK)
}

/// Restores a file to its state before a run, if the file is unchanged since the run. Returns whether it was restored.
pub(super) fn put_back(root: &Path, file: &RunFile) -> bool {
    let put_back = || -> io::Result<bool> {
        let dir = WorkspaceDir::open(root)?;
        // A file that the run removed counts as empty.
        if read(&dir, &file.path)?.unwrap_or_default() != file.after {
            return Ok(false);
        }
        match &file.before {
            Some(before) => write_whole(&dir, &file.path, before)?,
            None => drop(dir.remove_file(&file.path)?),
        }
        dir.folder(folder_of(&file.path))?.sync()?;
        Ok(true)
    };
    put_back().unwrap_or_default()
}

/// Returns the files that an earlier write may have created, and removes the drafts of an interrupted process.
///
/// # Errors
/// Fails if a folder is a link, because the content of its target does not belong to hippod.
pub(super) fn made_here(dir: &WorkspaceDir) -> io::Result<Vec<String>> {
    let mut found = Vec::new();
    for name in ["topics", "temporal", "archive"] {
        let folder = match dir.folder(format!("{FOLDER}/{name}")) {
            Ok(folder) => folder,
            Err(error) if hippo_fs::refusal(&error).is_some() => return Err(error),
            Err(_) => continue,
        };
        for entry in folder.entries().unwrap_or_default() {
            let Ok(file) = entry.name.into_string() else {
                continue;
            };
            if file.starts_with('.') && file.ends_with(DRAFT) {
                let _ = folder.remove_file(file);
                continue;
            }
            let path = format!("{FOLDER}/{name}/{file}");
            if layout::is_generated_path(&path) && entry.kind == FileKind::File {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Writes a file atomically. The content is durable on return; the name becomes durable when the folder is synced.
fn write_whole(dir: &WorkspaceDir, path: &str, bytes: &[u8]) -> io::Result<()> {
    let (folder, name) = dir.make_parent(path)?;
    let draft = format!(".{}{DRAFT}", name.to_string_lossy());
    folder.write_whole(name, draft, bytes)
}

fn folder_of(path: &str) -> String {
    path.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned()
}
