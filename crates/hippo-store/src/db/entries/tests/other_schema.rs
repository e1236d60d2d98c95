//! Other versions of the schema, and removal of documents.

use hippo_text::chunk;

use super::*;
use crate::db::DocumentRecord;

#[test]
fn another_schema_is_refused() {
    let scratch = EntryScratch::new();
    drop(scratch.open());
    for version in [8, 99] {
        scratch.sql(&format!("PRAGMA user_version = {version}"));
        let error = Store::open(&scratch.file, "/w").unwrap_err();
        assert!(
            matches!(error, StoreError::OtherSchema { found, known: 9, .. } if found == version),
            "{error}"
        );
        assert!(error.needs_rebuild());
    }
}

#[test]
fn clearing_the_documents_keeps_the_entries() {
    let scratch = EntryScratch::new();
    let mut store = scratch.open();
    put(&mut store, &[record("a", 0.5)]);
    let text = "- one\n";
    let document = DocumentRecord {
        path: "a.md".to_owned(),
        size: 6,
        mtime_ns: 7,
        hash: [0; 16],
        date: None,
        target: None,
    };
    let mut batch = store.begin().unwrap();
    batch
        .put_document(&document, &chunk::chunk(text.as_bytes()), &mut |_, _, _| 0)
        .unwrap();
    batch.commit().unwrap();
    store.clear().unwrap();
    assert!(store.load().unwrap().is_empty());
    assert_eq!(store.entries().unwrap().records.len(), 1);
}
