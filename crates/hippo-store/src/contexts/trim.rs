//! Removal of contents by age and by budget.

use hippo_types::time::DAY_MS;
use rusqlite::{Connection, OptionalExtension, params};

use super::{ContentId, ContextChange, ContextError, ContextStore, to_signed, unsigned};

/// Value of `contents.gone` for content that was removed to make room.
pub(super) const FORGOTTEN: i64 = 1;
/// Value of `contents.gone` for content that was never stored.
pub(super) const WITHHELD: i64 = 2;
/// Value of `contents.gone` for content that was unused for longer than the retention time.
pub(super) const EXPIRED: i64 = 3;
/// Maximum number of contents removed in one transaction. It limits the time that a put has to wait.
const SLICE: usize = 64;

/// The contents that were removed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TrimResult {
    /// The contents, starting with the least recently used.
    pub contents: Vec<ContentId>,
    /// Stored bytes of the removed contents.
    pub stored_bytes: u64,
    /// Original bytes of the removed contents.
    pub raw_bytes: u64,
}

/// Content that may be removed.
struct TrimCandidate {
    row: i64,
    id: ContentId,
    stored: i64,
    raw: i64,
    last_used_ms: i64,
}

impl ContextStore {
    /// Removes contents that no open session needs. First, removes all contents that were not used for `keep_days`.
    /// Then removes the least recently used contents until at most `budget_bytes` are stored. The entries of removed
    /// contents and their summaries remain searchable.
    ///
    /// The contents are removed in batches of one transaction each. After an error, the completed batches remain
    /// removed.
    ///
    /// # Errors
    /// Returns [`ContextError::Store`].
    pub fn trim(
        &mut self,
        budget_bytes: u64,
        keep_days: u32,
        now_ms: i64,
    ) -> Result<TrimResult, ContextError> {
        let before_ms = now_ms.saturating_sub(i64::from(keep_days) * DAY_MS);
        let mut all = TrimResult::default();
        loop {
            let change = self.begin()?;
            let before = all.contents.len();
            while all.contents.len() - before < SLICE {
                let Some(oldest) = change.sql(oldest_removable)? else {
                    break;
                };
                let expired = oldest.last_used_ms < before_ms;
                if !expired && change.stored_bytes()? <= budget_bytes {
                    break;
                }
                let why = if expired { EXPIRED } else { FORGOTTEN };
                change.forget(&oldest, why, now_ms, &mut all)?;
            }
            let removed = all.contents.len() - before;
            if removed > 0 {
                change.commit()?;
            }
            if removed < SLICE {
                return Ok(all);
            }
        }
    }
}

impl ContextChange<'_> {
    /// Removes contents until the budget has room for `needed` more bytes.
    ///
    /// # Errors
    /// Returns [`ContextError::OverBudget`] if removing contents does not free enough space.
    pub(super) fn make_room(
        &self,
        needed: u64,
        budget: u64,
        now_ms: i64,
        gone: &mut TrimResult,
    ) -> Result<(), ContextError> {
        while self.stored_bytes()?.saturating_add(needed) > budget {
            let Some(oldest) = self.sql(oldest_removable)? else {
                return Err(ContextError::OverBudget { needed, budget });
            };
            self.forget(&oldest, FORGOTTEN, now_ms, gone)?;
        }
        Ok(())
    }

    fn stored_bytes(&self) -> Result<u64, ContextError> {
        let stored = self.sql(|connection| {
            connection
                .prepare_cached("SELECT stored FROM sums")?
                .query_row([], |row| row.get(0))
        })?;
        Ok(unsigned(stored))
    }

    fn forget(
        &self,
        content: &TrimCandidate,
        why: i64,
        now_ms: i64,
        gone: &mut TrimResult,
    ) -> Result<(), ContextError> {
        self.sql(|connection| {
            connection
                .prepare_cached("UPDATE contents SET gone = ?2, gone_ms = ?3 WHERE row = ?1")?
                .execute(params![content.row, why, to_signed(now_ms)])
        })?;
        gone.contents.push(content.id);
        gone.stored_bytes += unsigned(content.stored);
        gone.raw_bytes += unsigned(content.raw);
        Ok(())
    }
}

fn oldest_removable(connection: &Connection) -> rusqlite::Result<Option<TrimCandidate>> {
    connection
        .prepare_cached(
            "SELECT row, hash, stored, raw, last_used_ms FROM contents INDEXED BY contents_free
             WHERE holds = 0 AND gone IS NULL ORDER BY last_used_ms, row LIMIT 1",
        )?
        .query_row([], |row| {
            Ok(TrimCandidate {
                row: row.get(0)?,
                id: ContentId(row.get(1)?),
                stored: row.get(2)?,
                raw: row.get(3)?,
                last_used_ms: row.get(4)?,
            })
        })
        .optional()
}
