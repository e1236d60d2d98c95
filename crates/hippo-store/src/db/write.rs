//! Writing of changed documents: one transaction, only the differences.

use std::collections::{HashMap, VecDeque};

use rusqlite::{OptionalExtension, Transaction, TransactionBehavior, params};

use hippo_text::chunk::{Chunk, Document};

use super::{IdPool, Store, fresh, number, schema, seal::Seal};
use crate::StoreError;

/// A document's path, metadata and hash as of indexing.
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
}

/// The row of a chunk after a change.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NewChunk {
    /// Its id.
    pub id: u32,
    /// Number of its terms in the lexical index.
    pub terms: u32,
    /// The row of its vector, if its text was embedded before.
    pub vector: Option<i64>,
    /// Number of word pieces, as counted by the embedding model.
    pub tokens: Option<u32>,
}

/// The effect of a change on the chunks of a document.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DocumentChange {
    /// The document's row.
    pub document: u32,
    /// All chunks of the document in order, kept and new.
    pub chunks: Vec<NewChunk>,
    /// Ids added to the indexes.
    pub added: Vec<u32>,
    /// Ids removed from the indexes. An id may also be in `added`, because ids are reused.
    pub removed: Vec<u32>,
}

/// One transaction of changes. Dropping it without [`DocumentBatch::commit`] rolls it back.
pub struct DocumentBatch<'store> {
    transaction: Transaction<'store>,
    ids: IdPool,
    pool: &'store mut IdPool,
    seal: &'store mut Seal,
    path: &'store std::path::Path,
}

impl Store {
    /// Begins a transaction of changes.
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
    /// Writes the current state of a document. Chunks with the same text and leading heading keep their id, lexical row
    /// and vector. `terms` writes the space-separated index terms of a new chunk and returns their number. Its second
    /// argument is the heading of the chunk's section if the chunk is the first one in that section, otherwise an empty
    /// string.
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

