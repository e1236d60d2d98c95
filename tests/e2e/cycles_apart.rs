//! Do entries that say the same become one, and is what a run joined parted again when it is taken back?

use hippo_proto::{CycleName, IndexEntry};
use hippod_tests::Caller;

use crate::cycles::{LATER, ask, assert_same_state, started, state};

#[test]
fn what_belongs_together_still_does_after_a_run_of_later_was_taken_back() {
    let (scratch, _daemon, mut client) = started(8, "");
    let root = scratch.workspace();
    for _ in 0..3 {
        ask(
            &mut client,
            &scratch,
            "the Machine called thing3 and the Machine called thing4",
        );
    }
    let plan = client.plan(&root, CycleName::Deep, None).plan;
    assert!(plan.iter().any(|step| step.rule == "associate"), "{plan:#?}");
    let run = client.run_at(&root, CycleName::Deep, LATER).run.unwrap();
    client.undo(&root, run).unwrap();
    assert_eq!(client.plan(&root, CycleName::Deep, None).plan, plan);
}

#[test]
fn entries_that_say_the_same_become_one_and_two_again() {
    let (scratch, _daemon, mut client) = started(0, "");
    let root = scratch.workspace();
    let text =
        "# Anchor paint\n\nThe anchor of the blue boat is painted with red lead before each winter, twice.\n";
    scratch.write("knowledge/anchor.md", text);
    scratch.write("knowledge/boat/anchor.md", text);
    client.sync(&root);
    client.run(&root, CycleName::Light);
    let same = |client: &mut Caller| -> Vec<IndexEntry> {
        let entries = client.entries(&root).into_iter();
        entries
            .filter(|entry| entry.topic.contains("Anchor paint"))
            .collect()
    };
    let two = same(&mut client);
    assert_eq!(two.len(), 2, "{two:#?}");
    let before = state(&mut client, &scratch);
    let report = client.run(&root, CycleName::Deep);
    let merges = report.plan.iter().filter(|step| step.rule == "merge").count();
    assert_eq!(merges, 1, "{report:#?}");
    let one = same(&mut client);
    assert_eq!(one.len(), 1, "{one:#?}");
    assert_eq!(one[0].pointers.len(), 2, "{one:#?}");
    client.undo(&root, report.run.unwrap()).unwrap();
    assert_same_state("undone", &state(&mut client, &scratch), &before);

    let report = client.run(&root, CycleName::Deep);
    let kept = same(&mut client).remove(0);
    client.edit(&root, &kept.id, |edit| {
        edit.summary = Some("Red lead, twice, says the person.".into())
    });
    client.undo(&root, report.run.unwrap()).unwrap();
    assert_eq!(same(&mut client).len(), 2);
    let entry = client.entry(&root, &kept.id);
    assert_eq!(entry.summary, "Red lead, twice, says the person.");
    assert_eq!(entry.pointers.len(), 1, "{entry:#?}");
}
