//! Read-only queries on contexts, which do not wait for the writer.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::content::{PackedBytes, unpack};
use super::{ContentId, ContentPrefix, ContextError, open_reader, schema, to_signed, unsigned};
use crate::StoreError;

/// A connection for read-only queries: its own connection, or the one of a [`super::ContextStore`].
#[derive(Debug)]
pub struct ContextReader {
    pub(super) connection: Connection,
    pub(super) path: PathBuf,
}

/// Stored content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredContent {
    /// Id of the content.
    pub id: ContentId,
    /// The original bytes. Their hash matches the id.
    pub bytes: Vec<u8>,
    /// Number of tokens as counted by the client.
    pub tokens: u64,
    /// Time of the last use, milliseconds since the Unix epoch.
    pub used_ms: i64,
}

/// The reason why a known content is not available.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UnavailableReason {
    /// The content was removed to make room for newer contents.
    Forgotten {
        /// Time of removal, milliseconds since the Unix epoch.
        at_ms: i64,
    },
    /// The content was unused for longer than the retention time.
    Expired {
        /// Time of removal, milliseconds since the Unix epoch.
        at_ms: i64,
    },
    /// The bytes of the content were deliberately not stored.
    Withheld,
    /// The stored bytes are damaged.
    Damaged {
        /// The problem, as text.
        reason: String,
    },
}

/// The result of a content lookup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lookup {
    /// The content.
    Kept(StoredContent),
    /// The content is no longer available.
    Gone {
        /// Id of the content with all digits.
        id: ContentId,
        /// The reason why the content is not available.
        why: UnavailableReason,
    },
    /// No content has this id.
    Unknown,
    /// Several contents match the prefix, so the caller must give more digits.
    Ambiguous,
}

/// The size of the store. The daemon answers clients with the type `ContextsStatus`, which also has the configured
/// budget, and the time as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// Number of sessions, open and closed.
    pub sessions: u64,
    /// Number of open sessions.
    pub open: u64,
    /// Number of entries of all sessions.
    pub entries: u64,
    /// Number of available contents.
    pub contents: u64,
    /// Number of stored bytes of the contents, which count against the budget.
    pub stored_bytes: u64,
    /// Number of original bytes of the contents.
    pub raw_bytes: u64,
    /// Time at which the oldest content was stored, milliseconds since the Unix epoch.
    pub oldest_ms: Option<i64>,
    /// Size of the used pages of the file in bytes: contents, entries and terms.
    pub file_bytes: u64,
}

