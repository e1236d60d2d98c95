//! Up to where were transcripts taken into the log, and what is on its way there?
//!
//! What is to be appended is written down here first, with the messages that it tells of; when it stands in the log, that is noted. A
//! process that ends in between leaves a [`Flush`], which is looked for in the log and appended where it is missing: so each message is told once.

use rusqlite::{OptionalExtension, params};

use super::{ContextError, ContextReader, ContextStore, signed, unsigned};

/// By which a message is known.
pub type MessageKey = [u8; 16];

/// Up to where a transcript was taken up.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TakenUp {
    /// Bytes; 0 for one that is read anew each time.
    pub position: u64,
    /// A hash of what stands before that, as whoever reads it computes it.
    pub before: Vec<u8>,
    /// What the session was about there.
    pub topic: Option<String>,
}

/// What is to be appended to one log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlushPart {
    /// The day of the log.
    pub day: String,
    /// The text, which ends with a mark that names this part.
    pub text: String,
    /// The mark.
    pub mark: String,
}

/// A flush that was begun.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flush {
    /// Its number, once it is written down.
    pub row: i64,
    /// The transcript.
    pub transcript: String,
    /// What is to stand in logs.
    pub parts: Vec<FlushPart>,
}

impl ContextReader {
    /// Up to where a transcript was taken up.
    ///
    /// # Errors
    /// [`ContextError::Store`].
    pub fn taken_up(&self, transcript: &str) -> Result<Option<TakenUp>, ContextError> {
        let found = self.ask(|connection| {
            connection
                .prepare_cached("SELECT position, before, topic FROM transcripts WHERE name = ?1")?
                .query_row([transcript], |row| {
                    Ok(TakenUp {
                        position: unsigned(row.get(0)?),
                        before: row.get(1)?,
                        topic: row.get(2)?,
                    })
                })
                .optional()
        })?;
        Ok(found)
    }

    /// Whether a message was taken up, from whatever transcript.
    ///
    /// # Errors
    /// [`ContextError::Store`].
    pub fn is_told(&self, key: &MessageKey) -> Result<bool, ContextError> {
        let found = self.ask(|connection| {
            connection
                .prepare_cached("SELECT EXISTS (SELECT 1 FROM told WHERE key = ?1)")?
                .query_row([key.as_slice()], |row| row.get(0))
        })?;
        Ok(found)
    }

    /// The flushes that were begun and not ended, the oldest first.
    ///
    /// # Errors
    /// [`ContextError::Store`].
    pub fn flushes(&self) -> Result<Vec<Flush>, ContextError> {
        let rows: Vec<(i64, String, String, String, String)> = self.ask(|connection| {
            connection
                .prepare_cached(
                    "SELECT row, transcript, day, text, mark FROM flushes JOIN flush_parts ON flush = row ORDER BY row, part",
                )?
                .query_map([], |row| {
                    Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?))
                })?
                .collect()
        })?;
        let mut flushes: Vec<Flush> = Vec::new();
        for (row, transcript, day, text, mark) in rows {
            let part = FlushPart { day, text, mark };
            match flushes.last_mut() {
                Some(last) if last.row == row => last.parts.push(part),
                _ => flushes.push(Flush {
                    row,
                    transcript,
                    parts: vec![part],
                }),
            }
        }
        Ok(flushes)
    }
}

impl ContextStore {
    /// Writes down what is to be appended, the messages of which it tells, and up to where the transcript is taken up with that. Answers the
    /// number of the flush; where nothing is to be appended there is none.
    ///
    /// # Errors
    /// [`ContextError::Store`]; nothing is written down then.
    pub fn begin_flush(
        &mut self,
        transcript: &str,
        upto: &TakenUp,
        parts: &[FlushPart],
        told: &[MessageKey],
        now_ms: i64,
    ) -> Result<Option<i64>, ContextError> {
        let change = self.begin()?;
        let row = change.ask(|connection| {
            let mut note = connection.prepare_cached("INSERT OR IGNORE INTO told (key) VALUES (?1)")?;
            for key in told {
                note.execute([key.as_slice()])?;
            }
            connection
                .prepare_cached(
                    "INSERT INTO transcripts (name, position, before, topic, flushed_ms) VALUES (?1, ?2, ?3, ?4, ?5)
                     ON CONFLICT (name) DO UPDATE SET position = ?2, before = ?3, topic = ?4, flushed_ms = ?5",
                )?
                .execute(params![
                    transcript,
                    signed(upto.position),
                    upto.before,
                    upto.topic,
                    now_ms
                ])?;
            if parts.is_empty() {
                return Ok(None);
            }
            connection
                .prepare_cached("INSERT INTO flushes (transcript, begun_ms) VALUES (?1, ?2)")?
                .execute(params![transcript, now_ms])?;
            let row = connection.last_insert_rowid();
            let mut add = connection
                .prepare_cached("INSERT INTO flush_parts (flush, part, day, text, mark) VALUES (?1, ?2, ?3, ?4, ?5)")?;
            for (number, part) in parts.iter().enumerate() {
                add.execute(params![row, signed(number), part.day, part.text, part.mark])?;
            }
            Ok(Some(row))
        })?;
        change.commit()?;
        Ok(row)
    }

    /// Notes that all of a flush stands in the logs.
    ///
    /// # Errors
    /// [`ContextError::Store`].
    pub fn end_flush(&mut self, row: i64) -> Result<(), ContextError> {
        let change = self.begin()?;
        change.ask(|connection| {
            connection.execute("DELETE FROM flush_parts WHERE flush = ?1", [row])?;
            connection.execute("DELETE FROM flushes WHERE row = ?1", [row])
        })?;
        change.commit()?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flush_is_there_from_its_beginning_to_its_end_and_its_messages_for_good() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("contexts.db");
        let upto = TakenUp {
            position: 10,
            before: vec![1, 2],
            topic: Some("Pumps".to_owned()),
        };
        let parts = ["2026-01-01", "2026-01-02"].map(|day| FlushPart {
            day: day.to_owned(),
            text: format!("## of {day}\n"),
            mark: format!("<!-- {day} -->"),
        });
        let (one, other) = ([1; 16], [2; 16]);
        let row = {
            let mut store = ContextStore::open(&path).unwrap();
            assert_eq!(store.read().taken_up("/t").unwrap(), None);
            assert!(!store.read().is_told(&one).unwrap());
            let nothing = store.begin_flush("/other", &TakenUp::default(), &[], &[], 1);
            assert_eq!(nothing.unwrap(), None);
            store
                .begin_flush("/t", &upto, &parts, &[one], 1)
                .unwrap()
                .unwrap()
        };
        let mut store = ContextStore::open(&path).unwrap();
        assert_eq!(store.read().taken_up("/t").unwrap(), Some(upto));
        assert!(store.read().is_told(&one).unwrap() && !store.read().is_told(&other).unwrap());
        let begun = store.read().flushes().unwrap();
        assert_eq!(begun.len(), 1);
        assert_eq!((begun[0].row, begun[0].parts.as_slice()), (row, &parts[..]));
        store.end_flush(row).unwrap();
        assert_eq!(store.read().flushes().unwrap(), []);
        assert!(store.read().is_told(&one).unwrap());
    }
}
