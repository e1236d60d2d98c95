//! Aging, closing and removal of unattended sessions.

use std::fs;
use std::path::Path;
use std::time::Duration;

use hippo_proto::{
    ClientError, ContextKind, ContextListRequest, ContextListResponse, ContextOpenRequest,
    ContextOpenResponse, ContextPutLifecycle, ContextState, ContextsStatus, Cycle, CycleReport,
    CycleRunRequest, FetchOutcome,
};
use hippod_tests::{Caller, Clocked, Daemon, Scratch};

use super::contexts::{close, entry, fetch, listing, open, request, state};

const DAY: Duration = Duration::from_secs(24 * 3600);

fn begun(settings: &[(&str, &str)]) -> (Scratch, Clocked, Caller) {
    let scratch = Scratch::new();
    scratch.write(
        "MEMORY.md",
        "# Memory\n\n## Core\n\nThe pump of hall 3 is blue.\n",
    );
    let daemon = Clocked::start(&scratch, "2026-03-02T09:00:00Z", settings);
    let mut client = daemon.client();
    client.index(&scratch.workspace());
    (scratch, daemon, client)
}

fn archival(client: &mut Caller, root: &Path) {
    let request = CycleRunRequest {
        workspace: root.display().to_string(),
        cycle: Cycle::Archival,
        at: None,
        dry_run: false,
    };
    let _: CycleReport = client.raw().call(&request.into()).expect("a cycle");
}

/// Waits until `are` accepts the status of the contexts of the only workspace, and returns this status.
fn contexts(client: &mut Caller, are: impl Fn(&ContextsStatus) -> bool) -> ContextsStatus {
    loop {
        let status = client.status().workspaces.remove(0).contexts.expect("contexts");
        if are(&status) {
            return status;
        }
        std::thread::yield_now();
    }
}

#[test]
fn archival_removes_expired_contents_and_keeps_their_pointers() {
    let (scratch, clock, mut client) = begun(&[]);
    let root = scratch.workspace();
    let over = open(&mut client, &root, Some("over")).session;
    let old = entry(&mut client, request(&over, 1, ("exec", "ls"), &listing("anchor"))).id;
    close(&mut client, &over);
    clock.advance(89 * DAY);
    let goes_on = open(&mut client, &root, Some("goes-on")).session;
    let new = entry(
        &mut client,
        request(&goes_on, 1, ("exec", "ls"), &listing("compass")),
    )
    .id;
    archival(&mut client, &root);
    assert_eq!(fetch(&mut client, &old).outcome, FetchOutcome::Full);
    // The fetch above counts as an access, so the content is kept.
    clock.advance(2 * DAY);
    archival(&mut client, &root);
    assert_eq!(fetch(&mut client, &old).outcome, FetchOutcome::Full);
    clock.advance(62 * DAY);
    open(&mut client, &root, Some("goes-on"));
    let before = contexts(&mut client, |_| true);
    // The daemon may run a due archival cycle before the cycle below. Either cycle may remove the content.
    clock.advance(29 * DAY);
    archival(&mut client, &root);
    let after = contexts(&mut client, |status| status.stored_bytes < before.stored_bytes);
    assert_eq!((after.sessions, after.open, after.entries), (2, 1, 2));
    let gone = fetch(&mut client, &old);
    assert_eq!(gone.outcome, FetchOutcome::Partial);
    let reason = gone.reason.as_deref().unwrap_or_default();
    assert!(
        gone.summary.is_some() && reason.contains("context.keep_days"),
        "{gone:?}"
    );
    assert!(!gone.entry.as_ref().unwrap().source.retrievable, "{gone:?}");
    let listed: ContextListResponse = client
        .raw()
        .call(
            &ContextListRequest {
                session: Some(over.clone()),
                ..ContextListRequest::default()
            }
            .into(),
        )
        .unwrap();
    let listed = listed.entries.unwrap();
    assert!(!listed[0].entry.source.retrievable, "{listed:?}");
    assert_eq!(fetch(&mut client, &new).outcome, FetchOutcome::Full);
    assert_eq!(state(&mut client, &goes_on, &new), ContextState::Active);
}

