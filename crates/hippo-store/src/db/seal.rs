//! Checksums of derived rows, to find damage that SQLite misses.
//!
//! SQLite pages have no checksums. One sum covers all rows of documents, chunks and the lexical index. Each change
//! writes the sum in its transaction, and the sum is compared with the rows when the database is opened. Each vector
//! has its own checksum. Rows that differ are dropped. The daemon then derives them again: documents and terms from
//! the files, and vectors with the model.

#[cfg(test)]
mod tests;
mod vectors;

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::hooks::Action;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, Row, Transaction, params};

use super::{IdPool, Store};
use crate::StoreError;
pub(super) use vectors::digest_of;

/// The key of the sum in the table `checksums`.
const NAME: &str = "derived";

/// A group of rows that are read and written together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum SealPart {
    /// A document.
    Document(i64),
    /// A chunk and its row in the lexical index.
    Chunk(i64),
    /// A block of the lexical index.
    Block(i64),
    /// The directory of one segment of the lexical index.
    Segment(i64),
}

/// Name of a table, its columns, and the constructor of a part. The first column is the key of the part.
/// `chunks.vector` is omitted, because it is compared together with the vectors.
type SealedTable = (&'static str, &'static str, fn(i64) -> SealPart);

#[rustfmt::skip] // keep the list compact
const SEALED_TABLES: [SealedTable; 5] = [
    ("documents", "id, path, size, mtime_ns, hash, date, outline", SealPart::Document),
    ("chunks", "id, document, ordinal, terms, hash", SealPart::Chunk),
    ("lexical_docsize", "id, sz, origin", SealPart::Chunk),
    ("lexical_data", "id, block", SealPart::Block),
    ("lexical_idx", "segid, term, pgno", SealPart::Segment),
];

/// Number of low bits of a block id that contain the position in the segment. The higher bits are the segment number.
const BLOCK_BITS: u32 = 37;
/// The mask of a segment number.
const SEGMENTS: i64 = 0xffff;

/// The parts that the current transaction has changed; `None` outside of a transaction.
type ChangedParts = Arc<Mutex<Option<HashSet<SealPart>>>>;

/// The checksums of a database that is open for writing.
#[derive(Debug, Default)]
pub(super) struct Seal {
    parts: HashMap<SealPart, u64>,
    /// The sum of all parts. It is read from the database and then updated with each change. If it differed from the
    /// rows at the start, it therefore still differs.
    sum: u64,
    changed: ChangedParts,
}

/// New checksums of a transaction. They take effect after its commit.
struct NewSeal {
    parts: Vec<(SealPart, Option<u64>)>,
    sum: u64,
}

/// Report of damaged derived rows that were dropped.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DroppedRows {
    /// True if documents or terms were damaged. In this case, all files must be indexed again.
    pub documents: bool,
    /// Number of texts that must be embedded again.
    pub vectors: usize,
}

impl Seal {
    /// Reads every derived row. If the database has no sum yet, computes one from the rows.
    pub(super) fn load(connection: &Connection) -> rusqlite::Result<Self> {
        let mut seal = Self {
            parts: read_parts(connection)?,
            ..Self::default()
        };
        seal.sum = match read_sum(connection)? {
            Some(sum) => sum,
            None => {
                write_sum(connection, seal.actual_sum())?;
                seal.actual_sum()
            }
        };
        Ok(seal)
    }

    /// Registers an update hook that collects changed parts.
    pub(super) fn listen(&self, connection: &mut Connection) -> rusqlite::Result<()> {
        let changed = Arc::clone(&self.changed);
        connection.update_hook(Some(move |_: Action, _: &str, table: &str, row: i64| {
            let mut changed = changed.lock().unwrap_or_else(PoisonError::into_inner);
            let Some(changed) = changed.as_mut() else { return };
            if let Some((name, _, part)) = SEALED_TABLES.iter().find(|(name, _, _)| *name == table) {
                changed.insert(part(row));
                if *name == "lexical_data" {
                    // The table `lexical_idx` has no rowid, so the hook does not report it. It changes together with
                    // its blocks.
                    changed.insert(SealPart::Segment((row >> BLOCK_BITS) & SEGMENTS));
                }
            }
        }))
    }

