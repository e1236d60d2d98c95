//! Storage of entries with their contents.

use std::borrow::Cow;

use hippo_context::lifecycle::{EntryFile, SessionEntry};
use hippo_text::terms::Analyzer;
use hippo_types::context::ContextEntry;
use rusqlite::params;

use super::content::PackedBytes;
use super::entries::{by_id, find_same, source_key};
use super::search::{text_terms, with_session};
use super::{
    ContentId, ContentPrefix, ContextError, ContextStore, KeptEntry, Lookup, MAX_CONTENT, TrimResult,
    unsigned,
};
use crate::StoreError;

/// An entry to store.
#[derive(Clone, Copy)]
pub struct NewEntry<'a> {
    /// Id of the entry's session, which must be open.
    pub session: &'a str,
    /// The entry. Its id must be new.
    pub entry: &'a ContextEntry,
    /// Source file of the entry, if the entry was created from a readable file.
    pub file: Option<EntryFile>,
    /// Content of the entry, if any.
    pub content: Option<NewContent<'a>>,
    /// Maximum number of stored bytes of all contents.
    pub budget_bytes: u64,
    /// Current time in milliseconds since the Unix epoch.
    pub now_ms: i64,
}

/// The content of an entry.
#[derive(Clone, Copy)]
pub struct NewContent<'a> {
    /// The bytes, at most [`MAX_CONTENT`].
    pub bytes: &'a [u8],
    /// Number of tokens of the content.
    pub tokens: u64,
    /// True if only the hash of the bytes is stored.
    pub withhold: bool,
    /// The result of [`ContentPacker::pack_content`] for these bytes, if it was called before.
    pub packed: Option<&'a PackedContent>,
}

impl<'a> NewContent<'a> {
    /// Returns content that will be stored and is not packed yet.
    #[must_use]
    pub const fn new(bytes: &'a [u8], tokens: u64) -> Self {
        Self {
            bytes,
            tokens,
            withhold: false,
            packed: None,
        }
    }
}

/// Packer that prepares contents for a put, so that this work does not hold the lock of the database. It caches the
/// stems of words.
#[derive(Default)]
pub struct ContentPacker {
    analyzer: Analyzer,
}

/// Prepared content: its id, packed bytes and terms.
pub struct PackedContent {
    id: ContentId,
    packed: PackedBytes,
    terms: String,
}

impl ContentPacker {
    /// Prepares content. Returns `None` for more than [`MAX_CONTENT`] bytes.
    pub fn pack_content(&mut self, bytes: &[u8]) -> Option<PackedContent> {
        (bytes.len() <= MAX_CONTENT).then(|| PackedContent {
            id: ContentId::of(bytes),
            packed: PackedBytes::of(bytes),
            terms: text_terms(&mut self.analyzer, bytes),
        })
    }
}

/// The result of a put.
#[derive(Debug, Clone, PartialEq)]
pub enum PutOutcome {
    /// The entry and its content are stored durably.
    Entry {
        /// Position of the entry in the session.
        seq: u64,
        /// Id of the entry's content.
        content: Option<ContentId>,
        /// True if the content was already stored, for any session.
        shared: bool,
        /// Contents of closed sessions that were removed to make room for the content.
        trimmed: TrimResult,
    },
    /// The session already has an entry with the same kind, source and content. Nothing was written.
    Known(Box<KeptEntry>),
}

/// Content that was prepared before the transaction.
pub(super) struct PreparedContent<'a> {
    pub(super) id: ContentId,
    pub(super) bytes: &'a [u8],
    pub(super) tokens: u64,
    pub(super) withhold: bool,
    ready: Option<&'a PackedContent>,
    /// The packed bytes; `None` if the content is withheld or already stored intact.
    pub(super) packed: Option<Cow<'a, PackedBytes>>,
}

/// The row of stored content in the database.
pub(super) struct PlacedContent {
    pub(super) row: i64,
    pub(super) shared: bool,
}

