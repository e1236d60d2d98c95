//! Where does each chunk stand: the in-memory picture of a workspace that ranking needs.

use crate::chunk::{ChunkKind, ContentHash, Section, Speaker};
use crate::time::Date;

/// A document as the corpus keeps it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentPlace {
    /// Path relative to the workspace.
    pub path: String,
    /// Date of the document.
    pub date: Option<Date>,
    /// Its sections, in order.
    pub sections: Vec<Section>,
}

/// A chunk for [`Corpus::replace_document`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChunkPlace {
    /// Its id: dense, not used by another living chunk.
    pub id: u32,
    /// Position of its section in the document.
    pub section: u32,
    /// Number of index terms.
    pub terms: u32,
    /// Who speaks.
    pub speaker: Speaker,
    /// What it is.
    pub kind: ChunkKind,
    /// Hash of its bytes.
    pub hash: ContentHash,
}

/// Where a chunk stands and what ranking knows of it: 20 bytes, and 4 more in its document's list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Document id.
    pub document: u32,
    /// Position among the document's chunks, from 0.
    pub ordinal: u32,
    /// Position among the document's sections, from 0.
    pub section: u32,
    /// First four bytes of the content hash: equal texts have equal marks, and different texts hardly ever.
    pub mark: u32,
    /// Number of index terms, at most 65,535.
    pub terms: u16,
    /// Who speaks.
    pub speaker: Speaker,
    /// What it is.
    pub kind: ChunkKind,
}

/// The chunks of a section, its subsections not included: ordinals `first..end`, and how many terms they hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Run {
    /// Ordinal of the first chunk.
    pub first: u32,
    /// Ordinal after the last chunk; equal to `first` where the section has none.
    pub end: u32,
    /// Number of terms in the chunks.
    pub terms: u32,
}

/// All documents of a workspace and the place of every chunk.
#[derive(Debug, Clone, Default)]
pub struct Corpus {
    documents: Vec<Option<Entry>>,
    places: Vec<Option<Place>>,
    chunks: u32,
    terms: u64,
}

#[derive(Debug, Clone)]
struct Entry {
    place: DocumentPlace,
    chunks: Box<[u32]>,
    runs: Box<[Run]>,
    terms: u64,
}

impl Corpus {
    /// An empty corpus.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds document `id`, or puts it in the place of what `id` was. Chunks are given in order; a chunk whose section
    /// does not exist counts to the last one.
    pub fn replace_document(&mut self, id: u32, place: DocumentPlace, chunks: Vec<ChunkPlace>) {
        self.remove_document(id);
        let mut runs = vec![Run::default(); place.sections.len().max(1)];
        let mut terms = 0;
        for (ordinal, chunk) in (0u32..).zip(&chunks) {
            let section = (chunk.section as usize).min(runs.len() - 1);
            let run = &mut runs[section];
            if run.first == run.end {
                run.first = ordinal;
            }
            run.end = ordinal + 1;
            run.terms = run.terms.saturating_add(chunk.terms);
            terms += u64::from(chunk.terms);
            let [a, b, c, d, ..] = chunk.hash.0;
            let slot = slot(&mut self.places, chunk.id);
            self.chunks += u32::from(slot.is_none());
            *slot = Some(Place {
                document: id,
                ordinal,
                section: section as u32,
                mark: u32::from_le_bytes([a, b, c, d]),
                terms: u16::try_from(chunk.terms).unwrap_or(u16::MAX),
                speaker: chunk.speaker,
                kind: chunk.kind,
            });
        }
        self.terms += terms;
        let chunks = chunks.iter().map(|chunk| chunk.id).collect();
        *slot(&mut self.documents, id) = Some(Entry {
            place,
            chunks,
            runs: runs.into_boxed_slice(),
            terms,
        });
    }

    /// Takes a document and its chunks out; answers whether it was there.
    pub fn remove_document(&mut self, id: u32) -> bool {
        let Some(document) = self.documents.get_mut(id as usize).and_then(Option::take) else {
            return false;
        };
        for chunk in &document.chunks {
            let place = &mut self.places[*chunk as usize];
            // An id that another document took over in the meantime is not this document's to clear.
            if place.is_some_and(|place| place.document == id) {
                *place = None;
                self.chunks -= 1;
            }
        }
        self.terms -= document.terms;
        true
    }

