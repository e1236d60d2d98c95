//! Search for entries by the words of a cue.

use proptest::prelude::*;

use super::*;

fn found(reader: &ContextReader, session: &str, cue: &str) -> Vec<String> {
    let hits = reader.search(session, cue, 10, |_| true).unwrap();
    assert!(
        hits.iter().all(|hit| hit.score > 0.0 && hit.score <= 1.0),
        "{hits:?}"
    );
    hits.into_iter().map(|hit| hit.id).collect()
}

#[test]
fn words_are_found_in_summary_key_data_source_and_content() {
    let scratch = ContextScratch::new();
    let mut store = scratch.open();
    store.open_session("s", None, 1).unwrap();
    store.open_session("t", None, 1).unwrap();
    let mut one = entry("e1");
    one.summary = "Deployment of the harbour service failed".to_owned();
    one.key_data = serde_json::json!({ "commit": "9f3ac21", "hosts": [{ "name": "lantern" }] })
        .as_object()
        .cloned();
    let two = entry("e2");
    store.put(&new("s", &one, b"nothing of interest", 1)).unwrap();
    store
        .put(&new(
            "s",
            &two,
            b"the anchor and the harbour are in the content",
            1,
        ))
        .unwrap();
    store
        .put(&new("t", &entry("other"), b"harbour lantern anchor", 1))
        .unwrap();
    let reader = scratch.reader();
    assert_eq!(
        found(&reader, "s", "what about the harbour?"),
        ["e1", "e2"],
        "the entry's own lines have more weight"
    );
    assert_eq!(found(&reader, "s", "deployments"), ["e1"], "by the stem");
    assert_eq!(found(&reader, "s", "9f3ac21"), ["e1"]);
    assert_eq!(found(&reader, "s", "hosts lanterns"), ["e1"]);
    assert_eq!(found(&reader, "s", "anchor harbour"), ["e2", "e1"]);
    assert_eq!(found(&reader, "s", "e2"), ["e2"], "by its source");
    assert_eq!(found(&reader, "t", "lantern"), ["other"]);
    assert!(found(&reader, "s", "violin").is_empty());
    assert!(found(&reader, "s", "").is_empty());
    assert!(
        found(&reader, "s", "#1 #2").is_empty(),
        "no word matches the term of a session"
    );
    assert!(matches!(
        reader.search("unknown", "x", 1, |_| true),
        Err(ContextError::UnknownSession(_))
    ));
    assert_eq!(reader.search("s", "harbour", 1, |_| true).unwrap().len(), 1);
    assert_eq!(
        reader.search("s", "deployment", 1, |_| true).unwrap()[0].score,
        1.0
    );

    one.summary = "All is well".to_owned();
    store.update_entries(&[SessionEntry::new(one)], 2).unwrap();
    assert_eq!(found(&reader, "s", "harbour"), ["e2"]);
    assert_eq!(found(&reader, "s", "well"), ["e1"]);
}

#[test]
fn binary_content_and_the_rest_of_a_long_text_are_not_searched() {
    let scratch = ContextScratch::new();
    let mut store = scratch.open();
    store.open_session("s", None, 1).unwrap();
    put(&mut store, "s", "binary", b"violin\0", 1);
    let mut long = "teapot ".repeat(20_000);
    long.push_str("lantern");
    put(&mut store, "s", "long", long.as_bytes(), 1);
    put(&mut store, "s", "latin", b"caf\xe9 anchor", 1);
    assert!(found(store.read(), "s", "violin lantern").is_empty());
    assert_eq!(found(store.read(), "s", "teapot"), ["long"]);
    assert_eq!(found(store.read(), "s", "anchor"), ["latin"]);
}

