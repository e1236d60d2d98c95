//! What can be written of entries in one transaction?

use rusqlite::{Transaction, TransactionBehavior, params};

use hippo_core::consolidation::Record;
use hippo_core::entry::EntryId;
use hippo_core::time::{Date, Timestamp};

use super::{Access, CoAccessed, Store, Tombstone, access, base, put_quick_access, row};
use crate::StoreError;

/// One transaction of changes to entries. Dropped without [`EntryBatch::commit`], nothing of it happened.
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
}

impl EntryBatch<'_> {
    /// Writes a record as it is now, under its entry's id. A strength that is no number is written as 0.
    ///
    /// # Errors
    /// See [`StoreError`]; the batch is then to be dropped.
    pub fn put_record(&mut self, record: &Record) -> Result<(), StoreError> {
        self.done(row::put(&self.transaction, record))
    }

    /// Removes a record for good. Nothing tells of it afterwards but the runs that changed it.
    ///
    /// # Errors
    /// See [`StoreError`]; the batch is then to be dropped.
    pub fn drop_record(&mut self, id: &EntryId) -> Result<(), StoreError> {
        let dropped = self
            .transaction
            .execute("DELETE FROM entries WHERE id = ?1", [&id.0]);
        self.done(dropped.map(drop))
    }

    /// Notes that a person removed an entry. Its record stays; where it stands is for the caller to say.
    ///
    /// # Errors
    /// See [`StoreError`]; the batch is then to be dropped.
    pub fn put_tombstone(&mut self, id: &EntryId, tombstone: &Tombstone) -> Result<(), StoreError> {
        let put = || {
            self.transaction
                .prepare_cached("INSERT OR REPLACE INTO tombstones (id, at, pointers) VALUES (?1, ?2, ?3)")?
                .execute(params![id.0, tombstone.at.0, row::json(&tombstone.pointers)?])
                .map(|_| ())
        };
        self.done(put())
    }

    /// Makes a tombstone void: a person brought the entry back.
    ///
    /// # Errors
    /// See [`StoreError`]; the batch is then to be dropped.
    pub fn drop_tombstone(&mut self, id: &EntryId) -> Result<(), StoreError> {
        let done = self
            .transaction
            .execute("DELETE FROM tombstones WHERE id = ?1", [&id.0]);
        self.done(done.map(|_| ()))
    }

    /// Records accesses; [`Store::fold_accesses`] lets them count, in the order of recording.
    ///
    /// # Errors
    /// See [`StoreError`]; the batch is then to be dropped.
    pub fn record_accesses(&mut self, accesses: &[Access]) -> Result<(), StoreError> {
        self.done(access::record(&self.transaction, accesses))
    }

    /// Counts one common access of every pair of these entries.
    ///
    /// # Errors
    /// See [`StoreError`]; the batch is then to be dropped.
    pub fn add_co_access(&mut self, together: &[EntryId], at: Timestamp) -> Result<(), StoreError> {
        self.done(access::together(&self.transaction, together, at))
    }

    /// Sets the count of a pair, as when old counts fade; 0 forgets the pair.
    ///
    /// # Errors
    /// See [`StoreError`]; the batch is then to be dropped.
    pub fn put_co_access(&mut self, pair: &CoAccessed) -> Result<(), StoreError> {
        self.done(access::put_pair(&self.transaction, pair))
    }

    /// Forgets how often entries were accessed on days before this one.
    ///
    /// # Errors
    /// See [`StoreError`]; the batch is then to be dropped.
    pub fn drop_days_before(&mut self, day: Date) -> Result<(), StoreError> {
        let done = self
            .transaction
            .execute("DELETE FROM access_days WHERE day < ?1", [day.to_string()]);
        self.done(done.map(|_| ()))
    }

    /// Notes what the index file lists under Quick Access.
    ///
    /// # Errors
    /// See [`StoreError`]; the batch is then to be dropped.
    pub fn put_quick_access(&mut self, entries: &[EntryId]) -> Result<(), StoreError> {
        self.done(put_quick_access(&self.transaction, entries))
    }

    /// Notes the bytes of a file that the daemon has just written at `path` (relative to the workspace, with `/`).
    ///
    /// Call it when the file is in place. Stopped in between, the next merge finds the daemon's own writing in the file, which
    /// says the same as the store; noted before, the old file would look as if a person had taken everything back.
    ///
    /// # Errors
    /// See [`StoreError`]; the batch is then to be dropped.
    pub fn put_base(&mut self, path: &str, bytes: &[u8], at: Timestamp) -> Result<(), StoreError> {
        self.done(base::put(&self.transaction, path, bytes, at))
    }

    /// Forgets what was written last at `path`.
    ///
    /// # Errors
    /// See [`StoreError`]; the batch is then to be dropped.
    pub fn drop_base(&mut self, path: &str) -> Result<(), StoreError> {
        let done = self
            .transaction
            .execute("DELETE FROM bases WHERE path = ?1", [path]);
        self.done(done.map(|_| ()))
    }

    /// Makes the batch durable and visible to readers.
    ///
    /// # Errors
    /// See [`StoreError`]; nothing of the batch happened then.
    pub fn commit(self) -> Result<(), StoreError> {
        let path = self.path;
        self.transaction
            .commit()
            .map_err(|source| StoreError::from_sql(path, source))
    }

    fn done(&self, result: rusqlite::Result<()>) -> Result<(), StoreError> {
        result.map_err(|source| StoreError::from_sql(self.path, source))
    }
}
