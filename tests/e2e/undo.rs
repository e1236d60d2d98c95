//! Undo of cycle runs.
//!
//! An undo reverts every byte that a run changed, and keeps all later changes.

use hippo_proto::{Cycle, EntryPlace, EntryPriority, ErrorKind, IndexEntry};
use hippod_tests::{Caller, Clocked, QUIET, Scratch};

use crate::cycles::{LATER, NOW, STILL_LATER, ask, assert_same_state, started, state};
use crate::index_file::{block_of, fill};

#[test]
fn undoing_a_run_restores_every_byte() {
    let overflow = "[index]\nmax_tokens = 1200\nmax_entries = 12\n";
    for (what, settings) in [("one file", ""), ("files below", overflow)] {
        let (scratch, _daemon, mut client) = started(30, settings);
        let root = scratch.workspace();
        let topics = root.join(".hippocampus/topics");
        assert_eq!(topics.exists(), !settings.is_empty(), "{what}");
        // Count the entries that are outside the index file. Each must name the file that contains it.
        let mut below = 0;
        for id in client.ids(&root) {
            let file = client.show(&root, &id).file.expect("a file");
            below += usize::from(file.starts_with(".hippocampus/topics/"));
            let text = std::fs::read_to_string(root.join(&file)).unwrap();
            assert!(text.contains(&format!("id={id} ")), "{id}: {file}");
        }
        assert_eq!(below > 0, !settings.is_empty(), "{what}");
        // Use two entries often, so that they are listed first and become associated.
        for _ in 0..3 {
            ask(
                &mut client,
                &scratch,
                "the Machine called thing3 and the Machine called thing4",
            );
        }
        let mut runs = Vec::new();
        let mut before = vec![state(&mut client, &scratch)];
        for (cycle, at) in [
            (Cycle::Light, None),
            (Cycle::Deep, None),
            (Cycle::Archival, None),
            (Cycle::Light, Some(LATER)),
            (Cycle::Deep, Some(STILL_LATER)),
            (Cycle::Archival, Some("2062-01-01")),
        ] {
            let report = client.try_run(&root, cycle, at, false).unwrap();
            assert!(!report.plan.is_empty(), "{what}: {cycle:?} {at:?}");
            let after = state(&mut client, &scratch);
            let last = before.last().unwrap();
            // An archival cycle may change nothing but the database.
            assert!(
                after != *last || cycle == Cycle::Archival,
                "{what}: {cycle:?} {at:?} {report:#?}"
            );
            runs.push((cycle, report.run.unwrap()));
            before.push(after);
        }
        before.pop();
        for ((cycle, run), before) in runs.iter().rev().zip(before.iter().rev()) {
            let file = |state: &crate::cycles::State| {
                let mut files = state.0.iter();
                files.find(|(path, _)| path == "HIPPOCAMPUS.md").cloned()
            };
            let after = file(&state(&mut client, &scratch));
            let undone = client.undo(&root, *run).unwrap();
            assert!(undone.undone > 0, "{what}: {cycle:?}");
            let is_listed = undone.files.iter().any(|path| path == "HIPPOCAMPUS.md");
            assert_eq!(is_listed, after != file(before), "{what}: {cycle:?} {undone:?}");
            assert_same_state(
                &format!("{what}: {cycle:?} {run}"),
                &state(&mut client, &scratch),
                before,
            );
            let again = client.undo(&root, *run).unwrap();
            assert_eq!((again.undone, again.files.len()), (0, 0), "{what}: {cycle:?}");
            assert_same_state(
                &format!("{what}: {cycle:?} twice"),
                &state(&mut client, &scratch),
                before,
            );
        }
        let history = client.history(&root, None).runs;
        let ids: Vec<i64> = history.iter().map(|run| run.run).collect();
        let mut newest_first = ids.clone();
        newest_first.sort_unstable_by(|a, b| b.cmp(a));
        for (_, run) in &runs {
            let row = history.iter().find(|row| row.run == *run).expect("it is listed");
            assert!(row.undone.is_some(), "{row:?}");
            let report = client
                .history(&root, Some(*run))
                .report
                .expect("its report is kept");
            assert_eq!((report.run, report.applied), (Some(*run), row.done));
        }
    }
}

