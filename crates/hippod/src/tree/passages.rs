//! Vectors of the passages to which `ROOT.md` refers.

use std::cell::RefCell;
use std::collections::HashMap;

use hippo_fs::WorkspaceDir;
use hippo_tree::root::PassageVector;

use crate::verify::FileMark;
use crate::view::WorkspaceView;

/// Lookup of passages in the search index of a workspace. A passage is not found if it is not indexed, if it has no
/// vector, or if its file has changed. `ROOT.md` treats such a passage as different from all others.
pub struct IndexedPassages<'a> {
    view: &'a WorkspaceView,
    /// Ids of the documents by path. They are read once, when this value is created.
    documents: HashMap<String, u32>,
    /// Current size and modification time of the files, by the id of the document.
    marks: RefCell<HashMap<u32, Option<FileMark>>>,
    /// Passages that have been looked up. `ROOT.md` may be created twice, with the same lookups.
    known: RefCell<HashMap<u32, Option<PassageVector>>>,
}

impl<'a> IndexedPassages<'a> {
    /// Creates the lookup for a workspace.
    pub fn of(view: &'a WorkspaceView) -> Self {
        let snapshot = view.snapshot();
        let documents = snapshot.corpus.documents();
        let documents = documents.map(|(id, document)| (document.path.to_string(), id));
        Self {
            view,
            documents: documents.collect(),
            marks: RefCell::default(),
            known: RefCell::default(),
        }
    }

    /// Returns the passage that contains a line of a file, with its vector.
    pub fn find(&self, path: &str, line: u32) -> Option<PassageVector> {
        let id = *self.documents.get(path)?;
        let mark = *self.marks.borrow_mut().entry(id).or_insert_with(|| {
            let file = WorkspaceDir::open(&self.view.root).and_then(|dir| dir.stat(path));
            file.ok().flatten().map(FileMark::from)
        });
        let chunk = {
            let snapshot = self.view.snapshot();
            let document = snapshot.corpus.document(id)?;
            // The lines of a changed file may have moved.
            if mark != Some(snapshot.facts.get(&id)?.mark) {
                return None;
            }
            snapshot.chunk_at(document.chunks(), line)?
        };
        let mut known = self.known.borrow_mut();
        let passage = known.entry(chunk).or_insert_with(|| {
            // `ROOT.md` also lists passages without a vector, so `None` is not an error here.
            let read = self.view.with_reader(|reader| reader.vectors(&[chunk]));
            let vector = read.ok()?.pop()??;
            Some(PassageVector { id: chunk, vector })
        });
        passage.clone()
    }
}
