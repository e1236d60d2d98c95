//! Vectors, stored once per text and embedder.

use std::collections::HashSet;

use half::f16;
use rusqlite::{Connection, OptionalExtension, params};

use super::{Store, number, seal};
use crate::StoreError;

/// The row of an embedding model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmbedderRow {
    /// Row of the embedder.
    pub id: i64,
    /// The stable form of the embedder's model id.
    pub model: String,
    /// Number of components of a vector.
    pub dimension: usize,
    /// True if queries use the vectors of this embedder. At most one embedder is active.
    pub active: bool,
}

/// A chunk whose text has no vector yet from a given embedder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PendingChunk {
    /// Id of the chunk.
    pub id: u32,
    /// Row of the chunk's document.
    pub document: u32,
}

/// The vector of one text.
#[derive(Debug, Clone, PartialEq)]
pub struct Embedding {
    /// BLAKE3 hash of the text, first 128 bits.
    pub hash: [u8; 16],
    /// Number of word pieces of the text, as counted by the model.
    pub tokens: u32,
    /// The vector, of unit length.
    pub vector: Vec<f32>,
}

/// A stored vector and its text hash. [`Store::place_vector`] assigns the vector to the chunks with this hash.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredVector {
    /// Row of the vector.
    pub row: i64,
    /// The text hash and the components as stored.
    pub embedding: Embedding,
}

