//! Where does each chunk stand: the in-memory picture of a workspace that ranking needs.

use crate::chunk::{ContentHash, Speaker};
use crate::time::Date;

/// A section for [`Corpus::set_document`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewSection {
    /// Position of the section above it, which is smaller than its own.
    pub parent: Option<u32>,
    /// Date in its own heading.
    pub date: Option<Date>,
}

/// A chunk for [`Corpus::set_document`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewChunk {
    /// Its id: dense, not used by another living chunk.
    pub id: u32,
    /// Position of its section.
    pub section: u32,
    /// Number of index terms.
    pub terms: u32,
    /// Who speaks.
    pub speaker: Speaker,
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
}

/// A section as ranking sees it: a run of chunks of one document. Neighbours are looked for in the *passage* of a
/// chunk: the section at depth 2 (a session, an entry of a day) with all its subsections, or what stands above it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SectionPlace {
    /// Position of the section that is its passage; its own position for a section of depth 1 or 2.
    pub passage: u32,
    /// Ordinal of the passage's first chunk. This and the next two are kept at the passage alone.
    pub first: u32,
    /// Ordinal after the passage's last chunk; equal to `first` where it has none.
    pub end: u32,
    /// Number of terms in the passage, those of an assistant not counted.
    pub terms: u32,
    /// Date of the section itself, as from a heading such as `# 2024-04-25`, or of the nearest dated section above.
    pub date: Option<Date>,
}

/// One document of the corpus.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentPlace {
    /// Path relative to the workspace.
    pub path: Box<str>,
    /// Date of the document.
    pub date: Option<Date>,
    terms: u64,
    chunks: Box<[u32]>,
    sections: Box<[SectionPlace]>,
}

impl DocumentPlace {
    /// Ids of its chunks, in order.
    pub fn chunks(&self) -> &[u32] {
        &self.chunks
    }

    /// Its sections, in order; at least one.
    pub fn sections(&self) -> &[SectionPlace] {
        &self.sections
    }
}

/// All documents of a workspace and the place of every chunk.
#[derive(Debug, Clone, Default)]
pub struct Corpus {
    documents: Vec<Option<DocumentPlace>>,
    places: Vec<Option<Place>>,
    chunks: u32,
    terms: u64,
    passages: u64,
    passage_terms: u64,
}

impl Corpus {
    /// An empty corpus.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds document `id`, or puts it in the place of what `id` was. Chunks are given in order; a chunk whose section
    /// does not exist counts to the last one.
    pub fn set_document(
        &mut self,
        id: u32,
        path: &str,
        date: Option<Date>,
        sections: &[NewSection],
        chunks: &[NewChunk],
    ) {
        self.remove_document(id);
        let mut sections = place_sections(sections);
        let mut terms = 0;
        for (ordinal, chunk) in (0u32..).zip(chunks) {
            let number = (chunk.section as usize).min(sections.len() - 1);
            let passage = sections[number].passage as usize;
            let passage = &mut sections[passage];
            if passage.first == passage.end {
                passage.first = ordinal;
            }
            passage.end = ordinal + 1;
            if chunk.speaker != Speaker::Assistant {
                passage.terms = passage.terms.saturating_add(chunk.terms);
            }
            terms += u64::from(chunk.terms);
            let [a, b, c, d, ..] = chunk.hash.0;
            let slot = slot(&mut self.places, chunk.id);
            self.chunks += u32::from(slot.is_none());
            *slot = Some(Place {
                document: id,
                ordinal,
                section: number as u32,
                mark: u32::from_le_bytes([a, b, c, d]),
                terms: u16::try_from(chunk.terms).unwrap_or(u16::MAX),
                speaker: chunk.speaker,
            });
        }
        self.terms += terms;
        let (passages, passage_terms) = count_passages(&sections);
        self.passages += passages;
        self.passage_terms += passage_terms;
        let chunks = chunks.iter().map(|chunk| chunk.id).collect();
        let document = DocumentPlace {
            path: path.into(),
            date,
            terms,
            chunks,
            sections: sections.into(),
        };
        *slot(&mut self.documents, id) = Some(document);
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
        let (passages, passage_terms) = count_passages(&document.sections);
        self.passages -= passages;
        self.passage_terms -= passage_terms;
        true
    }

