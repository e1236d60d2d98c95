//! Storage and lookup of entries.

use hippo_context::complete::source_path;
use hippo_context::lifecycle::SessionEntry;
use hippo_types::context::ContextEntry;
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::{ContentId, ContextError, ContextReader, ContextStore};
use crate::StoreError;

/// A stored entry with its session and content.
#[derive(Debug, Clone, PartialEq)]
pub struct KeptEntry {
    /// The entry and its usage, as they were last written.
    pub kept: SessionEntry,
    /// Id of the entry's session.
    pub session: String,
    /// True if the entry's session is open.
    pub open: bool,
    /// Position among the entries of the session in the order in which they were stored, from 0.
    pub seq: u64,
    /// Id of the entry's content; `None` without content.
    pub content: Option<ContentId>,
    /// Number of tokens of the content, as counted by the client; 0 without content.
    pub tokens: u64,
    /// True if the content is stored. The content may be damaged; only reading it shows this.
    pub stored: bool,
}

/// An entry that could not be parsed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DamagedEntry {
    /// Id of the entry.
    pub id: String,
    /// The problem, as text.
    pub reason: String,
}

/// The entries of a session.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SessionEntries {
    /// The entries, in the order in which they were stored.
    pub entries: Vec<KeptEntry>,
    /// The entries that could not be parsed.
    pub damaged: Vec<DamagedEntry>,
}

const SELECT: &str = "SELECT entries.id, entries.seq, entries.entry, sessions.id, sessions.closed_ms IS NULL,
         contents.hash, contents.tokens, contents.row IS NOT NULL AND contents.gone IS NULL
     FROM entries JOIN sessions ON sessions.row = entries.session
         LEFT JOIN contents ON contents.row = entries.content";

pub(super) type EntryResult = Result<KeptEntry, DamagedEntry>;

fn parse_entry(row: &Row<'_>) -> rusqlite::Result<EntryResult> {
    let id: String = row.get(0)?;
    let text = row.get_ref(2)?.as_bytes().unwrap_or_default();
    let mut kept: SessionEntry = match serde_json::from_slice(text) {
        Ok(kept) => kept,
        Err(error) => {
            let reason = error.to_string();
            return Ok(Err(DamagedEntry { id, reason }));
        }
    };
    let content = row.get::<_, Option<[u8; 32]>>(5)?.map(ContentId);
    let stored: bool = row.get(7)?;
    let source = &mut kept.entry.source;
    if content.is_some() && !stored && source_path(&source.kind, &source.reference).is_none() {
        // The content was removed, and it cannot be read again, because the source names no file.
        source.retrievable = false;
    }
    Ok(Ok(KeptEntry {
        kept,
        session: row.get(3)?,
        open: row.get(4)?,
        seq: super::unsigned(row.get(1)?),
        content,
        tokens: super::unsigned(row.get::<_, Option<i64>>(6)?.unwrap_or(0)),
        stored,
    }))
}

pub(super) fn by_id(connection: &Connection, id: &str) -> rusqlite::Result<Option<EntryResult>> {
    connection
        .prepare_cached(&format!("{SELECT} WHERE entries.id = ?1"))?
        .query_row([id], parse_entry)
        .optional()
}

/// Returns the first entry of the session that has this content, and the same kind and source as `entry`.
pub(super) fn find_same(
    connection: &Connection,
    session: i64,
    content: ContentId,
    entry: &ContextEntry,
) -> rusqlite::Result<Option<KeptEntry>> {
    let found = connection
        .prepare_cached(&format!(
            "{SELECT} WHERE entries.content = (SELECT row FROM contents WHERE hash = ?2) AND entries.session = ?1
                 AND entries.source = ?3 ORDER BY entries.row LIMIT 1"
        ))?
        .query_row(params![session, content.0, source_key(entry)], parse_entry)
        .optional()?;
    Ok(found.and_then(Result::ok))
}

/// Returns a key that is equal for entries with the same kind and source.
pub(super) fn source_key(entry: &ContextEntry) -> [u8; 16] {
    let mut hasher = blake3::Hasher::new();
    for part in [entry.kind.name(), &entry.source.kind, &entry.source.reference] {
        hasher.update(&part.len().to_le_bytes()).update(part.as_bytes());
    }
    let mut key = [0; 16];
    hasher.finalize_xof().fill(&mut key);
    key
}

/// Serialises an entry. JSON cannot represent NaN and infinity, so NaN is replaced with 0, and an infinity with the
/// largest or smallest `f32`.
fn entry_json(kept: &SessionEntry) -> Result<String, serde_json::Error> {
    let mut kept = kept.clone();
    let ContextEntry { strength, decay, .. } = &mut kept.entry;
    for number in [strength, &mut decay.rate, &mut decay.floor] {
        *number = match number.is_nan() {
            true => 0.0,
            false => number.clamp(f32::MIN, f32::MAX),
        };
    }
    serde_json::to_string(&kept)
}