    /// Starts collecting the parts that a transaction changes.
    pub(super) fn begin(&self) {
        *self.changed.lock().unwrap_or_else(PoisonError::into_inner) = Some(HashSet::new());
    }

    /// Commits a transaction together with the sum of the changed rows.
    pub(super) fn commit(&mut self, change: Transaction<'_>) -> rusqlite::Result<()> {
        let sealed = self.write(&change)?;
        change.commit()?;
        self.apply(sealed);
        Ok(())
    }

    fn write(&self, connection: &Connection) -> rusqlite::Result<NewSeal> {
        // Flush the lexical index before computing the sum. Rows that are flushed later would be missing in the sum.
        connection
            .prepare_cached("INSERT INTO lexical(lexical) VALUES ('flush')")?
            .execute([])?;
        let changed = self.changed.lock().unwrap_or_else(PoisonError::into_inner).take();
        let mut sealed = NewSeal {
            parts: Vec::new(),
            sum: self.sum,
        };
        for part in changed.unwrap_or_default() {
            let before = self.parts.get(&part).copied();
            let now = read_part(connection, part)?;
            sealed.sum = sealed
                .sum
                .wrapping_sub(before.unwrap_or(0))
                .wrapping_add(now.unwrap_or(0));
            sealed.parts.push((part, now));
        }
        if sealed.sum != self.sum {
            write_sum(connection, sealed.sum)?;
        }
        Ok(sealed)
    }

    /// Adopts the checksums of a transaction after its commit.
    fn apply(&mut self, sealed: NewSeal) {
        self.sum = sealed.sum;
        for (part, now) in sealed.parts {
            match now {
                Some(sum) => self.parts.insert(part, sum),
                None => self.parts.remove(&part),
            };
        }
    }

    fn actual_sum(&self) -> u64 {
        sum_of(&self.parts)
    }
}

impl Store {
    /// Merges the segments of the lexical index.
    pub(super) fn merge_lexical(&mut self) -> rusqlite::Result<()> {
        self.seal.begin();
        let change = self.connection.unchecked_transaction()?;
        change.execute_batch("INSERT INTO lexical(lexical) VALUES ('optimize')")?;
        self.seal.commit(change)
    }

    /// Compares derived rows with their checksums, and drops the rows that differ. Returns `None` if no rows differ.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn mend(&mut self) -> Result<Option<DroppedRows>, StoreError> {
        let documents = self.seal.sum != self.seal.actual_sum();
        if documents {
            self.clear()?;
        }
        let vectors = self.sql(self.mend_vectors())?;
        Ok((documents || vectors > 0).then_some(DroppedRows { documents, vectors }))
    }

    /// Deletes all rows derived from files, in one transaction.
    pub(super) fn empty_derived(&mut self) -> rusqlite::Result<()> {
        let change = self.connection.unchecked_transaction()?;
        change.execute_batch(
            "INSERT INTO lexical(lexical) VALUES ('delete-all');
             DELETE FROM chunks; DELETE FROM documents; DELETE FROM fresh;
             UPDATE meta SET value = value + 1 WHERE key = 'generation';",
        )?;
        let parts = read_parts(&change)?;
        let sum = sum_of(&parts);
        write_sum(&change, sum)?;
        change.commit()?;
        (self.seal.parts, self.seal.sum, self.ids) = (parts, sum, IdPool::default());
        Ok(())
    }
}

