//! Context entries whose source files change.

use hippod_tests::{Caller, begun};

use super::contexts::{entry, fetch, list, listing, open, render, request};

#[test]
fn an_entry_of_a_whole_file_follows_the_file() {
    let (scratch, daemon, mut client) = begun();
    let root = scratch.workspace();
    let session = open(&mut client, &root, None).session;
    scratch.write("notes.txt", listing("rope"));
    let content = listing("rope");
    let id = entry(&mut client, request(&session, 1, ("file", "notes.txt"), &content)).id;
    let same = fetch(&mut client, &id);
    assert!(!same.stale && same.source_hash == same.stored_hash, "{same:?}");

    scratch.write("notes.txt", listing("chain"));
    let shown = render(&mut client, &session, None).markdown;
    assert!(shown.contains("chain") && !shown.contains("rope"), "{shown}");
    assert!(!shown.contains("source changed"), "{shown}");
    let changed = fetch(&mut client, &id);
    assert_eq!(changed.content, Some(listing("chain")));
    assert!(!changed.stale && changed.source_hash != changed.stored_hash);
    let old = changed.stored_hash.expect("the hash of the captured content");
    assert!(changed.reason.unwrap().contains(&old));
    assert_eq!(
        fetch(&mut client, &old).content.as_deref(),
        Some(content.as_str())
    );

    daemon.kill();
    let daemon = scratch.daemon();
    let mut client = daemon.client();
    assert!(render(&mut client, &session, None).markdown.contains("chain"));
    std::fs::remove_file(root.join("notes.txt")).unwrap();
    let shown = render(&mut client, &session, None).markdown;
    assert!(
        shown.contains("rope") && shown.contains("source changed or gone"),
        "{shown}"
    );
    let listed = list(&mut client, &session);
    assert!(
        listed[0].entry.source.stale && listed[0].entry.source.retrievable,
        "{listed:?}"
    );
    assert_eq!(fetch(&mut client, &id).content.as_deref(), Some(content.as_str()));
}

#[test]
fn an_entry_of_an_excerpt_becomes_stale_when_its_lines_change() {
    let (scratch, _daemon, mut client) = begun();
    let root = scratch.workspace();
    let session = open(&mut client, &root, None).session;
    let excerpt = listing("rope");
    let is_stale = |client: &mut Caller| list(client, &session)[0].entry.source.stale;
    scratch.write("notes.txt", format!("# Head\n{excerpt}"));
    let id = entry(&mut client, request(&session, 1, ("file", "notes.txt"), &excerpt)).id;
    scratch.write("notes.txt", format!("# Other head\n\n{excerpt}"));
    assert!(!is_stale(&mut client), "the lines are still there");
    scratch.write("notes.txt", listing("chain"));
    assert!(is_stale(&mut client));
    let changed = fetch(&mut client, &id);
    assert_eq!(changed.content.as_deref(), Some(excerpt.as_str()));
    assert!(changed.stale && changed.source_hash.is_some() && changed.source_hash != changed.stored_hash);
    scratch.write("notes.txt", &excerpt);
    assert!(!is_stale(&mut client), "the lines came back");
}

#[test]
fn files_that_cannot_be_read_again_make_entries_stale() {
    let (scratch, _daemon, mut client) = begun();
    let root = scratch.workspace();
    let session = open(&mut client, &root, None).session;
    let content = listing("rope");
    let place = root.join("notes.txt");
    scratch.write("notes.txt", &content);
    let id = entry(&mut client, request(&session, 1, ("file", "notes.txt"), &content)).id;
    let attempts: [&dyn Fn(); 4] = [
        &|| std::fs::write(&place, [0xff, 0xfe, 0x00]).unwrap(),
        &|| {
            std::fs::remove_file(&place).unwrap();
            std::fs::create_dir(&place).unwrap();
        },
        &|| {
            std::fs::remove_dir(&place).unwrap();
            std::os::unix::fs::symlink("/etc/hostname", &place).unwrap();
        },
        &|| {
            std::fs::remove_file(&place).unwrap();
            let file = std::fs::File::create(&place).unwrap();
            file.set_len(50 << 20).unwrap();
        },
    ];
    for damage in attempts {
        damage();
        assert!(list(&mut client, &session)[0].entry.source.stale);
        assert_eq!(fetch(&mut client, &id).content.as_deref(), Some(content.as_str()));
    }
    scratch.write("notes.txt", "");
    let shown = render(&mut client, &session, None).markdown;
    assert!(shown.contains("The file is empty."), "{shown}");
}
