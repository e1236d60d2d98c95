//! Remembered texts in the daily log.
//! Each text is in the log once, at the reported lines, and immediately has an entry.

use std::collections::BTreeSet;
use std::process::{Command, Output};

use hippo_proto::{ClientError, EntryPlace, EntryPriority, MemoryType, RememberRequest, RememberResponse};
use hippod_tests::{Daemon, Scratch, client_program};

use crate::index_file::{block_of, fill, indexed};
use crate::index_room::daemon_without_room;
use crate::index_writers::settled;

#[test]
fn a_remembered_text_has_its_entry_in_list_and_file_at_once() {
    let (scratch, _daemon, mut client) = indexed();
    let root = scratch.workspace();
    let first = client.remember(&root, "Staging runs on port 8443.", "Acme staging");
    let log = root.join(&first.path);
    let entry = first.entry.expect("an entry");
    assert_eq!(
        (entry.topic.as_str(), entry.place),
        ("Acme staging", EntryPlace::Index)
    );
    assert!(client.ids(&root).contains(&entry.id));
    let block = block_of(&scratch.index_file(), &entry.id);
    assert!(
        block.contains(&format!("→ {} §Acme staging", first.path)),
        "{block}"
    );
    assert!(block.contains("Staging runs on port 8443."), "{block}");

    // Another program appends to the log without a line break at the end.
    let mut text = std::fs::read_to_string(&log).unwrap();
    text.push_str("\n## By hand\n\nwithout an end");
    std::fs::write(&log, &text).unwrap();
    let request = RememberRequest {
        workspace: root.display().to_string(),
        text: "Never restart the gateway\nbefore the backup is over.".to_owned(),
        topic: Some("Gateway".to_owned()),
        type_: Some(MemoryType::Feedback),
        tags: Some(vec!["gateway".to_owned()]),
        priority: Some(EntryPriority::High),
        ..RememberRequest::default()
    };
    let second: RememberResponse = client.raw().call(&request.into()).unwrap();
    let now = std::fs::read_to_string(&log).unwrap();
    assert!(
        now.starts_with(&text),
        "nothing that stood there is touched: {now}"
    );
    let lines: Vec<&str> = now.lines().collect();
    assert_eq!(lines[second.start_line as usize - 1], "## Gateway [feedback]");
    assert_eq!(lines[second.end_line as usize - 1], "before the backup is over.");
    let entry = second.entry.expect("an entry");
    assert_eq!(entry.priority, EntryPriority::High);
    assert_eq!(entry.tags, ["feedback", "gateway"]);
    assert!(
        client.show(&root, &entry.id).stale.is_empty(),
        "its pointer leads to it"
    );
    let found = client.search_until(&root, "restart the gateway", |answer| {
        answer
            .results
            .first()
            .is_some_and(|hit| hit.text.contains("Never restart"))
    });
    assert_eq!(found.results[0].entry.as_deref(), Some(entry.id.as_str()));
    // An ordinary sync indexes the log again. It must not create a second entry.
    client.sync(&root);
    client.run(&root, hippo_proto::Cycle::Light);
    let same = client
        .entries(&root)
        .into_iter()
        .filter(|other| other.topic == "Gateway");
    assert_eq!(same.count(), 1);
}

#[test]
fn a_secret_is_stored_unchanged_and_reported_only_by_kind() {
    let (scratch, daemon, mut client) = indexed();
    let root = scratch.workspace();
    let said = client.remember(&root, "The NAS password is hunter2.", "NAS");
    assert_eq!(said.secrets, ["password"]);
    let log = std::fs::read_to_string(root.join(&said.path)).unwrap();
    assert!(log.contains("hunter2"), "the log belongs to its user");
    assert!(!scratch.index_file().contains("hunter2"));
    assert!(!format!("{:?} {}", said.notes, daemon.log()).contains("hunter2"));
    let plain = client.remember(&root, "The NAS is in the cellar.", "NAS place");
    assert_eq!((plain.secrets.len(), plain.notes.len()), (0, 0), "{plain:?}");

    let output = Command::new(client_program())
        .args(["remember", "5 degrees, token glpat-1234567890abcdefghij"])
        .current_dir(&root)
        .env("HIPPOD_HOME", scratch.home())
        .output()
        .unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(
        told.contains("note: the text seems to contain a secret (provider token)")
            && told.contains(&format!("delete it from {}", said.path)),
        "{told}"
    );
    assert!(!told.contains("1234567890"), "{told}");
    let log = std::fs::read_to_string(root.join(&said.path)).unwrap();
    assert!(
        log.contains("## 5 degrees, token …\n\n5 degrees, token glpat-1234567890abcdefghij"),
        "{log}"
    );
}

