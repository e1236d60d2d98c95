//! Links at paths that only hippod writes.
//!
//! hippod reports these links but does not follow them. The paths are `.hippocampus` and the harness's settings file.

use std::path::Path;

use hippo_fs::harness;
use hippo_fs::{FileKind, WorkspaceDir};
use hippo_map::hierarchy::FOLDER;

use super::SkippedFile;

/// Maximum number of links that are reported.
const MOST: usize = 20;
/// Maximum depth of the search for links below `.hippocampus`.
const DEPTH: usize = 3;

/// Returns the links at hippod's own paths as skipped files.
pub(super) fn links(root: &Path) -> Vec<SkippedFile> {
    let mut links = Vec::new();
    if let Ok(dir) = WorkspaceDir::open(root) {
        for path in [FOLDER, harness::FILE] {
            collect(&dir, path, DEPTH, &mut links);
        }
    }
    let reason = "a link has the name of one of hippod's own files; hippod neither reads nor writes it";
    let skipped = links.into_iter().map(|link| SkippedFile::new(link, reason));
    skipped.collect()
}

/// Returns whether a path relative to the root is one of hippod's own paths, or below one.
pub fn is_own_place(path: &str) -> bool {
    [FOLDER, harness::FILE]
        .into_iter()
        .any(|own| Path::new(path).starts_with(own))
}

fn collect(dir: &WorkspaceDir, path: &str, depth: usize, links: &mut Vec<String>) {
    let kind = dir.stat(path).ok().flatten().map(|stat| stat.kind);
    match kind {
        Some(FileKind::Link) if links.len() < MOST => links.push(path.to_owned()),
        Some(FileKind::Folder) if depth > 0 => {
            let mut entries = dir.entries(path).unwrap_or_default();
            entries.retain(|entry| matches!(entry.kind, FileKind::Link | FileKind::Folder));
            entries.sort_by(|a, b| a.name.cmp(&b.name));
            for entry in entries {
                let path = format!("{path}/{}", entry.name.to_string_lossy());
                collect(dir, &path, depth - 1, links);
            }
        }
        _ => {}
    }
}
