//! What do the passages mean that the tree tells of: where is the vector of a line of a file?

use std::cell::RefCell;
use std::collections::HashMap;

use hippo_core::tree::root::Passage;
use hippo_fs::WorkspaceDir;

use crate::verify::FileMark;
use crate::view::WorkspaceView;

/// The passages of a workspace as they are indexed. One that is not, has no vector yet, or whose file has changed since, is like no
/// other.
pub struct Passages<'a> {
    view: &'a WorkspaceView,
    /// Documents by their paths, as of the beginning.
    documents: HashMap<String, u32>,
    /// Size and time of files as they are.
    marks: RefCell<HashMap<u32, Option<FileMark>>>,
    /// What was looked for: `ROOT.md` may be laid out twice.
    known: RefCell<HashMap<u32, Option<Passage>>>,
}

impl<'a> Passages<'a> {
    /// Those of a workspace.
    pub fn of(view: &'a WorkspaceView) -> Self {
        let picture = view.picture();
        let documents = picture.corpus.documents();
        let documents = documents.map(|(id, document)| (document.path.to_string(), id));
        Self {
            view,
            documents: documents.collect(),
            marks: RefCell::default(),
            known: RefCell::default(),
        }
    }

    /// The one in which a line of a file stands.
    pub fn find(&self, path: &str, line: u32) -> Option<Passage> {
        let id = *self.documents.get(path)?;
        let mark = *self.marks.borrow_mut().entry(id).or_insert_with(|| {
            let file = WorkspaceDir::open(&self.view.root).and_then(|dir| dir.stat(path));
            file.ok().flatten().map(FileMark::from)
        });
        let chunk = {
            let picture = self.view.picture();
            let document = picture.corpus.document(id)?;
            // Lines of a file that has changed since lie elsewhere.
            if mark != Some(picture.facts.get(&id)?.mark) {
                return None;
            }
            picture.chunk_at(document.chunks(), line)?
        };
        let mut known = self.known.borrow_mut();
        let passage = known.entry(chunk).or_insert_with(|| {
            // Without its vector a passage is told all the same.
            let read = self.view.with_reader(|reader| reader.vectors(&[chunk]));
            let vector = read.ok()?.pop()??;
            Some(Passage { id: chunk, vector })
        });
        passage.clone()
    }
}
