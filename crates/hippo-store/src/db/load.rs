//! Loading of all documents at startup.

use hippo_text::chunk::{self, Chunk, Section};
use hippo_types::scope::ScopeRestriction;
use rusqlite::types::Type;
use serde::de::DeserializeOwned;

use super::outline::DocumentOutline;
use super::{DocumentRecord, NewChunk, Store};
use crate::StoreError;

/// A document with its sections and chunks, in the form that ranking keeps in memory.
#[derive(Debug)]
pub struct LoadedDocument {
    /// Row of the document.
    pub id: u32,
    /// The document's path, metadata and hash at the time of indexing.
    pub record: DocumentRecord,
    /// True if an earlier version of the daemon divided the document into chunks.
    pub is_outdated: bool,
    /// Restriction of the scope in the document's front matter.
    pub restriction: ScopeRestriction,
    /// Title of the document.
    pub title: Option<String>,
    /// Sections of the document, in order.
    pub sections: Vec<Section>,
    /// Chunks of the document, in order.
    pub chunks: Vec<Chunk>,
    /// The database rows of the chunks, in the same order.
    pub rows: Vec<NewChunk>,
}

impl Store {
    /// Reads all documents, sections and chunks, but not the vectors. The documents are sorted by path.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn load(&self) -> Result<Vec<LoadedDocument>, StoreError> {
        self.sql(self.load_documents())
    }

    fn load_documents(&self) -> rusqlite::Result<Vec<LoadedDocument>> {
        let mut statement = self
            .connection
            .prepare("SELECT id, path, size, mtime_ns, hash, date, outline FROM documents ORDER BY path")?;
        let mut rows = statement.query([])?;
        let mut documents = Vec::new();
        while let Some(row) = rows.next()? {
            let id = row.get(0)?;
            let outline: DocumentOutline = parse_json(row.get_ref(6)?.as_str()?)?;
            let (chunks, rows) = self.load_chunks(id, &outline)?;
            documents.push(LoadedDocument {
                id,
                record: DocumentRecord {
                    path: row.get(1)?,
                    size: row.get::<_, i64>(2)?.cast_unsigned(),
                    mtime_ns: row.get(3)?,
                    hash: row.get(4)?,
                    date: row.get(5)?,
                    target: outline.target.clone(),
                },
                restriction: outline.restriction.clone(),
                is_outdated: outline.version != chunk::VERSION,
                sections: outline.sections(),
                title: outline.title,
                chunks,
                rows,
            });
        }
        Ok(documents)
    }

    fn load_chunks(
        &self,
        document: u32,
        outline: &DocumentOutline,
    ) -> rusqlite::Result<(Vec<Chunk>, Vec<NewChunk>)> {
        let mut statement = self.connection.prepare_cached(
            "SELECT id, terms, vector, tokens, ordinal, hash FROM chunks WHERE document = ?1 ORDER BY ordinal",
        )?;
        let chunks = statement.query_map([document], |row| {
            let ordinal = usize::try_from(row.get::<_, i64>(4)?).unwrap_or(usize::MAX);
            let chunk = outline.chunk(ordinal, row.get(5)?);
            Ok(chunk.zip(Some(NewChunk::read(row)?)))
        })?;
        chunks.filter_map(Result::transpose).collect()
    }
}

fn parse_json<T: DeserializeOwned>(json: &str) -> rusqlite::Result<T> {
    serde_json::from_str(json)
        .map_err(|error| rusqlite::Error::FromSqlConversionFailure(6, Type::Text, error.into()))
}
