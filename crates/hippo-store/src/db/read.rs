//! Read-only queries for searches, which do not wait for the writer.

use std::path::{Path, PathBuf};

use rusqlite::Connection;

use super::vectors::vector_of;
use super::{open_reader, seal};
use crate::StoreError;

/// A read-only connection.
#[derive(Debug)]
pub struct StoreReader {
    connection: Connection,
    path: PathBuf,
}

impl StoreReader {
    /// Opens the database that a [`super::Store`] created at `path`.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let connection = open_reader(path).map_err(|source| StoreError::from_sql(path, source))?;
        Ok(Self {
            connection,
            path: path.to_path_buf(),
        })
    }

    /// Returns the ids of all chunks that match an FTS5 expression, in ascending order. Create the expression with
    /// `hippo_text::terms::fts_query`, because it quotes every term.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn postings(&self, expression: &str) -> Result<Vec<u32>, StoreError> {
        self.collect_postings(expression)
            .map_err(|source| StoreError::from_sql(&self.path, source))
    }

    /// Returns the vectors of chunks as stored, in the order of `ids`. For a chunk without a vector, the item is
    /// `None`.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn vectors(&self, ids: &[u32]) -> Result<Vec<Option<Vec<f32>>>, StoreError> {
        ids.iter()
            .map(|id| {
                vector_of(&self.connection, *id).map_err(|source| StoreError::from_sql(&self.path, source))
            })
            .collect()
    }

    /// Checks every page and index of the file, as [`super::Store::check`] does. Also compares derived rows with
    /// their checksums. The writer can work during the check.
    ///
    /// # Errors
    /// See [`super::Store::check`].
    pub fn check(&self) -> Result<(), StoreError> {
        super::check(&self.connection, &self.path)?;
        match self.sql(seal::find_damage)? {
            None => Ok(()),
            Some(reason) => Err(StoreError::Corrupt {
                path: self.path.clone(),
                reason,
            }),
        }
    }

    /// Returns the root of the workspace for which the database was created.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn root(&self) -> Result<String, StoreError> {
        self.sql(|connection| {
            connection.query_row("SELECT value FROM meta WHERE key = 'root'", [], |row| row.get(0))
        })
    }

    /// Runs a query.
    pub(super) fn sql<T>(
        &self,
        question: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        question(&self.connection).map_err(|source| StoreError::from_sql(&self.path, source))
    }

    fn collect_postings(&self, expression: &str) -> rusqlite::Result<Vec<u32>> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT rowid FROM lexical WHERE lexical MATCH ?1")?;
        let mut rows = statement.query([expression])?;
        let mut ids = Vec::new();
        while let Some(row) = rows.next()? {
            ids.push(row.get(0)?);
        }
        Ok(ids)
    }
}
