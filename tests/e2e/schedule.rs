//! Schedule of cycles: each due time, and one run after several missed ones.

use std::time::{Duration, Instant};

use hippo_proto::{Cycle, CycleRun, WorkspaceAddRequest, WorkspaceAddResponse};
use hippod_tests::{Caller, Clocked, PATIENCE, Scratch};

use crate::index_file::fill;

/// Time at which the daemon starts, a Wednesday.
const NOW: &str = "2026-03-04T10:10:00Z";
const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3600);

fn started(settings: &str) -> (Scratch, Clocked, Caller) {
    let scratch = Scratch::new();
    fill(&scratch);
    scratch.trusted(".hippocampus/config.toml", settings);
    let daemon = Clocked::start(&scratch, NOW, &[]);
    let mut client = daemon.client();
    client.index(&scratch.workspace());
    (scratch, daemon, client)
}

fn runs(client: &mut Caller, scratch: &Scratch, cycle: Cycle) -> Vec<CycleRun> {
    let runs = client.history(&scratch.workspace(), None).runs.into_iter();
    runs.filter(|run| run.cycle == cycle && run.finished.is_some())
        .collect()
}

/// Waits until this number of runs of a cycle is recorded. Sends requests, because the engine reads the clock at each
/// request.
fn wait_for(client: &mut Caller, scratch: &Scratch, cycle: Cycle, wanted: usize) {
    let deadline = Instant::now() + PATIENCE;
    loop {
        client.sync(&scratch.workspace());
        let there = runs(client, scratch, cycle).len();
        assert!(there <= wanted, "{there} runs of {cycle:?}");
        if there == wanted {
            return;
        }
        assert!(
            Instant::now() < deadline,
            "{there} runs of {cycle:?}, not {wanted}"
        );
        std::thread::yield_now();
    }
}

#[test]
fn cycles_run_on_schedule_and_missed_cycles_run_once() {
    let (scratch, daemon, mut client) = started("");
    let root = scratch.workspace();
    wait_for(&mut client, &scratch, Cycle::Light, 1);
    let next = client.index_status().next;
    let next: Vec<(Cycle, &str)> = next.iter().map(|next| (next.cycle, next.at.as_str())).collect();
    let expected = [
        (Cycle::Light, "2026-03-04T11:00:00Z"),
        (Cycle::Deep, "2026-03-05T02:30:00Z"),
        (Cycle::Archival, "2026-04-05T03:30:00Z"),
    ];
    assert_eq!(next, expected);

    daemon.advance(49 * MINUTE);
    for _ in 0..3 {
        client.sync(&root);
    }
    assert_eq!(runs(&mut client, &scratch, Cycle::Light).len(), 1, "not yet");
    daemon.advance(2 * MINUTE);
    wait_for(&mut client, &scratch, Cycle::Light, 2);
    // The machine is suspended until the next morning. Seventeen light cycles and one deep cycle are missed.
    daemon.advance(17 * HOUR);
    wait_for(&mut client, &scratch, Cycle::Deep, 1);
    wait_for(&mut client, &scratch, Cycle::Light, 3);
    assert!(runs(&mut client, &scratch, Cycle::Archival).is_empty());
    let beat = client.heartbeat(&root);
    assert!(beat.ran.is_empty(), "nothing is due: {beat:?}");

    // A heartbeat runs the due cycles and reports them.
    daemon.set("2026-04-06T09:00:00Z");
    let beat = client.heartbeat(&root);
    let ran: Vec<Cycle> = beat.ran.iter().map(|run| run.cycle).collect();
    assert_eq!(ran, [Cycle::Light, Cycle::Deep, Cycle::Archival]);
    assert_eq!(beat.next[0].at, "2026-04-06T10:00:00Z", "{beat:?}");
    assert!(client.heartbeat(&root).ran.is_empty());
    // At this heartbeat, less than a month has passed since the archival cycle.
    daemon.set("2026-04-13T09:00:00Z");
    let beat = client.heartbeat(&root);
    let ran: Vec<Cycle> = beat.ran.iter().map(|run| run.cycle).collect();
    assert_eq!(ran, [Cycle::Light, Cycle::Deep]);
    drop(client);
    drop(daemon);

    // No daemon runs for a month. When the next daemon starts, it finds out which cycles are due.
    let daemon = Clocked::start(&scratch, "2026-06-01T08:00:00Z", &[]);
    let mut client = daemon.client();
    wait_for(&mut client, &scratch, Cycle::Archival, 2);
    wait_for(&mut client, &scratch, Cycle::Deep, 4);
    wait_for(&mut client, &scratch, Cycle::Light, 6);
    // Set the clock back. The daemon must ignore runs whose recorded time is now in the future.
    daemon.set("2026-05-01T08:00:00Z");
    client.heartbeat(&root);
    assert_eq!(client.index_status().next[0].at, "2026-05-01T09:00:00Z");
}

