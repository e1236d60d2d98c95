//! Generated files below `.hippocampus/` that contain entries.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use hippo_fs::{FileKind, PathRefusal, WorkspaceDir};
use hippo_map::hierarchy::FOLDER;
use hippo_map::layout;

/// Text in each generated file that shows that hippod wrote it.
const MARK: &[u8] = b"<!-- Written by hippod";
/// Maximum size in bytes of a generated file. Each file contains the entries of one group or one month.
pub(super) const LARGEST: u64 = 64 << 20;
/// Suffix of the temporary name of a file while hippod writes it.
const DRAFT: &str = ".new";

/// Writes the `wanted` files whose content differs, and removes generated files that are not wanted. Adds the paths of
/// written and removed files to `changed`.
///
/// # Errors
/// Returns the first error of the operating system.
pub(super) fn write(
    dir: &WorkspaceDir,
    wanted: &BTreeMap<String, Vec<u8>>,
    changed: &mut BTreeSet<String>,
) -> io::Result<()> {
    // The folders are synced once, after all writes.
    let mut touched: BTreeSet<String> = BTreeSet::new();
    for (path, bytes) in wanted {
        let before = read(dir, path)?;
        if before.as_ref() == Some(bytes) {
            continue;
        }
        if before.is_some_and(|before| !is_ours(&before)) {
            let what = format!("hippod did not create the file {path}; move the file elsewhere");
            return Err(io::Error::other(what));
        }
        write_whole(dir, path, bytes)?;
        touched.insert(folder_of(path));
        changed.insert(path.clone());
    }
    for path in made_here(dir)? {
        if !wanted.contains_key(&path) && read(dir, &path)?.is_some_and(|bytes| is_ours(&bytes)) {
            dir.remove_file(&path)?;
            touched.insert(folder_of(&path));
            changed.insert(path);
        }
    }
    touched.iter().try_for_each(|folder| dir.folder(folder)?.sync())
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

/// Returns whether hippod wrote a file with this content: it is empty or contains hippod's mark near the beginning.
/// Other tools may keep files in the same folder.
pub(super) fn is_ours(bytes: &[u8]) -> bool {
    bytes.is_empty() || bytes.windows(MARK.len()).take(1_000).any(|part| part == MARK)
}

/// Returns the paths of the files that an earlier write may have created. Removes temporary files that an interrupted
/// process left behind.
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

/// Writes a file atomically. The content is durable on return. The name is durable once the caller has synced the
/// folder.
fn write_whole(dir: &WorkspaceDir, path: &str, bytes: &[u8]) -> io::Result<()> {
    let (folder, name) = dir.make_parent(path)?;
    let draft = format!(".{}{DRAFT}", name.to_string_lossy());
    folder.write_whole(name, draft, bytes)
}

fn folder_of(path: &str) -> String {
    path.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned()
}
