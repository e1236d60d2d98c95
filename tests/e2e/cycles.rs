//! Effects of each cycle, compared with the plan and the limits of the cycle.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use hippo_proto::{Cycle, CycleOutcome, CycleReport, EntryPlace, EntryPriority, IndexEntry};
use hippod_tests::{Caller, Clocked, PATIENCE, QUIET, Scratch};

use crate::index_file::{block_of, fill, id_of};

pub const NOW: &str = "2026-03-04T10:00:00Z";
/// A date at which the strength of every entry is below the threshold.
pub const LATER: &str = "2060-01-01";
pub const STILL_LATER: &str = "2061-01-01";

/// Adds so many entries to a workspace that a run reaches its limit, a quarter of all entries.
pub fn machines(scratch: &Scratch, machines: usize) {
    fill(scratch);
    for number in 0..machines {
        let text = format!(
            "# Machine {number}\n\nThe Machine called thing{number} stands at place {number}, hums, and leaks a little oil.\n"
        );
        scratch.write(&format!("knowledge/machines/{number}.md"), text);
    }
}

pub fn started(machines_: usize, settings: &str) -> (Scratch, Clocked, Caller) {
    let scratch = Scratch::new();
    machines(&scratch, machines_);
    if !settings.is_empty() {
        scratch.trusted(".hippocampus/config.toml", settings);
    }
    let daemon = Clocked::start(&scratch, NOW, &QUIET);
    let mut client = daemon.client();
    client.index(&scratch.workspace());
    (scratch, daemon, client)
}

/// Everything that a run can change: the files, and all entries, including the archived ones.
pub type State = (Vec<(String, Vec<u8>)>, Vec<IndexEntry>);

pub fn state(client: &mut Caller, scratch: &Scratch) -> State {
    let mut entries = client.listed(&scratch.workspace(), true, None).entries;
    entries.sort_by(|a, b| a.id.cmp(&b.id));
    (scratch.kept_files(), entries)
}

pub fn assert_same_state(when: &str, after: &State, before: &State) {
    let text = |state: &State| -> Vec<(String, String)> {
        let files = state.0.iter();
        files
            .map(|(path, bytes)| (path.clone(), String::from_utf8_lossy(bytes).into_owned()))
            .collect()
    };
    assert_eq!(text(after), text(before), "{when}");
    for (after, before) in after.1.iter().zip(&before.1) {
        assert_eq!(after, before, "{when}");
    }
    assert_eq!(after.1.len(), before.1.len(), "{when}");
}

/// Asks a question, waits until the access is counted, and returns the entries that answered.
pub fn ask(client: &mut Caller, scratch: &Scratch, question: &str) -> Vec<String> {
    let root = scratch.workspace();
    let before: u32 = client.entries(&root).iter().map(|entry| entry.hits).sum();
    let refreshed = client
        .ask(&root, question, true)
        .trace
        .expect("a trace")
        .refreshed;
    let deadline = Instant::now() + PATIENCE;
    let expected = before + u32::try_from(refreshed.len()).unwrap();
    while client.entries(&root).iter().map(|entry| entry.hits).sum::<u32>() < expected {
        assert!(Instant::now() < deadline, "never counted");
        client.sync(&root);
    }
    refreshed
}

/// Runs a cycle as of the time `at`. Repeats it until it reports that it is done.
fn run_out(client: &mut Caller, scratch: &Scratch, cycle: Cycle, at: &str) -> Vec<CycleReport> {
    let mut reports = Vec::new();
    loop {
        let report = client.run_at(&scratch.workspace(), cycle, at);
        let done = report.outcome == CycleOutcome::Done;
        reports.push(report);
        assert!(reports.len() < 40, "{cycle:?} never ends: {:#?}", reports.pop());
        if done {
            return reports;
        }
    }
}

#[test]
fn a_dry_run_shows_the_plan_and_changes_nothing() {
    let (scratch, _daemon, mut client) = started(12, "");
    let root = scratch.workspace();
    let before = state(&mut client, &scratch);
    let runs = client.history(&root, None).runs;
    for cycle in Cycle::ALL {
        for at in [None, Some(LATER)] {
            let plan = client.plan(&root, cycle, at);
            assert_eq!(
                (plan.outcome, plan.run, plan.applied),
                (CycleOutcome::Planned, None, 0)
            );
            assert!(plan.files.is_empty(), "{plan:#?}");
            if at.is_some() && cycle == Cycle::Light {
                assert!(plan.plan.iter().any(|step| step.rule == "queue"), "{plan:#?}");
                assert!(
                    plan.refused.iter().any(|refusal| refusal.rule == "loss-cap"),
                    "{plan:#?}"
                );
            }
            assert_same_state(
                &format!("{cycle:?} {at:?}"),
                &state(&mut client, &scratch),
                &before,
            );
            let again = client.plan(&root, cycle, at);
            assert_eq!(again.plan, plan.plan, "the same again");
        }
    }
    assert_eq!(client.history(&root, None).runs, runs);
}

