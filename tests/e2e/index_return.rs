//! Restored entries and workspaces that are added again.
//! An entry returns with all of its text, and a workspace returns with all of its entries.

use hippo_proto::{Cycle, EntryPlace, IndexEntry, WorkspaceRemoveRequest, WorkspaceRemoveResponse};
use hippod_tests::Caller;

use crate::cycles::{LATER, STILL_LATER, started};
use crate::index_file::{block_of, id_of, indexed};

#[test]
fn a_restored_entry_keeps_the_text_written_by_the_user() {
    let (scratch, daemon, mut client) = indexed();
    let root = scratch.workspace();
    let id = id_of(&mut client, &scratch, "Coffee machine");
    let block = block_of(&scratch.index_file(), &id);
    let more =
        "  Ilse has the key, says ada.\n\n  - [ ] buy filters\n\n  ```sh\n  descale --now # →\n  ```\n";
    let edited = block.replacen(" -->", " | mood=wary -->", 1) + more;
    scratch.edit_index(&block, &edited);
    client.sync(&root);
    let back = |client: &mut Caller, when: &str| {
        assert_eq!(client.restore(&root, &id).place, EntryPlace::Index, "{when}");
        let file = scratch.index_file();
        assert!(file.contains(more), "{when}: {file}");
        assert_eq!(file.matches("Ilse has the key").count(), 1, "{when}: {file}");
        assert!(block_of(&file, &id).contains(" | mood=wary"), "{when}: {file}");
        assert_eq!(file.matches(&format!("id={id} ")).count(), 1, "{when}: {file}");
        client.run(&root, Cycle::Deep);
        assert!(scratch.index_file().contains(more), "{when}, after a cycle");
    };
    let gone = || !scratch.index_file().contains("Ilse has the key");
    client.forget(&root, &id);
    assert!(gone());
    back(&mut client, "forgotten");

    // Text that was added to the entry later must be restored as well.
    scratch.edit_index(
        "Ilse has the key, says ada.",
        "Ilse has the key, says ada. So does Tomasz.",
    );
    client.sync(&root);
    client.forget(&root, &id);
    scratch.edit_index("\n## By Time\n", "\n## Heap\n\nMine.\n\n## By Time\n");
    client.run(&root, Cycle::Light);
    assert!(gone());
    drop(client);
    daemon.terminate();
    let daemon = scratch.quiet_daemon();
    let mut client = daemon.client();
    client.sync(&root);
    client.restore(&root, &id);
    assert!(scratch.index_file().contains("So does Tomasz."));
    scratch.edit_index(" So does Tomasz.", "");
    client.sync(&root);

    // A person deletes the entry, with all of its text, from the file.
    let file = scratch.index_file();
    let start = file.find(&block_of(&file, &id)).unwrap();
    let end = start + file[start..].find(more).unwrap() + more.len();
    scratch.edit_index(&file[start..end], "");
    client.sync(&root);
    assert!(gone() && !client.ids(&root).contains(&id));
    back(&mut client, "removed by hand");
}

#[test]
fn a_readded_workspace_has_its_overflowed_and_archived_entries() {
    let (scratch, _daemon, mut client) = started(40, "[index]\nmax_tokens = 1200\nmax_entries = 12\n");
    let root = scratch.workspace();
    let all = client.ids(&root);
    let pinned = &all[3];
    client.edit(&root, pinned, |edit| {
        edit.summary = Some("A person's words.".into())
    });
    client.run_at(&root, Cycle::Light, LATER);
    client.run_at(&root, Cycle::Deep, STILL_LATER);
    client.run_at(&root, Cycle::Archival, STILL_LATER);
    let places = |client: &mut Caller| -> Vec<(String, String, bool)> {
        let mut entries = client.listed(&root, true, None).entries;
        entries.sort_by(|a, b| a.id.cmp(&b.id));
        let place = |entry: IndexEntry| (entry.id, entry.summary, entry.place == EntryPlace::Archive);
        entries.into_iter().map(place).collect()
    };
    let before = places(&mut client);
    let archived =
        |places: &[(String, String, bool)]| places.iter().filter(|(_, _, archived)| *archived).count();
    assert!(archived(&before) > 2, "{before:?}");
    let listings = || {
        let mut files = scratch.kept_files();
        files.retain(|(path, _)| path.contains("archive/"));
        files
    };
    let listed = listings();
    assert!(!listed.is_empty() && root.join(".hippocampus/topics").exists());

    let request = WorkspaceRemoveRequest {
        workspace: root.display().to_string(),
        ..WorkspaceRemoveRequest::default()
    };
    let _: WorkspaceRemoveResponse = client.raw().call(&request.into()).expect("removed");
    client.index(&root);
    assert_eq!(places(&mut client), before);
    assert_eq!(listings(), listed);
    client.run(&root, Cycle::Light);
    assert_eq!(archived(&places(&mut client)), archived(&before));
    assert_eq!(listings(), listed);
    let gone = before.iter().find(|(_, _, archived)| *archived).unwrap();
    assert_eq!(client.restore(&root, &gone.0).place, EntryPlace::Index);
}

#[test]
fn entries_of_a_deleted_file_leave_quick_access_until_the_file_returns() {
    let (scratch, _daemon, mut client) = indexed();
    let root = scratch.workspace();
    let text = "# Greenhouse\n\nThe fan of the greenhouse runs at 40 percent.\n";
    scratch.write("knowledge/greenhouse.md", text);
    client.sync(&root);
    client.run(&root, Cycle::Light);
    client.run(&root, Cycle::Deep);
    let id = id_of(&mut client, &scratch, "Greenhouse");
    let is_listed = || {
        let map = scratch.index_file();
        let (_, rest) = map.split_once("## Quick Access").unwrap();
        let (listed, _) = rest.split_once("## By Topic").unwrap();
        listed.contains("greenhouse.md")
    };
    assert!(is_listed(), "{}", scratch.index_file());
    std::fs::remove_file(root.join("knowledge/greenhouse.md")).unwrap();
    client.sync(&root);
    client.run(&root, Cycle::Light);
    client.run(&root, Cycle::Deep);
    assert!(!is_listed(), "{}", scratch.index_file());
    let block = block_of(&scratch.index_file(), &id);
    assert!(
        block.contains("no longer exists") && !block.contains("40 percent"),
        "{block}"
    );
    scratch.write("knowledge/greenhouse.md", text);
    client.sync(&root);
    client.run(&root, Cycle::Light);
    client.run(&root, Cycle::Deep);
    assert!(is_listed(), "{}", scratch.index_file());
    let block = block_of(&scratch.index_file(), &id);
    assert!(block.contains("40 percent"), "{block}");
}