#[test]
fn a_log_in_utf_16_is_left_unchanged() {
    let (scratch, _daemon, mut client) = indexed();
    let root = scratch.workspace();
    let log = root.join(client.remember(&root, "The heron nests here.", "Heron").path);
    let text = format!("\u{feff}{}", std::fs::read_to_string(&log).unwrap());
    let wide: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    std::fs::write(&log, &wide).unwrap();
    let request = RememberRequest {
        workspace: root.display().to_string(),
        text: "The otter swims.".to_owned(),
        ..RememberRequest::default()
    };
    let ClientError::Refused(refused) = client
        .raw()
        .call::<RememberResponse>(&request.into())
        .unwrap_err()
    else {
        panic!("not refused");
    };
    assert!(refused.message.contains("the file is in UTF-16"), "{refused:?}");
    assert_eq!(std::fs::read(&log).unwrap(), wide);
}

#[test]
fn a_repeated_text_refreshes_its_entry_and_a_new_text_adds_one() {
    let (scratch, _daemon, mut client) = indexed();
    let root = scratch.workspace();
    let first = client.remember(&root, "The anchor is blue.", "Anchor");
    let log = root.join(&first.path);
    let before = std::fs::read(&log).unwrap();
    let again = client.remember(&root, "The anchor is blue.", "Anchor");
    assert_eq!(std::fs::read(&log).unwrap(), before);
    assert_eq!(
        (again.start_line, again.end_line),
        (first.start_line, first.end_line)
    );
    assert!(
        again.notes.iter().any(|note| note.contains("already")),
        "{again:?}"
    );
    let (one, same) = (first.entry.unwrap(), again.entry.unwrap());
    assert_eq!((&one.id, one.hits + 1), (&same.id, same.hits));
    let other = client.remember(&root, "The anchor is red.", "Anchor");
    assert!(
        other.notes.is_empty() && other.start_line > first.end_line,
        "{other:?}"
    );
    assert_ne!(other.entry.unwrap().id, one.id);
}

#[test]
fn texts_of_twenty_clients_are_logged_at_the_reported_lines() {
    const CLIENTS: usize = 20;
    const TEXTS: usize = 5;
    let (scratch, daemon, mut client) = indexed();
    let root = scratch.workspace();
    let answers: Vec<(String, String, RememberResponse)> = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|number| {
                let (mut client, root) = (daemon.client(), root.clone());
                scope.spawn(move || {
                    let one = |turn| {
                        let topic = format!("Topic {number} {turn}");
                        let text =
                            format!("The anchor number{number}turn{turn} is blue.\nIt was painted\ntwice.");
                        let answer = client.remember(&root, &text, &topic);
                        (topic, text, answer)
                    };
                    (0..TEXTS).map(one).collect::<Vec<_>>()
                })
            })
            .collect();
        clients
            .into_iter()
            .flat_map(|client| client.join().unwrap())
            .collect()
    });
    assert_eq!(answers.len(), CLIENTS * TEXTS);
    let listed = client.ids(&root);
    settled(&mut client, &scratch);
    let file = scratch.index_file();
    let (mut ids, mut paths) = (BTreeSet::new(), BTreeSet::new());
    for (topic, text, answer) in &answers {
        let log = std::fs::read_to_string(root.join(&answer.path)).unwrap();
        let lines: Vec<&str> = log.lines().collect();
        let mine = lines[answer.start_line as usize - 1..answer.end_line as usize].join("\n");
        assert_eq!(mine, format!("## {topic}\n\n{text}"));
        assert_eq!(log.matches(&format!("## {topic}\n")).count(), 1);
        let id = &answer.entry.as_ref().expect("an entry").id;
        assert!(listed.contains(id) && ids.insert(id.clone()), "{id}");
        assert!(block_of(&file, id).contains(topic.as_str()), "{topic}");
        paths.insert(answer.path.clone());
    }
    for path in paths {
        let log = std::fs::read_to_string(root.join(path)).unwrap();
        assert_eq!(
            log.lines().filter(|line| line.starts_with("# ")).count(),
            1,
            "one title"
        );
    }
    let entries = client.entries(&root);
    crate::index_writers::assert_file_says(&root, &entries);
}

