//! Bases of three-way merges: content last written by the daemon.

use rusqlite::{Connection, params};

use hippo_types::time::Timestamp;

use super::Store;
use crate::StoreError;

/// The content of a file as the daemon last wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Base {
    /// The whole content.
    pub bytes: Vec<u8>,
    /// Time at which the daemon wrote the file.
    pub at: Timestamp,
}

impl Store {
    /// Returns the content that the daemon last wrote to `path` (relative to the workspace, with `/`).
    ///
    /// If the stored bytes do not match their hash, also returns `None`. A merge without a base removes nothing, but
    /// a merge with a wrong base could remove text.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn base(&self, path: &str) -> Result<Option<Base>, StoreError> {
        self.sql(read_base(&self.connection, path))
    }

    /// Returns the bases of all paths that start with `beginning`, sorted by path. Omits bases that do not match
    /// their hash.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn bases(&self, beginning: &str) -> Result<Vec<(String, Base)>, StoreError> {
        self.sql(read_bases(
            &self.connection,
            "substr(path, 1, length(?1)) = ?1",
            beginning,
        ))
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
    let mut found = read_bases(connection, "path = ?1", path)?;
    Ok(found.pop().map(|(_, base)| base))
}

fn read_bases(connection: &Connection, condition: &str, path: &str) -> rusqlite::Result<Vec<(String, Base)>> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT path, at, hash, bytes FROM bases WHERE {condition} ORDER BY path"
    ))?;
    let mut rows = statement.query([path])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let (path, noted, bytes): (String, Vec<u8>, Vec<u8>) = (row.get(0)?, row.get(2)?, row.get(3)?);
        if noted == blake3::hash(&bytes).as_bytes() {
            let at = Timestamp(row.get(1)?);
            found.push((path, Base { bytes, at }));
        } else {
            tracing::warn!(
                path,
                "ignored the stored content of a file, because its hash differs from the recorded hash"
            );
        }
    }
    Ok(found)
}