    /// Removes a document and its chunks. Its vectors are kept for some time, in case the text returns.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn remove_document(&mut self, path: &str) -> Result<Option<DocumentChange>, StoreError> {
        let done = self.remove(path);
        done.map_err(|source| StoreError::from_sql(self.path, source))
    }

    /// Updates the size and time of a file with unchanged bytes, so that the next scan does not read the file.
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

    /// Increments the generation of the documents.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn next_generation(&mut self) -> Result<u64, StoreError> {
        schema::Counter::Vectors
            .advance(&self.transaction)
            .and_then(|_| schema::Counter::Documents.advance(&self.transaction))
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
        let row = self.upsert_row(record, document)?;
        fresh::mark(&self.transaction, &record.path)?;
        let mut old = self.old_chunks(row)?;
        let mut change = DocumentChange {
            document: row,
            ..DocumentChange::default()
        };
        self.write_sections(row, document)?;

        let mut text = String::new();
        let mut fresh = Vec::new();
        for (ordinal, chunk) in document.chunks.iter().enumerate() {
            let lead = lead(document, ordinal);
            let known = old
                .get_mut(&(chunk.hash.0, lead.to_owned()))
                .and_then(VecDeque::pop_front);
            if let Some(kept) = known {
                self.move_chunk(kept.id, ordinal, chunk)?;
                change.chunks.push(kept);
            } else {
                fresh.push((ordinal, change.chunks.len()));
                change.chunks.push(NewChunk::default());
            }
        }
        for gone in old.into_values().flatten() {
            self.drop_chunk(gone.id)?;
            change.removed.push(gone.id);
        }
        for (ordinal, slot) in fresh {
            let chunk = &document.chunks[ordinal];
            text.clear();
            let count = terms(chunk, lead(document, ordinal), &mut text);
            let added = self.add_chunk(row, ordinal, chunk, &text, count)?;
            change.added.push(added.id);
            change.chunks[slot] = added;
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
        for gone in self.old_chunks(document)?.into_values().flatten() {
            self.drop_chunk(gone.id)?;
            change.removed.push(gone.id);
        }
        self.transaction
            .prepare_cached("DELETE FROM sections WHERE document = ?1")?
            .execute([document])?;
        self.transaction
            .prepare_cached("DELETE FROM documents WHERE id = ?1")?
            .execute([document])?;
        fresh::unmark(&self.transaction, path)?;
        Ok(Some(change))
    }

    fn upsert_row(&self, record: &DocumentRecord, document: &Document) -> rusqlite::Result<u32> {
        let (path, size, mtime) = (&record.path, record.size.cast_signed(), record.mtime_ns);
        let values = params![path, size, mtime, record.hash, record.date, document.title];
        self.transaction
            .prepare_cached(
                "INSERT INTO documents (path, size, mtime_ns, hash, date, title)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)
                 ON CONFLICT (path) DO UPDATE SET
                     size = ?2, mtime_ns = ?3, hash = ?4, date = ?5, title = ?6
                 RETURNING id",
            )?
            .query_row(values, |row| row.get(0))
    }

    fn write_sections(&self, document: u32, content: &Document) -> rusqlite::Result<()> {
        self.transaction
            .prepare_cached("DELETE FROM sections WHERE document = ?1")?
            .execute([document])?;
        let mut insert = self
            .transaction
            .prepare_cached("INSERT INTO sections VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)")?;
        for (ordinal, section) in content.sections.iter().enumerate() {
            insert.execute(params![
                document,
                number(ordinal),
                section.level,
                section.parent,
                section.title,
                section.start_line,
                section.end_line,
                section.date.map(|date| date.to_string())
            ])?;
        }
        Ok(())
    }

    /// Returns the stored chunks of a document, by the hash of their text and their leading heading.
    fn old_chunks(&self, document: u32) -> rusqlite::Result<OldChunks> {
        let mut statement = self.transaction.prepare_cached(
            "SELECT chunks.id, chunks.hash, chunks.terms, chunks.vector, chunks.section, sections.title, chunks.tokens
             FROM chunks LEFT JOIN sections
                 ON sections.document = chunks.document AND sections.ordinal = chunks.section
             WHERE chunks.document = ?1 ORDER BY chunks.ordinal",
        )?;
        let mut rows = statement.query([document])?;
        let mut old = OldChunks::new();
        let mut last_section = None;
        while let Some(row) = rows.next()? {
            let section: u32 = row.get(4)?;
            let opens = last_section != Some(section);
            last_section = Some(section);
            let lead: String = if opens {
                row.get::<_, Option<String>>(5)?.unwrap_or_default()
            } else {
                String::new()
            };
            let chunk = NewChunk {
                id: row.get(0)?,
                terms: row.get(2)?,
                vector: row.get(3)?,
                tokens: row.get(6)?,
            };
            old.entry((row.get(1)?, lead)).or_default().push_back(chunk);
        }
        Ok(old)
    }

    fn move_chunk(&self, id: u32, ordinal: usize, chunk: &Chunk) -> rusqlite::Result<()> {
        self.transaction
            .prepare_cached(
                "UPDATE chunks SET ordinal = ?2, section = ?3, kind = ?4, speaker = ?5, start_line = ?6,
                     end_line = ?7, start_byte = ?8, end_byte = ?9
                 WHERE id = ?1 AND (ordinal, section, kind, speaker, start_line, end_line, start_byte, end_byte)
                     IS NOT (?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            )?
            .execute(params![
                id,
                number(ordinal),
                chunk.section,
                chunk.kind.code(),
                chunk.speaker.code(),
                chunk.start_line,
                chunk.end_line,
                chunk.start_byte.cast_signed(),
                chunk.end_byte.cast_signed()
            ])
            .map(|_| ())
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
            .prepare_cached(
                "INSERT INTO chunks VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
            )?
            .execute(params![
                id,
                document,
                number(ordinal),
                chunk.section,
                chunk.kind.code(),
                chunk.speaker.code(),
                chunk.start_line,
                chunk.end_line,
                chunk.start_byte.cast_signed(),
                chunk.end_byte.cast_signed(),
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

/// Returns the leading heading of a chunk: the title of its section if the chunk is the first one in that section.
pub(super) fn lead(document: &Document, ordinal: usize) -> &str {
    let chunk = &document.chunks[ordinal];
    let opens = ordinal == 0 || document.chunks[ordinal - 1].section != chunk.section;
    let section = usize::try_from(chunk.section).unwrap_or(usize::MAX);
    match document.sections.get(section) {
        Some(section) if opens => &section.title,
        _ => "",
    }
}
