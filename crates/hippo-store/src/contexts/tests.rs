//! Tests of the context store.

mod damage;
mod forget;
mod model;
mod sessions;
mod steps;
mod words;

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use hippo_context::lifecycle::SessionEntry;

use super::*;
use hippo_types::context::{
    ContextDecay, ContextEntry, ContextKind, ContextLifecycle, ContextModifiers, ContextSource,
};

/// A budget so large that no test exceeds it.
const PLENTY: u64 = u64::MAX;

struct ContextScratch {
    folder: tempfile::TempDir,
    file: PathBuf,
}

impl ContextScratch {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("contexts.db");
        Self { folder, file }
    }

    fn open(&self) -> ContextStore {
        ContextStore::open(&self.file).unwrap()
    }

    fn reader(&self) -> ContextReader {
        ContextReader::open(&self.file).unwrap()
    }
}

fn entry(id: &str) -> ContextEntry {
    ContextEntry {
        id: id.to_owned(),
        kind: ContextKind::ToolResult,
        source: ContextSource {
            kind: "exec".to_owned(),
            reference: format!("make {id}"),
            turn: 3,
            retrievable: true,
            stale: false,
        },
        summary: "It was built.".to_owned(),
        key_data: None,
        strength: 0.3,
        decay: ContextDecay {
            rate: 0.1,
            floor: 0.05,
            last_access: 3,
        },
        modifiers: ContextModifiers::default(),
        lifecycle: ContextLifecycle::default(),
    }
}

fn new<'a>(session: &'a str, entry: &'a ContextEntry, content: &'a [u8], now_ms: i64) -> NewEntry<'a> {
    NewEntry {
        session,
        entry,
        file: None,
        content: Some(NewContent::new(content, 9)),
        budget_bytes: PLENTY,
        now_ms,
    }
}

fn put(store: &mut ContextStore, session: &str, id: &str, content: &[u8], now_ms: i64) -> PutOutcome {
    store.put(&new(session, &entry(id), content, now_ms)).unwrap()
}

/// Returns incompressible bytes, different for each seed.
fn noise(seed: u64, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    blake3::Hasher::new()
        .update(&seed.to_le_bytes())
        .finalize_xof()
        .fill(&mut bytes);
    bytes
}

fn kept(reader: &ContextReader, content: &[u8]) -> bool {
    match reader.content(ContentId::of(content)).unwrap() {
        Lookup::Kept(found) => {
            assert_eq!(found.bytes, content);
            true
        }
        _ => false,
    }
}

/// Asserts that the sums maintained by triggers agree with the tables.
fn assert_sums(store: &ContextStore) {
    let wrong: i64 = store
        .read
        .sql(|connection| {
            connection.query_row(
                "SELECT count(*) FROM contents WHERE holds IS NOT (
                     SELECT count(*) FROM entries JOIN sessions ON sessions.row = session
                     WHERE content = contents.row AND closed_ms IS NULL
                 ) OR (gone IS NULL) IS NOT EXISTS (SELECT 1 FROM blobs WHERE content = contents.row)",
                [],
                |row| row.get(0),
            )
        })
        .unwrap();
    assert_eq!(wrong, 0, "contents with wrong holds or blobs");
    let counted: (i64, i64, i64, i64, i64, i64) = store
        .read
        .sql(|connection| {
            connection.query_row(
                "SELECT (SELECT count(*) FROM sessions), (SELECT count(*) FROM sessions WHERE closed_ms IS NULL),
                     (SELECT count(*) FROM entries), count(*), ifnull(sum(length(bytes)), 0), ifnull(sum(raw), 0)
                 FROM contents JOIN blobs ON content = row WHERE gone IS NULL",
                [],
                |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?)),
            )
        })
        .unwrap();
    let usage = store.read().usage().unwrap();
    let told = [
        usage.sessions,
        usage.open,
        usage.entries,
        usage.contents,
        usage.stored_bytes,
        usage.raw_bytes,
    ];
    let counted = [counted.0, counted.1, counted.2, counted.3, counted.4, counted.5].map(unsigned);
    assert_eq!(told, counted);
    let sessions = store.read().sessions().unwrap();
    assert_eq!(
        sessions.iter().map(|session| session.entries).sum::<u64>(),
        usage.entries
    );
}