#[test]
fn a_run_is_not_undone_before_later_runs_that_depend_on_it() {
    let (scratch, _daemon, mut client) = started(4, "");
    let root = scratch.workspace();
    let light = client.run_at(&root, Cycle::Light, LATER).run.unwrap();
    let deep = client.run_at(&root, Cycle::Deep, STILL_LATER).run.unwrap();
    let refusal = client.undo(&root, light).unwrap_err();
    assert_eq!(refusal.data.kind, ErrorKind::Conflict, "{refusal:?}");
    assert!(refusal.message.contains(&deep.to_string()), "{refusal:?}");
    assert!(
        refusal
            .data
            .hint
            .contains(&format!("hippoctl consolidate undo {deep}")),
        "{refusal:?}"
    );
    let refusal = client.undo(&root, 4711).unwrap_err();
    assert_eq!(refusal.data.kind, ErrorKind::NotFound, "{refusal:?}");
    assert!(client.undo(&root, deep).unwrap().undone > 0);
    assert!(client.undo(&root, light).unwrap().undone > 0);
    let queued = client
        .entries(&root)
        .into_iter()
        .filter(|entry| entry.place == EntryPlace::Queue);
    assert_eq!(queued.count(), 0);
}

#[test]
fn undoing_a_run_keeps_later_changes() {
    let (scratch, _daemon, mut client) = started(8, "");
    let root = scratch.workspace();
    let first = client.history(&root, None).runs[0].run;
    let report = client.run_at(&root, Cycle::Light, LATER);
    let run = report.run.unwrap();
    let queued: Vec<String> = client
        .entries(&root)
        .into_iter()
        .filter(|entry| entry.place == EntryPlace::Queue)
        .map(|entry| entry.id)
        .collect();
    assert!(queued.len() > 2, "{report:#?}");
    let summary = client.entry(&root, &queued[0]).summary;
    scratch.edit_index(&summary, "The person said this meanwhile.");
    scratch.edit_index(
        "\n## By Time\n",
        "\n## Heap\n\n- Spare keys → knowledge/kitchen.md\n\n## By Time\n",
    );
    client.edit(&root, &queued[1], |edit| edit.tags = Some(vec!["ours".into()]));
    let remembered = client
        .remember(&root, "The anchor was painted blue.", "Anchor")
        .entry
        .expect("an entry");
    let undone = client.undo(&root, run).unwrap();
    assert!(undone.files.contains(&"HIPPOCAMPUS.md".to_owned()), "{undone:?}");
    let entries = client.entries(&root);
    assert!(
        entries.iter().all(|entry| entry.place == EntryPlace::Index),
        "{entries:#?}"
    );
    assert_eq!(
        client.entry(&root, &queued[0]).summary,
        "The person said this meanwhile."
    );
    assert_eq!(client.entry(&root, &queued[1]).tags, ["ours"]);
    let file = scratch.index_file();
    assert!(file.contains("The person said this meanwhile."), "{file}");
    for id in ["spare-keys", &remembered.id, &queued[0], &queued[1]] {
        assert!(client.ids(&root).contains(&id.to_owned()), "{id}");
    }
    assert!(
        file.contains("- Spare keys → knowledge/kitchen.md") && file.contains("## Heap"),
        "{file}"
    );
    block_of(&file, &remembered.id);
    let queue = file.find("\n## Decay Queue").unwrap();
    for id in &queued {
        assert!(file.find(&format!("id={id} ")).unwrap() < queue, "{id}: {file}");
    }

    // The first run created the entries. Its undo must keep entries that were changed or used after the run.
    let used = ask(&mut client, &scratch, "the pressure sensor drifts");
    assert!(!used.is_empty() && used.len() < 5, "{used:?}");
    client.undo(&root, first).unwrap();
    let mut left = client.ids(&root);
    left.retain(|id| client.entry(&root, id).group != "Questions");
    let mut expected = vec![
        "spare-keys".to_owned(),
        remembered.id,
        queued[0].clone(),
        queued[1].clone(),
    ];
    expected.extend(used);
    expected.sort();
    expected.dedup();
    assert_eq!(left, expected);
    let file = scratch.index_file();
    for id in &expected[..] {
        assert!(
            id == "spare-keys" || file.contains(&format!("id={id} ")),
            "{id}: {file}"
        );
    }
    assert_eq!(client.index_status().file, "written");
}

