//! Tests of the database.

use std::path::PathBuf;

use hippo_text::chunk::{self, ContentHash};
use hippo_text::terms::{self, QueryTerm};

use super::*;

struct StoreScratch {
    _folder: tempfile::TempDir,
    file: PathBuf,
}

impl StoreScratch {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("index.db");
        Self {
            _folder: folder,
            file,
        }
    }

    fn open(&self) -> Store {
        Store::open(&self.file, "/w").unwrap()
    }

    fn reader(&self) -> StoreReader {
        StoreReader::open(&self.file).unwrap()
    }
}

fn put(store: &mut Store, path: &str, text: &str) -> DocumentChange {
    let record = record(path, text);
    let document = chunk::chunk(text.as_bytes());
    let mut batch = store.begin().unwrap();
    let change = batch
        .put_document(&record, &document, &mut index_terms(text))
        .unwrap();
    batch.next_generation().unwrap();
    batch.commit().unwrap();
    change
}

fn record(path: &str, text: &str) -> DocumentRecord {
    DocumentRecord {
        path: path.to_owned(),
        size: text.len() as u64,
        mtime_ns: 7,
        hash: ContentHash::of(text.as_bytes()).0,
        date: Some("2026-03-02".to_owned()),
        target: None,
    }
}

fn index_terms(text: &str) -> impl FnMut(&chunk::Chunk, &str, &mut String) -> usize {
    move |chunk, lead, out| {
        let words = terms::index_terms(&format!("{lead} {}", chunk::chunk_text(text.as_bytes(), chunk)));
        out.push_str(&words.join(" "));
        words.len()
    }
}

/// Stores vectors and assigns them to all pending chunks.
fn embed(store: &mut Store, embedder: &EmbedderRow, embeddings: Vec<Embedding>) -> Vec<u32> {
    let mut placed = Vec::new();
    for vector in store.put_vectors(embedder, embeddings).unwrap() {
        placed.extend(store.place_vector(&vector, None, 100).unwrap());
    }
    placed
}

fn find(scratch: &StoreScratch, word: &str) -> Vec<u32> {
    let term = QueryTerm {
        term: terms::index_terms(word)[0].clone(),
        stop: false,
        prefix: false,
    };
    scratch.reader().postings(&terms::fts_query(&term)).unwrap()
}

fn embedding(text: &str, direction: usize) -> Embedding {
    let mut vector = vec![0.0; 8];
    vector[direction] = 1.0;
    Embedding {
        hash: ContentHash::of(text.as_bytes()).0,
        tokens: 3,
        vector,
    }
}

#[test]
fn an_edit_changes_only_the_chunks_that_differ() {
    let scratch = StoreScratch::new();
    let mut store = scratch.open();
    let before = put(
        &mut store,
        "a.md",
        "# T\n\n- the pump is blue\n- the valve is red\n- the hose is green\n",
    );
    let after = put(
        &mut store,
        "a.md",
        "# T\n\n- the pump is blue\n- the valve is black\n- the hose is green\n",
    );
    assert_eq!((after.added.len(), after.removed.len()), (1, 1));
    assert_eq!(before.chunks[0].id, after.chunks[0].id);
    assert_eq!(before.chunks[2].id, after.chunks[2].id);
    assert!(find(&scratch, "red").is_empty());
    assert_eq!(find(&scratch, "black"), [after.chunks[1].id]);
    assert_eq!(find(&scratch, "pump"), [before.chunks[0].id]);
}

#[test]
fn a_heading_is_indexed_with_its_first_chunk_and_replaced_by_a_new_heading() {
    let scratch = StoreScratch::new();
    let mut store = scratch.open();
    let before = put(&mut store, "a.md", "# Vercel\n\n- push to main\n- wait\n");
    assert_eq!(find(&scratch, "vercel"), [before.chunks[0].id]);
    let after = put(&mut store, "a.md", "# Netlify\n\n- push to main\n- wait\n");
    assert!(find(&scratch, "vercel").is_empty());
    assert_eq!(find(&scratch, "netlify"), [after.chunks[0].id]);
    assert_eq!(after.removed.len(), 1, "the second chunk is untouched");
}

#[test]
fn a_dropped_batch_changes_nothing() {
    let scratch = StoreScratch::new();
    let mut store = scratch.open();
    put(&mut store, "a.md", "- the pump is blue\n");
    let text = "- the valve is red\n";
    {
        let mut batch = store.begin().unwrap();
        batch.remove_document("a.md").unwrap();
        batch
            .put_document(
                &record("b.md", text),
                &chunk::chunk(text.as_bytes()),
                &mut index_terms(text),
            )
            .unwrap();
    }
    assert!(find(&scratch, "red").is_empty());
    assert_eq!(find(&scratch, "pump").len(), 1);
    let change = put(&mut store, "b.md", text);
    assert_eq!(
        change.added,
        [1],
        "the id allocated by the dropped batch is free again"
    );
}

