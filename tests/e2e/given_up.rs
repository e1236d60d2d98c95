//! Abandoned requests.
//!
//! The work of a request ends when its client disconnects, and the next request completes the work.

use std::time::Instant;

use hippo_proto::{MetricsRequest, MetricsResponse};
use hippod_tests::{Caller, Daemon, PATIENCE, Scratch};
use serde_json::{Value, json};

/// Number of messages in a transcript.
const MESSAGES: usize = 20_000;
/// Number of daily logs.
const DAYS: usize = 1_200;

/// Sends a request and closes the connection. Waits until the daemon counts the request as failed.
fn abandon(daemon: &Daemon, client: &mut Caller, method: &str, params: &Value) {
    let mut raw = daemon.raw();
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    assert!(raw.send(format!("{request}\n").as_bytes()));
    drop(raw);
    let begun = Instant::now();
    loop {
        let metrics: MetricsResponse = client.raw().call(&MetricsRequest {}.into()).unwrap();
        let mut counted = metrics.text.lines().filter(|line| {
            line.starts_with("hippod_requests_total")
                && line.contains(&format!("\"{method}\""))
                && !line.ends_with(" 0")
        });
        if let Some(line) = counted.next() {
            assert!(line.contains("internal"), "the work was done for nobody: {line}");
            return;
        }
        assert!(begun.elapsed() < PATIENCE, "{method} goes on: {}", metrics.text);
        std::thread::yield_now();
    }
}

/// Sends a request and returns its result.
fn ask(daemon: &Daemon, method: &str, params: &Value) -> Value {
    let mut raw = daemon.raw();
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    assert!(raw.send(format!("{request}\n").as_bytes()));
    loop {
        let answer = raw.line().expect("an answer");
        if answer["id"] == 1 {
            assert!(answer["error"].is_null(), "{answer}");
            return answer["result"].clone();
        }
    }
}

/// Starts a daemon with an empty workspace, and writes a long transcript that is not in the workspace.
fn with_transcript() -> (Scratch, Daemon, Caller, Value) {
    let scratch = Scratch::new();
    let path = scratch.beside("session.jsonl");
    let message = |number| {
        let text = format!("Please look after valve {number} of hall {}.", number % 97);
        json!({"role": "user", "content": text}).to_string() + "\n"
    };
    std::fs::write(&path, (0..MESSAGES).map(message).collect::<String>()).unwrap();
    let daemon = scratch.quiet_daemon();
    let mut client = daemon.client();
    client.index(&scratch.workspace());
    let params = json!({"workspace": scratch.workspace(), "path": path});
    (scratch, daemon, client, params)
}

#[test]
fn an_abandoned_flush_logs_no_message() {
    let (_scratch, daemon, mut client, mut params) = with_transcript();
    params["wait"] = json!(true);
    abandon(&daemon, &mut client, "session.flush", &params);
    // This request waits until the abandoned flush has ended. It logs all messages, so the abandoned flush has logged
    // none.
    let flushed = ask(&daemon, "session.flush", &params);
    assert_eq!(flushed["messages"], MESSAGES, "{flushed:.500}");
}

#[test]
fn an_abandoned_compaction_stores_few_messages() {
    let (_scratch, daemon, mut client, params) = with_transcript();
    abandon(&daemon, &mut client, "session.compact", &params);
    // Requests that store nothing. If the abandoned work continued, it would make progress while they run.
    for _ in 0..3 {
        ask(&daemon, "session.compact", &json!({"path": params["path"]}));
    }
    let compacted = ask(&daemon, "session.compact", &params);
    let stored = compacted["stats"]["stored"].as_u64().unwrap();
    assert!(stored > MESSAGES as u64 / 2, "only {stored} messages were left");
}

#[test]
fn an_abandoned_tree_compaction_is_done_by_the_next_request() {
    let scratch = Scratch::new();
    for day in 0..DAYS {
        let date = jiff::civil::date(2020, 1, 1) + jiff::Span::new().days(i64::try_from(day).unwrap());
        let log =
            format!("# {date}\n\n## Pump {day}\n\n- decision: the pump of hall {day} is painted blue\n");
        scratch.write(&format!("memory/{date}.md"), log);
    }
    let daemon = scratch.quiet_daemon();
    let mut client = daemon.client();
    client.index(&scratch.workspace());
    let params = json!({"workspace": scratch.workspace()});
    abandon(&daemon, &mut client, "tree.compact", &params);
    // This request waits until the abandoned compaction has ended. Its answer lacks the nodes that the abandoned
    // compaction wrote.
    let made = ask(&daemon, "tree.compact", &params);
    let nodes = made["nodes"].as_array().unwrap().len();
    assert!(nodes > DAYS / 2, "only {nodes} nodes were left");
    let again = ask(&daemon, "tree.compact", &params);
    assert_eq!(again["nodes"], json!([]), "{again:.500}");
}