    /// Gives a document another path.
    pub fn rename_document(&mut self, id: u32, path: &str) {
        if let Some(document) = self.entry_mut(id) {
            path.clone_into(&mut document.place.path);
        }
    }

    /// Changes the date of a document.
    pub fn set_date(&mut self, id: u32, date: Option<Date>) {
        if let Some(document) = self.entry_mut(id) {
            document.place.date = date;
        }
    }

    /// A document by its id.
    pub fn document(&self, id: u32) -> Option<&DocumentPlace> {
        self.entry(id).map(|entry| &entry.place)
    }

    /// All documents with their ids, by rising id.
    pub fn documents(&self) -> impl Iterator<Item = (u32, &DocumentPlace)> {
        (0u32..)
            .zip(&self.documents)
            .filter_map(|(id, entry)| Some((id, &entry.as_ref()?.place)))
    }

    /// Ids of a document's chunks, in order; empty for a document that does not exist.
    pub fn chunks_of(&self, document: u32) -> &[u32] {
        self.entry(document).map_or(&[], |entry| &entry.chunks)
    }

    /// The place of a chunk; `None` for an id that no living chunk has.
    pub fn place(&self, chunk: u32) -> Option<&Place> {
        self.places.get(chunk as usize)?.as_ref()
    }

    /// The run of chunks of the section in which a chunk stands.
    pub fn run(&self, place: &Place) -> Run {
        self.entry(place.document)
            .and_then(|entry| entry.runs.get(place.section as usize))
            .copied()
            .unwrap_or_default()
    }

    /// Ids of the chunks of the section in which a chunk stands, in order.
    pub fn section_chunks(&self, place: &Place) -> &[u32] {
        let run = self.run(place);
        self.chunks_of(place.document)
            .get(run.first as usize..run.end as usize)
            .unwrap_or(&[])
    }

    /// Ids of the chunks at most `reach` away from a chunk in its section, itself included, in order.
    pub fn window(&self, place: &Place, reach: u32) -> &[u32] {
        let run = self.run(place);
        let from = place.ordinal.saturating_sub(reach).max(run.first);
        let to = place.ordinal.saturating_add(reach).saturating_add(1).min(run.end);
        self.chunks_of(place.document)
            .get(from as usize..to as usize)
            .unwrap_or(&[])
    }

    /// The date that holds for a chunk: of its section or the nearest dated section above it, else of its document.
    pub fn date(&self, place: &Place) -> Option<Date> {
        let document = self.document(place.document)?;
        let mut section = document.sections.get(place.section as usize);
        // A section stands after its parent, so that this ends; the bound guards against a damaged list.
        for _ in 0..8 {
            let Some(found) = section else { break };
            if found.date.is_some() {
                return found.date;
            }
            section = found
                .parent
                .and_then(|parent| document.sections.get(parent as usize));
        }
        document.date
    }

    /// One more than the largest chunk id ever seen: the length of an array by chunk id.
    pub fn id_bound(&self) -> usize {
        self.places.len()
    }

    /// Number of living chunks.
    pub fn len(&self) -> usize {
        self.chunks as usize
    }

    /// Whether there is no chunk.
    pub fn is_empty(&self) -> bool {
        self.chunks == 0
    }

    /// Mean number of terms of a chunk, at least 1.
    pub fn mean_terms(&self) -> f32 {
        (self.terms as f32 / self.chunks.max(1) as f32).max(1.0)
    }

    fn entry(&self, id: u32) -> Option<&Entry> {
        self.documents.get(id as usize)?.as_ref()
    }

    fn entry_mut(&mut self, id: u32) -> Option<&mut Entry> {
        self.documents.get_mut(id as usize)?.as_mut()
    }
}

fn slot<T>(slots: &mut Vec<Option<T>>, id: u32) -> &mut Option<T> {
    let index = id as usize;
    if slots.len() <= index {
        slots.resize_with(index + 1, || None);
    }
    &mut slots[index]
}
