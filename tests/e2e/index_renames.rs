//! Entries of renamed files and headings, including forgotten entries.

use hippo_proto::{Cycle, IndexEntry};
use hippod_tests::Caller;

use crate::index_file::{id_of, indexed};

const FERRY: &str = "# Ferry\n\n## Timetable of the ferry\n\nThe ferry to the island leaves the old pier at 07:40 and \
    at 16:10, on Sundays only at 09:00, and the crossing takes half an hour in calm weather and twice as long in a gale.\n\n\
    ## Price of a crossing\n\nA crossing costs 14 EUR for one person and 31 EUR with a car; the card of ten crossings \
    is sold at the kiosk beside the pier alone, and it is valid for two years from the day on which it is first used.\n";

fn ferry(client: &mut Caller, root: &std::path::Path) -> Vec<IndexEntry> {
    let mut entries = client.listed(root, false, None).entries;
    entries.retain(|entry| {
        let pointers = entry.pointers.iter();
        let mut paths = pointers.map(|pointer| pointer.path.as_str());
        paths.any(|path| path.contains("ferry") || path.contains("boat"))
    });
    entries
}

#[test]
fn a_rename_neither_restores_nor_duplicates_entries() {
    let (scratch, _daemon, mut client) = indexed();
    let root = scratch.workspace();
    scratch.write("knowledge/ferry.md", FERRY);
    client.sync(&root);
    client.run(&root, Cycle::Light);
    let price = id_of(&mut client, &scratch, "Price of a crossing");
    client.forget(&root, &price);
    let before = ferry(&mut client, &root);
    assert_eq!(before.len(), 2, "{before:?}");
    let ids = |client: &mut Caller| -> Vec<String> {
        let live = client.listed(&root, false, None).entries.into_iter();
        let mut ids: Vec<String> = live.map(|entry| entry.id).collect();
        ids.sort();
        ids
    };
    let all = ids(&mut client);
    let (old, new) = (
        root.join("knowledge/ferry.md"),
        root.join("knowledge/boat-to-the-island.md"),
    );
    std::fs::rename(&old, &new).unwrap();
    client.sync(&root);
    client.run(&root, Cycle::Light);
    assert_eq!(ids(&mut client), all, "the file has another name");
    let moved = ferry(&mut client, &root);
    assert_eq!(moved[0].pointers[0].path, "knowledge/boat-to-the-island.md");

    let renamed = FERRY
        .replace("## Timetable of the ferry", "## When it leaves")
        .replace("## Price of a crossing", "## What it costs");
    std::fs::write(&new, renamed).unwrap();
    client.sync(&root);
    let report = client.run(&root, Cycle::Light);
    assert_eq!(ids(&mut client), all, "the headings have other names: {report:?}");
    let moved = ferry(&mut client, &root);
    let leads = |entry: &IndexEntry| entry.pointers[0].section.as_deref() == Some("When it leaves");
    assert!(moved.iter().any(leads), "{moved:?}");
    for cycle in [Cycle::Deep, Cycle::Light] {
        client.run(&root, cycle);
    }
    assert_eq!(ids(&mut client), all, "after a night");
}
