//! Storage of content, each content only once.

use rusqlite::{Connection, OptionalExtension, params};

use super::content::PackedBytes;
use super::trim::WITHHELD;
use super::write::{PlacedContent, PreparedContent};
use super::{ContextChange, ContextError, TrimResult, to_signed};

impl ContextChange<'_> {
    /// Stores content, unless the same content is already stored, and returns its row.
    pub(super) fn store_content(
        &self,
        content: &PreparedContent<'_>,
        budget: u64,
        now_ms: i64,
        trimmed: &mut TrimResult,
    ) -> Result<PlacedContent, ContextError> {
        let found = self.sql(|connection| {
            connection
                .prepare_cached("SELECT row, gone IS NULL FROM contents WHERE hash = ?1")?
                .query_row([content.id.0], |row| {
                    Ok((row.get::<_, i64>(0)?, row.get::<_, bool>(1)?))
                })
                .optional()
        })?;
        let sound = content.packed.is_none();
        match found {
            Some((row, kept)) if content.withhold || kept && sound => {
                self.sql(|connection| {
                    connection
                        .prepare_cached(
                            "UPDATE contents SET last_used_ms = max(last_used_ms, ?2) WHERE row = ?1",
                        )?
                        .execute(params![row, now_ms])
                })?;
                Ok(PlacedContent { row, shared: kept })
            }
            None if content.withhold => {
                let row = self.sql(|connection| {
                    connection
                        .prepare_cached(
                            "INSERT INTO contents (hash, raw, stored, coding, tokens, stored_ms, last_used_ms, gone)
                             VALUES (?1, ?2, 0, 0, ?3, ?4, ?4, ?5) RETURNING row",
                        )?
                        .query_row(
                            params![
                                content.id.0,
                                to_signed(content.bytes.len()),
                                to_signed(content.tokens),
                                now_ms,
                                WITHHELD
                            ],
                            |row| row.get(0),
                        )
                })?;
                Ok(PlacedContent { row, shared: false })
            }
            found => {
                // At the first lookup the content was stored, so it was not packed. It has been removed since.
                // Packing it inside the transaction is slow, but this case is rare.
                let late;
                let packed = match &content.packed {
                    Some(packed) => packed,
                    None => {
                        late = PackedBytes::of(content.bytes);
                        &late
                    }
                };
                let stored = packed.bytes(content.bytes);
                if let Some((row, true)) = found {
                    // Until the intact bytes replace the damaged ones, this hold prevents the removal of the content.
                    self.sql(|connection| {
                        connection
                            .prepare_cached(
                                "UPDATE contents SET stored = 0, raw = 0, holds = holds + 1 WHERE row = ?1",
                            )?
                            .execute([row])
                    })?;
                }
                self.make_room(to_signed(stored.len()).unsigned_abs(), budget, now_ms, trimmed)?;
                if let Some((row, true)) = found {
                    self.hold(row, -1)?;
                }
                let numbers = params![
                    content.id.0,
                    to_signed(content.bytes.len()),
                    to_signed(stored.len()),
                    packed.coding(),
                    to_signed(content.tokens),
                    now_ms
                ];
                let row = self.sql(|connection| write(connection, numbers, stored))?;
                Ok(PlacedContent { row, shared: false })
            }
        }
    }

    /// Adds `by` to the number of entries of open sessions that need this content.
    pub(super) fn hold(&self, row: i64, by: i64) -> Result<(), ContextError> {
        self.sql(|connection| {
            connection
                .prepare_cached("UPDATE contents SET holds = holds + ?2 WHERE row = ?1")?
                .execute([row, by])
        })?;
        Ok(())
    }
}

fn write(connection: &Connection, numbers: &[&dyn rusqlite::ToSql], stored: &[u8]) -> rusqlite::Result<i64> {
    let row = connection
        .prepare_cached(
            "INSERT INTO contents (hash, raw, stored, coding, tokens, stored_ms, last_used_ms)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6)
             ON CONFLICT (hash) DO UPDATE SET
                 raw = ?2, stored = ?3, coding = ?4, tokens = ?5, gone = NULL, gone_ms = NULL, stored_ms = ?6,
                 last_used_ms = max(last_used_ms, ?6)
             RETURNING row",
        )?
        .query_row(numbers, |row| row.get(0))?;
    connection
        .prepare_cached("INSERT INTO blobs VALUES (?1, ?2) ON CONFLICT DO UPDATE SET bytes = ?2")?
        .execute(params![row, stored])?;
    Ok(row)
}