/// Runs the command line in the workspace.
fn hippoctl(daemon: &Daemon, scratch: &Scratch, words: &[&str]) -> Output {
    Command::new(client_program())
        .args(words)
        .current_dir(scratch.workspace())
        .env("HIPPOD_HOME", daemon.socket().parent().unwrap())
        .output()
        .expect("hippoctl runs")
}

#[test]
fn the_command_line_remembers_edits_and_consolidates() {
    let (scratch, daemon, mut client) = indexed();
    let root = scratch.workspace();
    let say = |words: &[&str]| -> String {
        let output = hippoctl(&daemon, &scratch, words);
        let (out, err) = (
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr),
        );
        assert!(output.status.success(), "{words:?}: {out}{err}");
        out.into_owned()
    };
    let told = say(&[
        "remember",
        "The anchor was painted blue.",
        "--topic",
        "Anchor",
        "--tags",
        "boat,paint",
    ]);
    assert!(told.contains("memory/"), "{told}");
    assert!(say(&["index", "list"]).contains("Anchor"));
    let shown = say(&["index", "show", "anchor"]);
    assert!(
        shown.contains("The anchor was painted blue.") && shown.contains("boat"),
        "{shown}"
    );
    say(&["index", "edit", "anchor", "--summary", "Blue since spring."]);
    say(&["index", "pin", "anchor"]);
    let block = block_of(&scratch.index_file(), "anchor");
    assert!(
        block.contains("Blue since spring.") && block.contains("pri=amygdala"),
        "{block}"
    );
    say(&["index", "unpin", "anchor"]);
    assert!(!block_of(&scratch.index_file(), "anchor").contains("pri="));
    // Unpinning restores the priority that the entry had before the first pin. A second unpin has no effect.
    say(&["index", "edit", "anchor", "--priority", "high"]);
    say(&["index", "pin", "anchor"]);
    say(&["index", "pin", "anchor"]);
    assert!(block_of(&scratch.index_file(), "anchor").contains("pri=amygdala"));
    assert!(say(&["index", "unpin", "anchor"]).starts_with("unpinned anchor"));
    let again = say(&["index", "unpin", "anchor"]);
    assert!(
        again.starts_with("not pinned: anchor") && again.contains("priority high"),
        "{again}"
    );
    assert!(block_of(&scratch.index_file(), "anchor").contains("pri=high"));
    say(&["index", "forget", "anchor"]);
    assert!(!scratch.index_file().contains("id=anchor "));
    assert!(!say(&["index", "list"]).contains("Anchor"));
    say(&["index", "restore", "anchor"]);
    assert!(scratch.index_file().contains("id=anchor "));
    let found = say(&["search", "--mode", "index", "when is the coffee machine descaled"]);
    assert!(found.contains("knowledge/kitchen.md"), "{found}");

    let plan = say(&["consolidate", "light", "--dry-run", "--at", "2060-01-01"]);
    assert!(plan.contains("queue"), "{plan}");
    say(&["consolidate", "light", "--at", "2060-01-01"]);
    let run = client.history(&root, None).runs[0].run;
    assert!(client.index_status().queued > 0);
    assert!(say(&["consolidate", "history"]).contains(&run.to_string()));
    assert!(say(&["consolidate", "history", "--run", &run.to_string()]).contains("queue"));
    say(&["consolidate", "undo", &run.to_string()]);
    assert_eq!(client.index_status().queued, 0);
    say(&["heartbeat"]);
    say(&["consolidate", "deep"]);
    let missing = hippoctl(&daemon, &scratch, &["consolidate", "undo", "4711"]);
    assert!(!missing.status.success());
    let told = String::from_utf8_lossy(&missing.stderr).into_owned();
    assert!(
        told.contains("4711") && told.contains("hippoctl consolidate history"),
        "{told}"
    );

    // `status` and `doctor` report deletions that are held back, and `sync --accept-deletions` confirms them.
    scratch.write("HIPPOCAMPUS.md", "# HIPPOCAMPUS.md\n");
    say(&["sync", "--wait"]);
    let status = say(&["status"]);
    assert!(status.contains("held"), "{status}");
    let doctor = hippoctl(&daemon, &scratch, &["doctor"]);
    let told = String::from_utf8_lossy(&doctor.stdout).into_owned();
    assert!(told.contains("--accept-deletions"), "{told}");
    say(&["sync", "--wait", "--accept-deletions"]);
    assert_eq!(client.ids(&root), [""; 0]);
}

