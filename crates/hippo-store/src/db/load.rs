//! Loading of all documents at startup.

use hippo_text::chunk::{Chunk, ChunkKind, ContentHash, Section, Speaker};

use super::{DocumentRecord, NewChunk, Store};
use crate::StoreError;

/// The documents of a workspace, in the form that ranking keeps in memory.
#[derive(Debug, Default)]
pub struct LoadedDocuments {
    /// Documents, sorted by path.
    pub documents: Vec<LoadedDocument>,
    /// Generation of the documents.
    pub generation: u64,
}

/// One document with its sections and chunks.
#[derive(Debug)]
pub struct LoadedDocument {
    /// Its row.
    pub id: u32,
    /// The file metadata as of indexing.
    pub record: DocumentRecord,
    /// Its title.
    pub title: Option<String>,
    /// Its sections, in order.
    pub sections: Vec<Section>,
    /// Its chunks, in order.
    pub chunks: Vec<Chunk>,
    /// The rows of the chunks, in the same order.
    pub rows: Vec<NewChunk>,
}

impl Store {
    /// Reads all documents, sections and chunks, but not the vectors.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn load(&self) -> Result<LoadedDocuments, StoreError> {
        let generation = self.generation()?;
        let documents = self.sql(self.load_documents())?;
        Ok(LoadedDocuments {
            documents,
            generation,
        })
    }

    fn load_documents(&self) -> rusqlite::Result<Vec<LoadedDocument>> {
        let mut statement = self
            .connection
            .prepare("SELECT id, path, size, mtime_ns, hash, date, title FROM documents ORDER BY path")?;
        let mut documents: Vec<LoadedDocument> = statement
            .query_map([], |row| {
                Ok(LoadedDocument {
                    id: row.get(0)?,
                    record: DocumentRecord {
                        path: row.get(1)?,
                        size: row.get::<_, i64>(2)?.cast_unsigned(),
                        mtime_ns: row.get(3)?,
                        hash: row.get(4)?,
                        date: row.get(5)?,
                    },
                    title: row.get(6)?,
                    sections: Vec::new(),
                    chunks: Vec::new(),
                    rows: Vec::new(),
                })
            })?
            .collect::<rusqlite::Result<_>>()?;
        for document in &mut documents {
            document.sections = self.load_sections(document.id)?;
            self.load_chunks(document)?;
        }
        Ok(documents)
    }

    fn load_sections(&self, document: u32) -> rusqlite::Result<Vec<Section>> {
        self.connection
            .prepare_cached(
                "SELECT level, parent, title, start_line, end_line, date FROM sections
                 WHERE document = ?1 ORDER BY ordinal",
            )?
            .query_map([document], |row| {
                let date: Option<String> = row.get(5)?;
                Ok(Section {
                    level: row.get(0)?,
                    parent: row.get(1)?,
                    title: row.get(2)?,
                    start_line: row.get(3)?,
                    end_line: row.get(4)?,
                    date: date.and_then(|date| date.parse().ok()),
                })
            })?
            .collect()
    }

    fn load_chunks(&self, document: &mut LoadedDocument) -> rusqlite::Result<()> {
        let mut statement = self.connection.prepare_cached(
            "SELECT id, terms, vector, section, kind, speaker, start_line, end_line, start_byte, end_byte, hash,
                 tokens
             FROM chunks WHERE document = ?1 ORDER BY ordinal",
        )?;
        let mut rows = statement.query([document.id])?;
        while let Some(row) = rows.next()? {
            document.rows.push(NewChunk {
                id: row.get(0)?,
                terms: row.get(1)?,
                vector: row.get(2)?,
                tokens: row.get(11)?,
            });
            document.chunks.push(Chunk {
                section: row.get(3)?,
                kind: ChunkKind::from_code(row.get(4)?),
                speaker: Speaker::from_code(row.get(5)?),
                start_line: row.get(6)?,
                end_line: row.get(7)?,
                start_byte: row.get::<_, i64>(8)?.cast_unsigned(),
                end_byte: row.get::<_, i64>(9)?.cast_unsigned(),
                hash: ContentHash(row.get(10)?),
            });
        }
        Ok(())
    }
}