#[test]
fn undoing_a_run_keeps_the_recorded_associations() {
    let (scratch, _daemon, mut client) = started(8, "");
    let root = scratch.workspace();
    for _ in 0..3 {
        ask(
            &mut client,
            &scratch,
            "the Machine called thing3 and the Machine called thing4",
        );
    }
    let plan = client.plan(&root, Cycle::Deep, None).plan;
    assert!(plan.iter().any(|step| step.rule == "associate"), "{plan:#?}");
    let run = client.run_at(&root, Cycle::Deep, LATER).run.unwrap();
    client.undo(&root, run).unwrap();
    assert_eq!(client.plan(&root, Cycle::Deep, None).plan, plan);
}

#[test]
fn undoing_a_merge_restores_both_entries() {
    let (scratch, daemon, mut client) = started(0, "");
    let root = scratch.workspace();
    let text =
        "# Anchor paint\n\nThe anchor of the blue boat is painted with red lead before each winter, twice.\n";
    scratch.write("knowledge/anchor.md", text);
    scratch.write("knowledge/boat/anchor.md", text);
    client.sync(&root);
    client.run(&root, Cycle::Light);
    let same = |client: &mut Caller| -> Vec<IndexEntry> {
        let entries = client.entries(&root).into_iter();
        entries
            .filter(|entry| entry.topic.contains("Anchor paint"))
            .collect()
    };
    let two = same(&mut client);
    assert_eq!(two.len(), 2, "{two:#?}");
    let before = state(&mut client, &scratch);
    let report = client.run(&root, Cycle::Deep);
    let merges = report.plan.iter().filter(|step| step.rule == "merge").count();
    assert_eq!(merges, 1, "{report:#?}");
    let one = same(&mut client);
    assert_eq!(one.len(), 1, "{one:#?}");
    assert_eq!(one[0].pointers.len(), 2, "{one:#?}");
    client.undo(&root, report.run.unwrap()).unwrap();
    assert_same_state("undone", &state(&mut client, &scratch), &before);

    // After the undo of a merge, no later run may merge the two entries again, even after a restart.
    let refused = |client: &mut Caller| {
        let report = client.run(&root, Cycle::Deep);
        assert!(report.plan.iter().all(|step| step.rule != "merge"), "{report:#?}");
        assert_eq!(same(client).len(), 2);
        report.refused
    };
    refused(&mut client);
    drop((client, daemon));
    let daemon = Clocked::start(&scratch, NOW, &QUIET);
    let mut client = daemon.client();
    client.sync(&root);
    let reasons = refused(&mut client);
    assert!(
        reasons
            .iter()
            .any(|refusal| refusal.reason.contains("has separated these entries")),
        "{reasons:#?}"
    );
}

#[test]
fn undoing_a_merge_keeps_an_edit_of_the_merged_entry() {
    let (scratch, _daemon, mut client) = started(0, "");
    let root = scratch.workspace();
    let text =
        "# Anchor paint\n\nThe anchor of the blue boat is painted with red lead before each winter, twice.\n";
    scratch.write("knowledge/anchor.md", text);
    scratch.write("knowledge/boat/anchor.md", text);
    client.sync(&root);
    client.run(&root, Cycle::Light);
    let same = |client: &mut Caller| -> Vec<IndexEntry> {
        let entries = client.entries(&root).into_iter();
        entries
            .filter(|entry| entry.topic.contains("Anchor paint"))
            .collect()
    };
    let report = client.run(&root, Cycle::Deep);
    let kept = same(&mut client);
    assert_eq!(kept.len(), 1, "{kept:#?}");
    let kept = &kept[0];
    client.edit(&root, &kept.id, |edit| {
        edit.summary = Some("Red lead, twice, says the person.".into())
    });
    client.undo(&root, report.run.unwrap()).unwrap();
    assert_eq!(same(&mut client).len(), 2);
    let entry = client.entry(&root, &kept.id);
    assert_eq!(entry.summary, "Red lead, twice, says the person.");
    assert_eq!(entry.pointers.len(), 1, "{entry:#?}");
}

