//! Lookup of the file that contains an entry.
//!
//! Each entry outside the archive is in the index file or in one of the generated files below `.hippocampus/`.

use std::path::Path;

use hippo_fs::WorkspaceDir;
use hippo_map::hierarchy::FOLDER;
use hippo_map::index_file::{IndexFile, IndexFileOptions};
use hippo_map::layout::INDEX_FILE;
use hippo_types::entry::EntryId;

/// Maximum size in bytes of a file that is searched for entries. hippod neither reads a larger index file nor writes
/// larger files.
const LARGEST: u64 = 4 << 20;
/// Folders below `.hippocampus/` with generated files that contain entries outside the archive.
const BELOW: [&str; 2] = ["topics", "temporal"];

/// Returns the path of the file that contains the entry, relative to the workspace; `None` if no file contains it yet.
/// This reads the files.
pub fn file_of(root: &Path, id: &EntryId) -> Option<String> {
    if stands_in(root, INDEX_FILE, id) {
        return Some(INDEX_FILE.to_owned());
    }
    BELOW.iter().find_map(|folder| {
        let folder = format!("{FOLDER}/{folder}");
        let listed = WorkspaceDir::open(root).and_then(|dir| dir.entries(&folder));
        let mut names: Vec<String> = listed
            .ok()?
            .into_iter()
            .filter_map(|entry| entry.name.into_string().ok())
            .filter(|name| name.ends_with(".md"))
            .collect();
        names.sort_unstable();
        names
            .into_iter()
            .map(|name| format!("{folder}/{name}"))
            .find(|path| stands_in(root, path, id))
    })
}

fn stands_in(root: &Path, file: &str, id: &EntryId) -> bool {
    let Ok(bytes) = hippo_fs::read(root, file, LARGEST) else {
        return false;
    };
    // Parse only files that contain the id, because parsing is slow.
    let named = bytes
        .windows(id.0.len().max(1))
        .any(|window| window == id.0.as_bytes());
    named
        && IndexFile::parse(&bytes, IndexFileOptions::default())
            .entries()
            .any(|indexed| indexed.entry.id == *id)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn an_entry_is_located_in_the_file_that_contains_it() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let entry = |id: &str| format!("## {id}\n→ a.md\n<!-- hx: id={id} | str=0.50 -->\n");
        fs::write(
            root.join(INDEX_FILE),
            entry("anchor-rope").replace("## ", "## anchor "),
        )
        .unwrap();
        let topics = root.join(FOLDER).join("topics");
        fs::create_dir_all(&topics).unwrap();
        fs::write(topics.join("boat.md"), entry("anchor")).unwrap();
        let of = |id: &str| file_of(root, &EntryId(id.to_owned()));
        assert_eq!(of("anchor-rope").as_deref(), Some(INDEX_FILE));
        assert_eq!(of("anchor").as_deref(), Some(".hippocampus/topics/boat.md"));
        assert_eq!(of("rope"), None);
    }
}
