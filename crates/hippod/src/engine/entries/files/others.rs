//! How are the files below `.hippocampus/` kept, which hippod alone writes?

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::ops::Bound;
use std::path::{Component, Path, PathBuf};
use std::time::Instant;

use hippo_core::hierarchy::{FOLDER, Meta};
use hippo_core::layout::{self, META_FILE};
use hippo_store::db::RunFile;
use hippo_store::system;

use crate::files;

/// What each file says of itself.
const MARK: &[u8] = b"<!-- Written by hippod";
/// A file above this size is not one of ours: one holds a group or a month, and the index file itself is far smaller.
pub(super) const LARGEST: u64 = 64 << 20;
/// How the name of a file ends that is being written.
const DRAFT: &str = ".new";

/// Notes that a file was changed; of several times the first `before` counts.
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

/// The files as they are to be, and how far they are.
#[derive(Debug)]
pub(super) struct Wanted {
    files: BTreeMap<String, Vec<u8>>,
    /// The last one by path that is as wanted, and with it all before.
    upto: Option<String>,
}

impl Wanted {
    pub(super) const fn new(files: BTreeMap<String, Vec<u8>>) -> Self {
        Self { files, upto: None }
    }

    /// Those that may differ still.
    fn rest(&self) -> impl Iterator<Item = (&String, &Vec<u8>)> {
        let from = self.upto.as_ref().map_or(Bound::Unbounded, Bound::Excluded);
        self.files.range::<String, _>((from, Bound::Unbounded))
    }
}

/// Writes the files that differ, removes those that are of no use any more, and notes in `changed` what it did. After
/// `until` nothing more is changed but the first of `changed`; the answer is whether all is as wanted.
///
/// # Errors
/// At the first that the system refuses.
pub(super) fn write(
    root: &Path,
    wanted: &mut Wanted,
    changed: &mut Vec<RunFile>,
    until: Option<Instant>,
) -> io::Result<bool> {
    let late =
        |changed: &[RunFile]| !changed.is_empty() && until.is_some_and(|until| Instant::now() >= until);
    // Their names are made durable once, after all of them.
    let mut touched: BTreeSet<PathBuf> = BTreeSet::new();
    let (mut all, mut upto) = (true, None);
    for (path, bytes) in wanted.rest() {
        let whole = root.join(path);
        let before = read(root, path)?;
        if before.as_ref() != Some(bytes) {
            if late(changed) {
                all = false;
                break;
            }
            if before.as_ref().is_some_and(|before| !is_ours(path, before)) {
                let what = format!("{path} is not hippod's own; move it away");
                return Err(io::Error::other(what));
            }
            write_whole(root, &whole, bytes)?;
            touched.extend(whole.parent().map(Path::to_path_buf));
            note(changed, path, before, bytes.clone());
        }
        upto = Some(path.clone());
    }
    for path in if all { made_here(root) } else { Vec::new() } {
        if !wanted.files.contains_key(&path) {
            let Some(before) = read(root, &path)?.filter(|before| is_ours(&path, before)) else {
                continue;
            };
            if late(changed) {
                all = false;
                break;
            }
            let whole = root.join(&path);
            std::fs::remove_file(&whole)?;
            touched.extend(whole.parent().map(Path::to_path_buf));
            note(changed, &path, Some(before), Vec::new());
        }
    }
    touched
        .iter()
        .try_for_each(|folder| system::sync_folder(folder))?;
    if upto.is_some() {
        wanted.upto = upto;
    }
    Ok(all)
}

/// The bytes of a file; `None`: there is none.
fn read(root: &Path, path: &str) -> io::Result<Option<Vec<u8>>> {
    match files::read(&root.join(path), LARGEST) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Err(io::Error::other(format!(
            "{path} is no file: move away what stands in its place"
        ))),
        Err(error) => Err(io::Error::new(error.kind(), format!("{path}: {error}"))),
    }
}

/// Whether hippod wrote a file: the list of files, and what says so itself. Another tool may keep its files in the same place.
pub(super) fn is_ours(path: &str, bytes: &[u8]) -> bool {
    let says_so = bytes.windows(MARK.len()).take(1_000).any(|part| part == MARK);
    bytes.is_empty() || says_so || (path == META_FILE && serde_json::from_slice::<Meta>(bytes).is_ok())
}

/// Puts a file back as it was before a run, where it is still as the run left it. Answers whether it was.
pub(super) fn put_back(root: &Path, file: &RunFile) -> bool {
    let mut parts = Path::new(&file.path).components();
    if !parts.all(|part| matches!(part, Component::Normal(_))) {
        return false;
    }
    let path = root.join(&file.path);
    // A file that the run removed is as empty as none.
    let is = read(root, &file.path).map(Option::unwrap_or_default);
    if is.ok().as_ref() != Some(&file.after) {
        return false;
    }
    let done = match &file.before {
        Some(before) => write_whole(root, &path, before),
        None => std::fs::remove_file(&path),
    };
    done.and_then(|()| path.parent().map_or(Ok(()), system::sync_folder))
        .is_ok()
}

/// The files that an earlier writing may have made.
pub(super) fn made_here(root: &Path) -> Vec<String> {
    let mut found = Vec::new();
    if root.join(META_FILE).is_file() {
        found.push(META_FILE.to_owned());
    }
    for folder in ["topics", "temporal", "archive"] {
        let listing = std::fs::read_dir(root.join(FOLDER).join(folder))
            .into_iter()
            .flatten();
        for entry in listing.flatten() {
            let Ok(name) = entry.file_name().into_string() else {
                continue;
            };
            if name.starts_with('.') && name.ends_with(DRAFT) {
                // Of a process that was stopped while it wrote.
                let _ = std::fs::remove_file(entry.path());
                continue;
            }
            let path = format!("{FOLDER}/{folder}/{name}");
            if layout::is_made_here(&path) && entry.file_type().is_ok_and(|kind| kind.is_file()) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Writes a file whole or not at all. Its bytes are durable, and its name once its folder is.
fn write_whole(root: &Path, path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(root);
    let there = folder.ancestors().find(|folder| folder.exists()).unwrap_or(root);
    if !there.canonicalize()?.starts_with(root) {
        let what = format!("{} leads out of the workspace", there.display());
        return Err(io::Error::other(what));
    }
    std::fs::create_dir_all(folder)?;
    if there != folder {
        system::sync_folder(there)?;
        folder.parent().map_or(Ok(()), system::sync_folder)?;
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    files::write_whole(path, &path.with_file_name(format!(".{name}{DRAFT}")), bytes)
}