/// Describes derived rows that differ from their checksum. Returns `None` if no rows differ.
pub(super) fn find_damage(connection: &Connection) -> rusqlite::Result<Option<String>> {
    // Use one transaction, so that all rows are read in the same state.
    let view = connection.unchecked_transaction()?;
    if read_sum(&view)?.is_some_and(|sum| read_parts(&view).map_or(true, |parts| sum_of(&parts) != sum)) {
        return Ok(Some("checksum mismatch in rows of documents or terms".to_owned()));
    }
    let wrong = vectors::count_damaged(&view)?;
    Ok((wrong > 0).then(|| format!("checksum mismatch in {wrong} vectors")))
}

fn read_sum(connection: &Connection) -> rusqlite::Result<Option<u64>> {
    let sum: Option<i64> = connection
        .query_row("SELECT sum FROM checksums WHERE name = ?1", [NAME], |row| {
            row.get(0)
        })
        .optional()?;
    Ok(sum.map(i64::cast_unsigned))
}

fn write_sum(connection: &Connection, sum: u64) -> rusqlite::Result<()> {
    connection
        .prepare_cached("INSERT OR REPLACE INTO checksums (name, sum) VALUES (?1, ?2)")?
        .execute(params![NAME, sum.cast_signed()])
        .map(|_| ())
}

fn sum_of(parts: &HashMap<SealPart, u64>) -> u64 {
    parts.values().fold(0, |sum, part| sum.wrapping_add(*part))
}

fn read_parts(connection: &Connection) -> rusqlite::Result<HashMap<SealPart, u64>> {
    let mut parts: HashMap<SealPart, u64> = HashMap::new();
    for (table, columns, part) in SEALED_TABLES {
        let mut statement = connection.prepare(&format!("SELECT {columns} FROM {table}"))?;
        let mut rows = statement.query([])?;
        let count = count_columns(columns);
        while let Some(row) = rows.next()? {
            let sum = parts.entry(part(row.get(0).unwrap_or(-1))).or_default();
            *sum = sum.wrapping_add(digest(table, row, count)?);
        }
    }
    Ok(parts)
}

/// Returns the checksum of one part, or `None` if it has no rows.
fn read_part(connection: &Connection, wanted: SealPart) -> rusqlite::Result<Option<u64>> {
    let mut sum: Option<u64> = None;
    let (SealPart::Document(key) | SealPart::Chunk(key) | SealPart::Block(key) | SealPart::Segment(key)) =
        wanted;
    for (table, columns, part) in SEALED_TABLES {
        if part(key) != wanted {
            continue;
        }
        let (name, _) = columns.split_once(',').unwrap_or((columns, ""));
        let mut statement =
            connection.prepare_cached(&format!("SELECT {columns} FROM {table} WHERE {name} = ?1"))?;
        let mut rows = statement.query([key])?;
        while let Some(row) = rows.next()? {
            let digest = digest(table, row, count_columns(columns))?;
            sum = Some(sum.unwrap_or(0).wrapping_add(digest));
        }
    }
    Ok(sum)
}

fn count_columns(columns: &str) -> usize {
    columns.split(',').count()
}

/// Returns the checksum of one row. It covers the name of the table, and the type, length and bytes of each value.
fn digest(table: &str, row: &Row<'_>, columns: usize) -> rusqlite::Result<u64> {
    let mut hasher = blake3::Hasher::new();
    hasher.update(table.as_bytes());
    for column in 0..columns {
        let mut put = |kind: u8, bytes: &[u8]| {
            let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_le_bytes();
            hasher.update(&[kind]).update(&length).update(bytes);
        };
        match row.get_ref(column)? {
            ValueRef::Null => put(0, &[]),
            ValueRef::Integer(number) => put(1, &number.to_le_bytes()),
            ValueRef::Real(number) => put(2, &number.to_le_bytes()),
            ValueRef::Text(bytes) => put(3, bytes),
            ValueRef::Blob(bytes) => put(4, bytes),
        }
    }
    Ok(short_hash(&hasher))
}

fn short_hash(hasher: &blake3::Hasher) -> u64 {
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&hasher.finalize().as_bytes()[..8]);
    u64::from_le_bytes(bytes)
}
