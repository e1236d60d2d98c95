//! Light cycles after file changes, also during a cycle.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use hippo_proto::{Cycle, IndexEntry, WorkspaceSyncRequest, WorkspaceSyncResponse};
use hippod_tests::{Caller, PATIENCE, Scratch};

use crate::index_file::indexed;

/// Waits for a number of milliseconds.
fn wait(millis: u64) {
    let (_silent, never) = std::sync::mpsc::channel::<()>();
    let _ = never.recv_timeout(Duration::from_millis(millis));
}

fn device(number: usize) -> (String, String) {
    let path = format!("knowledge/devices/{number:04}.md");
    let text = format!(
        "# Device {number}\n\n## Purpose of gadget{number}\n\nThe Device called gadget{number} lies on shelf {number}, \
         measures the pressure of the old boiler every ten minutes, and writes it to a small card that somebody collects on \
         Fridays; in winter it is brought into the house, because its battery does not last in the frost.\n"
    );
    (path, text)
}

/// Returns a section that the test later adds to the file of a device.
fn more(number: usize) -> String {
    format!(
        "\n## Repair of gadget{number}\n\nGadget{number} was taken apart on the bench in room {number}: its fan had stopped, \
         the bearing was worn out and a replacement came from the shop in the harbour after two weeks; the screws of the lid \
         were exchanged for longer ones, so that the seal is pressed evenly and no water comes in.\n"
    )
}

/// Returns the files and sections to which the entries point.
fn told(client: &mut Caller, scratch: &Scratch) -> BTreeSet<(String, Option<String>)> {
    let entries = client.listed(&scratch.workspace(), true, None).entries;
    let pointers = entries.into_iter().flat_map(|entry| entry.pointers);
    pointers.map(|pointer| (pointer.path, pointer.section)).collect()
}

#[test]
fn text_added_before_a_restart_gets_its_entry_after_it() {
    let (scratch, daemon, mut client) = indexed();
    let root = scratch.workspace();
    let (path, text) = device(7);
    scratch.write(&path, &text);
    client.sync(&root);
    client.run(&root, Cycle::Light);
    assert!(told(&mut client, &scratch).iter().any(|told| told.0 == path));
    // The file was synchronized from another machine and keeps the modification time that it had there.
    let file = root.join(&path);
    let long_ago = std::fs::metadata(&file).unwrap().modified().unwrap() - Duration::from_secs(86_400);
    scratch.write(&path, text + &more(7));
    let times = std::fs::FileTimes::new().set_modified(long_ago);
    std::fs::File::options()
        .write(true)
        .open(&file)
        .unwrap()
        .set_times(times)
        .unwrap();
    client.sync(&root);
    let wanted = (path, Some("Repair of gadget7".to_owned()));
    assert!(!told(&mut client, &scratch).contains(&wanted), "no cycle has run");
    drop(client);
    daemon.kill();
    let daemon = scratch.quiet_daemon();
    let mut client = daemon.client();
    client.sync(&root);
    client.run(&root, Cycle::Light);
    assert!(told(&mut client, &scratch).contains(&wanted));
    // A second run has no work to do.
    drop(client);
    daemon.kill();
    let daemon = scratch.quiet_daemon();
    let mut client = daemon.client();
    client.sync(&root);
    assert!(client.run(&root, Cycle::Light).plan.is_empty());
}

#[test]
fn edits_during_a_light_cycle_are_processed_by_the_next_one() {
    let (scratch, daemon, mut client) = indexed();
    let root = scratch.workspace();
    let number = 300;
    for device in (0..number).map(device) {
        scratch.write(&device.0, device.1);
    }
    client.sync(&root);
    let running = {
        let (mut client, root) = (daemon.client(), root.clone());
        std::thread::spawn(move || client.run(&root, Cycle::Light))
    };
    // The cycle reads some of these files before they are edited, and ends after they are indexed. The edits need
    // pauses, because the watcher reports a file only after a quiet period.
    let begun = Instant::now();
    let mut edited = Vec::new();
    while !running.is_finished() {
        assert!(begun.elapsed() < PATIENCE, "the cycle never ends");
        for number in (edited.len()..number).take(3) {
            let (path, text) = device(number);
            scratch.write(&path, text + &more(number));
            edited.push(path);
        }
        wait(70);
    }
    let report = running.join().expect("a report");
    assert!(!report.plan.is_empty(), "{report:?}");
    client.sync(&root);
    client.run(&root, Cycle::Light);
    let told = told(&mut client, &scratch);
    let lost: Vec<&String> = (0..)
        .zip(&edited)
        .filter(|(number, path)| {
            let section = Some(format!("Repair of gadget{number}"));
            !told.contains(&((*path).clone(), section))
        })
        .map(|(_, path)| path)
        .collect();
    assert!(lost.is_empty(), "{} of {}: {lost:?}", lost.len(), edited.len());
}

