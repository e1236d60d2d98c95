//! Writing of changed documents.

use std::collections::{HashMap, VecDeque};

use rusqlite::{OptionalExtension, Row, Transaction, TransactionBehavior, params};

use hippo_text::chunk::{Chunk, Document};

use super::outline::DocumentOutline;
use super::{IdPool, Store, fresh, json, number, schema, seal::Seal};
use crate::StoreError;

/// A document's path, metadata and hash at the time of indexing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentRecord {
    /// Path relative to the workspace, with `/`.
    pub path: String,
    /// Size in bytes.
    pub size: u64,
    /// Time of the last modification, nanoseconds since the Unix epoch.
    pub mtime_ns: i64,
    /// BLAKE3 hash of the bytes, first 128 bits.
    pub hash: [u8; 16],
    /// The date of the document, ISO 8601.
    pub date: Option<String>,
    /// Path of the file to which the document is a link, if it is one.
    pub target: Option<String>,
}

/// The row of a chunk after a change.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NewChunk {
    /// Id of the chunk.
    pub id: u32,
    /// Number of the chunk's terms in the lexical index.
    pub terms: u32,
    /// The row of the chunk's vector, if its text was embedded before.
    pub vector: Option<i64>,
    /// Number of word pieces of the chunk, as counted by the embedding model.
    pub tokens: Option<u32>,
}

impl NewChunk {
    /// Reads the columns `id, terms, vector, tokens`, which must be the first columns of the row.
    pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            id: row.get(0)?,
            terms: row.get(1)?,
            vector: row.get(2)?,
            tokens: row.get(3)?,
        })
    }
}

/// The effect of a change on the chunks of a document.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DocumentChange {
    /// The document's row.
    pub document: u32,
    /// All chunks of the document in order, both kept and new ones.
    pub chunks: Vec<NewChunk>,
    /// Ids of the new chunks.
    pub added: Vec<u32>,
    /// Ids of the removed chunks. An id may also be in `added`, because ids are reused.
    pub removed: Vec<u32>,
}

/// One transaction of changes to documents. If it is dropped without [`DocumentBatch::commit`], it is rolled back.
pub struct DocumentBatch<'store> {
    transaction: Transaction<'store>,
    ids: IdPool,
    pool: &'store mut IdPool,
    seal: &'store mut Seal,
    path: &'store std::path::Path,
}

impl Store {
    /// Begins a transaction of changes to documents.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn begin(&mut self) -> Result<DocumentBatch<'_>, StoreError> {
        let path = self.path.as_path();
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(|source| StoreError::from_sql(path, source))?;
        self.seal.begin();
        Ok(DocumentBatch {
            transaction,
            ids: self.ids.clone(),
            pool: &mut self.ids,
            seal: &mut self.seal,
            path,
        })
    }
}