impl ContextStore {
    /// Stores an entry and its content durably in one transaction. Content that is already stored is not written again
    /// unless it is damaged. If the budget is full, contents of closed sessions are removed, starting with the least
    /// recently used.
    ///
    /// # Errors
    /// Returns [`ContextError`]. After an error, nothing is stored or removed.
    pub fn put(&mut self, new: &NewEntry<'_>) -> Result<PutOutcome, ContextError> {
        let content = new.content.map(|content| self.prepare(content)).transpose()?;
        let kept = SessionEntry {
            file: new.file,
            ..SessionEntry::new(new.entry.clone())
        };
        let json = self.json(&kept)?;
        let summary = self.summary_terms(new.entry);
        let text = match &content {
            Some(content) if !content.withhold => Some(match content.ready {
                Some(ready) => Cow::Borrowed(ready.terms.as_str()),
                None => Cow::Owned(text_terms(&mut self.analyzer, content.bytes)),
            }),
            _ => None,
        };

        let change = self.begin()?;
        let session = change.open_session(new.session)?;
        if change
            .sql(|connection| by_id(connection, &new.entry.id))?
            .is_some()
        {
            return Err(ContextError::EntryExists(new.entry.id.clone()));
        }
        let id = content.as_ref().map(|content| content.id);
        if let Some(id) = id
            && let Some(known) = change.sql(|connection| find_same(connection, session, id, new.entry))?
            && (known.stored || content.as_ref().is_some_and(|content| content.withhold))
            && content
                .as_ref()
                .is_none_or(|content| content.packed.is_none() || content.withhold)
        {
            return Ok(PutOutcome::Known(Box::new(known)));
        }
        let mut trimmed = TrimResult::default();
        let placed = match &content {
            Some(content) => {
                Some(change.store_content(content, new.budget_bytes, new.now_ms, &mut trimmed)?)
            }
            None => None,
        };
        let row = placed.as_ref().map(|placed| placed.row);
        let seq = change.sql(|connection| {
            let (entry, seq): (i64, i64) = connection
                .prepare_cached(
                    "INSERT INTO entries (id, session, seq, content, entry, source)
                     VALUES (?1, ?2, (SELECT ifnull(max(seq) + 1, 0) FROM entries WHERE session = ?2), ?3, ?4, ?5)
                     RETURNING row, seq",
                )?
                .query_row(
                    params![new.entry.id, session, row, json, source_key(new.entry)],
                    |row| Ok((row.get(0)?, row.get(1)?)),
                )?;
            connection
                .prepare_cached("UPDATE sessions SET last_used_ms = max(last_used_ms, ?2) WHERE row = ?1")?
                .execute(params![session, new.now_ms])?;
            connection
                .prepare_cached("INSERT INTO summaries (rowid, terms) VALUES (?1, ?2)")?
                .execute(params![entry, with_session(&summary, session)])?;
            if let Some(text) = &text {
                connection
                    .prepare_cached("INSERT INTO texts (rowid, terms) VALUES (?1, ?2)")?
                    .execute(params![entry, with_session(text, session)])?;
            }
            Ok(unsigned(seq))
        })?;
        let shared = placed.is_some_and(|placed| placed.shared);
        if let Some(content) = content.filter(|content| !content.withhold && !shared) {
            self.read_back(&content)?;
        }
        if self.read.entry(&new.entry.id)?.is_none() {
            return Err(self.lost_error(&format!("the entry {}", new.entry.id)).into());
        }
        change.commit()?;
        Ok(PutOutcome::Entry {
            seq,
            content: id,
            shared,
            trimmed,
        })
    }

    /// Stores the messages of a transcript, either all or none. Identical messages are stored once. Like the contents
    /// of closed sessions, messages may be removed later. Returns the ids of the messages in order.
    ///
    /// # Errors
    /// Returns [`ContextError`]. After an error, nothing is stored.
    pub fn put_pieces(
        &mut self,
        pieces: &[NewContent<'_>],
        budget_bytes: u64,
        now_ms: i64,
    ) -> Result<(Vec<ContentId>, TrimResult), ContextError> {
        let prepared: Vec<PreparedContent<'_>> = pieces
            .iter()
            .map(|piece| self.prepare(*piece))
            .collect::<Result<_, _>>()?;
        let names: Vec<ContentId> = prepared.iter().map(|content| content.id).collect();
        let change = self.begin()?;
        let mut trimmed = TrimResult::default();
        let mut rows = Vec::with_capacity(prepared.len());
        for content in prepared {
            let placed = change.store_content(&content, budget_bytes, now_ms, &mut trimmed)?;
            // Hold each message, so that storing the next message does not remove it.
            change.hold(placed.row, 1)?;
            rows.push(placed.row);
            if !placed.shared {
                self.read_back(&content)?;
            }
        }
        for row in rows {
            change.hold(row, -1)?;
        }
        change.commit()?;
        Ok((names, trimmed))
    }

    /// Marks contents as used, which extends their retention. Unknown ids are ignored.
    ///
    /// # Errors
    /// Returns [`ContextError::Store`].
    pub fn use_contents(&mut self, names: &[ContentId], now_ms: i64) -> Result<(), ContextError> {
        let change = self.begin()?;
        for name in names {
            change.sql(|connection| {
                connection
                    .prepare_cached(
                        "UPDATE contents SET last_used_ms = max(last_used_ms, ?2) WHERE hash = ?1",
                    )?
                    .execute(params![name.0, now_ms])
            })?;
        }
        change.commit()?;
        Ok(())
    }

    /// Reads back what the transaction has just written. In a partially damaged file, a write can succeed although
    /// its data cannot be read. The store must not acknowledge such a write.
    fn read_back(&self, content: &PreparedContent<'_>) -> Result<(), ContextError> {
        let there = match &content.packed {
            // The packed bytes were decompressed once when they were created, so comparing them is sufficient.
            Some(packed) => self.read.has_packed(content.id, packed, content.bytes)?,
            None => matches!(self.read.content(content.id)?, Lookup::Kept(_)),
        };
        if there {
            return Ok(());
        }
        Err(self
            .lost_error(&format!("the content {}", content.id.short_form()))
            .into())
    }

    fn lost_error(&self, what: &str) -> StoreError {
        StoreError::Corrupt {
            path: self.read.path.clone(),
            reason: format!("{what} was written, but cannot be read again"),
        }
    }

    /// Computes the id of the content. Packs the content unless it is already stored intact.
    fn prepare<'a>(&self, content: NewContent<'a>) -> Result<PreparedContent<'a>, ContextError> {
        let NewContent {
            bytes,
            tokens,
            withhold,
            packed: ready,
        } = content;
        if bytes.len() > MAX_CONTENT {
            return Err(ContextError::TooLarge {
                size: bytes.len(),
                most: MAX_CONTENT,
            });
        }
        let id = ready.map_or_else(|| ContentId::of(bytes), |ready| ready.id);
        let stored = !withhold && matches!(self.read.content(ContentPrefix::from(id))?, Lookup::Kept(_));
        Ok(PreparedContent {
            id,
            bytes,
            tokens,
            withhold,
            ready,
            packed: (!withhold && !stored).then(|| match ready {
                Some(ready) => Cow::Borrowed(&ready.packed),
                None => Cow::Owned(PackedBytes::of(bytes)),
            }),
        })
    }
}
