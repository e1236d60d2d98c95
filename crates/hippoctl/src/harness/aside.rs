//! Removal of the daemon's own files by `init --undo`.
//!
//! The daemon derives these files from memory files, but cannot derive all of the files again. Therefore, `init --undo`
//! moves the files out of the workspace instead of deleting them. Files that people wrote stay in place.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use hippo_fs::{FileKind, Folder, WorkspaceDir};
use hippo_map::index_file::{IndexFile, IndexFileOptions, IndexedEntry};
use hippo_text::source::{SESSION_PAGES, SourceKind};
use hippo_tree::BodyAuthor;
use hippo_types::time::Timestamp;

use super::layout::{INDEX, ROOT};
use super::nodes::{NODE_FOLDERS, list_nodes, read_node};
use super::{InitRecord, PathReason};

/// Folders in `.hippocampus/` that belong to hippod. The settings and policies in `.hippocampus/` belong to the user.
const OWN: [&str; 3] = ["topics", "temporal", "archive"];

/// The files of hippod to move out of the workspace, and the files of hippod that stay.
#[derive(Debug, Default)]
pub struct Aside {
    /// The files and folders to move, relative to the workspace.
    pub moved: Vec<String>,
    /// The files that stay, because they contain text by people.
    pub kept: Vec<PathReason>,
}

/// Collects hippod's files that did not exist before init.
pub fn find(dir: &WorkspaceDir, record: &InitRecord) -> Aside {
    let mut aside = Aside::default();
    let [index, folder] = INDEX;
    if record.index_is_new {
        let there = |path: &String| dir.stat(path).is_ok_and(|stat| stat.is_some());
        // Copies that the daemon kept when it replaced the index file. A running daemon would remove the copies.
        let replaced = ["", "-1", "-2", "-3", "-4"].map(|slot| format!(".{index}.replaced{slot}"));
        let passing = replaced.into_iter().chain([format!("{folder}/canary")]);
        aside.moved.extend(passing.filter(there));
        match dir.read(index, u64::MAX) {
            Ok(bytes) if is_untouched(&bytes) => {
                let own = OWN.map(|name| format!("{folder}/{name}"));
                aside.moved.push(index.to_owned());
                aside.moved.extend(own.into_iter().filter(there));
            }
            Ok(_) => {
                let kept = PathReason::new(index, "its text was changed after hippod wrote it");
                aside.kept.push(kept);
            }
            Err(_) => {}
        }
    }
    match find_pages(dir) {
        Some(Ok(())) => aside.moved.push(SESSION_PAGES.to_owned()),
        Some(Err(other)) => {
            let why = format!("it contains {other}, which hippod did not write");
            aside.kept.push(PathReason::new(format!("{SESSION_PAGES}/"), why));
        }
        None => {}
    }
    let is_derived =
        |path: &String| read_node(dir, path).is_some_and(|node| node.writer == BodyAuthor::Hippod);
    for folder in NODE_FOLDERS {
        if record.folders.iter().any(|made| made == folder) {
            let nodes = list_nodes(dir, folder).into_iter();
            aside.moved.extend(nodes.filter(is_derived));
        }
    }
    let root = ROOT.to_owned();
    if record.files.get(&root).is_some_and(|entry| entry.made) && is_derived(&root) {
        aside.moved.push(root);
    }
    aside.moved.sort();
    aside
}

/// Looks at the folder with the pages of sessions. Returns `None` if there is no such folder, and as an error the name of
/// a file in it that is not a page.
fn find_pages(dir: &WorkspaceDir) -> Option<Result<(), String>> {
    let is_page = |name: &str| {
        name == ".gitignore"
            || SourceKind::from_path(&format!("{SESSION_PAGES}/{name}")) == SourceKind::Session
    };
    let entries = dir.entries(SESSION_PAGES).ok()?;
    let mut names = entries
        .into_iter()
        .map(|entry| entry.name.to_string_lossy().into_owned());
    let other = names.find(|name| !is_page(name));
    Some(other.map_or(Ok(()), Err))
}

/// Moves the paths into a new folder below `state`, and returns that folder.
///
/// # Errors
/// Returns the first path that could not be moved or created, with the reason. That path stays in place.
#[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
pub fn set_aside(
    dir: &WorkspaceDir,
    moved: &[String],
    state: &Path,
) -> Result<Option<PathBuf>, (PathBuf, io::Error)> {
    if moved.is_empty() {
        return Ok(None);
    }
    let base = state.join("set-aside");
    let at = |path: &Path| {
        let path = path.to_path_buf();
        move |error| (path, error)
    };
    fs::create_dir_all(&base).map_err(at(&base))?;
    let root = dir.root();
    let name = root
        .file_name()
        .map_or("workspace".into(), |name| name.to_string_lossy());
    let place = tempfile::Builder::new()
        .prefix(&format!("{name}-"))
        .tempdir_in(&base)
        .map_err(at(&base))?
        .keep();
    for path in moved {
        let (from, to) = (root.join(path), place.join(path));
        let target = WorkspaceDir::open(&place).and_then(|place| Ok(place.make_parent(path)?.0));
        let target = target.map_err(at(to.parent().unwrap_or(&place)))?;
        let moved = dir
            .parent(path)
            .and_then(|(folder, name)| move_to(&folder, name, &target));
        match moved {
            // Another program has removed the path in the meantime.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            moved => moved.map_err(at(&from))?,
        }
    }
    Ok(Some(place))
}

/// Moves a file, or a folder with its content. A link cannot be moved to another device. In this case, the link stays
/// in place, and an error is returned.
fn move_to(from: &Folder, name: &OsStr, to: &Folder) -> io::Result<()> {
    match from.rename_to(name, to, name) {
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {}
        renamed => return renamed,
    }
    if from.stat(name)?.is_some_and(|stat| stat.kind == FileKind::Folder) {
        let (inner, target) = (from.folder(name)?, to.make_folder(name)?);
        for entry in inner.entries()? {
            move_to(&inner, &entry.name, &target)?;
        }
        return from.remove_folder(name);
    }
    let (mut file, _) = from.open(name)?;
    let mut copy = to.create_new(name)?;
    io::copy(&mut file, &mut copy)?;
    from.remove_file(name)
}

/// Returns whether an index file contains only entries, headings and notes that hippod writes.
fn is_untouched(bytes: &[u8]) -> bool {
    let settings = IndexFileOptions::default();
    let mut file = IndexFile::parse(bytes, settings);
    if file.entries().any(IndexedEntry::has_other_content) {
        return false;
    }
    let ids: BTreeSet<_> = file.entries().map(|indexed| indexed.entry.id.clone()).collect();
    file.remove_all(&ids);
    let skeleton = IndexFile::skeleton(Timestamp(0), settings).to_bytes();
    let skeleton = String::from_utf8_lossy(&skeleton).into_owned();
    let known: BTreeSet<&str> = skeleton.lines().map(str::trim).collect();
    let left = file.to_bytes();
    let left = String::from_utf8_lossy(&left);
    let mut own = false;
    left.lines().map(str::trim).all(|line| {
        own = (own || line.starts_with("<!-- hippod:")) && line != "<!-- /hippod -->";
        own || line.is_empty() || line.starts_with("<!--") || line.starts_with('#') || known.contains(line)
    })
}
