//! Updates of the in-memory snapshot after a commit.

use hippo_rank::corpus;
use hippo_store::db::{DocumentChange, DocumentRecord, LoadedDocument, NewChunk};
use hippo_text::chunk::{Chunk, Document, Section};
use hippo_types::time::Date;

use crate::verify::{ChunkSpan, FileMark};
use crate::view::{DocumentFacts, Picture};

/// Replaces a document in the snapshot by its current version.
pub fn replace(
    picture: &mut Picture,
    record: &DocumentRecord,
    document: &Document,
    change: &DocumentChange,
    generation: u64,
) {
    for id in &change.removed {
        forget(picture, *id);
    }
    place_document(
        picture,
        change.document,
        record,
        &document.sections,
        &document.chunks,
        &change.chunks,
    );
    if let Some(facts) = picture.facts.get_mut(&change.document) {
        facts.generation = generation;
    }
    picture.generation = generation;
}

/// Adds a document loaded from the database to an empty snapshot.
pub fn load(picture: &mut Picture, document: &LoadedDocument) {
    let LoadedDocument {
        id,
        record,
        sections,
        chunks,
        rows,
        title: _,
    } = document;
    place_document(picture, *id, record, sections, chunks, rows);
}

/// Removes a document.
pub fn remove(picture: &mut Picture, change: &DocumentChange, generation: u64) {
    for id in &change.removed {
        forget(picture, *id);
    }
    picture.corpus.remove_document(change.document);
    picture.facts.remove(&change.document);
    picture.generation = generation;
}

/// Changes the path of a document.
pub fn rename(picture: &mut Picture, document: u32, record: &DocumentRecord, generation: u64) {
    picture.corpus.set_path(document, &record.path, date(record));
    if let Some(facts) = picture.facts.get_mut(&document) {
        facts.mark = mark(record);
    }
    picture.generation = generation;
}

/// Adds vectors of chunks. A vector that cannot be indexed (not finite) is skipped; lexical search still finds the
/// chunk.
pub fn insert_vectors(picture: &mut Picture, vectors: &[(u32, Vec<f32>)]) {
    for (id, vector) in vectors {
        if let Err(error) = picture.vectors.insert(*id, vector) {
            tracing::warn!(chunk = id, %error, "could not index a vector");
        }
    }
}

fn place_document(
    picture: &mut Picture,
    document: u32,
    record: &DocumentRecord,
    sections: &[Section],
    chunks: &[Chunk],
    rows: &[NewChunk],
) {
    let places: Vec<corpus::CorpusSection> = sections
        .iter()
        .map(|section| corpus::CorpusSection {
            parent: section.parent,
            date: section.date,
        })
        .collect();
    let chunk_places: Vec<corpus::CorpusChunk> = chunks
        .iter()
        .zip(rows)
        .map(|(chunk, row)| corpus::CorpusChunk {
            id: row.id,
            section: chunk.section,
            terms: row.terms,
            speaker: chunk.speaker,
            hash: chunk.hash,
        })
        .collect();
    picture
        .corpus
        .set_document(document, &record.path, date(record), &places, &chunk_places);
    picture.facts.insert(
        document,
        DocumentFacts {
            mark: mark(record),
            sections: sections.into(),
            generation: 0,
        },
    );
    for (chunk, row) in chunks.iter().zip(rows) {
        let slot = row.id as usize;
        if picture.spans.len() <= slot {
            picture.spans.resize(slot + 1, None);
            picture.tokens.resize(slot + 1, 0);
        }
        picture.spans[slot] = Some(ChunkSpan {
            start_line: chunk.start_line,
            end_line: chunk.end_line,
            start_byte: chunk.start_byte,
            end_byte: chunk.end_byte,
            hash: chunk.hash,
        });
        picture.tokens[slot] = row.tokens.unwrap_or(0);
    }
}

fn forget(picture: &mut Picture, id: u32) {
    picture.vectors.remove(id);
    if let Some(span) = picture.spans.get_mut(id as usize) {
        *span = None;
    }
    if let Some(tokens) = picture.tokens.get_mut(id as usize) {
        *tokens = 0;
    }
}

fn mark(record: &DocumentRecord) -> FileMark {
    FileMark {
        size: record.size,
        mtime_ns: record.mtime_ns,
    }
}

fn date(record: &DocumentRecord) -> Option<Date> {
    record.date.as_deref().and_then(|date| date.parse().ok())
}