#[test]
fn a_partial_append_is_reported_and_the_log_is_never_truncated() {
    let scratch = Scratch::new();
    fill(&scratch);
    // The log reaches the maximum size of a file, so the daemon does not index it.
    scratch.write(".hippocampus/config.toml", "[sources]\nmax_file_bytes = 100000\n");
    let root = scratch.workspace();
    let daemon = scratch.quiet_daemon();
    let mut client = daemon.client();
    client.index(&root);
    let path = client.remember(&root, "The first text.", "First").path;
    drop(client);
    daemon.terminate();
    let log = root.join(&path);
    let blocks = 4000;
    let mut before = std::fs::read(&log).unwrap();
    before.resize(blocks as usize * 512 - 700, b'x');
    std::fs::write(&log, &before).unwrap();
    let text = "word ".repeat(400);
    let request = RememberRequest {
        workspace: root.display().to_string(),
        text: text.clone(),
        topic: Some("Second".to_owned()),
        ..RememberRequest::default()
    };
    let daemon = daemon_without_room(&scratch, blocks);
    let mut client = daemon.client();
    let mut refusal = || match client.raw().call::<RememberResponse>(&request.clone().into()) {
        Err(ClientError::Refused(error)) => error.data.hint,
        other => panic!("{other:?}"),
    };
    let hint = refusal();
    assert!(hint.contains("the first 700 bytes"), "{hint}");
    let part = std::fs::read(&log).unwrap();
    assert!(part.starts_with(&before) && part.len() == before.len() + 700);
    let hint = refusal();
    assert!(hint.contains("nothing was written"), "{hint}");
    assert!(std::fs::read(&log).unwrap() == part, "the log is as it was");
    drop(client);
    daemon.terminate();
    let daemon = scratch.quiet_daemon();
    let mut client = daemon.client();
    client.sync(&root);
    client.remember(&root, &text, "Second");
    let after = std::fs::read_to_string(&log).unwrap();
    assert!(after.as_bytes().starts_with(&part));
    assert!(after.ends_with(&format!("\n## Second\n\n{}\n", text.trim())));
}

#[test]
fn a_remembered_text_is_found_by_the_next_search() {
    let (scratch, _daemon, mut client) = indexed();
    let root = scratch.workspace();
    for pump in [
        "amber", "birch", "cedar", "delta", "ember", "fjord", "gorse", "heron",
    ] {
        let text = format!("The {pump} pump stands at the weir.");
        let said = client.remember(&root, &text, pump);
        let found = client.search(&root, &format!("{pump} pump"));
        let first = found.results.first().expect("a result");
        assert_eq!(first.path, said.path);
        let lines = said.start_line..=said.end_line;
        assert!(lines.contains(&first.end_line), "{first:?} {said:?}");
        assert!(first.text.contains(&text), "{found:?}");
    }
}
