//! The recall log: the last questions of the workspace.
//!
//! The log is a ring. It is neither salvaged nor copied, because it only explains past answers.

use rusqlite::{OptionalExtension, params};

use super::{Store, number};
use crate::StoreError;
use hippo_types::time::Timestamp;

/// Number of questions between two removals of old questions.
const TRIM_EVERY: i64 = 64;

/// Limits of the recall log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogLimits {
    /// Maximum number of questions.
    pub count: usize,
    /// Time before which questions are removed.
    pub since: Timestamp,
}

impl Store {
    /// Appends a question, and removes the questions beyond the limits from time to time.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn log_question(&mut self, at: Timestamp, record: &str, limits: LogLimits) -> Result<(), StoreError> {
        let insert = || {
            self.connection
                .prepare_cached("INSERT INTO questions (at, record) VALUES (?1, ?2)")?
                .execute(params![at.0, record])?;
            Ok(self.connection.last_insert_rowid())
        };
        let id = self.sql(insert())?;
        if id % TRIM_EVERY == 0 {
            self.trim_questions(limits)?;
        }
        Ok(())
    }

    /// Removes the questions beyond the limits.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn trim_questions(&mut self, limits: LogLimits) -> Result<(), StoreError> {
        let trim = self.connection.execute(
            "DELETE FROM questions WHERE at < ?1 OR id <= (SELECT max(id) FROM questions) - ?2",
            params![limits.since.0, number(limits.count)],
        );
        self.sql(trim).map(drop)
    }

    /// Returns the ids and records of at most `limit` questions within the limits of the log, latest first. With
    /// `before`, returns only questions with a smaller id.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn questions(
        &self,
        limit: usize,
        before: Option<u64>,
        limits: LogLimits,
    ) -> Result<Vec<(u64, String)>, StoreError> {
        let before = before.and_then(|id| i64::try_from(id).ok()).unwrap_or(i64::MAX);
        let read = || {
            let last: Option<i64> = self
                .connection
                .query_row("SELECT max(id) FROM questions", [], |row| row.get(0))
                .optional()?
                .flatten();
            let first = last.unwrap_or(0) - number(limits.count);
            self.connection
                .prepare_cached(
                    "SELECT id, record FROM questions WHERE id < ?1 AND id > ?2 AND at >= ?3
                     ORDER BY id DESC LIMIT ?4",
                )?
                .query_map(params![before, first, limits.since.0, number(limit)], |row| {
                    Ok((row.get::<_, i64>(0)?.unsigned_abs(), row.get(1)?))
                })?
                .collect::<rusqlite::Result<_>>()
        };
        self.sql(read())
    }
}