#[test]
fn at_most_a_quarter_of_the_entries_is_archived_and_can_be_restored() {
    let (scratch, _daemon, mut client) = started(20, "");
    let root = scratch.workspace();
    let rules = id_of(&mut client, &scratch, "Deployment rules");
    client.edit(&root, &rules, |edit| {
        edit.priority = Some(EntryPriority::Amygdala)
    });
    let all = client.ids(&root);
    let report = client.run_at(&root, Cycle::Light, LATER);
    assert_eq!(report.outcome, CycleOutcome::Capped);
    let refused = report
        .refused
        .iter()
        .find(|refusal| refusal.rule == "loss-cap")
        .expect("it says so");
    assert!(refused.reason.contains("25 %"), "{refused:?}");
    let queued = |client: &mut Caller, place: EntryPlace| -> Vec<String> {
        let entries = client.listed(&root, true, None).entries.into_iter();
        entries
            .filter(|entry| entry.place == place)
            .map(|entry| entry.id)
            .collect()
    };
    let first = queued(&mut client, EntryPlace::Queue);
    assert_eq!(first.len(), all.len() / 4, "a quarter of {}", all.len());
    assert_eq!(client.index_status().queued, first.len() as u64);
    let file = scratch.index_file();
    let (queue, meta) = (
        file.find("\n## Decay Queue").unwrap(),
        file.find("\n## Meta").unwrap(),
    );
    for id in &first {
        let at = file.find(&format!("id={id} ")).expect("it stands in the file");
        assert!((queue..meta).contains(&at), "{id} stands in the queue: {file}");
    }

    run_out(&mut client, &scratch, Cycle::Light, LATER);
    let queue_of_all = queued(&mut client, EntryPlace::Queue);
    assert_eq!(queue_of_all.len(), all.len() - 1, "{queue_of_all:?}");
    assert_eq!(
        client.entry(&root, &rules).place,
        EntryPlace::Index,
        "amygdala never fades"
    );
    let report = client.run_at(&root, Cycle::Light, LATER);
    assert!(report.plan.is_empty() && report.refused.is_empty(), "{report:#?}");

    for report in run_out(&mut client, &scratch, Cycle::Deep, STILL_LATER) {
        let pruned = report.plan.iter().filter(|step| step.rule == "prune").count();
        assert!(pruned <= 1, "of one live entry one may go: {report:#?}");
    }
    let archived = queued(&mut client, EntryPlace::Archive);
    assert_eq!(archived.len(), all.len() - 1);
    assert_eq!(client.ids(&root), std::slice::from_ref(&rules));
    let archive = std::fs::read_to_string(root.join(".hippocampus/archive/2061-01.md")).unwrap();
    for id in &archived {
        assert!(archive.contains(&format!("id={id} ")), "{id}: {archive}");
    }
    // Searches still find the text, and each entry can be restored.
    let found = client.ask(&root, "the Machine called thing7", false).results;
    assert_eq!(found[0].path, "knowledge/machines/7.md");
    for id in &archived {
        client.restore(&root, id);
    }
    assert_eq!(client.ids(&root), all);
    assert!(
        !root.join(".hippocampus/archive/2061-01.md").exists(),
        "nothing is archived"
    );
    client.run(&root, Cycle::Light);
    assert_eq!(client.ids(&root), all);
}

#[test]
fn a_new_file_gets_its_entries_with_the_next_light_cycle() {
    let (scratch, _daemon, mut client) = started(0, "");
    let root = scratch.workspace();
    let text =
        "# Anchor paint\n\nThe anchor of the blue boat is painted with red lead before each winter, twice.\n";
    scratch.write("knowledge/anchor.md", text);
    client.sync(&root);
    for cycle in [Cycle::Deep, Cycle::Archival, Cycle::Light] {
        client.run(&root, cycle);
    }
    let id = id_of(&mut client, &scratch, "Anchor paint");
    block_of(&scratch.index_file(), &id);
}

#[test]
fn every_file_gets_an_entry_even_among_many() {
    let scratch = Scratch::new();
    machines(&scratch, 1_050);
    let daemon = scratch.quiet_daemon();
    let mut client = daemon.client();
    let root = scratch.workspace();
    client.index(&root);
    let wait_for_all = |client: &mut Caller, folder: &str| {
        let begun = Instant::now();
        loop {
            let entries = client.listed(&root, false, None).entries;
            let pointers = entries.iter().flat_map(|entry| &entry.pointers);
            let told: BTreeSet<&str> = pointers.map(|pointer| pointer.path.as_str()).collect();
            let paths = (0..1_050).map(|number| format!("knowledge/{folder}/{number}.md"));
            let untold: Vec<String> = paths.filter(|path| !told.contains(path.as_str())).collect();
            if untold.is_empty() {
                break;
            }
            assert!(begun.elapsed() < PATIENCE, "no entry: {untold:?}");
            // Ask again after 100 ms.
            let (_silent, never) = std::sync::mpsc::channel::<()>();
            let _ = never.recv_timeout(Duration::from_millis(100));
        }
    };
    wait_for_all(&mut client, "machines");

    // Work that a run leaves for the next run must survive a restart.
    for number in 0..1_050 {
        let text = format!(
            "# Device {number}\n\nThe Device called gadget{number} lies on shelf {number} and says nothing.\n"
        );
        scratch.write(&format!("knowledge/devices/{number}.md"), text);
    }
    client.sync(&root);
    let report = client.run(&root, Cycle::Light);
    let told = |note: &String| note.starts_with("50 files without an entry so far");
    assert!(report.notes.iter().any(told), "{:?}", report.notes);
    drop(client);
    daemon.kill();
    let daemon = scratch.quiet_daemon();
    let mut client = daemon.client();
    client.sync(&root);
    client.run(&root, Cycle::Light);
    wait_for_all(&mut client, "devices");
}
