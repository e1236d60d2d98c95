//! Order in which contents are removed.

use super::*;

fn closed(store: &mut ContextStore, session: &str, contents: &[(&[u8], i64)]) {
    store.open_session(session, None, 1).unwrap();
    for (number, (content, now_ms)) in contents.iter().enumerate() {
        put(store, session, &format!("{session}{number}"), content, *now_ms);
    }
    store.close_session(session, 1).unwrap();
}

#[test]
fn the_longest_unused_contents_of_closed_sessions_are_removed_first() {
    let scratch = ContextScratch::new();
    let mut store = scratch.open();
    let contents: Vec<Vec<u8>> = (0..6).map(|seed| noise(seed, 1_000)).collect();
    closed(
        &mut store,
        "old",
        &[(&contents[0], 30), (&contents[1], 10), (&contents[2], 20)],
    );
    store.open_session("open", None, 1).unwrap();
    put(&mut store, "open", "o1", &contents[3], 1);
    put(&mut store, "open", "o2", &contents[1], 2);
    store
        .use_contents(&[ContentId::of(&contents[2]), ContentId::of(b"unknown")], 40)
        .unwrap();
    assert_eq!(store.trim(4_000, 90, 50).unwrap(), TrimResult::default());
    let gone = store.trim(3_999, 90, 50).unwrap();
    assert_eq!(gone.contents, [ContentId::of(&contents[0])]);
    assert_eq!((gone.stored_bytes, gone.raw_bytes), (1_000, 1_000));
    let why = store.read().content(ContentId::of(&contents[0])).unwrap();
    assert!(matches!(
        why,
        Lookup::Gone {
            why: UnavailableReason::Forgotten { at_ms: 50 },
            ..
        }
    ));
    let gone = store.trim(0, 90, 60).unwrap();
    assert_eq!(gone.contents, [ContentId::of(&contents[2])]);
    assert!(
        kept(store.read(), &contents[1]) && kept(store.read(), &contents[3]),
        "contents of open sessions are kept"
    );
    let entry = store.read().entry("old0").unwrap().unwrap();
    assert_eq!(
        (entry.stored, entry.content),
        (false, Some(ContentId::of(&contents[0])))
    );
    assert_sums(&store);

    // An entry whose content was removed has this content again after any entry stores the same bytes.
    put(&mut store, "open", "o3", &contents[0], 70);
    assert!(store.read().entry("old0").unwrap().unwrap().stored);
    assert!(kept(store.read(), &contents[0]));
    assert_sums(&store);
}

#[test]
fn contents_are_removed_by_age_alone_too() {
    let scratch = ContextScratch::new();
    let mut store = scratch.open();
    let day = 86_400_000;
    closed(&mut store, "s", &[(b"old", 0), (b"young", 2 * day)]);
    let pieces = [b"first", b"again", b"again"].map(|bytes| NewContent::new(bytes, 2));
    let (names, _) = store.put_pieces(&pieces, PLENTY, day).unwrap();
    assert_eq!(
        names,
        [
            ContentId::of(b"first"),
            ContentId::of(b"again"),
            ContentId::of(b"again")
        ]
    );
    assert_eq!(store.read().usage().unwrap().contents, 4);
    assert_eq!(store.trim(PLENTY, 3, 3 * day).unwrap().contents.len(), 0);
    assert_eq!(
        store.trim(PLENTY, 3, 3 * day + 2).unwrap().contents,
        [ContentId::of(b"old")]
    );
    assert_eq!(
        store.trim(PLENTY, 3, 4 * day + 1).unwrap().contents.len(),
        2,
        "the contents of the transcript"
    );
    assert!(kept(store.read(), b"young"));
    assert_eq!(store.trim(PLENTY, u32::MAX, i64::MIN).unwrap().contents.len(), 0);
    assert_sums(&store);
}

#[test]
fn many_contents_are_removed_in_batches() {
    let scratch = ContextScratch::new();
    let mut store = scratch.open();
    let contents: Vec<Vec<u8>> = (0..200).map(|seed| noise(seed, 50)).collect();
    let pieces: Vec<NewContent<'_>> = contents.iter().map(|bytes| NewContent::new(bytes, 1)).collect();
    let (names, _) = store.put_pieces(&pieces, PLENTY, 1).unwrap();
    assert_eq!(store.trim(0, 90, 2).unwrap().contents, names);
    assert_eq!(store.read().usage().unwrap().stored_bytes, 0);
    assert_sums(&store);
}

#[test]
fn a_put_makes_room_or_is_refused_without_removing_anything() {
    let scratch = ContextScratch::new();
    let mut store = scratch.open();
    let contents: Vec<Vec<u8>> = (0..5).map(|seed| noise(seed, 1_000)).collect();
    closed(&mut store, "s", &[(&contents[0], 1), (&contents[1], 2)]);
    store.open_session("open", None, 1).unwrap();
    let entries: Vec<ContextEntry> = (2..5).map(|number| entry(&format!("e{number}"))).collect();
    let limited = |number: usize, budget_bytes| NewEntry {
        budget_bytes,
        ..new("open", &entries[number - 2], &contents[number], 9)
    };
    let PutOutcome::Entry { trimmed, .. } = store.put(&limited(2, 2_500)).unwrap() else {
        panic!("not put");
    };
    assert_eq!(trimmed.contents, [ContentId::of(&contents[0])]);
    let refused = store.put(&limited(3, 1_999));
    assert!(matches!(
        refused,
        Err(ContextError::OverBudget {
            needed: 1_000,
            budget: 1_999
        })
    ));
    assert!(kept(store.read(), &contents[1]), "a refused put removes nothing");
    assert_eq!(store.read().entries("open").unwrap().entries.len(), 1);
    store.put(&limited(3, 2_000)).unwrap();
    assert!(!kept(store.read(), &contents[1]));
    // Content that is already stored needs no additional space.
    let shared = NewEntry {
        budget_bytes: 0,
        ..new("open", &entries[2], &contents[3], 9)
    };
    assert!(matches!(
        store.put(&shared),
        Ok(PutOutcome::Entry { shared: true, .. })
    ));
    assert_sums(&store);
}

#[test]
fn messages_of_one_transcript_do_not_evict_each_other() {
    let scratch = ContextScratch::new();
    let mut store = scratch.open();
    let contents: Vec<Vec<u8>> = (0..4).map(|seed| noise(seed, 1_000)).collect();
    let piece = |number: usize| NewContent::new(&contents[number], 1);
    store.put_pieces(&[piece(0), piece(1)], 2_000, 5).unwrap();
    let (_, trimmed) = store.put_pieces(&[piece(1), piece(2)], 2_000, 5).unwrap();
    assert_eq!(trimmed.contents, [ContentId::of(&contents[0])]);
    assert!(kept(store.read(), &contents[1]) && kept(store.read(), &contents[2]));
    let refused = store.put_pieces(&[piece(3), piece(0), piece(1)], 2_000, 5);
    assert!(matches!(refused, Err(ContextError::OverBudget { .. })));
    assert!(kept(store.read(), &contents[1]) && kept(store.read(), &contents[2]));
    assert_sums(&store);
}
