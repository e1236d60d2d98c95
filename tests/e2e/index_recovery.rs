//! Recovery of an index file that the daemon was replacing when it was killed.
//! No text of a person is lost.

use hippod_tests::{Caller, Daemon, Scratch};

use crate::index_file::{block_of, fill, id_of, indexed};
use crate::index_odd::daemon_without_privilege;
use crate::index_writers::settled;

const SLOT: &str = ".HIPPOCAMPUS.md.replaced";

/// Kills the daemon while the replaced version of the index file still exists beside it.
fn killed_while_it_replaces(scratch: &Scratch, daemon: Daemon, mut client: Caller, id: &str) {
    settled(&mut client, scratch);
    client.edit(&scratch.workspace(), id, |edit| {
        edit.tags = Some(vec!["of-the-daemon".into()]);
    });
    daemon.kill();
    assert!(scratch.workspace().join(SLOT).exists(), "it waits for a second");
}

#[test]
fn a_doubtful_leftover_of_a_stopped_process_is_kept_and_reported() {
    let (scratch, daemon, mut client) = indexed();
    let root = scratch.workspace();
    let ids = client.ids(&root);
    let kept = id_of(&mut client, &scratch, "Backups");
    let block = block_of(&scratch.index_file(), &kept);
    killed_while_it_replaces(&scratch, daemon, client, &kept);
    // A person who has the old file open saves a shorter version.
    let mine = format!("# HIPPOCAMPUS.md\n\nI tidied up, says Ilse.\n\n## By Topic\n\n{block}");
    scratch.write(SLOT, &mine);

    let daemon = scratch.quiet_daemon();
    let mut client = daemon.client();
    client.sync(&root);
    settled(&mut client, &scratch);
    let copy = std::fs::read_to_string(root.join("HIPPOCAMPUS.md.unmerged")).unwrap();
    assert_eq!(copy, mine, "it is there for everybody to see");
    assert_eq!(client.ids(&root), ids, "and nothing is forgotten");
    let problems = client.doctor(false).problems;
    assert!(
        problems.iter().any(|problem| problem.id == "index-copy"),
        "{problems:?}"
    );
}

#[test]
fn leftovers_of_a_deleted_store_are_kept_and_reported() {
    let (scratch, daemon, mut client) = indexed();
    let root = scratch.workspace();
    let kept = id_of(&mut client, &scratch, "Backups");
    killed_while_it_replaces(&scratch, daemon, client, &kept);
    let mine = "# HIPPOCAMPUS.md\n\nWords that are nowhere else.\n";
    scratch.write(SLOT, mine);
    std::fs::remove_dir_all(scratch.home()).unwrap();
    scratch.write("HIPPOCAMPUS.md.unmerged", "of another time");

    let daemon = scratch.quiet_daemon();
    let mut client = daemon.client();
    client.index(&root);
    let copy = |name: &str| std::fs::read_to_string(root.join(name)).unwrap();
    assert_eq!(copy("HIPPOCAMPUS.md.unmerged"), "of another time");
    assert_eq!(copy("HIPPOCAMPUS.md.unmerged-2"), mine);
    let problems = client.doctor(false).problems;
    assert!(
        problems.iter().any(|problem| problem.id == "index-copy"),
        "{problems:?}"
    );
    assert_eq!(client.index_status().trouble, None);
}

#[test]
fn unreadable_leftovers_are_not_removed() {
    let scratch = Scratch::new();
    fill(&scratch);
    let root = scratch.workspace();
    let daemon = daemon_without_privilege(&scratch);
    let mut client = daemon.client();
    client.index(&root);
    let id = id_of(&mut client, &scratch, "Backups");
    let summary = client.entry(&root, &id).summary;
    killed_while_it_replaces(&scratch, daemon, client, &id);
    let slot = root.join(SLOT);
    let old = std::fs::read_to_string(&slot).unwrap();
    std::fs::write(&slot, old.replacen(&summary, "The person was here.", 1)).unwrap();
    let mode = |mode| {
        let rights = std::os::unix::fs::PermissionsExt::from_mode(mode);
        std::fs::set_permissions(&slot, rights).unwrap();
    };
    mode(0o000);
    let daemon = daemon_without_privilege(&scratch);
    let mut client = daemon.client();
    client.sync(&root);
    let trouble = client.index_status().trouble.expect("it is told");
    assert!(
        trouble.contains(SLOT) && trouble.contains("cannot be read"),
        "{trouble}"
    );
    mode(0o644);
    client.sync(&root);
    settled(&mut client, &scratch);
    assert_eq!(client.entry(&root, &id).summary, "The person was here.");
    assert_eq!(client.entry(&root, &id).tags, ["of-the-daemon"]);
}
