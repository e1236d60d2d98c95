//! Checksums of vectors, stored in their rows.

use std::collections::HashMap;

use rusqlite::{Connection, Row};

use super::short_hash;
use crate::db::Store;

impl Store {
    /// Deletes vectors with a wrong checksum, and detaches a vector from each chunk that has a different text.
    /// Returns the number of affected vectors.
    pub(super) fn mend_vectors(&self) -> rusqlite::Result<usize> {
        let CheckedVectors { sound, damaged } = read_vectors(&self.connection)?;
        let misplaced = read_misplaced(&self.connection, &sound)?;
        if damaged.is_empty() && misplaced.is_empty() {
            return Ok(0);
        }
        let change = self.connection.unchecked_transaction()?;
        // The index on `vectors` may still contain the values from before the damage, so it is created again.
        change.execute_batch("DROP INDEX vectors_by_hash")?;
        for row in &damaged {
            change.execute("DELETE FROM vectors WHERE id = ?1", [row])?;
        }
        change.execute_batch("CREATE UNIQUE INDEX vectors_by_hash ON vectors (hash, embedder)")?;
        for chunk in &misplaced {
            change.execute(
                "UPDATE chunks SET vector = NULL, tokens = NULL WHERE id = ?1",
                [chunk],
            )?;
        }
        change.commit()?;
        Ok(damaged.len().max(misplaced.len()))
    }
}

/// Returns the number of vectors that have a wrong checksum or are attached to a chunk with a different text.
pub(super) fn count_damaged(connection: &Connection) -> rusqlite::Result<usize> {
    let CheckedVectors { sound, damaged } = read_vectors(connection)?;
    Ok(damaged.len().max(read_misplaced(connection, &sound)?.len()))
}

/// Returns the checksum of a vector's row.
pub(in crate::db) fn digest_of(embedder: i64, hash: &[u8], tokens: i64, vector: &[u8]) -> i64 {
    let mut hasher = blake3::Hasher::new();
    for number in [embedder, tokens] {
        hasher.update(&number.to_le_bytes());
    }
    hasher.update(hash).update(vector);
    short_hash(&hasher).cast_signed()
}

struct CheckedVectors {
    /// Rows of intact vectors, each with the hash and the number of tokens of its text.
    sound: HashMap<i64, ([u8; 16], i64)>,
    damaged: Vec<i64>,
}

fn read_vectors(connection: &Connection) -> rusqlite::Result<CheckedVectors> {
    let mut vectors = CheckedVectors {
        sound: HashMap::new(),
        damaged: Vec::new(),
    };
    let mut statement =
        connection.prepare("SELECT id, embedder, hash, tokens, vector, digest FROM vectors")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let id = row.get(0)?;
        let text = |row: &Row<'_>| Ok::<_, rusqlite::Error>((row.get(2)?, row.get(3)?));
        // A value of the wrong type also counts as damage.
        match (digest_of_row(row), row.get::<_, i64>(5), text(row)) {
            (Ok(digest), Ok(kept), Ok(text)) if digest == kept => {
                vectors.sound.insert(id, text);
            }
            _ => vectors.damaged.push(id),
        }
    }
    Ok(vectors)
}

/// Computes the checksum of a row with the columns id, embedder, hash, tokens and vector.
fn digest_of_row(row: &Row<'_>) -> rusqlite::Result<i64> {
    let (hash, vector) = (row.get_ref(2)?.as_blob()?, row.get_ref(4)?.as_blob()?);
    Ok(digest_of(row.get(1)?, hash, row.get(3)?, vector))
}

/// Returns the chunks that are attached to a missing vector or to a vector of a different text.
fn read_misplaced(
    connection: &Connection,
    sound: &HashMap<i64, ([u8; 16], i64)>,
) -> rusqlite::Result<Vec<u32>> {
    let mut statement =
        connection.prepare("SELECT id, vector, hash, tokens FROM chunks WHERE vector IS NOT NULL")?;
    let mut rows = statement.query([])?;
    let mut misplaced = Vec::new();
    while let Some(row) = rows.next()? {
        let of = row.get(1).ok().and_then(|vector: i64| sound.get(&vector));
        let text = (row.get(2).ok()).zip(row.get(3).ok());
        if of.is_none() || of != text.as_ref() {
            misplaced.push(row.get(0)?);
        }
    }
    Ok(misplaced)
}
