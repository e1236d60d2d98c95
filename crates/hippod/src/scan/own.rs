//! Links in the places that hippod keeps for itself: none is read or written, and each is named.

use std::path::Path;

use hippo_core::harness;
use hippo_core::hierarchy::FOLDER;
use hippo_fs::{Kind, WorkspaceDir};

use super::Skipped;
use super::walk::Walked;

/// Links that are named.
const MOST: usize = 20;
/// Folders below `.hippocampus` that are looked into.
const DEPTH: usize = 3;

impl Walked {
    /// Adds the links of a workspace that hippod does not follow.
    pub(super) fn with_links(mut self, root: &Path) -> Self {
        if let Ok(dir) = WorkspaceDir::open(root) {
            let mut links = Vec::new();
            for path in [FOLDER, harness::FILE] {
                collect(&dir, path, DEPTH, &mut links);
            }
            let reason = "a link where hippod keeps its own files; it is neither read nor written";
            self.skipped
                .extend(links.into_iter().map(|link| Skipped::new(link, reason)));
        }
        self
    }
}

/// Returns whether a path relative to the root is one of hippod's own places, or below one.
pub fn is_own_place(path: &str) -> bool {
    [FOLDER, harness::FILE]
        .into_iter()
        .any(|own| Path::new(path).starts_with(own))
}

fn collect(dir: &WorkspaceDir, path: &str, depth: usize, links: &mut Vec<String>) {
    let kind = dir.stat(path).ok().flatten().map(|stat| stat.kind);
    match kind {
        Some(Kind::Link) if links.len() < MOST => links.push(path.to_owned()),
        Some(Kind::Folder) if depth > 0 => {
            let mut entries = dir.entries(path).unwrap_or_default();
            entries.retain(|entry| matches!(entry.kind, Kind::Link | Kind::Folder));
            entries.sort_by(|a, b| a.name.cmp(&b.name));
            for entry in entries {
                let path = format!("{path}/{}", entry.name.to_string_lossy());
                collect(dir, &path, depth - 1, links);
            }
        }
        _ => {}
    }
}
