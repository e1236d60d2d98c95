//! Current file contents, for the plan of a cycle.
//!
//! Files are read on the planning thread.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;

use hippo_fs::WorkspaceDir;
use hippo_map::consolidation::{DocumentState, SectionState};
use hippo_text::chunk::{self, ContentHash, Document};
use hippo_text::source::SourceKind;
use hippo_types::time::Timestamp;

use crate::files;

/// A document in the index.
#[derive(Debug, Clone)]
pub struct IndexedDocument {
    /// Path relative to the workspace.
    pub path: String,
    /// Kind of document.
    pub kind: SourceKind,
    /// Hash of the content.
    pub hash: [u8; 16],
    /// Time of the last modification.
    pub modified: Timestamp,
}

/// The content of a document that was read.
pub struct ReadDocument {
    /// Content.
    pub bytes: Vec<u8>,
    /// Chunks and sections.
    pub document: Document,
}

/// Reads a document. Returns `None` if it cannot be read or has changed since it was indexed.
pub fn read(root: &Path, known: &IndexedDocument, limit: u64) -> Option<ReadDocument> {
    let bytes = hippo_fs::read_source(root, &known.path, limit).ok()?;
    if ContentHash::of(&bytes).0 != known.hash {
        // The index is updated shortly, and the next cycle uses the new content.
        return None;
    }
    let document = chunk::chunk(&bytes);
    Some(ReadDocument { bytes, document })
}

/// Content hashes of files at the start of a cycle.
#[derive(Debug, Default)]
pub struct States {
    /// Hashes of the readable files, by path.
    pub read: BTreeMap<String, DocumentState>,
    /// Paths of the unreadable files. Their content is unknown, and they do not count as deleted.
    pub unread: BTreeSet<String>,
}

/// Returns the content hashes of all documents, and of other files to which entries point.
///
/// A document that does not exist was deleted a moment ago, or its removal is held back. It counts as unreadable until
/// it is removed from the index, and only then as deleted.
pub fn states<'p>(
    root: &Path,
    known: &[IndexedDocument],
    pointed: impl Iterator<Item = &'p str>,
    limit: u64,
) -> States {
    let mut states = States::default();
    for document in known {
        let path = document.path.clone();
        match read(root, document, limit) {
            Some(read) => {
                let state = state(&path, &read.bytes, Some(&read.document));
                states.read.insert(path, state);
            }
            None => _ = states.unread.insert(path),
        }
    }
    for path in pointed {
        if states.read.contains_key(path) || states.unread.contains(path) {
            continue;
        }
        match other(root, path, limit) {
            Ok(state) => states.read.extend(state.map(|state| (path.to_owned(), state))),
            Err(error) if files::is_absence(&error) => {}
            Err(_) => _ = states.unread.insert(path.to_owned()),
        }
    }
    states
}

/// Returns the content hashes of a file that is the target of a pointer but not a document; `None` for a file outside
/// the workspace.
fn other(root: &Path, path: &str, limit: u64) -> io::Result<Option<DocumentState>> {
    let dir = WorkspaceDir::open(root)?;
    let real = match dir.resolve(path) {
        Err(error) if hippo_fs::refusal(&error).is_some() => return Ok(None),
        real => real?,
    };
    if dir.is_folder(&real) {
        return Ok(Some(DocumentState {
            hash: ContentHash::of(path.as_bytes()),
            sections: Vec::new(),
        }));
    }
    let bytes = dir.read(&real, limit)?;
    let document = path.ends_with(".md").then(|| chunk::chunk(&bytes));
    Ok(Some(state(path, &bytes, document.as_ref())))
}

/// Returns the content hashes of a file. If the file is markdown, `document` contains its chunks.
pub fn state(path: &str, bytes: &[u8], document: Option<&Document>) -> DocumentState {
    let mut starts = vec![0];
    starts.extend(
        bytes
            .iter()
            .enumerate()
            .filter(|(_, byte)| **byte == b'\n')
            .map(|(at, _)| at + 1),
    );
    let line = |number: u32| {
        starts
            .get(number as usize)
            .copied()
            .unwrap_or(bytes.len())
            .min(bytes.len())
    };
    let sections = document.into_iter().flat_map(|document| {
        (0_u32..)
            .zip(&document.sections)
            .filter(|(_, section)| section.level > 0)
            .map(|(at, section)| {
                let (from, to) = (line(section.start_line), line(chunk::section_end(document, at)));
                // Leave out parts that hippod generated: an update of such a part is not a change of the section.
                let text = document.without_copies(bytes, from..to);
                let text = text.trim_ascii();
                SectionState {
                    title: section.title.clone(),
                    // An empty section is identified by its path and title, so that empty sections do not match each
                    // other.
                    hash: if text.is_empty() {
                        ContentHash::of(format!("{path}\n{}", section.title).as_bytes())
                    } else {
                        ContentHash::of(text)
                    },
                }
            })
    });
    let whole = document.map_or(Cow::Borrowed(bytes), |document| {
        document.without_copies(bytes, 0..bytes.len())
    });
    DocumentState {
        hash: ContentHash::of(&whole),
        sections: sections.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn updates_of_generated_blocks_do_not_change_a_document_state() {
        let with = |root: &str| {
            let text = format!(
                "# Memory\n\n- mine\n\n<!-- hippod: root -->\n## Topics\n{root}<!-- /hippod -->\n\n# Later\n\n- also mine\n"
            );
            state("MEMORY.md", text.as_bytes(), Some(&chunk::chunk(text.as_bytes())))
        };
        let state = with("- pump\n");
        assert_eq!(with("- pump\n- well\n"), state);
        assert_eq!(
            state
                .sections
                .iter()
                .map(|section| section.title.as_str())
                .collect::<Vec<_>>(),
            ["Memory", "Later"]
        );
        let edited = "# Memory\n\n- mine now\n";
        assert_ne!(
            super::state(
                "MEMORY.md",
                edited.as_bytes(),
                Some(&chunk::chunk(edited.as_bytes()))
            )
            .hash,
            state.hash
        );
    }
}
