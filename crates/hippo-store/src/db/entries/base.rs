//! What did the daemon write into a file last: the base of the three-way merge?

use rusqlite::{Connection, OptionalExtension, params};

use hippo_core::time::Timestamp;

use super::{Reader, Store};
use crate::StoreError;

/// A file as the daemon wrote it last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Base {
    /// All of it.
    pub bytes: Vec<u8>,
    /// blake3 of the bytes.
    pub hash: [u8; 32],
    /// When it was written.
    pub at: Timestamp,
}

impl Store {
    /// What the daemon wrote last at `path` (relative to the workspace, with `/`).
    ///
    /// `None` also when the bytes do not have their hash any more: without a base a merge removes nothing, with a
    /// wrong one it would.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn base(&self, path: &str) -> Result<Option<Base>, StoreError> {
        self.sql(get(&self.connection, path))
    }

    /// All that is noted at paths that begin like this, by path. One that does not have its hash any more is left out.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn bases(&self, beginning: &str) -> Result<Vec<(String, Base)>, StoreError> {
        self.sql(below(&self.connection, beginning))
    }
}

impl Reader {
    /// As [`Store::base`].
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn base(&self, path: &str) -> Result<Option<Base>, StoreError> {
        self.ask(|connection| get(connection, path))
    }
}

pub(super) fn put(connection: &Connection, path: &str, bytes: &[u8], at: Timestamp) -> rusqlite::Result<()> {
    let hash = blake3::hash(bytes);
    connection
        .prepare_cached("INSERT OR REPLACE INTO bases (path, at, hash, bytes) VALUES (?1, ?2, ?3, ?4)")?
        .execute(params![path, at.0, hash.as_bytes(), bytes])
        .map(|_| ())
}

fn get(connection: &Connection, path: &str) -> rusqlite::Result<Option<Base>> {
    let found: Option<(i64, Vec<u8>, Vec<u8>)> = connection
        .prepare_cached("SELECT at, hash, bytes FROM bases WHERE path = ?1")?
        .query_row([path], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .optional()?;
    Ok(found.and_then(|(at, noted, bytes)| sound(path, at, &noted, bytes)))
}

fn below(connection: &Connection, beginning: &str) -> rusqlite::Result<Vec<(String, Base)>> {
    let mut statement = connection.prepare_cached(
        "SELECT path, at, hash, bytes FROM bases WHERE substr(path, 1, length(?1)) = ?1 ORDER BY path",
    )?;
    let mut rows = statement.query([beginning])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let (path, noted): (String, Vec<u8>) = (row.get(0)?, row.get(2)?);
        if let Some(base) = sound(&path, row.get(1)?, &noted, row.get(3)?) {
            found.push((path, base));
        }
    }
    Ok(found)
}

fn sound(path: &str, at: i64, noted: &[u8], bytes: Vec<u8>) -> Option<Base> {
    let hash = *blake3::hash(&bytes).as_bytes();
    if noted != hash {
        tracing::warn!(
            path,
            "the noted content of a file does not have its hash and is not used"
        );
        return None;
    }
    Some(Base {
        bytes,
        hash,
        at: Timestamp(at),
    })
}