#[test]
fn ids_are_dense_and_reused_even_after_reopening() {
    let scratch = StoreScratch::new();
    let mut store = scratch.open();
    put(
        &mut store,
        "a.md",
        "- one pump\n- two pumps and a hose\n- three valves of steel\n",
    );
    put(&mut store, "b.md", "- four\n");
    let mut batch = store.begin().unwrap();
    batch.remove_document("a.md").unwrap();
    batch.commit().unwrap();
    drop(store);
    let mut store = scratch.open();
    let mut ids = put(&mut store, "c.md", "- five hoses\n- six clamps of brass\n").added;
    ids.sort_unstable();
    assert_eq!(ids, [0, 1]);
}

#[test]
fn each_text_is_embedded_once_wherever_it_occurs() {
    let scratch = StoreScratch::new();
    let mut store = scratch.open();
    let embedder = store.embedder("m", 8).unwrap();
    assert!(embedder.active);
    let (line, moved) = ("- the pump is blue", "- the pump is blue\n");
    put(&mut store, "a.md", moved);
    put(&mut store, "b.md", moved);
    assert_eq!(store.pending_chunks(&embedder).unwrap().len(), 2);
    let placed = embed(&mut store, &embedder, vec![embedding(line, 2)]);
    assert_eq!(placed.len(), 2, "both chunks have their vector");
    assert_eq!(store.pending_chunks(&embedder).unwrap(), []);

    let mut batch = store.begin().unwrap();
    batch.remove_document("a.md").unwrap();
    batch.remove_document("b.md").unwrap();
    batch.commit().unwrap();
    let back = put(&mut store, "c.md", moved);
    assert!(back.chunks[0].vector.is_some());
    assert_eq!(back.chunks[0].tokens, Some(3));
    let read = scratch.reader().vectors(&[back.chunks[0].id]).unwrap();
    assert_eq!(read[0].as_ref().unwrap()[2], 1.0);
}

#[test]
fn a_text_in_many_chunks_is_stored_once_and_assigned_in_batches() {
    let scratch = StoreScratch::new();
    let mut store = scratch.open();
    let embedder = store.embedder("m", 8).unwrap();
    put(&mut store, "a.md", &"# h\n\nx\n\n".repeat(1000));
    let line = "x";
    let stored = store
        .put_vectors(&embedder, vec![embedding(line, 2); 500])
        .unwrap();
    assert_eq!(
        stored.len(),
        1,
        "one vector per text, however often it was embedded"
    );
    let (mut after, mut sizes) = (None, Vec::new());
    loop {
        let placed = store.place_vector(&stored[0], after, 300).unwrap();
        sizes.push(placed.len());
        after = placed.last().copied();
        if placed.len() < 300 {
            break;
        }
        assert!(!store.pending_chunks(&embedder).unwrap().is_empty() || sizes.iter().sum::<usize>() == 1000);
    }
    assert_eq!(sizes, [300, 300, 300, 100], "each chunk is written once");
    assert_eq!(store.pending_chunks(&embedder).unwrap(), []);

    // If a process stops between storing a vector and assigning it, the vector is stored but not assigned.
    put(&mut store, "b.md", "- late\n");
    let late = store
        .put_vectors(&embedder, vec![embedding("- late", 3)])
        .unwrap();
    assert_eq!(scratch.open().unplaced_vectors(&embedder).unwrap(), late);
    store.place_vector(&late[0], None, 300).unwrap();
    assert_eq!(store.unplaced_vectors(&embedder).unwrap(), []);
}

#[test]
fn vectors_without_a_text_can_be_dropped() {
    let scratch = StoreScratch::new();
    let mut store = scratch.open();
    let embedder = store.embedder("m", 8).unwrap();
    put(&mut store, "a.md", "- one\n");
    embed(
        &mut store,
        &embedder,
        vec![embedding("- one", 0), embedding("- never written", 1)],
    );
    assert_eq!(store.drop_orphan_vectors().unwrap(), 1);
    assert_eq!(store.vectors(&[0]).unwrap().len(), 1);
}