impl DocumentBatch<'_> {
    /// Writes the current state of a document. Chunks with the same text and leading lines keep their id, lexical row
    /// and vector.
    ///
    /// `terms` writes the space-separated index terms of a new chunk and returns their number. Its second argument
    /// contains the chunk's leading lines: the title of its section if the chunk is the first in that section, and the
    /// names of the document if the chunk is the first in the document.
    ///
    /// # Errors
    /// See [`StoreError`]. After an error, drop the batch.
    pub fn put_document(
        &mut self,
        record: &DocumentRecord,
        document: &Document,
        terms: &mut dyn FnMut(&Chunk, &str, &mut String) -> usize,
    ) -> Result<DocumentChange, StoreError> {
        let done = self.put(record, document, terms);
        done.map_err(|source| StoreError::from_sql(self.path, source))
    }

    /// Removes a document and its chunks. Its vectors are kept for some time, because the text may return.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn remove_document(&mut self, path: &str) -> Result<Option<DocumentChange>, StoreError> {
        let done = self.remove(path);
        done.map_err(|source| StoreError::from_sql(self.path, source))
    }

    /// Updates the size and time of a file whose bytes are unchanged, so that the next scan does not read the file.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn touch_document(&mut self, record: &DocumentRecord) -> Result<(), StoreError> {
        let (size, mtime) = (record.size.cast_signed(), record.mtime_ns);
        self.transaction
            .prepare_cached("UPDATE documents SET size = ?2, mtime_ns = ?3, date = ?4 WHERE path = ?1")
            .and_then(|mut statement| statement.execute(params![record.path, size, mtime, record.date]))
            .map(|_| ())
            .map_err(|source| StoreError::from_sql(self.path, source))
    }

    /// Increments the number of changes to the documents.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn next_generation(&mut self) -> Result<u64, StoreError> {
        schema::advance_generation(&self.transaction)
            .map_err(|source| StoreError::from_sql(self.path, source))
    }

    /// Commits the batch, which makes it visible to readers.
    ///
    /// # Errors
    /// See [`StoreError`]. After an error, nothing in the batch is stored.
    pub fn commit(self) -> Result<(), StoreError> {
        self.seal
            .commit(self.transaction)
            .map_err(|source| StoreError::from_sql(self.path, source))?;
        *self.pool = self.ids;
        Ok(())
    }

    fn put(
        &mut self,
        record: &DocumentRecord,
        document: &Document,
        terms: &mut dyn FnMut(&Chunk, &str, &mut String) -> usize,
    ) -> rusqlite::Result<DocumentChange> {
        let outline = DocumentOutline::of(record, document);
        let mut old = self.old_chunks(&record.path)?;
        fresh::mark_changed(&self.transaction, record)?;
        let row = self.upsert_row(record, &json(&outline)?)?;
        let mut change = DocumentChange {
            document: row,
            ..DocumentChange::default()
        };
        let mut text = String::new();
        let mut fresh = Vec::new();
        // First keep the known chunks and free the ids of removed chunks, so that new chunks can reuse these ids.
        for (ordinal, chunk) in document.chunks.iter().enumerate() {
            let known = old
                .get_mut(&(chunk.hash.0, outline.lead(ordinal)))
                .and_then(VecDeque::pop_front);
            if let Some(kept) = known {
                self.transaction
                    .prepare_cached("UPDATE chunks SET ordinal = ?2 WHERE id = ?1 AND ordinal <> ?2")?
                    .execute(params![kept.id, number(ordinal)])?;
                change.chunks.push(kept);
            } else {
                fresh.push(ordinal);
                change.chunks.push(NewChunk::default());
            }
        }
        for gone in old.into_values().flatten() {
            self.drop_chunk(gone.id)?;
            change.removed.push(gone.id);
        }
        for ordinal in fresh {
            let chunk = &document.chunks[ordinal];
            text.clear();
            let count = terms(chunk, &outline.lead(ordinal), &mut text);
            let added = self.add_chunk(row, ordinal, chunk, &text, count)?;
            change.added.push(added.id);
            change.chunks[ordinal] = added;
        }
        Ok(change)
    }

    fn remove(&mut self, path: &str) -> rusqlite::Result<Option<DocumentChange>> {
        let row: Option<u32> = self
            .transaction
            .prepare_cached("SELECT id FROM documents WHERE path = ?1")?
            .query_row([path], |row| row.get(0))
            .optional()?;
        let Some(document) = row else { return Ok(None) };
        let mut change = DocumentChange {
            document,
            ..DocumentChange::default()
        };
        for gone in self.old_chunks(path)?.into_values().flatten() {
            self.drop_chunk(gone.id)?;
            change.removed.push(gone.id);
        }
        self.transaction
            .prepare_cached("DELETE FROM documents WHERE id = ?1")?
            .execute([document])?;
        fresh::unmark(&self.transaction, path)?;
        Ok(Some(change))
    }

    fn upsert_row(&self, record: &DocumentRecord, outline: &str) -> rusqlite::Result<u32> {
        let (path, size, mtime) = (&record.path, record.size.cast_signed(), record.mtime_ns);
        self.transaction
            .prepare_cached(
                "INSERT INTO documents (path, size, mtime_ns, hash, date, outline)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)
                 ON CONFLICT (path) DO UPDATE SET
                     size = ?2, mtime_ns = ?3, hash = ?4, date = ?5, outline = ?6
                 RETURNING id",
            )?
            .query_row(
                params![path, size, mtime, record.hash, record.date, outline],
                |row| row.get(0),
            )
    }

    /// Returns the stored chunks of a document by the hash of their text and by their leading lines.
    fn old_chunks(&self, path: &str) -> rusqlite::Result<OldChunks> {
        let mut statement = self.transaction.prepare_cached(
            "SELECT chunks.id, terms, vector, tokens, ordinal, chunks.hash, outline
             FROM chunks JOIN documents ON documents.id = document WHERE path = ?1 ORDER BY ordinal",
        )?;
        let mut rows = statement.query([path])?;
        let mut old = OldChunks::new();
        let mut outline = None;
        while let Some(row) = rows.next()? {
            if outline.is_none() {
                outline = serde_json::from_str(row.get_ref(6)?.as_str()?).ok();
            }
            let outline: &DocumentOutline = outline.get_or_insert_default();
            let lead = outline.lead(usize::try_from(row.get::<_, i64>(4)?).unwrap_or(usize::MAX));
            let chunks = old.entry((row.get(5)?, lead)).or_default();
            chunks.push_back(NewChunk::read(row)?);
        }
        Ok(old)
    }

    fn drop_chunk(&mut self, id: u32) -> rusqlite::Result<()> {
        self.transaction
            .prepare_cached("DELETE FROM lexical WHERE rowid = ?1")?
            .execute([id])?;
        self.transaction
            .prepare_cached("DELETE FROM chunks WHERE id = ?1")?
            .execute([id])?;
        self.ids.release(id);
        Ok(())
    }

    fn add_chunk(
        &mut self,
        document: u32,
        ordinal: usize,
        chunk: &Chunk,
        terms: &str,
        count: usize,
    ) -> rusqlite::Result<NewChunk> {
        let id = self.ids.allocate();
        let known: Option<(i64, u32)> = self
            .transaction
            .prepare_cached(
                "SELECT vectors.id, vectors.tokens FROM vectors JOIN embedders ON embedders.id = vectors.embedder
                 WHERE vectors.hash = ?1 AND embedders.active",
            )?
            .query_row([chunk.hash.0], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        let (vector, tokens) = known.unzip();
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        self.transaction
            .prepare_cached("INSERT INTO chunks VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)")?
            .execute(params![
                id,
                document,
                number(ordinal),
                count,
                chunk.hash.0,
                vector,
                tokens
            ])?;
        self.transaction
            .prepare_cached("INSERT INTO lexical (rowid, terms) VALUES (?1, ?2)")?
            .execute(params![id, terms])?;
        Ok(NewChunk {
            id,
            terms: count,
            vector,
            tokens,
        })
    }
}

type OldChunks = HashMap<([u8; 16], String), VecDeque<NewChunk>>;
