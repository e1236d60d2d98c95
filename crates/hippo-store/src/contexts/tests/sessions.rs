//! Sessions and entries across restarts.

use super::*;

#[test]
fn sessions_open_resume_and_close() {
    let scratch = ContextScratch::new();
    let mut store = scratch.open();
    assert!(matches!(
        store.advance("s", 1, 1),
        Err(ContextError::UnknownSession(_))
    ));
    assert!(matches!(
        store.put(&new("s", &entry("e"), b"", 1)),
        Err(ContextError::UnknownSession(_))
    ));
    assert!(matches!(
        store.close_session("s", 1),
        Err(ContextError::UnknownSession(_))
    ));
    assert!(matches!(
        store.read().entries("s"),
        Err(ContextError::UnknownSession(_))
    ));
    store.open_session("s", Some("main"), 10).unwrap();
    assert_eq!(store.advance("s", 7, 11).unwrap(), 7);
    assert_eq!(store.advance("s", 3, 12).unwrap(), 7, "turns never go back");
    put(&mut store, "s", "e", b"text", 13);
    drop(store);

    let mut store = scratch.open();
    let opened = store.open_session("s", Some("other"), 14).unwrap();
    let expected = SessionRow {
        id: "s".to_owned(),
        agent: Some("main".to_owned()),
        opened_ms: 10,
        closed_ms: None,
        turn: 7,
        last_used_ms: 14,
        entries: 1,
    };
    assert_eq!(opened, (expected, true));
    store.open_session("t", None, 15).unwrap();
    assert_eq!(store.advance("s", u64::MAX, 16).unwrap(), u64::MAX >> 1);

    assert!(!store.close_session("s", 20).unwrap().1);
    let again = store.close_session("s", 30).unwrap();
    assert_eq!((again.1, again.0.closed_ms), (true, Some(20)));
    for refused in [
        store.open_session("s", None, 31).map(|_| ()),
        store.advance("s", 9, 31).map(|_| ()),
        store.put(&new("s", &entry("f"), b"", 31)).map(|_| ()),
        store.update_entries(&[SessionEntry::new(entry("e"))], 31),
    ] {
        assert!(matches!(refused, Err(ContextError::ClosedSession(id)) if id == "s"));
    }
    assert_eq!(
        store.read().entries("s").unwrap().entries.len(),
        1,
        "the entries stay"
    );
    let names: Vec<String> = store
        .read()
        .sessions()
        .unwrap()
        .into_iter()
        .map(|session| session.id)
        .collect();
    assert_eq!(names, ["s", "t"]);
    assert_sums(&store);
}

#[test]
fn entries_are_rewritten_all_or_none() {
    let scratch = ContextScratch::new();
    let mut store = scratch.open();
    store.open_session("s", None, 1).unwrap();
    put(&mut store, "s", "e1", b"one", 1);
    put(&mut store, "s", "e2", b"two", 1);
    let mut touched = [SessionEntry::new(entry("e1")), SessionEntry::new(entry("e2"))];
    for kept in &mut touched {
        kept.touch(40);
    }
    touched[1].persisted = true;
    let with_unknown = [touched[0].clone(), SessionEntry::new(entry("nobody"))];
    let refused = store.update_entries(&with_unknown, 5);
    assert!(matches!(refused, Err(ContextError::UnknownEntry(id)) if id == "nobody"));
    assert_eq!(store.read().entry("e1").unwrap().unwrap().kept.entry, entry("e1"));
    store.update_entries(&touched, 6).unwrap();
    let found = scratch.reader().entries("s").unwrap();
    let found: Vec<SessionEntry> = found.entries.into_iter().map(|found| found.kept).collect();
    assert_eq!(found, touched);
    assert_eq!(store.read().session("s").unwrap().unwrap().last_used_ms, 6);
}

#[test]
fn two_connections_share_a_session() {
    let scratch = ContextScratch::new();
    let mut first = scratch.open();
    first.open_session("s", None, 1).unwrap();
    let threads: Vec<_> = (0..2)
        .map(|thread| {
            let mut store = scratch.open();
            std::thread::spawn(move || {
                assert!(store.open_session("s", None, 1).unwrap().1);
                for number in 0..40 {
                    let content = format!("content {}", number / 2);
                    put(
                        &mut store,
                        "s",
                        &format!("{thread}-{number}"),
                        content.as_bytes(),
                        2,
                    );
                    store.advance("s", number, 2).unwrap();
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    let found = first.read().entries("s").unwrap();
    let places: Vec<u64> = found.entries.iter().map(|entry| entry.seq).collect();
    assert_eq!(places, (0..80).collect::<Vec<u64>>());
    assert_eq!(first.read().session("s").unwrap().unwrap().turn, 39);
    assert_eq!(first.read().usage().unwrap().contents, 20);
    assert_sums(&first);
}