impl Store {
    /// Returns the embedder for a model, and creates it at the first call. The first embedder of a database is active
    /// immediately. A later embedder becomes active with [`Store::activate`], when all its vectors are stored.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn embedder(&mut self, model: &str, dimension: usize) -> Result<EmbedderRow, StoreError> {
        let made = self.connection.execute(
            "INSERT INTO embedders (model, dimension, active)
             VALUES (?1, ?2, NOT EXISTS (SELECT 1 FROM embedders)) ON CONFLICT (model) DO NOTHING",
            params![model, number(dimension)],
        );
        self.sql(made)?;
        let found = self.embedders()?.into_iter().find(|row| row.model == model);
        found.ok_or_else(|| StoreError::from_sql(&self.path, rusqlite::Error::QueryReturnedNoRows))
    }

    /// Returns all embedders of the database.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn embedders(&self) -> Result<Vec<EmbedderRow>, StoreError> {
        let read = || {
            self.connection
                .prepare_cached("SELECT id, model, dimension, active FROM embedders ORDER BY id")?
                .query_map([], |row| {
                    Ok(EmbedderRow {
                        id: row.get(0)?,
                        model: row.get(1)?,
                        dimension: usize::try_from(row.get::<_, i64>(2)?).unwrap_or(0),
                        active: row.get(3)?,
                    })
                })?
                .collect()
        };
        self.sql(read())
    }

    /// Stores vectors by the hash of their text. If the embedder is active, returns one stored vector for each text;
    /// otherwise returns an empty list. [`Store::place_vector`] assigns the vectors to chunks.
    ///
    /// # Errors
    /// See [`StoreError`]. After an error, nothing is stored.
    pub fn put_vectors(
        &mut self,
        embedder: &EmbedderRow,
        embeddings: Vec<Embedding>,
    ) -> Result<Vec<StoredVector>, StoreError> {
        self.in_transaction(|transaction| {
            let mut stored = Vec::new();
            let mut insert = transaction.prepare_cached(
                "INSERT INTO vectors (embedder, hash, tokens, vector, digest) VALUES (?1, ?2, ?3, ?4, ?5)
                 ON CONFLICT (hash, embedder) DO NOTHING RETURNING id",
            )?;
            let mut find =
                transaction.prepare_cached("SELECT id FROM vectors WHERE hash = ?1 AND embedder = ?2")?;
            let mut seen = HashSet::new();
            for mut embedding in embeddings {
                if !seen.insert(embedding.hash) {
                    continue;
                }
                for value in &mut embedding.vector {
                    *value = f16::from_f32(*value).to_f32();
                }
                let Embedding { hash, tokens, vector } = &embedding;
                let vector = encode(vector);
                let digest = seal::digest_of(embedder.id, hash, i64::from(*tokens), &vector);
                let inserted: Option<i64> = insert
                    .query_row(params![embedder.id, hash, tokens, vector, digest], |row| {
                        row.get(0)
                    })
                    .optional()?;
                let row = match inserted {
                    Some(row) => row,
                    None => find.query_row(params![hash, embedder.id], |row| row.get(0))?,
                };
                if embedder.active {
                    stored.push(StoredVector { row, embedding });
                }
            }
            Ok(stored)
        })
    }

    /// Assigns a vector to chunks that have its text but no vector. Considers only chunks with ids above `after`, in
    /// ascending order, and assigns the vector to at most `limit` of these. Returns the ids of the changed chunks. If
    /// the result has fewer than `limit` ids, no such chunks are left.
    ///
    /// # Errors
    /// See [`StoreError`]. After an error, nothing is stored.
    pub fn place_vector(
        &mut self,
        vector: &StoredVector,
        after: Option<u32>,
        limit: usize,
    ) -> Result<Vec<u32>, StoreError> {
        let (hash, tokens) = (vector.embedding.hash, vector.embedding.tokens);
        self.in_transaction(|transaction| {
            let placed: Vec<u32> = transaction
                .prepare_cached(
                    "SELECT id FROM chunks WHERE hash = ?1 AND id > ?2 AND vector IS NULL ORDER BY id LIMIT ?3",
                )?
                .query_map(params![hash, after.map_or(-1, i64::from), number(limit)], |row| {
                    row.get(0)
                })?
                .collect::<Result<_, _>>()?;
            let mut update =
                transaction.prepare_cached("UPDATE chunks SET vector = ?2, tokens = ?3 WHERE id = ?1")?;
            for id in &placed {
                update.execute(params![id, vector.row, tokens])?;
            }
            Ok(placed)
        })
    }

    /// Returns stored vectors of the active embedder that are not assigned to the chunks that need them. This happens
    /// if a process stops before it assigns a vector.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn unplaced_vectors(&self, embedder: &EmbedderRow) -> Result<Vec<StoredVector>, StoreError> {
        if !embedder.active {
            return Ok(Vec::new());
        }
        let read = || {
            self.connection
                .prepare_cached(
                    "SELECT vectors.id, vectors.hash, vectors.tokens, vectors.vector
                     FROM (SELECT DISTINCT hash FROM chunks WHERE vector IS NULL) AS waiting
                     JOIN vectors ON vectors.hash = waiting.hash AND vectors.embedder = ?1",
                )?
                .query_map([embedder.id], |row| {
                    Ok(StoredVector {
                        row: row.get(0)?,
                        embedding: Embedding {
                            hash: row.get(1)?,
                            tokens: row.get(2)?,
                            vector: decode(row.get_ref(3)?.as_blob()?),
                        },
                    })
                })?
                .collect()
        };
        self.sql(read())
    }

    /// Returns the number of stored vectors, one per text and embedder.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn count_vectors(&self) -> Result<usize, StoreError> {
        let count = self
            .connection
            .query_row("SELECT count(*) FROM vectors", [], |row| row.get::<_, i64>(0));
        Ok(usize::try_from(self.sql(count)?).unwrap_or(0))
    }

    /// Returns the chunks without a vector of `embedder`, grouped by document.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn pending_chunks(&self, embedder: &EmbedderRow) -> Result<Vec<PendingChunk>, StoreError> {
        let query = if embedder.active {
            "SELECT id, document FROM chunks WHERE vector IS NULL AND ?1 ORDER BY document, ordinal"
        } else {
            "SELECT id, document FROM chunks
             WHERE NOT EXISTS (SELECT 1 FROM vectors WHERE vectors.hash = chunks.hash AND embedder = ?1)
             ORDER BY document, ordinal"
        };
        let read = || {
            self.connection
                .prepare_cached(query)?
                .query_map([embedder.id], |row| {
                    Ok(PendingChunk {
                        id: row.get(0)?,
                        document: row.get(1)?,
                    })
                })?
                .collect()
        };
        self.sql(read())
    }

    /// Makes `embedder` the active embedder, and deletes the vectors of all other embedders.
    ///
    /// # Errors
    /// See [`StoreError`]. After an error, the old embedder stays active.
    pub fn activate(&mut self, embedder: &EmbedderRow) -> Result<(), StoreError> {
        self.in_transaction(|transaction| {
            transaction.execute("UPDATE embedders SET active = (id = ?1)", [embedder.id])?;
            transaction.execute(
                "UPDATE chunks SET (vector, tokens) = (SELECT vectors.id, vectors.tokens FROM vectors
                     WHERE vectors.hash = chunks.hash AND vectors.embedder = ?1)",
                [embedder.id],
            )?;
            transaction.execute("DELETE FROM vectors WHERE embedder <> ?1", [embedder.id])?;
            transaction.execute("DELETE FROM embedders WHERE id <> ?1", [embedder.id])
        })?;
        Ok(())
    }

    /// Deletes vectors whose text is in no chunk, and returns the number of deleted vectors. Call this only some time
    /// after a change. A text that moves to another file is in no chunk for a moment, and a disconnected disk may be
    /// connected again.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn drop_orphan_vectors(&mut self) -> Result<usize, StoreError> {
        let done = self.connection.execute(
            "DELETE FROM vectors WHERE NOT EXISTS (SELECT 1 FROM chunks WHERE chunks.hash = vectors.hash)",
            [],
        );
        self.sql(done)
    }

    /// Calls `each` for every chunk that has a vector of the active embedder, in the order of the database file.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn for_each_vector(&self, each: impl FnMut(u32, &[f32])) -> Result<(), StoreError> {
        let query = "SELECT chunks.id, vectors.vector FROM chunks JOIN vectors ON vectors.id = chunks.vector";
        self.each_vector(query, [], each)
    }

    /// Like [`for_each_vector`](Self::for_each_vector), for an embedder that may be inactive.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn for_each_vector_of(
        &self,
        embedder: &EmbedderRow,
        each: impl FnMut(u32, &[f32]),
    ) -> Result<(), StoreError> {
        let query = "SELECT chunks.id, vectors.vector FROM chunks
                     JOIN vectors ON vectors.hash = chunks.hash AND vectors.embedder = ?1";
        self.each_vector(query, [embedder.id], each)
    }

    fn each_vector(
        &self,
        query: &str,
        parameters: impl rusqlite::Params,
        mut each: impl FnMut(u32, &[f32]),
    ) -> Result<(), StoreError> {
        let read = || {
            let mut statement = self.connection.prepare(query)?;
            let mut rows = statement.query(parameters)?;
            while let Some(row) = rows.next()? {
                each(row.get(0)?, &decode(row.get_ref(1)?.as_blob()?));
            }
            Ok(())
        };
        self.sql(read())
    }

    /// Returns the vectors of the given chunks. Omits chunks without a vector.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn vectors(&self, chunks: &[u32]) -> Result<Vec<(u32, Vec<f32>)>, StoreError> {
        let mut found = Vec::with_capacity(chunks.len());
        for chunk in chunks {
            let vector = self.sql(vector_of(&self.connection, *chunk))?;
            found.extend(vector.map(|vector| (*chunk, vector)));
        }
        Ok(found)
    }
}

/// Encodes a vector in half precision, little-endian. This halves the size and changes a cosine by less than 0.001.
fn encode(vector: &[f32]) -> Vec<u8> {
    vector
        .iter()
        .flat_map(|value| f16::from_f32(*value).to_le_bytes())
        .collect()
}

/// Returns the vector of a chunk, if it has one.
pub(super) fn vector_of(connection: &Connection, chunk: u32) -> rusqlite::Result<Option<Vec<f32>>> {
    connection
        .prepare_cached(
            "SELECT vectors.vector FROM chunks JOIN vectors ON vectors.id = chunks.vector WHERE chunks.id = ?1",
        )?
        .query_row([chunk], |row| Ok(decode(row.get_ref(0)?.as_blob()?)))
        .optional()
}

fn decode(blob: &[u8]) -> Vec<f32> {
    let values = blob.as_chunks::<2>().0.iter();
    values.map(|bytes| f16::from_le_bytes(*bytes).to_f32()).collect()
}