#[test]
fn removing_a_content_removes_its_words_but_not_those_of_the_summary() {
    let scratch = ContextScratch::new();
    let mut store = scratch.open();
    for session in ["s", "t"] {
        store.open_session(session, None, 1).unwrap();
        put(&mut store, session, &format!("{session}1"), b"the violin", 1);
    }
    store.close_session("s", 2).unwrap();
    assert!(
        store.trim(0, 0, 3).unwrap().contents.is_empty(),
        "the other session still holds it"
    );
    store.close_session("t", 3).unwrap();
    assert_eq!(store.trim(0, 0, 4).unwrap().contents.len(), 1);
    for session in ["s", "t"] {
        assert!(found(store.read(), session, "violin").is_empty());
        assert_eq!(found(store.read(), session, "built"), [format!("{session}1")]);
    }
    store.tidy().unwrap();
    assert_eq!(found(store.read(), "s", "built"), ["s1"]);
    store.read().check().unwrap();
}

#[test]
fn withheld_contents_store_no_words_and_no_bytes() {
    let scratch = ContextScratch::new();
    let mut store = scratch.open();
    store.open_session("s", None, 1).unwrap();
    let secret = b"password: correct-horse-battery";
    let entry = entry("e");
    let mut withheld = new("s", &entry, secret, 1);
    withheld.content = withheld.content.map(|content| NewContent {
        withhold: true,
        ..content
    });
    assert!(matches!(
        store.put(&withheld),
        Ok(PutOutcome::Entry { shared: false, .. })
    ));
    let id = ContentId::of(secret);
    let gone = Lookup::Gone {
        id,
        why: UnavailableReason::Withheld,
    };
    assert_eq!(store.read().content(id).unwrap(), gone);
    assert!(found(store.read(), "s", "correct-horse-battery").is_empty());
    let found = store.read().entry("e").unwrap().unwrap();
    assert_eq!((found.content, found.stored), (Some(id), false));
    assert_sums(&store);
    drop(store);
    for file in std::fs::read_dir(scratch.folder.path()).unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        assert!(!bytes.windows(7).any(|window| window == b"battery"));
    }
}

#[test]
fn only_the_latest_closed_sessions_are_searched() {
    let scratch = ContextScratch::new();
    let mut store = scratch.open();
    for (at, session) in ["a", "b", "c", "open", "empty"].into_iter().enumerate() {
        store.open_session(session, None, 1).unwrap();
        if session != "empty" {
            let mut one = entry(&format!("e-{session}"));
            one.summary = format!("harbour {at}");
            store.put(&new(session, &one, b"lantern", 1)).unwrap();
        }
        if session != "open" {
            store.close_session(session, 2).unwrap();
        }
    }
    let found = |sessions: usize, cue: &str| {
        let hits = store.read().search_closed(sessions, cue, 10).unwrap();
        hits.into_iter().map(|hit| hit.id).collect::<Vec<_>>()
    };
    assert_eq!(found(10, "harbour"), ["e-c", "e-b", "e-a"]);
    assert_eq!(found(2, "harbour lantern"), ["e-c", "e-b"]);
    assert!(found(0, "harbour").is_empty() && found(10, "anchor").is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_text_can_be_stored_and_searched(
        summary in "\\PC{0,40}|[\u{0}-\u{7f}]{0,40}", content in proptest::collection::vec(any::<u8>(), 0..200),
        cue in "\\PC{0,40}|[\u{0}-\u{7f}]{0,40}",
    ) {
        let scratch = ContextScratch::new();
        let mut store = scratch.open();
        store.open_session("s", None, 1).unwrap();
        let mut entry = entry("e");
        entry.summary = summary.clone();
        store.put(&new("s", &entry, &content, 1)).unwrap();
        store.read().search("s", &cue, 3, |_| true).unwrap();
        let words = hippo_text::terms::query_terms(&summary);
        let hits = store.read().search("s", &summary, 3, |_| true).unwrap();
        prop_assert_eq!(hits.len(), usize::from(!words.is_empty()));
        prop_assert!(hits.iter().all(|hit| hit.score > 0.0 && hit.score <= 1.0), "{:?}", hits);
    }
}
