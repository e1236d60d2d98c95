//! The index file and the store on a full disk.

use std::process::Command;
use std::time::Instant;

use hippo_proto::{ClientError, IndexEditRequest, IndexEditResponse};
use hippod_tests::{Daemon, PATIENCE, QUIET, Scratch, program};

use crate::index_file::{block_of, id_of, indexed};

/// Starts a daemon whose files cannot grow beyond `blocks` blocks of 512 bytes.
pub fn daemon_without_room(scratch: &Scratch, blocks: u32) -> Daemon {
    let mut command = Command::new("sh");
    command
        .arg("-c")
        .arg(format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" run"))
        .arg(program());
    Daemon::start_as(command, &scratch.home(), &QUIET)
}

#[test]
fn a_full_disk_loses_no_acknowledged_edit_and_no_user_text() {
    let (scratch, daemon, mut client) = indexed();
    let root = scratch.workspace();
    let (edited, own) = (
        id_of(&mut client, &scratch, "Backups"),
        id_of(&mut client, &scratch, "Coffee machine"),
    );
    let summary = client.entry(&root, &own).summary;
    drop(client);
    daemon.terminate();
    // The limit is half the size of the database. It also limits the write-ahead log.
    let daemon = daemon_without_room(&scratch, 500);
    let mut client = daemon.client();
    client.sync(&root);
    let mut acknowledged = None;
    let refusal = (0..1000).find_map(|number| {
        let request = IndexEditRequest {
            workspace: root.display().to_string(),
            id: edited.clone(),
            summary: Some(format!("Said {number}. {}", "word ".repeat(190))),
            ..IndexEditRequest::default()
        };
        match client.raw().call::<IndexEditResponse>(&request.into()) {
            Ok(answer) => {
                acknowledged = Some(answer.entry.summary);
                None
            }
            Err(ClientError::Refused(error)) => Some(error),
            Err(error) => panic!("no answer: {error}"),
        }
    });
    let refusal = refusal.expect("there is no room at some time");
    assert!(!refusal.data.hint.is_empty(), "{refusal:?}");
    block_of(&scratch.index_file(), &edited);
    scratch.edit_index(&summary, "The person was here.");
    let bytes = std::fs::read(scratch.index_path()).unwrap();
    // The engine notices the edit but cannot store it.
    let deadline = Instant::now() + PATIENCE;
    while client.status().workspaces[0].degraded.is_none() {
        assert!(Instant::now() < deadline, "never told");
        client.search(&root, "coffee machine");
    }
    let problems = client.doctor(false).problems;
    assert!(
        problems.iter().any(|problem| problem.id == "store"),
        "{problems:?}"
    );
    let found = client.ask(&root, "coffee machine citric acid", false).results;
    assert_eq!(found[0].path, "knowledge/kitchen.md");
    assert_eq!(std::fs::read(scratch.index_path()).unwrap(), bytes);
    drop(client);
    daemon.kill();

    let daemon = scratch.quiet_daemon();
    let mut client = daemon.client();
    client.sync(&root);
    assert_eq!(client.entry(&root, &own).summary, "The person was here.");
    let last = client.entry(&root, &edited).summary;
    let acknowledged = acknowledged.expect("some edits had room");
    assert!(last.starts_with("Said "), "{last}");
    let number = |summary: &str| -> u32 {
        let digits = summary.trim_start_matches("Said ").split('.').next();
        digits.and_then(|digits| digits.parse().ok()).expect("a number")
    };
    assert!(
        number(&last) >= number(&acknowledged),
        "{last} after {acknowledged}"
    );
    crate::index_writers::settled(&mut client, &scratch);
    let file = scratch.index_file();
    assert!(block_of(&file, &own).contains("The person was here."));
    assert!(block_of(&file, &edited).contains(last.trim()));
    let problems = client.doctor(false).problems;
    assert!(problems.is_empty(), "{problems:?}");
}

#[test]
fn a_small_memory_has_a_smaller_index_file_and_all_entries() {
    let scratch = Scratch::new();
    for number in 0..12 {
        let sections = ["Place", "Care", "Repair"].map(|about| {
            let sentence = format!(
                "The {about} of thing{number} is told by number{number} of the {about} handbook in the hall. "
            );
            format!("## {about} of thing{number}\n\n{}\n\n", sentence.repeat(8))
        });
        let text = format!("# Machine {number}\n\n{}", sections.concat());
        scratch.write(&format!("knowledge/machine{number}.md"), &text);
    }
    let mut settings = QUIET.to_vec();
    settings.push(("HIPPOD_INDEX_TOKENS_PER_FILE", "100"));
    let daemon = Daemon::start(&scratch.home(), &settings);
    let mut client = daemon.client();
    let root = scratch.workspace();
    client.index(&root);
    let entries = client.entries(&root);
    assert!(entries.len() >= 48, "{entries:#?}");
    let file = scratch.index_file();
    // The number of files is rounded up to a multiple of ten. Twelve files therefore have the size limit of twenty.
    assert!(file.len() / 4 <= 2_000, "{} bytes: {file}", file.len());
    let within = file.matches("<!-- hx: ").count();
    assert!((12..48).contains(&within), "{within}: {file}");
    let listed = entries
        .iter()
        .filter(|entry| file.contains(&format!("id={} ", entry.id)))
        .count();
    assert_eq!(listed, within);
    let mut below = 0;
    for topic in std::fs::read_dir(root.join(".hippocampus/topics"))
        .unwrap()
        .flatten()
    {
        below += std::fs::read_to_string(topic.path())
            .unwrap()
            .matches("<!-- hx: ")
            .count();
    }
    assert_eq!(within + below, entries.len());
    let found = client.ask(&root, "place of thing11", false).results;
    assert_eq!(found[0].path, "knowledge/machine11.md");
}