#[test]
fn a_content_is_kept_once_however_many_sessions_put_it() {
    let scratch = ContextScratch::new();
    let mut store = scratch.open();
    let content = "a line of output\n".repeat(1_000);
    for session in ["a", "b"] {
        assert!(!store.open_session(session, Some("main"), 1).unwrap().1);
    }
    let first = put(&mut store, "a", "e1", content.as_bytes(), 1);
    let second = put(&mut store, "b", "e2", content.as_bytes(), 2);
    let id = Some(ContentId::of(content.as_bytes()));
    assert!(matches!(&first, PutOutcome::Entry { seq: 0, content, shared: false, .. } if *content == id));
    assert!(matches!(&second, PutOutcome::Entry { seq: 0, content, shared: true, .. } if *content == id));
    let usage = store.read().usage().unwrap();
    assert_eq!((usage.entries, usage.contents, usage.raw_bytes), (2, 1, 17_000));
    assert!(usage.stored_bytes < 200, "{usage:?}");
    assert_eq!(usage.oldest_ms, Some(1));
    let found = store.read().entry("e2").unwrap().unwrap();
    assert_eq!(
        (found.kept.entry, found.session.as_str(), found.stored),
        (entry("e2"), "b", true)
    );
    assert_eq!((found.content, found.tokens, found.open), (id, 9, true));
    assert_sums(&store);
}

#[test]
fn putting_the_same_content_of_the_same_source_again_returns_the_known_entry() {
    let scratch = ContextScratch::new();
    let mut store = scratch.open();
    store.open_session("s", None, 1).unwrap();
    put(&mut store, "s", "e1", b"text", 1);
    let mut again = entry("e2");
    again.source.reference = entry("e1").source.reference;
    again.source.turn = 77;
    let PutOutcome::Known(known) = store.put(&new("s", &again, b"text", 2)).unwrap() else {
        panic!("not known");
    };
    assert_eq!(known.kept.entry, entry("e1"));
    assert!(matches!(
        store.put(&new("s", &again, b"other text", 2)),
        Ok(PutOutcome::Entry { seq: 1, .. })
    ));
    // The same bytes from another source make another entry.
    assert!(matches!(
        put(&mut store, "s", "e3", b"text", 3),
        PutOutcome::Entry {
            seq: 2,
            shared: true,
            ..
        }
    ));
    assert!(matches!(
        store.put(&new("s", &entry("e3"), b"new", 3)),
        Err(ContextError::EntryExists(id)) if id == "e3"
    ));
    assert_sums(&store);
}

#[test]
fn unusual_ids_and_contents_are_returned_unchanged() {
    let scratch = ContextScratch::new();
    let mut store = scratch.open();
    let names = [
        "",
        "'; DROP TABLE entries; --",
        "ä\u{0}b",
        "\u{202e}x",
        "#1",
        "%",
        "a\nb",
        &"long".repeat(10_000),
    ];
    let contents: [&[u8]; 8] = [
        b"",
        b"\0",
        b"\xff\xfe\x00",
        b"#1 #2",
        "\u{e000}#1".as_bytes(),
        b"\"*\" AND",
        b"{}",
        &[b'x'; 100_000],
    ];
    for (name, content) in names.iter().zip(contents) {
        store.open_session(name, Some(name), 1).unwrap();
        let mut entry = entry(name);
        entry.summary = (*name).to_owned();
        entry.source.reference = (*name).to_owned();
        entry.key_data = serde_json::json!({ *name: [{ *name: name }, 1.5, null] })
            .as_object()
            .cloned();
        store.put(&new(name, &entry, content, 1)).unwrap();
    }
    drop(store);
    let reader = scratch.reader();
    for (name, content) in names.iter().zip(contents) {
        let found = reader.entries(name).unwrap().entries.remove(0);
        assert_eq!(
            (found.kept.entry.id.as_str(), found.kept.entry.summary.as_str()),
            (*name, *name)
        );
        assert_eq!(found.content, Some(ContentId::of(content)));
        assert!(kept(&reader, content));
        reader.search(name, name, 5, |_| true).unwrap();
    }
}

