//! In-memory snapshot of a workspace for ranking.

use hippo_text::chunk::{ContentHash, Speaker};
use hippo_types::time::Date;

/// Section passed to [`Corpus::set_document`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CorpusSection {
    /// Index of the parent section; smaller than the section's own index.
    pub parent: Option<u32>,
    /// Date in the section's own heading.
    pub date: Option<Date>,
}

/// Chunk passed to [`Corpus::set_document`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CorpusChunk {
    /// Id that no other chunk of the corpus has. Ids should be small, because arrays are indexed by them.
    pub id: u32,
    /// Index of the chunk's section in the list of sections.
    pub section: u32,
    /// Number of index terms of the chunk.
    pub terms: u32,
    /// Speaker of the chunk.
    pub speaker: Speaker,
    /// Hash of the chunk's bytes.
    pub hash: ContentHash,
}

/// Position and ranking data of a chunk. It takes 20 bytes, plus 4 bytes in the document's list of chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChunkPlace {
    /// Id of the document.
    pub document: u32,
    /// Index of the chunk among the document's chunks.
    pub ordinal: u32,
    /// Index of the chunk's section among the document's sections.
    pub section: u32,
    /// First four bytes of the content hash. Chunks with equal texts have equal marks. Chunks with different texts
    /// almost always have different marks.
    pub mark: u32,
    /// Number of index terms, at most 65,535.
    pub terms: u16,
    /// Speaker of the chunk.
    pub speaker: Speaker,
}

/// A section: a run of chunks of one document.
///
/// The neighbours of a chunk are the other chunks in its *passage*. The passage is the section at depth 2 (for
/// example, a session or an entry in a daily log) that contains the chunk, with all subsections. If there is no such
/// section, it is the section at depth 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SectionPlace {
    /// Index of the section's passage. A section at depth 1 or 2 is its own passage, so this is its own index.
    pub passage: u32,
    /// Ordinal of the passage's first chunk. This and the fields `end` and `terms` are only set if the section is
    /// itself a passage.
    pub first: u32,
    /// Ordinal of the passage's last chunk plus one; equal to `first` if the passage is empty.
    pub end: u32,
    /// Number of terms in the passage, excluding chunks spoken by an assistant.
    pub terms: u32,
    /// Date of the section, for example from the heading `# 2024-04-25`. A section without a date has the date of its
    /// nearest ancestor with one.
    pub date: Option<Date>,
}

/// A document of the corpus.
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
    /// Returns the ids of the document's chunks, in order.
    pub fn chunks(&self) -> &[u32] {
        &self.chunks
    }

    /// Returns the document's sections, in order. There is always at least one.
    pub fn sections(&self) -> &[SectionPlace] {
        &self.sections
    }
}

/// All documents of a workspace, and the position of each chunk.
#[derive(Debug, Clone, Default)]
pub struct Corpus {
    documents: Vec<Option<DocumentPlace>>,
    places: Vec<Option<ChunkPlace>>,
    chunks: u32,
    terms: u64,
    passages: u64,
    passage_terms: u64,
}

impl Corpus {
    /// Creates an empty corpus.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds or replaces document `id`. `chunks` must be in the order of the text. A chunk with an unknown section is
    /// assigned to the last section.
    pub fn set_document(
        &mut self,
        id: u32,
        path: &str,
        date: Option<Date>,
        sections: &[CorpusSection],
        chunks: &[CorpusChunk],
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
            let slot = entry_at(&mut self.places, chunk.id);
            self.chunks += u32::from(slot.is_none());
            *slot = Some(ChunkPlace {
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
        *entry_at(&mut self.documents, id) = Some(document);
    }

    /// Removes a document and its chunks. Returns `true` if it existed.
    pub fn remove_document(&mut self, id: u32) -> bool {
        let Some(document) = self.documents.get_mut(id as usize).and_then(Option::take) else {
            return false;
        };
        for chunk in &document.chunks {
            let place = &mut self.places[*chunk as usize];
            // Another document may have reused the id for one of its chunks.
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

    /// Sets the date of a document.
    pub fn set_date(&mut self, id: u32, date: Option<Date>) {
        if let Some(Some(document)) = self.documents.get_mut(id as usize) {
            document.date = date;
        }
    }

    /// Returns a document by its id.
    pub fn document(&self, id: u32) -> Option<&DocumentPlace> {
        self.documents.get(id as usize)?.as_ref()
    }

    /// Returns all documents with their ids, in ascending order of the ids.
    pub fn documents(&self) -> impl Iterator<Item = (u32, &DocumentPlace)> + Clone {
        (0u32..)
            .zip(&self.documents)
            .filter_map(|(id, document)| Some((id, document.as_ref()?)))
    }

    /// Returns the position of a chunk; `None` for an unused id.
    pub fn place(&self, chunk: u32) -> Option<&ChunkPlace> {
        self.places.get(chunk as usize)?.as_ref()
    }

    /// Returns the passage of a chunk.
    pub fn passage(&self, place: &ChunkPlace) -> Option<&SectionPlace> {
        let sections = &self.document(place.document)?.sections;
        sections.get(sections.get(place.section as usize)?.passage as usize)
    }

    /// Returns the ids of a chunk and of the chunks of the same passage that are at most `reach` positions away from
    /// it, in order.
    pub fn window(&self, place: &ChunkPlace, reach: u32) -> &[u32] {
        let (Some(document), Some(passage)) = (self.document(place.document), self.passage(place)) else {
            return &[];
        };
        let from = place.ordinal.saturating_sub(reach).max(passage.first);
        let to = place.ordinal.saturating_add(reach + 1).min(passage.end);
        document.chunks.get(from as usize..to as usize).unwrap_or(&[])
    }

    /// Returns the date of a chunk: the date of its section or of the nearest ancestor with a date, otherwise the
    /// date of the document.
    pub fn date(&self, place: &ChunkPlace) -> Option<Date> {
        let document = self.document(place.document)?;
        let section = document.sections.get(place.section as usize);
        section.and_then(|section| section.date).or(document.date)
    }

    /// Returns the largest chunk id ever used plus one: the length of an array indexed by chunk id.
    pub fn id_bound(&self) -> usize {
        self.places.len()
    }

    /// Returns the number of chunks.
    pub fn len(&self) -> usize {
        self.chunks as usize
    }

    /// Returns `true` if there are no chunks.
    pub fn is_empty(&self) -> bool {
        self.chunks == 0
    }

    /// Returns the mean number of terms per chunk, at least 1.
    pub fn mean_terms(&self) -> f32 {
        (self.terms as f32 / self.chunks.max(1) as f32).max(1.0)
    }

    /// Returns the mean number of terms per passage, at least 1. Chunks spoken by an assistant are excluded.
    pub fn mean_passage_terms(&self) -> f32 {
        (self.passage_terms as f32 / self.passages.max(1) as f32).max(1.0)
    }
}

/// Computes the date and passage of each section from those of its parent. Returns at least one section.
fn place_sections(sections: &[CorpusSection]) -> Vec<SectionPlace> {
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

/// Returns the number of non-empty passages, and the total number of their terms.
fn count_passages(sections: &[SectionPlace]) -> (u64, u64) {
    let filled = sections.iter().filter(|section| section.first < section.end);
    filled.fold((0, 0), |(count, terms), passage| {
        (count + 1, terms + u64::from(passage.terms))
    })
}

fn entry_at<T>(slots: &mut Vec<Option<T>>, id: u32) -> &mut Option<T> {
    let index = id as usize;
    if slots.len() <= index {
        slots.resize_with(index + 1, || None);
    }
    &mut slots[index]
}

#[cfg(test)]
mod tests;
