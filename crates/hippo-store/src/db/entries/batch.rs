//! Transactions of changes to entries.

use rusqlite::{Transaction, TransactionBehavior, params};

use hippo_map::consolidation::EntryRecord;
use hippo_types::entry::EntryId;
use hippo_types::time::{Date, Timestamp};

use super::{Access, CoAccessed, Store, Tombstone, access, base, put_quick_access, row};
use crate::StoreError;
use crate::db::json;

/// One transaction of changes to entries. If it is dropped without [`EntryBatch::commit`], it is rolled back.
pub struct EntryBatch<'store> {
    transaction: Transaction<'store>,
    path: &'store std::path::Path,
}

impl Store {
    /// Begins a transaction of changes to entries.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn begin_entries(&mut self) -> Result<EntryBatch<'_>, StoreError> {
        let path = self.path.as_path();
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(|source| StoreError::from_sql(path, source))?;
        Ok(EntryBatch { transaction, path })
    }

    /// Runs `write` in one transaction.
    ///
    /// # Errors
    /// Returns the error of `write`; see [`StoreError`]. After an error, nothing is stored.
    pub fn write_entries<T>(
        &mut self,
        write: impl FnOnce(&mut EntryBatch<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut batch = self.begin_entries()?;
        let written = write(&mut batch)?;
        batch.commit()?;
        Ok(written)
    }
}

impl EntryBatch<'_> {
    /// Writes a record under its entry's id. A strength of NaN is written as 0.
    ///
    /// # Errors
    /// See [`StoreError`]. After an error, drop the batch.
    pub fn put_record(&mut self, record: &EntryRecord) -> Result<(), StoreError> {
        self.map_error(row::put(&self.transaction, record))
    }

    /// Deletes a record permanently. After that, the entry occurs only in the runs that changed it.
    ///
    /// # Errors
    /// See [`StoreError`]. After an error, drop the batch.
    pub fn drop_record(&mut self, id: &EntryId) -> Result<(), StoreError> {
        let dropped = self
            .transaction
            .execute("DELETE FROM entries WHERE id = ?1", [&id.0]);
        self.map_error(dropped.map(drop))
    }

    /// Records that the user removed an entry. The record of the entry is kept, and the caller sets its place.
    ///
    /// # Errors
    /// See [`StoreError`]. After an error, drop the batch.
    pub fn put_tombstone(&mut self, id: &EntryId, tombstone: &Tombstone) -> Result<(), StoreError> {
        let put = || {
            self.transaction
                .prepare_cached(
                    "INSERT OR REPLACE INTO tombstones (id, at, pointers, hashes) VALUES (?1, ?2, ?3, ?4)",
                )?
                .execute(params![
                    id.0,
                    tombstone.at.0,
                    json(&tombstone.removed.pointers)?,
                    json(&tombstone.removed.hashes)?
                ])
                .map(|_| ())
        };
        self.map_error(put())
    }

    /// Deletes a tombstone, because the user restored the entry.
    ///
    /// # Errors
    /// See [`StoreError`]. After an error, drop the batch.
    pub fn drop_tombstone(&mut self, id: &EntryId) -> Result<(), StoreError> {
        let done = self
            .transaction
            .execute("DELETE FROM tombstones WHERE id = ?1", [&id.0]);
        self.map_error(done.map(|_| ()))
    }

    /// Records accesses in the journal. [`Store::fold_accesses`] counts them in the same order.
    ///
    /// # Errors
    /// See [`StoreError`]. After an error, drop the batch.
    pub fn record_accesses(&mut self, accesses: &[Access]) -> Result<(), StoreError> {
        self.map_error(access::insert_accesses(&self.transaction, accesses))
    }

    /// Counts one common access for each pair among the entries.
    ///
    /// # Errors
    /// See [`StoreError`]. After an error, drop the batch.
    pub fn add_co_access(&mut self, together: &[EntryId], at: Timestamp) -> Result<(), StoreError> {
        self.map_error(access::record_co_access(&self.transaction, together, at))
    }

    /// Sets the count of a pair, for example when old counts decay. A count of 0 deletes the pair.
    ///
    /// # Errors
    /// See [`StoreError`]. After an error, drop the batch.
    pub fn put_co_access(&mut self, pair: &CoAccessed) -> Result<(), StoreError> {
        self.map_error(access::put_pair(&self.transaction, pair))
    }

    /// Deletes the access counts of all days before `day`.
    ///
    /// # Errors
    /// See [`StoreError`]. After an error, drop the batch.
    pub fn drop_days_before(&mut self, day: Date) -> Result<(), StoreError> {
        let done = self
            .transaction
            .execute("DELETE FROM access_days WHERE day < ?1", [day.to_string()]);
        self.map_error(done.map(|_| ()))
    }

    /// Stores the entries listed under Quick Access in the index file.
    ///
    /// # Errors
    /// See [`StoreError`]. After an error, drop the batch.
    pub fn put_quick_access(&mut self, entries: &[EntryId]) -> Result<(), StoreError> {
        self.map_error(put_quick_access(&self.transaction, entries))
    }

    /// Stores the bytes that the daemon has just written to `path` (relative to the workspace, with `/`).
    ///
    /// Call this after the file was moved into place. If the process stops before this call, the next merge finds the
    /// daemon's own text in the file, which agrees with the store. If the base were stored before the file is moved,
    /// the old file would look as if the user had reverted the daemon's text.
    ///
    /// # Errors
    /// See [`StoreError`]. After an error, drop the batch.
    pub fn put_base(&mut self, path: &str, bytes: &[u8], at: Timestamp) -> Result<(), StoreError> {
        self.map_error(base::put(&self.transaction, path, bytes, at))
    }

    /// Deletes the base of `path`.
    ///
    /// # Errors
    /// See [`StoreError`]. After an error, drop the batch.
    pub fn drop_base(&mut self, path: &str) -> Result<(), StoreError> {
        let done = self
            .transaction
            .execute("DELETE FROM bases WHERE path = ?1", [path]);
        self.map_error(done.map(|_| ()))
    }

    /// Commits the batch, which makes it visible to readers.
    ///
    /// # Errors
    /// See [`StoreError`]. After an error, nothing in the batch is stored.
    pub fn commit(self) -> Result<(), StoreError> {
        let path = self.path;
        self.transaction
            .commit()
            .map_err(|source| StoreError::from_sql(path, source))
    }

    fn map_error(&self, result: rusqlite::Result<()>) -> Result<(), StoreError> {
        result.map_err(|source| StoreError::from_sql(self.path, source))
    }
}
