//! Tests of damaged rows and their checksums, in a real file.

use hippo_text::chunk::{self, ContentHash};
use hippo_text::terms;

use super::*;
use crate::db::{DocumentRecord, Embedding, StoreReader};

struct SealScratch {
    _folder: tempfile::TempDir,
    file: std::path::PathBuf,
}

const WORDS: [&str; 6] = ["pump", "lantern", "ledger", "kettle", "compass", "anchor"];

impl SealScratch {
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

    /// Creates documents with a vector for every text. All data is in the database file, and the WAL is empty.
    fn filled() -> Self {
        let scratch = Self::new();
        let mut store = scratch.open();
        for number in 0..12 {
            put(&mut store, number, "blue");
        }
        store.checkpoint().unwrap();
        scratch
    }

    fn flip(&self, needle: &[u8], at: usize) {
        let mut bytes = std::fs::read(&self.file).unwrap();
        let found = bytes.windows(needle.len()).position(|window| window == needle);
        bytes[found.unwrap() + at] ^= 1;
        std::fs::write(&self.file, bytes).unwrap();
    }
}

fn text(number: usize, colour: &str) -> String {
    let word = WORDS[number % WORDS.len()];
    format!("# Day {number}\n\n- the {word} of hall {number} is {colour}\n")
}

fn put(store: &mut Store, number: usize, colour: &str) {
    let text = text(number, colour);
    let document = chunk::chunk(text.as_bytes());
    let record = DocumentRecord {
        path: format!("memory/{number}.md"),
        size: text.len() as u64,
        mtime_ns: 7,
        hash: ContentHash::of(text.as_bytes()).0,
        date: None,
        target: None,
    };
    let mut batch = store.begin().unwrap();
    batch
        .put_document(&record, &document, &mut |chunk, lead, out| {
            let words = terms::index_terms(&format!("{lead} {}", chunk::chunk_text(text.as_bytes(), chunk)));
            out.push_str(&words.join(" "));
            words.len()
        })
        .unwrap();
    batch.next_generation().unwrap();
    batch.commit().unwrap();
    let embedder = store.embedder("m", 4).unwrap();
    let embeddings = document
        .chunks
        .iter()
        .map(|chunk| Embedding {
            hash: chunk.hash.0,
            tokens: 5,
            vector: vec![number as f32, 1.0, 0.5, 0.25],
        })
        .collect();
    for stored in store.put_vectors(&embedder, embeddings).unwrap() {
        store.place_vector(&stored, None, 100).unwrap();
    }
}

#[test]
fn every_sequence_of_changes_keeps_the_checksum_right() {
    let scratch = SealScratch::filled();
    let mut store = scratch.open();
    for round in 0..40 {
        put(&mut store, round % 12, ["red", "green", "blue"][round % 3]);
        let mut batch = store.begin().unwrap();
        batch
            .remove_document(&format!("memory/{}.md", (round * 5) % 12))
            .unwrap();
        match round % 4 {
            0 => drop(batch),
            _ => batch.commit().unwrap(),
        }
        if round % 10 == 9 {
            store.tidy().unwrap();
        }
        let reader = StoreReader::open(&scratch.file).unwrap();
        reader.check().unwrap_or_else(|error| panic!("{round}: {error}"));
    }
    drop(store);
    let mut store = scratch.open();
    assert_eq!(store.mend().unwrap(), None);
    store.clear().unwrap();
    StoreReader::open(&scratch.file).unwrap().check().unwrap();
    assert_eq!(store.mend().unwrap(), None);
}

#[test]
fn a_damaged_term_is_detected_and_all_documents_are_indexed_again() {
    let scratch = SealScratch::filled();
    scratch.flip(b"lantern", 3);
    let told = StoreReader::open(&scratch.file).unwrap().check().unwrap_err();
    assert!(told.is_damage(), "{told}");
    let mut store = scratch.open();
    // A change that is made before the check does not hide the damage.
    put(&mut store, 1, "green");
    let mended = store.mend().unwrap().unwrap();
    assert_eq!((mended.documents, mended.vectors), (true, 0));
    assert!(store.load().unwrap().is_empty());
    for number in 0..12 {
        put(&mut store, number, "blue");
    }
    let reader = StoreReader::open(&scratch.file).unwrap();
    reader.check().unwrap();
    assert_eq!(reader.postings("\"lantern\"").unwrap().len(), 2);
    assert_eq!(store.mend().unwrap(), None);
}

#[test]
fn a_damaged_line_number_of_a_chunk_is_detected() {
    let scratch = SealScratch::filled();
    let store = scratch.open();
    store
        .connection
        .execute(
            "UPDATE documents SET outline = replace(outline, '1', '2') WHERE id = 3",
            [],
        )
        .unwrap();
    drop(store);
    assert!(scratch.open().mend().unwrap().unwrap().documents);
}

#[test]
fn a_damaged_vector_is_detected_and_only_its_text_is_embedded_again() {
    let vector: Vec<u8> = [7.0, 1.0, 0.5, 0.25_f32]
        .iter()
        .flat_map(|value| half::f16::from_f32(*value).to_le_bytes())
        .collect();
    for at in 0..vector.len() {
        let scratch = SealScratch::filled();
        scratch.flip(&vector, at);
        let reader = StoreReader::open(&scratch.file).unwrap();
        assert!(reader.check().unwrap_err().is_damage(), "{at}");
        let mut store = scratch.open();
        let mended = store.mend().unwrap().unwrap();
        assert_eq!((mended.documents, mended.vectors), (false, 1), "{at}");
        let embedder = store.embedder("m", 4).unwrap();
        assert_eq!(store.pending_chunks(&embedder).unwrap().len(), 1, "{at}");
        put(&mut store, 7, "blue");
        assert!(store.pending_chunks(&embedder).unwrap().is_empty(), "{at}");
        assert_eq!(store.mend().unwrap(), None);
    }
}

#[test]
fn a_chunk_with_the_vector_of_another_text_gets_a_new_one() {
    let scratch = SealScratch::filled();
    let store = scratch.open();
    store
        .connection
        .execute("UPDATE chunks SET vector = 1 WHERE vector = 2", [])
        .unwrap();
    drop(store);
    let mut store = scratch.open();
    assert_eq!(store.mend().unwrap().unwrap().vectors, 1);
    let embedder = store.embedder("m", 4).unwrap();
    assert_eq!(store.pending_chunks(&embedder).unwrap().len(), 1);
    assert_eq!(store.unplaced_vectors(&embedder).unwrap().len(), 1);
}
