//! Documents that are new or changed since a light cycle.
//!
//! A document is marked as fresh in the transaction that changes it. Therefore, no mark is lost if the process ends
//! before the next cycle.

use std::collections::BTreeSet;

use rusqlite::{Connection, params};

use super::{DocumentRecord, Store};
use crate::StoreError;

impl Store {
    /// Returns the paths of the documents that no light cycle has processed since they were last changed.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn fresh_documents(&self) -> Result<BTreeSet<String>, StoreError> {
        let read = || {
            let mut statement = self.connection.prepare("SELECT path FROM fresh")?;
            let paths = statement.query_map([], |row| row.get(0))?;
            paths.collect()
        };
        self.sql(read())
    }

    /// Marks documents as processed by a light cycle.
    ///
    /// # Errors
    /// See [`StoreError`]. After an error, all documents stay fresh.
    pub fn looked_at<'p>(&mut self, paths: impl Iterator<Item = &'p str>) -> Result<(), StoreError> {
        self.in_transaction(|transaction| {
            for path in paths {
                unmark(transaction, path)?;
            }
            Ok(())
        })
    }
}

/// Marks a document as fresh if it is new or has another content.
pub(super) fn mark_changed(connection: &Connection, record: &DocumentRecord) -> rusqlite::Result<()> {
    let mut insert = connection.prepare_cached(
        "INSERT OR IGNORE INTO fresh
         SELECT ?1 WHERE NOT EXISTS (SELECT 1 FROM documents WHERE path = ?1 AND hash = ?2)",
    )?;
    insert.execute(params![record.path, record.hash]).map(|_| ())
}

/// Marks a document as fresh if it exists.
pub(super) fn mark_known(connection: &Connection, path: &str) -> rusqlite::Result<()> {
    let mut insert = connection
        .prepare_cached("INSERT OR IGNORE INTO fresh SELECT path FROM documents WHERE path = ?1")?;
    insert.execute([path]).map(|_| ())
}

pub(super) fn unmark(connection: &Connection, path: &str) -> rusqlite::Result<()> {
    let mut delete = connection.prepare_cached("DELETE FROM fresh WHERE path = ?1")?;
    delete.execute([path]).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;
    use hippo_text::chunk::{self, ContentHash};
    use hippo_types::cycle::Cycle;

    fn put(store: &mut Store, path: &str, text: &str) {
        let document = chunk::chunk(text.as_bytes());
        let mut batch = store.begin().unwrap();
        batch
            .put_document(&record(path, text), &document, &mut |_, _, _| 0)
            .unwrap();
        batch.commit().unwrap();
    }

    fn record(path: &str, text: &str) -> DocumentRecord {
        DocumentRecord {
            path: path.to_owned(),
            size: text.len() as u64,
            mtime_ns: 7,
            hash: ContentHash::of(text.as_bytes()).0,
            date: None,
            target: None,
        }
    }

    #[test]
    fn a_changed_document_stays_fresh_across_restarts_until_processed() {
        let folder = tempfile::tempdir().unwrap();
        let open = || Store::open(&folder.path().join("index.db"), "/w").unwrap();
        let mut store = open();
        for path in ["a.md", "b.md", "c.md"] {
            put(&mut store, path, "- the pump is blue\n");
        }
        store.looked_at(["a.md", "b.md"].into_iter()).unwrap();
        put(&mut store, "a.md", "- the pump is green\n");
        let mut batch = store.begin().unwrap();
        batch.remove_document("c.md").unwrap();
        batch.commit().unwrap();
        // If a batch is dropped without a commit, it changes nothing.
        let mut batch = store.begin().unwrap();
        batch.remove_document("a.md").unwrap();
        drop(batch);
        drop(store);
        let mut store = open();
        let fresh: Vec<String> = store.fresh_documents().unwrap().into_iter().collect();
        assert_eq!(fresh, ["a.md"]);
        store.clear().unwrap();
        assert!(store.fresh_documents().unwrap().is_empty());
    }

    #[test]
    fn a_document_is_fresh_again_after_its_entry_is_undone() {
        use hippo_map::bootstrap::BootstrapEntry;
        use hippo_map::consolidation::{self, ConsolidationSnapshot};
        use hippo_map::schedule::RunOutcome;
        use hippo_types::entry::{Entry, EntryId, Pointer};
        use hippo_types::time::Timestamp;

        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(&folder.path().join("index.db"), "/w").unwrap();
        put(&mut store, "a.md", "- the pump is blue\n");
        let pointer = |path: &str| Pointer {
            path: path.to_owned(),
            section: None,
        };
        let entry = Entry {
            id: EntryId("pump".to_owned()),
            topic: "Pump".to_owned(),
            pointers: vec![pointer("a.md"), pointer("gone.md")],
            ..Entry::default()
        };
        let mut snapshot = ConsolidationSnapshot {
            candidates: vec![BootstrapEntry {
                entry,
                group: "Projects".to_owned(),
            }],
            ..ConsolidationSnapshot::default()
        };
        snapshot.begin(Timestamp(1));
        let plan = consolidation::plan(&snapshot, Cycle::Light);
        let run = store.start_run(&snapshot.run, &plan).unwrap();
        for step in &plan.steps {
            store.apply_step(run, step).unwrap();
        }
        store.finish_run(run, RunOutcome::Done, Timestamp(2)).unwrap();
        store.looked_at(["a.md"].into_iter()).unwrap();
        let done = plan.steps.iter().rev();
        let list: Vec<_> = done.map(|step| step.change.inverse()).collect();
        store.undo_run(run, &list, &[], Timestamp(3)).unwrap();
        assert_eq!(
            store.fresh_documents().unwrap().into_iter().collect::<Vec<_>>(),
            ["a.md"]
        );
    }
}
