//! What the README promises of answers and of the log.

use hippo_proto::{GetRequest, GetResponse};
use hippod_tests::{Daemon, Scratch, assert_same};

const QUERIES: [&str; 4] = ["kettle", "lantern", "the anchor of the boat", "plum jam"];

fn fill(scratch: &Scratch, files: usize) {
    for number in 0..files {
        let text =
            format!("# Note {number}\n\n- the kettle of hall {number} is blue\n- lantern{number} is red\n");
        scratch.write(&format!("memory/{number:03}.md"), text);
    }
}

#[test]
fn an_answer_that_claims_to_be_complete_is() {
    let scratch = Scratch::new();
    fill(&scratch, 60);
    let root = scratch.workspace();
    let daemon = scratch.daemon();
    daemon.client().index(&root);
    daemon.terminate();
    for number in 100..400 {
        scratch.write(
            &format!("knowledge/{number}.md"),
            format!("- anchor{number} was painted\n"),
        );
    }
    let daemon = scratch.daemon();
    let mut client = daemon.client();
    let complete = client.search_until(&root, "anchor399", |answer| {
        let index = &answer.index;
        index.degraded.is_none() && index.pending == 0 && index.lag_ms == 0
    });
    assert_eq!(complete.results[0].text, "- anchor399 was painted");
}

#[test]
fn what_no_event_told_of_is_found_by_comparing_the_disk() {
    let scratch = Scratch::new();
    fill(&scratch, 40);
    let root = scratch.workspace();
    // Events are handed on after a minute: none counts here.
    let deaf = [
        ("HIPPOD_WATCH_QUIET_MS", "60000"),
        ("HIPPOD_WATCH_MAX_WAIT_MS", "600000"),
    ];
    let daemon = Daemon::start(&scratch.home(), &deaf);
    let mut client = daemon.client();
    client.index(&root);
    scratch.write("memory/003.md", "- the anchor of the boat is new\n");
    scratch.write("memory/2026-03-05.md", "- plum jam boiled over\n");
    std::fs::remove_file(root.join("memory/004.md")).unwrap();
    std::fs::rename(root.join("memory/005.md"), root.join("memory/later.md")).unwrap();
    client.sync(&root);
    let fresh = scratch.fresh_daemon("fresh");
    let mut fresh_client = fresh.client();
    fresh_client.index(&root);
    assert_same(
        "without events",
        &client.answers(&root, &QUERIES),
        &fresh_client.answers(&root, &QUERIES),
    );
}

#[test]
fn memory_text_and_questions_are_not_logged() {
    let scratch = Scratch::new();
    fill(&scratch, 3);
    let root = scratch.workspace();
    scratch.write(
        "memory/2026-03-06.md",
        "# zanzibar\n\n- the zanzibar password is kept in a tin\n",
    );
    scratch.write("memory/broken.md", b"zanzibar \xff\xfe\x00 zanzibar\n".as_slice());
    scratch.write("knowledge/large.md", "zanzibar ".repeat(3_000_000));
    let daemon = scratch.daemon();
    let mut client = daemon.client();
    client.index(&root);
    let hit = client.search(&root, "zanzibar password").results.remove(0);
    assert!(hit.text.contains("tin"));
    let gone = GetRequest {
        workspace: Some(root.display().to_string()),
        path: Some("memory/zanzibar-is-not-there.md".into()),
        ..GetRequest::default()
    };
    assert!(client.raw().call::<GetResponse>(&gone.into()).is_err());
    scratch.write("memory/2026-03-06.md", "- nothing of zanzibar is left\n");
    client.sync(&root);
    client.doctor(true);
    let log = daemon.log();
    daemon.terminate();
    assert!(!log.is_empty(), "something is logged");
    assert!(!log.contains("zanzibar"), "{log}");
}
