//! Flushed positions of transcripts and unfinished flushes.
//!
//! A flush first stores the text to append and the keys of its messages in this database. When the text is in the
//! log, the [`Flush`] is removed. If the process ends in between, the [`Flush`] remains. At the next start, the
//! daemon looks for the text in the log and appends it if it is missing. In this way, each message is logged once.

use rusqlite::{OptionalExtension, params};

use super::{ContextError, ContextReader, ContextStore, to_signed, unsigned};

/// Key of a message. It is the same in every transcript that contains the message.
pub type MessageKey = [u8; 16];

/// The position up to which a transcript was flushed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FlushPosition {
    /// Offset in bytes; 0 for a transcript that is always read from the start.
    pub position: u64,
    /// A hash of the bytes before the offset. The reader of the transcript computes it.
    pub before: Vec<u8>,
    /// The topic of the session at the offset.
    pub topic: Option<String>,
}

/// Text to append to the log of one day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlushPart {
    /// The day of the log.
    pub day: String,
    /// The text, which ends with the marker of this part.
    pub text: String,
    /// The marker of this part.
    pub mark: String,
}

/// A flush that has begun and is not complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flush {
    /// Number of the flush in the database.
    pub row: i64,
    /// The path of the transcript.
    pub transcript: String,
    /// The texts to append.
    pub parts: Vec<FlushPart>,
}

impl ContextReader {
    /// Returns the position up to which a transcript was flushed.
    ///
    /// # Errors
    /// Returns [`ContextError::Store`].
    pub fn taken_up(&self, transcript: &str) -> Result<Option<FlushPosition>, ContextError> {
        let found = self.sql(|connection| {
            connection
                .prepare_cached("SELECT position, before, topic FROM transcripts WHERE name = ?1")?
                .query_row([transcript], |row| {
                    Ok(FlushPosition {
                        position: unsigned(row.get(0)?),
                        before: row.get(1)?,
                        topic: row.get(2)?,
                    })
                })
                .optional()
        })?;
        Ok(found)
    }

    /// Returns true if a message was flushed from any transcript.
    ///
    /// # Errors
    /// Returns [`ContextError::Store`].
    pub fn is_told(&self, key: &MessageKey) -> Result<bool, ContextError> {
        let found = self.sql(|connection| {
            connection
                .prepare_cached("SELECT EXISTS (SELECT 1 FROM told WHERE key = ?1)")?
                .query_row([key.as_slice()], |row| row.get(0))
        })?;
        Ok(found)
    }

    /// Returns the unfinished flushes, oldest first.
    ///
    /// # Errors
    /// Returns [`ContextError::Store`].
    pub fn flushes(&self) -> Result<Vec<Flush>, ContextError> {
        let rows: Vec<(i64, String, String, String, String)> = self.sql(|connection| {
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
    /// Stores the text to append, the keys of its messages, and the new position of the transcript. Returns the number
    /// of the flush, or `None` if there is nothing to append.
    ///
    /// # Errors
    /// Returns [`ContextError::Store`]. After an error, nothing is stored.
    pub fn begin_flush(
        &mut self,
        transcript: &str,
        upto: &FlushPosition,
        parts: &[FlushPart],
        told: &[MessageKey],
        now_ms: i64,
    ) -> Result<Option<i64>, ContextError> {
        let change = self.begin()?;
        let row = change.sql(|connection| {
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
                    to_signed(upto.position),
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
                add.execute(params![row, to_signed(number), part.day, part.text, part.mark])?;
            }
            Ok(Some(row))
        })?;
        change.commit()?;
        Ok(row)
    }

    /// Removes a flush whose text is in the logs.
    ///
    /// # Errors
    /// Returns [`ContextError::Store`].
    pub fn end_flush(&mut self, row: i64) -> Result<(), ContextError> {
        let change = self.begin()?;
        change.sql(|connection| {
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
    fn a_flush_survives_a_restart_until_its_end_and_its_messages_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("contexts.db");
        let upto = FlushPosition {
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
            let nothing = store.begin_flush("/other", &FlushPosition::default(), &[], &[], 1);
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
