//! Settings of a workspace: errors, and changes that apply immediately.

use std::time::Instant;

use hippo_proto::WorkspaceStatus;
use hippod_tests::{Caller, PATIENCE, Scratch};

use crate::index_file::indexed;

/// Requests the status until `wanted` accepts the status of the workspace, and returns this status.
fn status_until(client: &mut Caller, wanted: impl Fn(&WorkspaceStatus) -> bool) -> WorkspaceStatus {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let status = client.status().workspaces.remove(0);
        if wanted(&status) {
            return status;
        }
        assert!(Instant::now() < deadline, "{status:#?}");
    }
}

fn finds(client: &mut Caller, scratch: &Scratch) {
    let found = client.search(&scratch.workspace(), "when is the coffee machine descaled");
    assert!(!found.results.is_empty(), "it answers all the time");
}

#[test]
fn a_bad_settings_line_is_reported_and_a_fix_applies_without_restart() {
    let (scratch, daemon, mut client) = indexed();
    let root = scratch.workspace();
    let settings = |text: &str| scratch.trusted(".hippocampus/config.toml", text);
    scratch.write("drafts/crane.txt", "# Crane\n\nThe harbour crane was oiled.\n");
    settings("[sources]\ninclude = [\"drafts/*.txt\"]\n");
    let before = client.status().workspaces.remove(0).documents;
    let status = status_until(&mut client, |status| {
        status.documents > 0 && status.documents != before
    });
    assert_eq!((status.documents, status.settings), (before + 1, None));
    finds(&mut client, &scratch);

    // If the file is invalid, the previous settings stay in effect.
    settings("[sources]\ninclude = [\"drafts/*.txt\"]\nincldue = 3\n");
    let status = status_until(&mut client, |status| status.settings.is_some());
    assert_eq!(status.documents, before + 1);
    assert!(status.settings.unwrap().contains("config.toml:3:"));
    finds(&mut client, &scratch);
    let told = client.doctor(false).problems;
    assert!(
        told.iter()
            .any(|problem| problem.id == "settings" && problem.what.contains("config.toml:3:"))
    );

    // After a restart with an invalid file, the daemon's own settings apply.
    drop(client);
    daemon.terminate();
    let daemon = scratch.daemon();
    let mut client = daemon.client();
    client.sync(&root);
    let status = status_until(&mut client, |status| status.settings.is_some());
    assert!(status.degraded.as_deref() != Some("not-open"), "{status:?}");
    finds(&mut client, &scratch);

    settings("[sources]\ninclude = [\"drafts/*.txt\"]\n");
    let status = status_until(&mut client, |status| {
        status.settings.is_none() && status.documents == before + 1
    });
    assert!(status.root_present);
    finds(&mut client, &scratch);
    // Without the file, the daemon's settings apply again.
    std::fs::remove_file(root.join(".hippocampus/config.toml")).unwrap();
    client.sync(&root);
    status_until(&mut client, |status| status.documents == before);
}