#[test]
fn another_model_is_used_only_after_its_activation() {
    let scratch = StoreScratch::new();
    let mut store = scratch.open();
    let old = store.embedder("old", 8).unwrap();
    put(&mut store, "a.md", "- one\n");
    embed(&mut store, &old, vec![embedding("- one", 0)]);

    let new = store.embedder("new", 8).unwrap();
    assert!(!new.active);
    assert_eq!(store.pending_chunks(&new).unwrap().len(), 1);
    assert_eq!(embed(&mut store, &new, vec![embedding("- one", 5)]), [0; 0]);
    assert_eq!(
        store.vectors(&[0]).unwrap()[0].1[0],
        1.0,
        "the old model is still used"
    );
    assert_eq!(store.pending_chunks(&new).unwrap(), []);

    store.activate(&new).unwrap();
    assert_eq!(store.vectors(&[0]).unwrap()[0].1[5], 1.0);
    let left: Vec<String> = store
        .embedders()
        .unwrap()
        .into_iter()
        .map(|row| row.model)
        .collect();
    assert_eq!(left, ["new"]);
}

#[test]
fn documents_survive_a_round_trip() {
    let scratch = StoreScratch::new();
    let text = "---\ndate: 2026-01-02\n---\n# Pumps\n\nUser: which one?\nAssistant: the blue one\n\n## 2026-02-03\n- a note\n";
    let change = put(&mut scratch.open(), "a.md", text);
    let loaded = scratch.open().load().unwrap();
    assert_eq!(scratch.open().generation().unwrap(), 1);
    let document = &loaded[0];
    let fresh = chunk::chunk(text.as_bytes());
    assert_eq!(document.sections, fresh.sections);
    assert_eq!(document.chunks, fresh.chunks);
    assert_eq!(document.rows, change.chunks);
    assert_eq!(document.record, record("a.md", text));
}

#[test]
fn clearing_keeps_vectors_and_increments_the_generation() {
    let scratch = StoreScratch::new();
    let mut store = scratch.open();
    let embedder = store.embedder("m", 8).unwrap();
    put(&mut store, "a.md", "- one\n");
    embed(&mut store, &embedder, vec![embedding("- one", 0)]);
    let generation = store.generation().unwrap();
    store.clear().unwrap();
    assert!(store.generation().unwrap() > generation);
    assert!(find(&scratch, "one").is_empty());
    assert!(put(&mut store, "a.md", "- one\n").chunks[0].vector.is_some());
}

#[test]
fn damaged_files_and_newer_schemas_have_different_errors() {
    let scratch = StoreScratch::new();
    let text: String = (0..2000)
        .map(|n| format!("- line {n} of a long file about pumps\n"))
        .collect();
    put(&mut scratch.open(), "a.md", &text);
    scratch.open().tidy().unwrap();
    let whole = std::fs::read(&scratch.file).unwrap();

    std::fs::write(&scratch.file, &whole[..whole.len() / 2]).unwrap();
    let opened = Store::open(&scratch.file, "/w").and_then(|store| store.check());
    assert!(
        opened.as_ref().is_err_and(StoreError::needs_rebuild),
        "{opened:?}"
    );

    std::fs::write(
        &scratch.file,
        b"this is not a database at all, but it is long enough to look at",
    )
    .unwrap();
    let error = Store::open(&scratch.file, "/w").unwrap_err();
    assert!(error.needs_rebuild(), "{error}");
    assert!(error.to_string().contains("index.db"), "{error}");

    std::fs::write(&scratch.file, whole).unwrap();
    Connection::open(&scratch.file)
        .unwrap()
        .pragma_update(None, "user_version", 99)
        .unwrap();
    let error = Store::open(&scratch.file, "/w").unwrap_err();
    assert!(
        matches!(error, StoreError::OtherSchema { found: 99, .. }),
        "{error}"
    );
}

#[test]
fn a_change_fails_completely_on_a_full_disk_and_succeeds_later() {
    let scratch = StoreScratch::new();
    let mut store = scratch.open();
    put(&mut store, "a.md", "- the pump is blue\n");
    let pages: i64 = store
        .connection
        .query_row("PRAGMA page_count", [], |row| row.get(0))
        .unwrap();
    store
        .connection
        .pragma_update(None, "max_page_count", pages + 2)
        .unwrap();
    let text: String = (0..2000)
        .map(|n| format!("- line {n} of a long file about valves\n"))
        .collect();
    let document = chunk::chunk(text.as_bytes());
    let refused = {
        let mut batch = store.begin().unwrap();
        batch
            .put_document(&record("b.md", &text), &document, &mut index_terms(&text))
            .unwrap_err()
    };
    assert!(matches!(refused, StoreError::DiskFull { .. }), "{refused}");
    assert_eq!(find(&scratch, "pump").len(), 1);
    assert!(find(&scratch, "valves").is_empty());
    store
        .connection
        .pragma_update(None, "max_page_count", 1_000_000)
        .unwrap();
    put(&mut store, "b.md", &text);
    assert!(!find(&scratch, "valves").is_empty());
}