#[test]
fn pointers_to_held_deletions_are_kept_until_acceptance() {
    let (scratch, _daemon, mut client) = indexed();
    let root = scratch.workspace();
    let two = |number| (device(number).0, device(number).1 + &more(number));
    let devices: Vec<_> = (0..30).map(two).collect();
    for (path, text) in &devices {
        scratch.write(path, text);
    }
    client.sync(&root);
    client.run(&root, Cycle::Light);
    let before = client.entries(&root);
    for (path, _) in &devices {
        std::fs::remove_file(root.join(path)).unwrap();
    }
    client.sync(&root);
    assert_eq!(client.status().workspaces[0].held_deletions, 30);
    // Another file contains a copy of one device's text among other text.
    let copy = device(7).1
        + "\n## Elsewhere\n\nThis file is a copy that somebody made of the notes about the devices.\n";
    scratch.write("knowledge/copy.md", copy);
    client.sync(&root);
    client.run(&root, Cycle::Light);
    let pointers = |entries: &[IndexEntry]| -> Vec<(String, String)> {
        let pointers = entries.iter().flat_map(|entry| {
            let pointers = entry.pointers.iter();
            pointers.map(|pointer| (entry.id.clone(), format!("{pointer:?}")))
        });
        pointers.collect()
    };
    let after = client.entries(&root);
    let after = pointers(&after);
    for there in pointers(&before) {
        assert!(after.contains(&there), "{there:?} has moved: {after:#?}");
    }
    // After the deletions are accepted, the pointers are removed, and the copy of the text has its own entry.
    let request = WorkspaceSyncRequest {
        workspace: root.display().to_string(),
        wait: true,
        accept_deletions: true,
    };
    let _: WorkspaceSyncResponse = client.raw().call(&request.into()).unwrap();
    client.run(&root, Cycle::Deep);
    let copied = |told: &(String, Option<String>)| told.0 == "knowledge/copy.md";
    assert!(told(&mut client, &scratch).iter().any(copied));
}

#[test]
fn entries_forgotten_during_planning_do_not_return_as_new_entries() {
    let (scratch, daemon, mut client) = indexed();
    let root = scratch.workspace();
    let number = 250;
    for device in (0..number).map(device) {
        scratch.write(&device.0, device.1);
    }
    client.sync(&root);
    client.run(&root, Cycle::Light);
    // Now each text also exists in a second file, for which there is no entry.
    for (path, text) in (0..number).map(device) {
        scratch.write(&path.replace("devices", "copies"), text);
    }
    client.sync(&root);
    let entries = client.entries(&root).into_iter();
    let devices = entries.filter_map(|entry| {
        let path = entry.pointers.first()?.path.clone();
        path.contains("devices").then_some((entry.id, path))
    });
    let devices: Vec<(String, String)> = devices.collect();
    assert!(devices.len() >= number, "{}", devices.len());
    let running = {
        let (mut client, root) = (daemon.client(), root.clone());
        std::thread::spawn(move || client.run(&root, Cycle::Light))
    };
    let begun = Instant::now();
    let mut forgotten = Vec::new();
    for (id, path) in devices {
        client.forget(&root, &id);
        if running.is_finished() {
            break;
        }
        assert!(begun.elapsed() < PATIENCE, "the cycle never ends");
        forgotten.push((id, path));
    }
    let report = running.join().expect("a report");
    // The last request may have waited until the cycle ended. In this case, it was not answered during the cycle.
    forgotten.pop();
    let told = told(&mut client, &scratch);
    let back: Vec<&String> = forgotten
        .iter()
        .filter(|(_, path)| {
            let copy = path.replace("devices", "copies");
            told.iter().any(|told| told.0 == copy)
        })
        .map(|(id, _)| id)
        .collect();
    assert!(
        back.is_empty(),
        "{} of {} in {} ms: {back:?}",
        back.len(),
        forgotten.len(),
        report.took_ms
    );
    assert!(
        forgotten.len() < number,
        "they wait for the plan of a cycle that was disturbed so often"
    );
}