    /// Gives a document another path, as after a rename; its date comes with the path.
    pub fn set_path(&mut self, id: u32, path: &str, date: Option<Date>) {
        if let Some(Some(document)) = self.documents.get_mut(id as usize) {
            document.path = path.into();
            document.date = date;
        }
    }

    /// Changes the date of a document.
    pub fn set_date(&mut self, id: u32, date: Option<Date>) {
        if let Some(Some(document)) = self.documents.get_mut(id as usize) {
            document.date = date;
        }
    }

    /// A document by its id.
    pub fn document(&self, id: u32) -> Option<&DocumentPlace> {
        self.documents.get(id as usize)?.as_ref()
    }

    /// All documents with their ids, by rising id.
    pub fn documents(&self) -> impl Iterator<Item = (u32, &DocumentPlace)> + Clone {
        (0u32..)
            .zip(&self.documents)
            .filter_map(|(id, document)| Some((id, document.as_ref()?)))
    }

    /// The place of a chunk; `None` for an id that no living chunk has.
    pub fn place(&self, chunk: u32) -> Option<&Place> {
        self.places.get(chunk as usize)?.as_ref()
    }

    /// The section that is the passage of a chunk.
    pub fn passage(&self, place: &Place) -> Option<&SectionPlace> {
        let sections = &self.document(place.document)?.sections;
        sections.get(sections.get(place.section as usize)?.passage as usize)
    }

    /// Ids of the chunks at most `reach` away from a chunk in its passage, itself included, in order.
    pub fn window(&self, place: &Place, reach: u32) -> &[u32] {
        let (Some(document), Some(passage)) = (self.document(place.document), self.passage(place)) else {
            return &[];
        };
        let from = place.ordinal.saturating_sub(reach).max(passage.first);
        let to = place
            .ordinal
            .saturating_add(reach)
            .saturating_add(1)
            .min(passage.end);
        document.chunks.get(from as usize..to as usize).unwrap_or(&[])
    }

    /// The date that holds for a chunk: of its section or the nearest dated section above, else of its document.
    pub fn date(&self, place: &Place) -> Option<Date> {
        let document = self.document(place.document)?;
        document
            .sections
            .get(place.section as usize)
            .and_then(|section| section.date)
            .or(document.date)
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

    /// Mean number of terms of a passage, those of an assistant not counted; at least 1.
    pub fn mean_passage_terms(&self) -> f32 {
        (self.passage_terms as f32 / self.passages.max(1) as f32).max(1.0)
    }
}

/// At least one section; dates and passages handed down from parent to child.
fn place_sections(sections: &[NewSection]) -> Vec<SectionPlace> {
    let mut placed: Vec<SectionPlace> = Vec::with_capacity(sections.len().max(1));
    for (number, section) in (0u32..).zip(sections) {
        let parent = section.parent.filter(|parent| *parent < number);
        let above = parent.map(|parent| placed[parent as usize]);
        let date = section.date.or(above.and_then(|above| above.date));
        let deep = parent.is_some_and(|parent| sections[parent as usize].parent.is_some());
        let passage = above.filter(|_| deep).map_or(number, |above| above.passage);
        placed.push(SectionPlace {
            date,
            passage,
            ..SectionPlace::default()
        });
    }
    if placed.is_empty() {
        placed.push(SectionPlace::default());
    }
    placed
}

/// How many passages have chunks, and how many terms they hold.
fn count_passages(sections: &[SectionPlace]) -> (u64, u64) {
    let filled = sections.iter().filter(|section| section.first < section.end);
    filled.fold((0, 0), |(count, terms), passage| {
        (count + 1, terms + u64::from(passage.terms))
    })
}

fn slot<T>(slots: &mut Vec<Option<T>>, id: u32) -> &mut Option<T> {
    let index = id as usize;
    if slots.len() <= index {
        slots.resize_with(index + 1, || None);
    }
    &mut slots[index]
}

#[cfg(test)]
mod tests;
