//! Older versions of the index file that are written back.
//!
//! An older version that a person restores takes effect, but the outdated text of an editor does not.

use std::time::Duration;

use hippo_proto::{EntryPlace, Pending};
use hippod_tests::{Caller, Clocked, Scratch};

use crate::cycles::started;
use crate::index_file::{block_of, id_of, indexed};

/// Returns the pending work of this kind.
fn told(client: &mut Caller, scratch: &Scratch, kind: &str) -> Vec<Pending> {
    let mut pending = client.heartbeat(&scratch.workspace()).pending;
    pending.retain(|pending| pending.kind == kind);
    pending
}

/// Creates a workspace and changes its index file. Returns the old version of the file, the id of an entry with a new
/// summary, the old summary of this entry, and the id of an entry that was forgotten.
fn changed_since() -> (Scratch, Clocked, Caller, String, [String; 3]) {
    let (scratch, daemon, mut client) = started(6, "");
    let root = scratch.workspace();
    let old = scratch.index_file();
    let (changed, gone) = (
        id_of(&mut client, &scratch, "Backups"),
        id_of(&mut client, &scratch, "Coffee machine"),
    );
    let summary = client.entry(&root, &changed).summary;
    client.edit(&root, &changed, |edit| edit.summary = Some("Rubbish.".into()));
    client.forget(&root, &gone);
    crate::cycles::ask(&mut client, &scratch, "the pressure sensor drifts");
    (scratch, daemon, client, old, [changed, summary, gone])
}

#[test]
fn a_restored_version_of_the_index_file_takes_effect() {
    let (scratch, daemon, mut client, old, [changed, summary, gone]) = changed_since();
    let root = scratch.workspace();
    let hits: u32 = client.entries(&root).iter().map(|entry| entry.hits).sum();
    assert!(hits > 0);
    daemon.advance(Duration::from_secs(3600));
    scratch.write("HIPPOCAMPUS.md", &old);
    client.sync(&root);
    assert_eq!(client.entry(&root, &changed).summary, summary);
    assert_eq!(client.entry(&root, &gone).place, EntryPlace::Index);
    block_of(&scratch.index_file(), &gone);
    assert!(!scratch.index_file().contains("Rubbish."));
    let now: u32 = client.entries(&root).iter().map(|entry| entry.hits).sum();
    assert_eq!(now, hits, "accesses were made all the same");
    let conflicts = told(&mut client, &scratch, "conflict");
    assert!(
        conflicts.iter().any(|told| told.text.contains("was restored")),
        "{conflicts:?}"
    );
    assert_eq!(client.index_status().file, "written");
}

#[test]
fn entries_newer_than_a_restored_version_are_held_for_a_decision() {
    let (scratch, daemon, mut client, old, [changed, summary, gone]) = changed_since();
    let root = scratch.workspace();
    let remember = |client: &mut Caller| {
        let entry = client
            .remember(&root, "The anchor was painted.", "Anchor paint")
            .entry;
        entry.expect("an entry").id
    };
    let new = remember(&mut client);
    let latest = scratch.index_file();
    daemon.advance(Duration::from_secs(24 * 3600));
    scratch.write("HIPPOCAMPUS.md", &old);
    client.sync(&root);
    for when in ["at once", "later"] {
        assert_eq!(scratch.index_file(), old, "{when}");
        assert_eq!(client.entry(&root, &changed).summary, "Rubbish.", "{when}");
        assert_eq!(client.entry(&root, &new).place, EntryPlace::Index, "{when}");
        let held = told(&mut client, &scratch, "removals-held");
        assert!(
            held[0]
                .text
                .contains("was restored to its version of 2026-03-04T10:"),
            "{held:?}"
        );
        assert_eq!(client.index_status().held_removals, 1, "{when}");
        client.sync(&root);
    }

    // Writing the newest version again has no effect.
    scratch.write("HIPPOCAMPUS.md", &latest);
    client.sync(&root);
    assert_eq!(client.index_status().file, "written");
    assert_eq!(client.entry(&root, &changed).summary, "Rubbish.");

    // The daemon still knows the versions after a restart.
    drop(client);
    drop(daemon);
    scratch.write("HIPPOCAMPUS.md", &old);
    let daemon = Clocked::start(&scratch, "2026-03-06T10:00:00Z", &hippod_tests::QUIET);
    let mut client = daemon.client();
    client.sync(&root);
    assert_eq!(client.index_status().held_removals, 1);
    client.accept_deletions(&root);
    assert_eq!(client.index_status().file, "written");
    assert_eq!(client.entry(&root, &changed).summary, summary);
    assert_eq!(client.entry(&root, &gone).place, EntryPlace::Index);
    assert_eq!(client.entry(&root, &new).place, EntryPlace::Archive);
    assert!(!scratch.index_file().contains("Anchor paint"));
    assert_eq!(client.restore(&root, &new).place, EntryPlace::Index);
}

#[test]
fn saving_an_old_buffer_reverts_nothing_even_after_a_restart() {
    let (scratch, daemon, mut client) = indexed();
    let root = scratch.workspace();
    let buffer = scratch.index_file();
    let backups = id_of(&mut client, &scratch, "Backups");
    let coffee = id_of(&mut client, &scratch, "Coffee machine");
    let summary = client.entry(&root, &backups).summary;
    let new = client
        .remember(&root, "The anchor was painted.", "Anchor paint")
        .entry
        .expect("an entry")
        .id;
    client.edit(&root, &coffee, |edit| edit.tags = Some(vec!["hot".into()]));
    // An editor saves an outdated text of the file in which nothing was edited. The daemon reports this and changes
    // nothing.
    scratch.write("HIPPOCAMPUS.md", &buffer);
    client.sync(&root);
    assert!(client.ids(&root).contains(&new));
    let conflicts = told(&mut client, &scratch, "conflict");
    assert!(
        conflicts.iter().any(|told| told
            .text
            .contains("as it was a short time ago, without new edits")),
        "{conflicts:?}"
    );
    drop(client);
    daemon.terminate();

    let daemon = scratch.quiet_daemon();
    let mut client = daemon.client();
    client.sync(&root);
    scratch.write("HIPPOCAMPUS.md", buffer.replacen(&summary, "Ask Ilse first.", 1));
    client.sync(&root);
    assert_eq!(client.entry(&root, &backups).summary, "Ask Ilse first.");
    assert_eq!(client.entry(&root, &coffee).tags, ["hot"]);
    assert!(client.ids(&root).contains(&new), "nobody removed it");
    block_of(&scratch.index_file(), &new);
    assert_eq!(client.index_status().file, "written");
}