#[test]
fn a_light_cycle_scheduled_every_minute_runs_every_minute() {
    let (scratch, daemon, mut client) = started("[cycles]\nlight = \"* * * * *\"\ndeep = \"\"\n");
    let mut there = runs(&mut client, &scratch, Cycle::Light).len();
    assert_eq!(there, 1);
    for _ in 0..5 {
        daemon.advance(MINUTE);
        there += 1;
        wait_for(&mut client, &scratch, Cycle::Light, there);
    }
    let next = client.index_status().next;
    assert!(next.iter().all(|next| next.cycle != Cycle::Deep), "{next:?}");
}

#[test]
fn disabled_light_cycles_run_only_on_request() {
    let (scratch, daemon, mut client) = started("[cycles]\nlight = \"\"\n");
    let root = scratch.workspace();
    daemon.advance(48 * HOUR);
    client.sync(&root);
    assert!(runs(&mut client, &scratch, Cycle::Light).is_empty());
    assert!(!scratch.index_path().exists() || !scratch.index_file().contains("hx:"));
    let report = client.run(&root, Cycle::Light);
    assert!(!report.files.is_empty(), "{report:#?} {:#?}", client.status());
    assert!(scratch.index_file().contains("Coffee machine"));
}

#[test]
fn an_invalid_cron_line_is_reported_with_its_file_and_line() {
    let scratch = Scratch::new();
    fill(&scratch);
    std::fs::create_dir_all(scratch.home()).unwrap();
    let config = scratch.home().join("config.toml");
    std::fs::write(
        &config,
        "[index]\nenabled = true\n\n[cycles]\ndeep = \"61 2 * * *\"\n",
    )
    .unwrap();
    let refused = scratch.refused_daemon();
    assert!(!refused.status.success());
    let told = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(told.contains("config.toml:5:"), "{told}");
    assert!(told.contains("cycles.deep") && told.contains("61"), "{told}");
    std::fs::remove_file(&config).unwrap();

    // Write the same error into the settings file of a workspace.
    scratch.write(".hippocampus/config.toml", "[cycles]\nlight = \"hourly\"\n");
    let daemon = scratch.daemon();
    let request = WorkspaceAddRequest {
        workspace: scratch.workspace().display().to_string(),
    };
    // The error affects only this key. For this key, the workspace uses the daemon's setting.
    let mut client = daemon.client();
    let _: WorkspaceAddResponse = client.raw().call(&request.into()).unwrap();
    client.sync(&scratch.workspace());
    let told = client.status().workspaces[0].settings.clone().unwrap();
    assert!(told.contains(".hippocampus/config.toml:2:"), "{told}");
    assert!(told.contains("cycles.light"), "{told}");
    let problems = client.doctor(false).problems;
    let problem = problems.iter().find(|problem| problem.id == "settings").unwrap();
    assert!(problem.what.contains("config.toml:2:"), "{problem:?}");
    assert!(problem.fix.contains("correct the reported line"), "{problem:?}");
}
