//! Content that the daemon last wrote to files, which is the base of three-way merges.

use rusqlite::{Connection, OptionalExtension, params};

use hippo_types::time::Timestamp;

use super::Store;
use crate::StoreError;

/// A file as the daemon last wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Base {
    /// The whole content.
    pub bytes: Vec<u8>,
    /// Time of writing.
    pub at: Timestamp,
}

impl Store {
    /// Returns the content that the daemon last wrote to `path` (relative to the workspace, with `/`).
    ///
    /// Also returns `None` if the stored bytes do not match their hash. A merge without a base removes nothing, whereas
    /// a merge with a wrong base would.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn base(&self, path: &str) -> Result<Option<Base>, StoreError> {
        self.sql(read_base(&self.connection, path))
    }

    /// Returns the bases of all paths with this prefix, sorted by path. Bases that do not match their hash are omitted.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn bases(&self, beginning: &str) -> Result<Vec<(String, Base)>, StoreError> {
        self.sql(read_bases(&self.connection, beginning))
    }
}

pub(super) fn put(connection: &Connection, path: &str, bytes: &[u8], at: Timestamp) -> rusqlite::Result<()> {
    let hash = blake3::hash(bytes);
    connection
        .prepare_cached("INSERT OR REPLACE INTO bases (path, at, hash, bytes) VALUES (?1, ?2, ?3, ?4)")?
        .execute(params![path, at.0, hash.as_bytes(), bytes])
        .map(|_| ())
}

fn read_base(connection: &Connection, path: &str) -> rusqlite::Result<Option<Base>> {
    let found: Option<(i64, Vec<u8>, Vec<u8>)> = connection
        .prepare_cached("SELECT at, hash, bytes FROM bases WHERE path = ?1")?
        .query_row([path], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .optional()?;
    Ok(found.and_then(|(at, noted, bytes)| verify_base(path, at, &noted, bytes)))
}

fn read_bases(connection: &Connection, beginning: &str) -> rusqlite::Result<Vec<(String, Base)>> {
    let mut statement = connection.prepare_cached(
        "SELECT path, at, hash, bytes FROM bases WHERE substr(path, 1, length(?1)) = ?1 ORDER BY path",
    )?;
    let mut rows = statement.query([beginning])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let (path, noted): (String, Vec<u8>) = (row.get(0)?, row.get(2)?);
        if let Some(base) = verify_base(&path, row.get(1)?, &noted, row.get(3)?) {
            found.push((path, base));
        }
    }
    Ok(found)
}

fn verify_base(path: &str, at: i64, noted: &[u8], bytes: Vec<u8>) -> Option<Base> {
    if noted != blake3::hash(&bytes).as_bytes() {
        tracing::warn!(
            path,
            "ignored the stored content of a file, because its hash differs from the recorded hash"
        );
        return None;
    }
    Some(Base {
        bytes,
        at: Timestamp(at),
    })
}
