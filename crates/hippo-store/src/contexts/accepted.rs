//! Accepted but incomplete requests to flush a transcript.
//!
//! If a client does not wait for a flush, the daemon promises to complete the flush later. Therefore, it stores the
//! request durably until the flush is complete.

use rusqlite::params;

use super::{ContextError, ContextReader, ContextStore};

/// An accepted request to flush a transcript.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AcceptedFlush {
    /// Path of the transcript.
    pub transcript: String,
    /// The session id that the harness assigned.
    pub session: Option<String>,
    /// The name of the transcript's format, if given.
    pub format: Option<String>,
    /// The agent of the session, if given.
    pub agent: Option<String>,
    /// True if the flush also stores the content of each message.
    pub compact: bool,
    /// True if the context session `session` is closed after the flush.
    pub close: bool,
    /// True if the compaction tree is updated after the flush.
    pub tree: bool,
}

/// Returns the value of the column `format`: the format, and after a space the agent. A column of its own would be
/// another schema.
fn format_and_agent(accepted: &AcceptedFlush) -> Option<String> {
    let format = accepted.format.as_deref();
    match &accepted.agent {
        None => format.map(str::to_owned),
        Some(agent) => Some(format!("{} {agent}", format.unwrap_or_default())),
    }
}

fn part(format: Option<&str>, at: usize) -> Option<String> {
    let part = format?.split(' ').nth(at)?;
    (!part.is_empty()).then(|| part.to_owned())
}

impl ContextReader {
    /// Returns the accepted requests that are not complete yet and their numbers, oldest first.
    ///
    /// # Errors
    /// Returns [`ContextError::Store`].
    pub fn accepted_flushes(&self) -> Result<Vec<(i64, AcceptedFlush)>, ContextError> {
        let found = self.sql(|connection| {
            connection
                .prepare_cached(
                    "SELECT row, transcript, session, format, compact, close, tree FROM accepted ORDER BY row",
                )?
                .query_map([], |row| {
                    let format: Option<String> = row.get(3)?;
                    let accepted = AcceptedFlush {
                        transcript: row.get(1)?,
                        session: row.get(2)?,
                        format: part(format.as_deref(), 0),
                        agent: part(format.as_deref(), 1),
                        compact: row.get(4)?,
                        close: row.get(5)?,
                        tree: row.get(6)?,
                    };
                    Ok((row.get(0)?, accepted))
                })?
                .collect()
        })?;
        Ok(found)
    }
}

impl ContextStore {
    /// Stores a request to flush a transcript. Merges it with earlier requests for the same transcript that name the
    /// same session or no session. Returns the number of the request. Numbers are never reused.
    ///
    /// # Errors
    /// Returns [`ContextError::Store`]. After an error, nothing is stored.
    pub fn accept(&mut self, accepted: &AcceptedFlush) -> Result<i64, ContextError> {
        let change = self.begin()?;
        let row = change.sql(|connection| {
            // A request for the same transcript with another session stays separate.
            let before: Vec<[bool; 3]> = connection
                .prepare_cached(
                    "DELETE FROM accepted WHERE transcript = ?1 AND (session IS NULL OR session IS ?2)
                     RETURNING compact, close, tree",
                )?
                .query_map((&accepted.transcript, &accepted.session), |row| {
                    Ok([row.get(0)?, row.get(1)?, row.get(2)?])
                })?
                .collect::<Result<_, _>>()?;
            let wanted = [accepted.compact, accepted.close, accepted.tree];
            let [compact, close, tree] = before
                .iter()
                .fold(wanted, |all, one| std::array::from_fn(|at| all[at] || one[at]));
            connection
                .prepare_cached(
                    "INSERT INTO accepted (transcript, session, format, compact, close, tree) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                )?
                .execute(params![
                    accepted.transcript,
                    accepted.session,
                    format_and_agent(accepted),
                    compact,
                    close,
                    tree,
                ])?;
            Ok(connection.last_insert_rowid())
        })?;
        change.commit()?;
        Ok(row)
    }

    /// Removes a request that is complete or cannot be completed. Later requests for the same transcript remain.
    ///
    /// # Errors
    /// Returns [`ContextError::Store`].
    pub fn end_accepted(&mut self, row: i64) -> Result<(), ContextError> {
        let change = self.begin()?;
        change.sql(|connection| connection.execute("DELETE FROM accepted WHERE row = ?1", [row]))?;
        change.commit()?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_for_a_transcript_survive_a_restart_and_are_merged() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("contexts.db");
        let asked = AcceptedFlush {
            transcript: "/t".to_owned(),
            session: Some("s".to_owned()),
            compact: true,
            close: true,
            agent: Some("scribe".to_owned()),
            ..AcceptedFlush::default()
        };
        let first = ContextStore::open(&path).unwrap().accept(&asked).unwrap();
        let mut store = ContextStore::open(&path).unwrap();
        assert_eq!(store.read().accepted_flushes().unwrap(), [(first, asked.clone())]);
        let more = AcceptedFlush {
            compact: false,
            close: false,
            tree: true,
            ..asked.clone()
        };
        let second = store.accept(&more).unwrap();
        store.end_accepted(first).unwrap();
        let both = AcceptedFlush {
            tree: true,
            ..asked.clone()
        };
        assert_eq!(store.read().accepted_flushes().unwrap(), [(second, both)]);
        store.end_accepted(second).unwrap();
        assert_eq!(store.read().accepted_flushes().unwrap(), []);
        // Requests for the same transcript stay separate if the later request names another session or no session.
        let first = store.accept(&asked).unwrap();
        for session in [Some("other".to_owned()), None] {
            let other = AcceptedFlush {
                session,
                ..more.clone()
            };
            let row = store.accept(&other).unwrap();
            assert_eq!(
                store.read().accepted_flushes().unwrap(),
                [(first, asked.clone()), (row, other)]
            );
            store.end_accepted(row).unwrap();
        }
        store.end_accepted(first).unwrap();
        assert!(store.accept(&more).unwrap() > second);
    }

    #[test]
    fn requests_for_a_transcript_are_merged_into_one() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = ContextStore::open(&folder.path().join("contexts.db")).unwrap();
        let of = |session: Option<&str>, compact, close, tree| AcceptedFlush {
            transcript: "/t".to_owned(),
            session: session.map(str::to_owned),
            compact,
            close,
            tree,
            ..AcceptedFlush::default()
        };
        store.accept(&of(Some("s"), true, false, false)).unwrap();
        store.accept(&of(None, false, false, true)).unwrap();
        let row = store.accept(&of(Some("s"), false, true, false)).unwrap();
        let all = of(Some("s"), true, true, true);
        assert_eq!(store.read().accepted_flushes().unwrap(), [(row, all)]);
    }
}
