//! Opening, advancing and closing of sessions.

use rusqlite::{OptionalExtension, Row, params};

use super::{ContextChange, ContextError, ContextReader, ContextStore, to_signed, unsigned};
use crate::StoreError;

/// A session of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionRow {
    /// Id of the session.
    pub id: String,
    /// The agent that owns the session.
    pub agent: Option<String>,
    /// Time at which the session was first opened, milliseconds since the Unix epoch.
    pub opened_ms: i64,
    /// Time at which the session was closed, milliseconds since the Unix epoch; `None` if it is open.
    pub closed_ms: Option<i64>,
    /// The highest turn so far.
    pub turn: u64,
    /// Time of the last activity, milliseconds since the Unix epoch.
    pub last_used_ms: i64,
    /// Number of entries.
    pub entries: u64,
}

const COLUMNS: &str = "id, agent, opened_ms, closed_ms, turn, last_used_ms, entries";

fn session(row: &Row<'_>) -> rusqlite::Result<SessionRow> {
    Ok(SessionRow {
        id: row.get(0)?,
        agent: row.get(1)?,
        opened_ms: row.get(2)?,
        closed_ms: row.get(3)?,
        turn: unsigned(row.get(4)?),
        last_used_ms: row.get(5)?,
        entries: unsigned(row.get(6)?),
    })
}

impl ContextReader {
    /// Returns all sessions, the most recently used first.
    ///
    /// # Errors
    /// Returns [`ContextError::Store`].
    pub fn sessions(&self) -> Result<Vec<SessionRow>, ContextError> {
        let sessions = self.sql(|connection| {
            connection
                .prepare_cached(&format!(
                    "SELECT {COLUMNS} FROM sessions ORDER BY last_used_ms DESC, row DESC"
                ))?
                .query_map([], session)?
                .collect()
        })?;
        Ok(sessions)
    }

    /// Returns a session by its id.
    ///
    /// # Errors
    /// Returns [`ContextError::Store`].
    pub fn session(&self, id: &str) -> Result<Option<SessionRow>, ContextError> {
        let found = self.sql(|connection| {
            connection
                .prepare_cached(&format!("SELECT {COLUMNS} FROM sessions WHERE id = ?1"))?
                .query_row([id], session)
                .optional()
        })?;
        Ok(found)
    }
}

impl ContextStore {
    /// Opens a session, or resumes an open one. Returns the session, and true if it existed before. The session keeps
    /// the agent of the first call that named an agent.
    ///
    /// # Errors
    /// Returns [`ContextError::ClosedSession`], [`ContextError::Store`].
    pub fn open_session(
        &mut self,
        id: &str,
        agent: Option<&str>,
        now_ms: i64,
    ) -> Result<(SessionRow, bool), ContextError> {
        let change = self.begin()?;
        let resumed = match change.session(id)? {
            Some((_, true)) => return Err(ContextError::ClosedSession(id.to_owned())),
            Some((_, false)) => true,
            None => false,
        };
        change.sql(|connection| {
            connection
                .prepare_cached(
                    "INSERT INTO sessions (id, agent, opened_ms, last_used_ms) VALUES (?1, ?2, ?3, ?3)
                     ON CONFLICT (id) DO UPDATE SET
                         agent = ifnull(agent, ?2), last_used_ms = max(last_used_ms, ?3)",
                )?
                .execute(params![id, agent, now_ms])
        })?;
        change.commit()?;
        Ok((self.existing_session(id)?, resumed))
    }

    /// Records the turn of an open session and returns the highest turn so far.
    ///
    /// This is the only change that does not wait for the disk. A power failure can lose the turn, but the next turn
    /// records a higher number anyway. If only the process ends, the turn is kept.
    ///
    /// # Errors
    /// Returns [`ContextError::UnknownSession`], [`ContextError::ClosedSession`], [`ContextError::Store`].
    pub fn advance(&mut self, id: &str, turn: u64, now_ms: i64) -> Result<u64, ContextError> {
        let change = self.begin_with("PRAGMA synchronous = NORMAL")?;
        let advanced = change.sql(|connection| {
            connection
                .prepare_cached(
                    "UPDATE sessions SET turn = max(turn, ?2), last_used_ms = max(last_used_ms, ?3)
                     WHERE id = ?1 AND closed_ms IS NULL RETURNING turn",
                )?
                .query_row(params![id, to_signed(turn), now_ms], |row| row.get(0))
                .optional()
        })?;
        change.commit()?;
        match advanced {
            Some(turn) => Ok(unsigned(turn)),
            None if self.read.session(id)?.is_some() => Err(ContextError::ClosedSession(id.to_owned())),
            None => Err(ContextError::UnknownSession(id.to_owned())),
        }
    }

    /// Closes a session and keeps its entries. Returns the session, and true if it was already closed. The retention
    /// time of its contents starts at the close. After that, contents that no open session needs may be removed.
    ///
    /// # Errors
    /// Returns [`ContextError::UnknownSession`], [`ContextError::Store`].
    pub fn close_session(&mut self, id: &str, now_ms: i64) -> Result<(SessionRow, bool), ContextError> {
        let change = self.begin()?;
        let already = match change.session(id)? {
            Some((_, closed)) => closed,
            None => return Err(ContextError::UnknownSession(id.to_owned())),
        };
        if !already {
            change.sql(|connection| {
                connection
                    .prepare_cached(
                        "UPDATE sessions SET closed_ms = ?2, last_used_ms = max(last_used_ms, ?2) WHERE id = ?1",
                    )?
                    .execute(params![id, now_ms])?;
                connection
                    .prepare_cached(
                        "UPDATE contents SET last_used_ms = max(last_used_ms, ?2) WHERE row IN (
                             SELECT content FROM entries WHERE session = (SELECT row FROM sessions WHERE id = ?1))",
                    )?
                    .execute(params![id, now_ms])
            })?;
            change.commit()?;
        }
        Ok((self.existing_session(id)?, already))
    }

    fn existing_session(&self, id: &str) -> Result<SessionRow, ContextError> {
        let found = self.read.session(id)?;
        found.ok_or_else(|| ContextError::UnknownSession(id.to_owned()))
    }
}

impl ContextChange<'_> {
    /// Returns the row of a session, and true if the session is closed.
    pub(super) fn session(&self, id: &str) -> Result<Option<(i64, bool)>, StoreError> {
        self.sql(|connection| {
            connection
                .prepare_cached("SELECT row, closed_ms IS NOT NULL FROM sessions WHERE id = ?1")?
                .query_row([id], |row| Ok((row.get(0)?, row.get(1)?)))
                .optional()
        })
    }

    /// Returns the row of an open session.
    pub(super) fn open_session(&self, id: &str) -> Result<i64, ContextError> {
        match self.session(id)? {
            Some((row, false)) => Ok(row),
            Some((_, true)) => Err(ContextError::ClosedSession(id.to_owned())),
            None => Err(ContextError::UnknownSession(id.to_owned())),
        }
    }
}