#[test]
fn an_abandoned_session_ends_and_writes_persistent_entries() {
    let (scratch, clock, mut client) = begun(&[]);
    let root = scratch.workspace();
    let mut put = |session: &str, what: &str| {
        let session = open(&mut client, &root, Some(session)).session;
        let mut kept = request(&session, 1, ("exec", "deploy"), &listing(what));
        kept.type_ = ContextKind::State;
        kept.summary = Some(format!("The {what} was deployed to staging."));
        kept.lifecycle = Some(ContextPutLifecycle {
            persist: Some(true),
            ..ContextPutLifecycle::default()
        });
        entry(&mut client, kept).id
    };
    let old = put("forgotten", "anchor");
    clock.advance(20 * DAY);
    put("in-use", "compass");
    clock.advance(11 * DAY);
    archival(&mut client, &root);
    let status = contexts(&mut client, |status| status.open == 1);
    assert_eq!(status.sessions, 2);
    let log = fs::read_to_string(root.join("memory/2026-04-02.md")).unwrap();
    assert!(
        log.contains("The anchor was deployed to staging.") && !log.contains("compass"),
        "{log}"
    );
    close(&mut client, "in-use");
    let log = fs::read_to_string(root.join("memory/2026-04-02.md")).unwrap();
    assert!(log.contains("The compass was deployed to staging."), "{log}");
    assert_eq!(fetch(&mut client, &old).outcome, FetchOutcome::Full);
}

#[test]
fn sessions_survive_the_removal_of_a_workspace_unless_purged() {
    let scratch = Scratch::new();
    scratch.write("MEMORY.md", "# Memory\n");
    let daemon: Daemon = scratch.daemon();
    let mut client = daemon.client();
    let root = scratch.workspace();
    client.index(&root);
    let session = open(&mut client, &root, None).session;
    let content = listing("anchor");
    let id = entry(&mut client, request(&session, 1, ("exec", "ls"), &content)).id;
    let remove = |client: &mut Caller, purge: bool| {
        let request = hippo_proto::WorkspaceRemoveRequest {
            workspace: root.display().to_string(),
            purge,
            ..hippo_proto::WorkspaceRemoveRequest::default()
        };
        let _: hippo_proto::WorkspaceRemoveResponse = client.raw().call(&request.into()).expect("removed");
        client.index(&root);
    };
    remove(&mut client, false);
    assert_eq!(fetch(&mut client, &id).content.as_deref(), Some(content.as_str()));
    remove(&mut client, true);
    assert_eq!(client.status().workspaces[0].contexts, None);
    // Remove the workspace first, and purge its contents later.
    let session = open(&mut client, &root, None).session;
    entry(&mut client, request(&session, 1, ("exec", "ls"), &content));
    let file = scratch.state("contexts.db");
    for (purge, kept) in [(false, true), (true, false)] {
        let request = hippo_proto::WorkspaceRemoveRequest {
            workspace: root.display().to_string(),
            purge,
            ..hippo_proto::WorkspaceRemoveRequest::default()
        };
        let answer: hippo_proto::WorkspaceRemoveResponse =
            client.raw().call(&request.into()).expect("removed");
        assert_eq!((answer.contexts_kept, file.exists()), (kept, kept));
    }
}

#[test]
fn a_damaged_database_is_reported_with_a_fix_and_search_still_works() {
    let scratch = Scratch::new();
    scratch.write(
        "MEMORY.md",
        "# Memory\n\n## Pumps\n\nThe pump of hall 3 is blue.\n",
    );
    let daemon: Daemon = scratch.daemon();
    let mut client = daemon.client();
    let root = scratch.workspace();
    client.index(&root);
    open(&mut client, &root, Some("s-1"));
    assert!(
        client
            .doctor(false)
            .checks
            .iter()
            .any(|check| check.id == "contexts" && check.ok)
    );
    daemon.terminate();
    let file = scratch.state("contexts.db");
    // The write-ahead log contains copies of some pages. Remove it, so that only the damaged pages remain.
    for name in ["contexts.db-wal", "contexts.db-shm"] {
        let _ = fs::remove_file(scratch.state(name));
    }
    let mut bytes = fs::read(&file).unwrap();
    bytes.resize(bytes.len().max(4096), 0);
    bytes[..200].fill(0xAB);
    fs::write(&file, &bytes).unwrap();
    scratch.trusted(".hippocampus/policies.yaml", "decay_policies:\n  - match: [\n");

    let daemon = scratch.daemon();
    let mut client = daemon.client();
    client.sync(&root);
    let request = ContextOpenRequest {
        workspace: root.display().to_string(),
        ..ContextOpenRequest::default()
    };
    let refused = client.raw().call::<ContextOpenResponse>(&request.into());
    let Err(ClientError::Refused(error)) = refused else {
        panic!("{refused:?}")
    };
    assert!(
        error.message.contains("contexts.db") && error.data.hint.contains("backup"),
        "{error:?}"
    );
    let problems = client.doctor(false).problems;
    let of = |name: &str| problems.iter().find(|problem| problem.id == name).expect(name);
    assert!(of("contexts").fix.contains("backup"), "{problems:?}");
    assert!(of("policies").where_.ends_with("policies.yaml"), "{problems:?}");
    assert_eq!(client.best(&root, "pump hall").as_deref(), Some("MEMORY.md:5"));
    assert_eq!(fs::read(&file).unwrap(), bytes);
}
