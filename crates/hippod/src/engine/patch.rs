//! Updates of the search snapshot in memory after a commit.

use hippo_rank::corpus;
use hippo_store::db::{DocumentChange, DocumentRecord, LoadedDocument, NewChunk};
use hippo_text::chunk::{Chunk, Document, Section};
use hippo_text::scope::ScopeRules;
use hippo_types::scope::{Scope, ScopeRestriction};
use hippo_types::time::Date;

use crate::verify::{ChunkSpan, FileMark};
use crate::view::{DocumentFacts, SearchSnapshot};

/// Replaces a document in the snapshot with its current version.
pub fn replace(
    snapshot: &mut SearchSnapshot,
    record: &DocumentRecord,
    document: &Document,
    change: &DocumentChange,
    (scope, generation): (Scope, u64),
) {
    for id in &change.removed {
        forget(snapshot, *id);
    }
    set_scope(snapshot, change.document, scope);
    place_document(
        snapshot,
        change.document,
        record,
        &document.sections,
        &document.chunks,
        &change.chunks,
    );
    if let Some(facts) = snapshot.facts.get_mut(&change.document) {
        facts.generation = generation;
    }
    snapshot.generation = generation;
}

/// Adds a document from the database to the snapshot of a workspace that is being opened.
pub fn load(snapshot: &mut SearchSnapshot, document: &LoadedDocument, scopes: &ScopeRules) {
    let LoadedDocument {
        id,
        record,
        sections,
        chunks,
        rows,
        title: _,
        is_outdated: _,
        restriction,
    } = document;
    set_scope(snapshot, *id, scope_of(scopes, record, restriction.clone()));
    place_document(snapshot, *id, record, sections, chunks, rows);
}

/// Returns the scope of a document: the scope of its path and of the file to which it links, with the restriction in its
/// front matter.
pub fn scope_of(scopes: &ScopeRules, record: &DocumentRecord, restriction: ScopeRestriction) -> Scope {
    let target = record.target.as_deref().map(|target| scopes.of_path(target));
    restriction.apply(scopes.of_path(&record.path).meet(target.unwrap_or_default()))
}

fn set_scope(snapshot: &mut SearchSnapshot, document: u32, scope: Scope) {
    if scope.is_shared() {
        snapshot.scopes.remove(&document);
    } else {
        snapshot.scopes.insert(document, scope);
    }
}

/// Removes a document from the snapshot.
pub fn remove(snapshot: &mut SearchSnapshot, change: &DocumentChange, generation: u64) {
    for id in &change.removed {
        forget(snapshot, *id);
    }
    snapshot.corpus.remove_document(change.document);
    snapshot.facts.remove(&change.document);
    snapshot.scopes.remove(&change.document);
    snapshot.generation = generation;
}

/// Adds the vectors of chunks to the snapshot. A vector with a value that is not finite is skipped. Search by keyword
/// still finds its chunk.
pub fn insert_vectors(snapshot: &mut SearchSnapshot, vectors: &[(u32, Vec<f32>)]) {
    for (id, vector) in vectors {
        if let Err(error) = snapshot.vectors.insert(*id, vector) {
            tracing::warn!(chunk = id, %error, "could not index a vector");
        }
    }
}

fn place_document(
    snapshot: &mut SearchSnapshot,
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
    snapshot
        .corpus
        .set_document(document, &record.path, date(record), &places, &chunk_places);
    snapshot.facts.insert(
        document,
        DocumentFacts {
            mark: mark(record),
            target: record.target.as_deref().map(Into::into),
            sections: sections.into(),
            generation: 0,
        },
    );
    for (chunk, row) in chunks.iter().zip(rows) {
        let slot = row.id as usize;
        if snapshot.spans.len() <= slot {
            snapshot.spans.resize(slot + 1, None);
            snapshot.tokens.resize(slot + 1, 0);
        }
        snapshot.spans[slot] = Some(ChunkSpan {
            start_line: chunk.start_line,
            end_line: chunk.end_line,
            start_byte: chunk.start_byte,
            end_byte: chunk.end_byte,
            hash: chunk.hash,
        });
        snapshot.tokens[slot] = row.tokens.unwrap_or(0);
    }
}

fn forget(snapshot: &mut SearchSnapshot, id: u32) {
    snapshot.vectors.remove(id);
    if let Some(span) = snapshot.spans.get_mut(id as usize) {
        *span = None;
    }
    if let Some(tokens) = snapshot.tokens.get_mut(id as usize) {
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