impl ContextReader {
    /// Returns the entry with this id from any session.
    ///
    /// # Errors
    /// Returns [`StoreError::Row`] if the entry cannot be parsed. Returns other errors as [`ContextError::Store`].
    pub fn entry(&self, id: &str) -> Result<Option<KeptEntry>, ContextError> {
        match self.sql(|connection| by_id(connection, id))? {
            None => Ok(None),
            Some(Ok(entry)) => Ok(Some(entry)),
            Some(Err(damaged)) => Err(ContextError::Store(self.damaged_error(damaged))),
        }
    }

    /// Returns all entries of a session in the order in which they were stored. The session may be open or closed.
    ///
    /// # Errors
    /// Returns [`ContextError::UnknownSession`], [`ContextError::Store`]. Unreadable entries are reported in
    /// `damaged`.
    pub fn entries(&self, session: &str) -> Result<SessionEntries, ContextError> {
        if self.session(session)?.is_none() {
            return Err(ContextError::UnknownSession(session.to_owned()));
        }
        let found = self.sql(|connection| {
            let mut statement = connection.prepare_cached(&format!(
                "{SELECT} WHERE entries.session = (SELECT row FROM sessions WHERE id = ?1) ORDER BY entries.seq"
            ))?;
            let mut found = SessionEntries::default();
            for read in statement.query_map([session], parse_entry)? {
                match read? {
                    Ok(entry) => found.entries.push(entry),
                    Err(damaged) => found.damaged.push(damaged),
                }
            }
            Ok(found)
        })?;
        Ok(found)
    }

    fn damaged_error(&self, entry: DamagedEntry) -> StoreError {
        StoreError::Row {
            path: self.path.clone(),
            row: format!("the context entry {}", entry.id),
            reason: entry.reason,
        }
    }
}

impl ContextStore {
    /// Rewrites entries, either all or none, and marks them and their contents as used. A new turn needs no write,
    /// because the strength of an entry is computed from the turn of its last access.
    ///
    /// # Errors
    /// Returns [`ContextError::UnknownEntry`], [`ContextError::ClosedSession`], [`ContextError::Store`].
    pub fn update_entries(&mut self, entries: &[SessionEntry], now_ms: i64) -> Result<(), ContextError> {
        if entries.is_empty() {
            return Ok(());
        }
        let mut written = Vec::with_capacity(entries.len());
        for kept in entries {
            let entry = &kept.entry;
            written.push((entry, self.json(kept)?, self.summary_terms(entry)));
        }
        let change = self.begin()?;
        for (entry, json, terms) in written {
            let place = change.sql(|connection| locate_entry(connection, &entry.id))?;
            let (row, session, closed) = place.ok_or_else(|| ContextError::UnknownEntry(entry.id.clone()))?;
            if closed {
                return Err(ContextError::ClosedSession(session));
            }
            change.sql(|connection| {
                connection
                    .prepare_cached("UPDATE entries SET entry = ?2, source = ?3 WHERE row = ?1")?
                    .execute(params![row, json, source_key(entry)])?;
                connection
                    .prepare_cached(
                        "UPDATE contents SET last_used_ms = max(last_used_ms, ?2)
                         WHERE row = (SELECT content FROM entries WHERE row = ?1)",
                    )?
                    .execute(params![row, now_ms])?;
                connection
                    .prepare_cached("DELETE FROM summaries WHERE rowid = ?1")?
                    .execute([row])?;
                let session: i64 = connection
                    .prepare_cached(
                        "UPDATE sessions SET last_used_ms = max(last_used_ms, ?2)
                         WHERE row = (SELECT session FROM entries WHERE row = ?1) RETURNING row",
                    )?
                    .query_row(params![row, now_ms], |row| row.get(0))?;
                connection
                    .prepare_cached("INSERT INTO summaries (rowid, terms) VALUES (?1, ?2)")?
                    .execute(params![row, super::search::with_session(&terms, session)])
            })?;
        }
        change.commit()?;
        Ok(())
    }

    /// Serialises an entry with its usage.
    pub(super) fn json(&self, kept: &SessionEntry) -> Result<String, StoreError> {
        entry_json(kept).map_err(|error| StoreError::Row {
            path: self.read.path.clone(),
            row: format!("the context entry {}", kept.entry.id),
            reason: error.to_string(),
        })
    }
}

/// Returns the row of an entry, the id of its session, and whether the session is closed.
fn locate_entry(connection: &Connection, id: &str) -> rusqlite::Result<Option<(i64, String, bool)>> {
    connection
        .prepare_cached(
            "SELECT entries.row, sessions.id, closed_ms IS NOT NULL
             FROM entries JOIN sessions ON sessions.row = session WHERE entries.id = ?1",
        )?
        .query_row([id], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .optional()
}
