//! Failures of the store in the middle of a cycle.
//! The completed steps are recorded and reported, and the next run continues after them.

use hippo_proto::{ClientError, Cycle, CycleOutcome, EntryPlace, RpcError};
use hippod_tests::{Caller, Clocked, Scratch};

use crate::cycles::{LATER, NOW, STILL_LATER, ask, machines, started};

/// Makes the database refuse an operation until `let_go` is called.
fn refuse(scratch: &Scratch, what: &str) {
    let sql = format!("CREATE TRIGGER refused {what} BEGIN SELECT RAISE(ABORT, 'refused by the test'); END");
    change(scratch, &sql);
}

fn let_go(scratch: &Scratch) {
    change(scratch, "DROP TRIGGER refused");
}

fn change(scratch: &Scratch, sql: &str) {
    let database = std::fs::read_dir(scratch.state("")).unwrap().flatten();
    let mut databases = database.map(|entry| entry.path());
    let database = databases.find(|path| path.extension().is_some_and(|end| end == "db"));
    let connection = rusqlite::Connection::open(database.expect("a database")).unwrap();
    connection.busy_timeout(hippod_tests::PATIENCE).unwrap();
    connection.execute_batch(sql).unwrap();
}

fn refused(client: &mut Caller, scratch: &Scratch, cycle: Cycle, at: Option<&str>) -> RpcError {
    match client.try_run(&scratch.workspace(), cycle, at, false) {
        Err(ClientError::Refused(error)) => error,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_failed_run_is_recorded_and_continued() {
    for restart in [false, true] {
        let scratch = Scratch::new();
        machines(&scratch, 30);
        // At the late date below, all cycles would be due. The settings file disables them; an empty environment
        // variable would not.
        let none = "[cycles]\nlight = \"\"\ndeep = \"\"\narchival = \"\"\n";
        scratch.write(".hippocampus/config.toml", none);
        let mut daemon = Clocked::start(&scratch, NOW, &[]);
        let mut client = daemon.client();
        client.index(&scratch.workspace());
        let root = scratch.workspace();
        client.run(&root, Cycle::Light);
        daemon.set("2060-01-01T00:00:00Z");
        let all = client.ids(&root).len();
        // A light cycle plans to move decayed entries into the Decay Queue, but at most a quarter of all entries.
        refuse(
            &scratch,
            "BEFORE UPDATE ON runs WHEN json_extract(NEW.state, '$.done') = 4",
        );
        let error = refused(&mut client, &scratch, Cycle::Light, None);
        assert!(error.message.contains("refused by the test"), "{error:?}");
        let row = client.history(&root, None).runs.remove(0);
        assert_eq!((row.outcome, row.done), (CycleOutcome::Failed, 3), "{row:?}");
        assert!(row.finished.is_some(), "{row:?}");
        assert!(row.demoted > 0, "{row:?}");
        let_go(&scratch);
        if restart {
            drop((client, daemon));
            daemon = Clocked::start(&scratch, "2060-01-01T00:01:00Z", &[]);
            client = daemon.client();
            client.sync(&root);
        }
        let report = client.run(&root, Cycle::Light);
        assert_eq!(report.run, Some(row.run), "restart: {restart}");
        let runs = client.history(&root, None).runs;
        let done = runs
            .iter()
            .find(|done| done.run == row.run)
            .expect("it is listed");
        assert_eq!(done.outcome, CycleOutcome::Capped, "{done:?}");
        assert!(done.demoted as usize * 4 <= all, "of {all}: {done:?}");
        if !restart {
            // No other cycle has run since, so the Decay Queue contains exactly the demoted entries.
            let queued = client.entries(&root).into_iter();
            let queued = queued.filter(|entry| entry.place == EntryPlace::Queue).count();
            assert_eq!(queued as u64, done.demoted, "{done:?}");
        }
        // The next cycle must start a new run.
        assert_ne!(client.run(&root, Cycle::Light).run, Some(row.run));
    }
}

#[test]
fn a_failed_run_is_undone_before_the_run_it_built_on() {
    let (scratch, _daemon, mut client) = started(8, "");
    let root = scratch.workspace();
    let first = client.run_at(&root, Cycle::Light, LATER).run.unwrap();
    let queued = client.entries(&root).into_iter();
    let queued = queued.filter(|entry| entry.place == EntryPlace::Queue);
    let queued: Vec<String> = queued.map(|entry| entry.id).collect();
    let plan = client.plan(&root, Cycle::Deep, Some(STILL_LATER)).plan;
    let is_shared = |step: &hippo_proto::CycleStep| {
        !["flush", "strong"].contains(&step.rule.as_str())
            && step.entries.iter().any(|id| queued.contains(id))
    };
    let done = plan.iter().position(is_shared).expect("a step") as u64 + 1;
    refuse(
        &scratch,
        &format!(
            "BEFORE UPDATE ON runs WHEN json_extract(NEW.state, '$.done') = {}",
            done + 1
        ),
    );
    refused(&mut client, &scratch, Cycle::Deep, Some(STILL_LATER));
    let_go(&scratch);
    let failed = client.history(&root, None).runs.remove(0);
    assert_eq!(
        (failed.outcome, failed.done),
        (CycleOutcome::Failed, done),
        "{failed:?}"
    );
    let refusal = client.undo(&root, first).unwrap_err();
    assert!(refusal.message.contains(&failed.run.to_string()), "{refusal:?}");
    assert!(client.undo(&root, failed.run).unwrap().undone > 0);
    assert!(client.undo(&root, first).unwrap().undone > 0);
    // A run that was undone must not be continued.
    let next = client.run(&root, Cycle::Deep).run;
    assert!(next.is_some_and(|next| next > failed.run), "{next:?}");
}

#[test]
fn a_cycle_that_cannot_start_returns_the_reason() {
    let (scratch, _daemon, mut client) = started(0, "");
    let root = scratch.workspace();
    assert!(!ask(&mut client, &scratch, "the pressure sensor drifts").is_empty());
    refuse(&scratch, "BEFORE DELETE ON accesses");
    client.ask(&root, "the pressure sensor drifts", true);
    let error = refused(&mut client, &scratch, Cycle::Light, None);
    assert!(error.message.contains("refused by the test"), "{error:?}");
    let_go(&scratch);
    client.run(&root, Cycle::Light);
}

#[test]
fn a_heartbeat_reports_a_failed_cycle_and_runs_the_others() {
    let scratch = Scratch::new();
    crate::index_file::fill(&scratch);
    let settings = [
        ("HIPPOD_CYCLES_LIGHT", "0 * * * *"),
        ("HIPPOD_CYCLES_ARCHIVAL", "0 0 1 1 *"),
    ];
    let daemon = Clocked::start(&scratch, NOW, &settings);
    let mut client = daemon.client();
    let root = scratch.workspace();
    client.index(&root);
    refuse(
        &scratch,
        "BEFORE INSERT ON runs WHEN json_extract(NEW.state, '$.record.cycle') = 'light'",
    );
    // Set only the wall clock, so that the schedule does not check for due cycles.
    daemon.set("2026-03-06T10:00:00Z");
    let beat = client.heartbeat(&root);
    let failed = beat.pending.iter().find(|pending| pending.kind == "cycle-failed");
    let failed = failed.unwrap_or_else(|| panic!("{beat:#?}"));
    assert!(failed.text.starts_with("light cycle: "), "{failed:?}");
    assert!(failed.text.contains("refused by the test"), "{failed:?}");
    let ran: Vec<Cycle> = beat.ran.iter().map(|run| run.cycle).collect();
    assert_eq!(ran, [Cycle::Deep], "{beat:#?}");
    let_go(&scratch);
    let beat = client.heartbeat(&root);
    // The schedule may run the cycle again before the heartbeat does.
    let last = client.history(&root, None).runs.remove(0);
    assert_eq!((last.cycle, last.outcome), (Cycle::Light, CycleOutcome::Done));
    assert!(beat.ran.iter().all(|run| run.run == last.run), "{beat:#?}");
    assert!(
        beat.pending.iter().all(|pending| pending.kind != "cycle-failed"),
        "{beat:#?}"
    );
}