#[test]
fn an_entry_forgotten_after_a_merge_stays_forgotten() {
    let (scratch, daemon, mut client) = started(0, "");
    let root = scratch.workspace();
    let text =
        "# Anchor paint\n\nThe anchor of the blue boat is painted with red lead before each winter, twice.\n";
    scratch.write("knowledge/anchor.md", text);
    scratch.write("knowledge/boat/anchor.md", text);
    client.sync(&root);
    client.run(&root, Cycle::Light);
    let same = |client: &mut Caller| -> Vec<IndexEntry> {
        let entries = client.entries(&root).into_iter();
        entries
            .filter(|entry| entry.topic.contains("Anchor paint"))
            .collect()
    };
    let two = same(&mut client);
    let run = client.run(&root, Cycle::Deep).run.unwrap();
    let kept = same(&mut client);
    assert_eq!((two.len(), kept.len()), (2, 1), "{two:#?}");
    let absorbed = &two.iter().find(|entry| entry.id != kept[0].id).unwrap().id;
    client.forget(&root, absorbed);
    client.undo(&root, run).unwrap();
    let check = |client: &mut Caller, when: &str| {
        let now = same(client);
        assert_eq!((now.len(), &now[0].id), (1, &kept[0].id), "{when}");
        assert_eq!(now[0].pointers.len(), 1, "{when}: {now:#?}");
        assert_eq!(client.entry(&root, absorbed).place, EntryPlace::Archive, "{when}");
        let file = scratch.index_file();
        assert!(!file.contains(&format!("id={absorbed} ")), "{when}: {file}");
    };
    check(&mut client, "undone");
    for cycle in [Cycle::Light, Cycle::Deep] {
        client.run(&root, cycle);
        check(&mut client, &format!("after {cycle:?}"));
    }
    drop((client, daemon));
    let daemon = Clocked::start(&scratch, NOW, &QUIET);
    let mut client = daemon.client();
    client.sync(&root);
    check(&mut client, "after a restart");
    assert_eq!(client.restore(&root, absorbed).place, EntryPlace::Index);
    assert_eq!(same(&mut client).len(), 2);
}

#[test]
fn undone_entries_are_created_again_by_the_next_light_cycle() {
    let (scratch, _daemon, mut client) = started(4, "");
    let root = scratch.workspace();
    let ids = client.ids(&root);
    let first = client.history(&root, None).runs[0].run;
    client.edit(&root, &ids[0], |edit| {
        edit.priority = Some(EntryPriority::Amygdala)
    });
    let undone = client.undo(&root, first).unwrap();
    assert_eq!(client.ids(&root), ids[..1]);
    let told = |what: &str| undone.notes.iter().any(|note| note.contains(what));
    assert!(told(&format!("{} (pinned)", ids[0])), "{undone:?}");
    assert!(
        told("the next light cycle creates the entries again"),
        "{undone:?}"
    );
    client.sync(&root);
    assert_eq!(client.ids(&root), ids[..1], "nothing comes by itself");
    client.run(&root, Cycle::Light);
    assert_eq!(client.ids(&root), ids);
    let file = scratch.index_file();
    for id in &ids {
        block_of(&file, id);
    }
}

#[test]
fn undone_entries_are_created_again_after_a_restart() {
    let scratch = Scratch::new();
    fill(&scratch);
    let root = scratch.workspace();
    let daemon = scratch.quiet_daemon();
    let mut client = daemon.client();
    client.index(&root);
    let ids = client.ids(&root);
    let first = client.history(&root, None).runs[0].run;
    client.undo(&root, first).unwrap();
    assert!(client.ids(&root).is_empty());
    drop(client);
    daemon.terminate();
    let daemon = scratch.quiet_daemon();
    let mut client = daemon.client();
    client.sync(&root);
    client.run(&root, Cycle::Light);
    assert_eq!(client.ids(&root), ids);
}