impl ContextReader {
    /// Opens the database that a [`super::ContextStore`] created at `path`.
    ///
    /// # Errors
    /// See [`super::ContextStore::open`].
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let connection = open_reader(path).map_err(|source| StoreError::from_sql(path, source))?;
        schema::verify(&connection, path)?;
        Ok(Self {
            connection,
            path: path.to_path_buf(),
        })
    }

    /// Returns the content with this id or id prefix.
    ///
    /// # Errors
    /// Returns [`ContextError::Store`]. Damaged bytes are not an error: the result is then
    /// [`UnavailableReason::Damaged`].
    pub fn content(&self, name: impl Into<ContentPrefix>) -> Result<Lookup, ContextError> {
        let name = name.into();
        let Some((row, others)) = self.sql(|connection| find_content(connection, name))? else {
            return Ok(Lookup::Unknown);
        };
        if others {
            return Ok(Lookup::Ambiguous);
        }
        let read = self.sql(|connection| {
            connection
                .prepare_cached(
                    "SELECT hash, raw, coding, tokens, last_used_ms, gone, gone_ms, bytes
                     FROM contents LEFT JOIN blobs ON content = row WHERE row = ?1",
                )?
                .query_row([row], parse_lookup)
                .optional()
        })?;
        Ok(read.unwrap_or(Lookup::Unknown))
    }

    /// Returns true if the content with this id is stored with exactly these packed bytes.
    pub(super) fn has_packed(
        &self,
        id: ContentId,
        packed: &PackedBytes,
        content: &[u8],
    ) -> Result<bool, StoreError> {
        let found = self.sql(|connection| {
            connection
                .prepare_cached(
                    "SELECT raw, coding, bytes FROM contents JOIN blobs ON content = row
                     WHERE hash = ?1 AND gone IS NULL",
                )?
                .query_row([id.0], |row| {
                    let whole = row.get::<_, i64>(0)? == to_signed(content.len())
                        && row.get::<_, i64>(1)? == packed.coding();
                    Ok(whole
                        && row
                            .get_ref(2)?
                            .as_blob()
                            .is_ok_and(|bytes| bytes == packed.bytes(content)))
                })
                .optional()
        })?;
        Ok(found == Some(true))
    }

    /// Returns the size of the store. The running time does not depend on the size.
    ///
    /// # Errors
    /// Returns [`ContextError::Store`].
    pub fn usage(&self) -> Result<Usage, ContextError> {
        let usage = self.sql(|connection| {
            connection
                .prepare_cached(
                    "SELECT sessions, open, entries, contents, stored, raw,
                         (SELECT min(stored_ms) FROM contents WHERE gone IS NULL),
                         (page_count - freelist_count) * page_size
                     FROM sums, pragma_page_count, pragma_freelist_count, pragma_page_size",
                )?
                .query_row([], |row| {
                    let count = |at| row.get(at).map(unsigned);
                    Ok(Usage {
                        sessions: count(0)?,
                        open: count(1)?,
                        entries: count(2)?,
                        contents: count(3)?,
                        stored_bytes: count(4)?,
                        raw_bytes: count(5)?,
                        oldest_ms: row.get(6)?,
                        file_bytes: count(7)?,
                    })
                })
        })?;
        Ok(usage)
    }

    /// Checks every page and index of the file. This takes seconds for a large file.
    ///
    /// # Errors
    /// Returns [`StoreError::Corrupt`] with SQLite's first finding.
    pub fn check(&self) -> Result<(), StoreError> {
        crate::db::check(&self.connection, &self.path)
    }

    /// Runs a query.
    pub(super) fn sql<T>(
        &self,
        question: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        question(&self.connection).map_err(|source| StoreError::from_sql(&self.path, source))
    }
}

/// Returns the row of the first content that matches, and whether another content matches as well.
fn find_content(connection: &Connection, name: ContentPrefix) -> rusqlite::Result<Option<(i64, bool)>> {
    let mut statement =
        connection.prepare_cached("SELECT row FROM contents WHERE hash BETWEEN ?1 AND ?2 LIMIT 2")?;
    let mut rows = statement.query(params![name.least, name.most])?;
    let Some(first) = rows.next()? else {
        return Ok(None);
    };
    let first = first.get(0)?;
    Ok(Some((first, rows.next()?.is_some())))
}

fn parse_lookup(row: &Row<'_>) -> rusqlite::Result<Lookup> {
    let id = ContentId(row.get(0)?);
    let gone: Option<i64> = row.get(5)?;
    let why = match gone {
        Some(super::trim::FORGOTTEN) => UnavailableReason::Forgotten {
            at_ms: row.get::<_, Option<i64>>(6)?.unwrap_or_default(),
        },
        Some(super::trim::EXPIRED) => UnavailableReason::Expired {
            at_ms: row.get::<_, Option<i64>>(6)?.unwrap_or_default(),
        },
        Some(_) => UnavailableReason::Withheld,
        None => match unpack_row(row, id)? {
            Ok(bytes) => {
                return Ok(Lookup::Kept(StoredContent {
                    id,
                    bytes,
                    tokens: unsigned(row.get(3)?),
                    used_ms: row.get(4)?,
                }));
            }
            Err(reason) => UnavailableReason::Damaged { reason },
        },
    };
    Ok(Lookup::Gone { id, why })
}

fn unpack_row(row: &Row<'_>, id: ContentId) -> rusqlite::Result<Result<Vec<u8>, String>> {
    let Ok(Some(bytes)) = row.get_ref(7)?.as_blob_or_null() else {
        return Ok(Err("its bytes are not in the database".to_owned()));
    };
    Ok(unpack(id, row.get(2)?, row.get(1)?, bytes))
}
