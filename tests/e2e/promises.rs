//! Promises of the README about answers and the log.

use std::collections::BTreeSet;

use hippo_proto::METHODS;
use hippod_tests::{Daemon, Scratch, assert_same};
use serde_json::{Value, json};

const QUERIES: [&str; 4] = ["kettle", "lantern", "the anchor of the boat", "plum jam"];

fn fill(scratch: &Scratch, files: usize) {
    for number in 0..files {
        let text =
            format!("# Note {number}\n\n- the kettle of hall {number} is blue\n- lantern{number} is red\n");
        scratch.write(&format!("memory/{number:03}.md"), text);
    }
}

#[test]
fn an_answer_marked_complete_contains_all_new_files() {
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
fn changes_without_events_are_found_by_a_sync() {
    let scratch = Scratch::new();
    fill(&scratch, 40);
    let root = scratch.workspace();
    // The watcher delivers events only after one minute, so no event arrives during the test.
    let deaf = [("HIPPOD_WATCH_QUIET_MS", "60000")];
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

/// Returns one request for each method. Each value that a client can choose contains the word `zanzibar`. Some
/// requests are refused, because the daemon also logs refused requests.
fn of_every_method(root: &str) -> Vec<(&'static str, Value)> {
    let transcript = format!("{root}/../zanzibar.jsonl");
    let put = json!({"session": "zanzibar", "turn": 1, "type": "tool_result",
        "source": {"type": "tool", "ref": "zanzibar"}, "content": "zanzibar ".repeat(2000)});
    let message = json!({"role": "user", "content": "where is the zanzibar password?"});
    let beside = |name: &str| format!("{root}/../{name}");
    let mut all = vec![
        ("hello", json!({"protocol": 1, "client": "zanzibar/1"})),
        ("status", json!({})),
        ("metrics", json!({})),
        ("subscribe", json!({})),
        ("workspace.list", json!({})),
        ("workspace.add", json!({"workspace": root})),
        ("context.open", json!({"workspace": root, "session": "zanzibar"})),
        ("context.put", put),
        ("context.turn", json!({"session": "zanzibar", "turn": 2})),
        ("context.render", json!({"session": "zanzibar"})),
        ("context.fetch", json!({"session": "zanzibar", "id": "zanzibar"})),
        (
            "context.touch",
            json!({"session": "zanzibar", "turn": 2, "id": "zanzibar"}),
        ),
        ("context.list", json!({"session": "zanzibar"})),
        ("context.close", json!({"session": "zanzibar"})),
        (
            "share.init",
            json!({"url": "postgres://zanzibar@127.0.0.1:1/zanzibar", "password_file": "/nowhere/zanzibar", "team": "zanzibar"}),
        ),
        ("share.status", json!({})),
        ("share.list", json!({})),
        ("share.remove", json!({"id": "zanzibar"})),
        ("model.list", json!({})),
        ("model.pull", json!({"model": "zanzibar"})),
        ("model.verify", json!({"model": "zanzibar"})),
        ("model.import", json!({"from": "/nowhere", "name": "zanzibar"})),
        ("model.import", json!({"from": "/nowhere", "model": "zanzibar"})),
        ("model.remove", json!({"model": "zanzibar"})),
        ("backup.verify", json!({"from": beside("zanzibar.tar.zst")})),
        (
            "restore",
            json!({"from": beside("zanzibar.tar.zst"), "into": beside("zanzibar")}),
        ),
    ];
    let of_workspace = [
        ("search", json!({"query": "zanzibar password"})),
        ("get", json!({"path": "memory/zanzibar-is-not-there.md"})),
        (
            "remember",
            json!({"text": "the zanzibar pump is blue", "topic": "zanzibar"}),
        ),
        ("index.list", json!({})),
        ("index.show", json!({"id": "zanzibar"})),
        ("index.edit", json!({"id": "zanzibar", "summary": "zanzibar"})),
        ("index.forget", json!({"id": "zanzibar"})),
        ("index.restore", json!({"id": "zanzibar"})),
        ("cycle.run", json!({"cycle": "deep"})),
        ("cycle.history", json!({})),
        ("cycle.undo", json!({"run": 1})),
        (
            "recall",
            json!({"prompt": "where is the zanzibar password kept?", "session": "zanzibar"}),
        ),
        ("recall.log", json!({})),
        (
            "recall.why",
            json!({"query": "zanzibar password", "path": "memory/zanzibar.md"}),
        ),
        ("share.publish", json!({"dry_run": true})),
        (
            "share.add",
            json!({"to": beside("zanzibar"), "name": "zanzibar", "selectors": {"topics": ["zanzibar"]}}),
        ),
        ("heartbeat", json!({})),
        ("tree.compact", json!({})),
        ("tree.pending", json!({})),
        (
            "tree.submit",
            json!({"node": "2026-03-06", "body": "- zanzibar", "source_digest": "zanzibar"}),
        ),
        ("tree.show", json!({"node": "2026-03-06"})),
        ("session.compact", json!({"messages": [message]})),
        ("session.flush", json!({"path": transcript, "wait": true})),
        ("audit", json!({})),
        ("backup", json!({"to": beside("zanzibar.tar.zst")})),
        ("doctor", json!({"fix": true})),
        ("workspace.sync", json!({"wait": true})),
        ("workspace.trust", json!({})),
        ("workspace.remove", json!({})),
    ];
    all.extend(of_workspace.map(|(method, mut params)| {
        params["workspace"] = root.into();
        (method, params)
    }));
    all.push(("shutdown", json!({})));
    all
}

#[test]
fn memory_text_and_questions_are_not_logged() {
    for level in ["info", "debug"] {
        nothing_of_memory_is_logged(level);
    }
}

fn nothing_of_memory_is_logged(level: &str) {
    let scratch = Scratch::new();
    fill(&scratch, 3);
    let root = scratch.workspace();
    scratch.write(
        "memory/2026-03-06.md",
        "# zanzibar\n\n- the zanzibar password is kept in a tin\n",
    );
    scratch.write("memory/broken.md", b"zanzibar \xff\xfe\x00 zanzibar\n".as_slice());
    scratch.write("knowledge/large.md", "zanzibar ".repeat(3_000_000));
    let known = json!({"results": [{"id": "1", "memory": "the zanzibar lamp is green", "created_at": "2026-03-01T09:00:00Z"}]});
    std::fs::write(scratch.beside("zanzibar.json"), known.to_string()).unwrap();
    let daemon = Daemon::start(&scratch.home(), &[("HIPPOD_LOG_LEVEL", level)]);
    let mut client = daemon.client();
    client.index(&root);
    let hit = client.search(&root, "zanzibar password").results.remove(0);
    assert!(hit.text.contains("tin"));
    scratch.write("memory/2026-03-06.md", "- nothing of zanzibar is left\n");
    client.sync(&root);
    client.doctor(true);
    let requests = of_every_method(root.to_str().unwrap());
    let asked: BTreeSet<&str> = requests.iter().map(|(method, _)| *method).collect();
    assert_eq!(asked, METHODS.iter().copied().collect());
    let mut raw = daemon.raw();
    for (id, (method, params)) in requests.iter().enumerate() {
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        assert!(raw.send(format!("{request}\n").as_bytes()));
        // Events can arrive before the answer.
        while raw.line().unwrap()["id"] != id {}
    }
    drop(client);
    let home = scratch.home();
    assert!(daemon.wait().success());
    let log = std::fs::read_to_string(home.join("log")).unwrap();
    assert!(!log.is_empty(), "something is logged");
    assert!(!log.contains("zanzibar"), "{log}");
    for method in METHODS {
        let named = log.contains(&format!("method=\"{method}\""));
        assert!(named || level == "info", "{method} is told at debug: {log}");
    }
}
