//! State files that are truncated or removed while no daemon runs.
//! The daemon reports each file.

use std::fs;

use hippo_proto::DoctorResponse;
use hippod_tests::{Caller, Scratch, begun};

use super::contexts::{listing, open, put, request};

fn ids(found: &DoctorResponse) -> Vec<&str> {
    found.problems.iter().map(|problem| problem.id.as_str()).collect()
}

fn cut(scratch: &Scratch, name: &str) {
    fs::write(scratch.state(name), "").unwrap();
}

fn degraded(client: &mut Caller) -> Vec<String> {
    let workspaces = client.status().workspaces.into_iter();
    workspaces.filter_map(|workspace| workspace.degraded).collect()
}

#[test]
fn a_truncated_index_keeps_its_removals_and_is_reported() {
    let (scratch, daemon, mut client) = begun();
    let root = scratch.workspace();
    client.remember(&root, "Ida repairs the lantern of the harbour.", "lantern");
    client.remember(&root, "The ledger is kept in the kettle room.", "ledger");
    client.sync(&root);
    let ids_before = client.ids(&root);
    let forgotten = ids_before[0].clone();
    client.forget(&root, &forgotten);
    client.sync(&root);
    let left = client.ids(&root);
    daemon.terminate();
    let log = scratch.state("index.db-wal");
    assert!(
        log.metadata().map_or(0, |log| log.len()) == 0,
        "a stop writes the log back"
    );
    for removed in [false, true] {
        match removed {
            true => fs::remove_file(scratch.state("index.db")).unwrap(),
            false => cut(&scratch, "index.db"),
        }
        let daemon = scratch.daemon();
        let mut client = daemon.client();
        client.sync(&root);
        assert_eq!(client.ids(&root), left, "removed: {removed}");
        assert_eq!(degraded(&mut client), ["repaired"], "removed: {removed}");
        let told = client.doctor(false);
        assert!(degraded(&mut client).is_empty(), "a person was told");
        assert!(ids(&told).contains(&"database-lost"), "{told:?}");
        daemon.terminate();
    }
    let daemon = scratch.daemon();
    let mut client = daemon.client();
    client.sync(&root);
    assert!(degraded(&mut client).is_empty(), "a start that repairs nothing");
    assert!(!ids(&client.doctor(false)).contains(&"database-lost"));
    daemon.terminate();
    assert!(
        scratch.state("index.db.damaged").exists(),
        "what stood there is kept"
    );
}

#[test]
fn lost_session_contents_are_counted_and_reported() {
    let (scratch, daemon, mut client) = begun();
    let root = scratch.workspace();
    let session = open(&mut client, &root, None).session;
    for turn in 1..=3 {
        let asked = request(
            &session,
            turn,
            ("exec", "ls"),
            &listing(&format!("anchor {turn}")),
        );
        put(&mut client, asked);
    }
    daemon.terminate();
    let log = scratch.state("contexts.db-wal").metadata();
    assert!(log.map_or(0, |log| log.len()) == 0, "a stop writes the log back");
    let daemon = scratch.daemon();
    let told = daemon.client().doctor(false);
    assert!(!ids(&told).contains(&"contexts-lost"), "{told:?}");
    daemon.terminate();
    cut(&scratch, "contexts.db");
    let daemon = scratch.daemon();
    let mut client = daemon.client();
    let told = client.doctor(false);
    let lost = told.problems.iter().find(|problem| problem.id == "contexts-lost");
    assert!(lost.is_some_and(|lost| !lost.what.starts_with('0')), "{told:?}");
    // The problem must still be reported after a new session was opened.
    open(&mut client, &root, None);
    assert!(ids(&client.doctor(false)).contains(&"contexts-lost"));
}

#[test]
fn a_damaged_session_wal_is_counted_reported_and_kept() {
    let (scratch, daemon, mut client) = begun();
    let root = scratch.workspace();
    client.sync(&root);
    let session = open(&mut client, &root, None).session;
    daemon.terminate();
    let mut lost_before = 0;
    for (round, part) in [(1, 2), (2, 3), (3, 4)] {
        let daemon = scratch.daemon();
        let mut client = daemon.client();
        for turn in 1..=4 {
            let text = listing(&format!("anchor {round} {turn}"));
            put(&mut client, request(&session, turn, ("exec", "ls"), &text));
        }
        daemon.kill();
        let log = scratch.state("contexts.db-wal");
        let mut bytes = fs::read(&log).unwrap();
        let place = bytes.len() * (part - 1) / part;
        bytes[place] ^= 4;
        fs::write(&log, &bytes).unwrap();

        let daemon = scratch.daemon();
        let mut client = daemon.client();
        client.sync(&root);
        assert_eq!(degraded(&mut client), ["repaired"], "{round}");
        let told = client.doctor(false);
        let lost = told.problems.iter().find(|problem| problem.id == "contexts-lost");
        let lost = lost.unwrap_or_else(|| panic!("{round}: {told:?}"));
        let number: u64 = lost.what.split(' ').next().unwrap().parse().unwrap();
        assert!(
            number > lost_before && number <= lost_before + 4,
            "{round}: {lost:?}"
        );
        lost_before = number;
        assert!(degraded(&mut client).is_empty(), "{round}: a person was told");
        let kept = match round {
            1 => "contexts.db.damaged-wal".to_owned(),
            _ => format!("contexts.db.damaged.{round}-wal"),
        };
        assert_eq!(fs::read(scratch.state(&kept)).unwrap(), bytes, "{round}");
        daemon.terminate();
    }
}

#[test]
fn a_damaged_registry_loses_no_workspace() {
    let (scratch, daemon, mut client) = begun();
    let root = scratch.workspace();
    let expected = client.answers(&root, &["blue pump"]);
    daemon.terminate();
    fs::write(scratch.home().join("state/registry.json"), "{\"version\":1,").unwrap();
    let daemon = scratch.daemon();
    let mut client = daemon.client();
    client.sync(&root);
    assert_eq!(client.answers(&root, &["blue pump"]).len(), expected.len());
    assert!(scratch.home().join("state/registry.json.damaged").exists());
}