#[test]
fn nan_and_infinity_are_stored_as_finite_numbers() {
    let scratch = ContextScratch::new();
    let mut store = scratch.open();
    store.open_session("s", None, 1).unwrap();
    let mut odd = entry("e");
    (odd.strength, odd.decay.rate, odd.decay.floor) = (f32::NAN, f32::INFINITY, f32::NEG_INFINITY);
    store.put(&new("s", &odd, b"", 1)).unwrap();
    let found = store.read().entry("e").unwrap().unwrap().kept.entry;
    assert_eq!(
        (found.strength, found.decay.rate, found.decay.floor),
        (0.0, f32::MAX, f32::MIN)
    );
    assert_eq!(found.strength_at(9, false), odd.strength_at(9, false));
}

#[test]
fn a_content_of_the_maximum_size_is_stored_and_a_larger_one_is_refused() {
    let scratch = ContextScratch::new();
    let mut store = scratch.open();
    store.open_session("s", None, 1).unwrap();
    let mut content = noise(1, MAX_CONTENT);
    put(&mut store, "s", "e", &content, 1);
    assert!(kept(&scratch.reader(), &content));
    content.push(0);
    let refused = store.put(&new("s", &entry("f"), &content, 1));
    assert!(matches!(refused, Err(ContextError::TooLarge { .. })));
    assert_sums(&store);
}

#[test]
fn a_content_id_prefix_works_while_it_is_unambiguous() {
    let scratch = ContextScratch::new();
    let mut store = scratch.open();
    store.open_session("s", None, 1).unwrap();
    put(&mut store, "s", "e", b"one", 1);
    let name = ContentId::of(b"one");
    let short: ContentPrefix = name.short_form().parse().unwrap();
    assert!(matches!(store.read().content(short).unwrap(), Lookup::Kept(found) if found.bytes == b"one"));
    let mut neighbour = name.0;
    neighbour[31] ^= 1;
    store
        .read
        .sql(|connection| {
            connection.execute(
                "INSERT INTO contents (hash, raw, stored, coding, tokens, stored_ms, last_used_ms, gone)
                 VALUES (?1, 0, 0, 0, 0, 0, 0, 1)",
                [neighbour],
            )
        })
        .unwrap();
    assert_eq!(store.read().content(short).unwrap(), Lookup::Ambiguous);
    assert!(matches!(store.read().content(name).unwrap(), Lookup::Kept(_)));
    assert_eq!(
        store.read().content(ContentId::of(b"two")).unwrap(),
        Lookup::Unknown
    );
}

#[test]
fn only_the_owner_can_read_the_files() {
    let scratch = ContextScratch::new();
    let modes = || {
        ["", "-wal", "-shm"].map(|suffix| {
            let path = scratch.folder.path().join(format!("contexts.db{suffix}"));
            std::fs::metadata(path).unwrap().permissions().mode() & 0o777
        })
    };
    let mut store = scratch.open();
    store.open_session("s", None, 1).unwrap();
    assert_eq!(modes(), [0o600; 3]);
    for suffix in ["", "-wal", "-shm"] {
        let path = scratch.folder.path().join(format!("contexts.db{suffix}"));
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o644)).unwrap();
    }
    let _other = scratch.open();
    assert_eq!(modes(), [0o600; 3]);
}
