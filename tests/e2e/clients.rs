//! Isolation of clients from each other.

use std::collections::BTreeSet;
use std::io::Write;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hippo_proto::{ClientError, SearchMode, SearchRequest, SearchResponse};
use hippod_tests::{Caller, Daemon, Raw, Scratch};
use serde_json::{Value, json};

pub fn fill(scratch: &Scratch, files: usize) {
    for number in 0..files {
        scratch.write(
            &format!("memory/{number}.md"),
            format!("# Note {number}\n\n- the pump of hall {number} is blue\n- valve{number} is red\n"),
        );
    }
}

pub fn started() -> (Scratch, Daemon, Caller) {
    let scratch = Scratch::new();
    fill(&scratch, 20);
    let daemon = scratch.daemon();
    let mut client = daemon.client();
    client.index(&scratch.workspace());
    (scratch, daemon, client)
}

pub fn request(id: impl Into<Value>, method: &str, params: Value) -> Vec<u8> {
    let request = json!({"jsonrpc": "2.0", "id": id.into(), "method": method, "params": params});
    format!("{request}\n").into_bytes()
}

/// Asserts that the daemon answers an ordinary request on the connection.
pub fn assert_works(raw: &mut Raw) {
    assert!(raw.send(&request("still there?", "status", json!({}))));
    let answer = raw.line().expect("an answer");
    assert_eq!(answer["id"], "still there?", "{answer}");
    assert!(answer["result"]["pid"].is_number(), "{answer}");
}

#[test]
fn sixty_four_clients_are_answered_during_indexing() {
    const CLIENTS: usize = 64;
    const SEARCHES: usize = 12;
    let scratch = Scratch::new();
    fill(&scratch, 200);
    let daemon = scratch.daemon();
    daemon.client().add(&scratch.workspace());
    let busy = AtomicBool::new(true);
    let answered: usize = std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let mut number = 0;
            while busy.load(Ordering::Relaxed) && number < 5000 {
                let text = format!("- the pump of hall {number} was painted\n- lantern{number}\n");
                scratch.write(&format!("memory/{}.md", number % 200), text);
                number += 1;
                std::thread::yield_now();
            }
        });
        let clients: Vec<_> = (0..CLIENTS)
            .map(|number| {
                let (mut client, root) = (daemon.client(), scratch.workspace());
                scope.spawn(move || {
                    let mut answered = 0;
                    for turn in 0..SEARCHES {
                        let query = format!("the blue pump of hall {}", number * SEARCHES + turn);
                        let mut request = SearchRequest::new(root.display().to_string(), query.clone());
                        request.mode =
                            Some([SearchMode::Hybrid, SearchMode::Lexical, SearchMode::Vector][turn % 3]);
                        match client.raw().call::<SearchResponse>(&request.into()) {
                            Ok(response) => assert_eq!(response.query, query),
                            Err(ClientError::Refused(error)) if error.data.retryable => {}
                            Err(error) => panic!("{query}: {error}"),
                        }
                        answered += 1;
                    }
                    answered
                })
            })
            .collect();
        let answered = clients.into_iter().map(|client| client.join().unwrap()).sum();
        busy.store(false, Ordering::Relaxed);
        writer.join().unwrap();
        answered
    });
    assert_eq!(answered, CLIENTS * SEARCHES);
    let mut client = daemon.client();
    let synced = client.sync(&scratch.workspace());
    assert_eq!((synced.documents, synced.pending), (200, 0));
}

#[test]
fn two_hundred_concurrent_requests_are_answered_under_their_ids() {
    let (scratch, daemon, _client) = started();
    let root = scratch.workspace().display().to_string();
    let mut raw = daemon.raw();
    let mut all = Vec::new();
    for id in 0..200 {
        let query = format!("valve{}", id % 20);
        all.extend(match id % 4 {
            0 => request(id, "status", json!({})),
            1 => request(id, "no such method", json!({})),
            _ => request(
                id,
                "search",
                json!({"workspace": root, "query": query, "mode": "lexical"}),
            ),
        });
    }
    assert!(raw.send(&all));
    let mut seen = BTreeSet::new();
    for _ in 0..200 {
        let answer = raw.line().expect("an answer");
        let id = answer["id"].as_u64().unwrap();
        assert!(seen.insert(id), "{id} was answered twice");
        match id % 4 {
            0 => assert!(answer["result"]["pid"].is_number(), "{answer}"),
            1 => assert_eq!(answer["error"]["code"], -32601, "{answer}"),
            _ => {
                assert_eq!(answer["result"]["query"], format!("valve{}", id % 20));
                let path = format!("memory/{}.md", id % 20);
                assert_eq!(answer["result"]["results"][0]["path"], path, "{answer}");
            }
        }
    }
    assert_eq!(seen.len(), 200);
    assert_works(&mut raw);
}

#[test]
fn invalid_bytes_are_refused_and_the_connection_stays_open() {
    let (_scratch, daemon, _client) = started();
    let mut raw = daemon.raw();
    let garbage: [&[u8]; 7] = [
        b"\xff\xfe\x00\x01garbage\n",
        b"GET / HTTP/1.1\n",
        b"{\"jsonrpc\":\"2.0\",\n",
        b"\"\xc3\x28\"\n",
        b"nul\n",
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"status\"}}\n",
        b"\0\0\0\0\0\0\0\0\n",
    ];
    for bytes in garbage {
        assert!(raw.send(bytes));
        let answer = raw.line().expect("an answer");
        assert_eq!(answer["error"]["code"], -32700, "{answer}");
        assert_eq!(answer["error"]["data"]["kind"], "bad-request", "{answer}");
        assert_eq!(answer["id"], Value::Null);
        assert_works(&mut raw);
    }
    let deep = [vec![b'['; 100_000], b"\n".to_vec()].concat();
    assert!(raw.send(&deep));
    assert_eq!(raw.line().unwrap()["error"]["code"], -32700);
    assert_works(&mut raw);
}

#[test]
fn an_incomplete_line_is_not_a_request() {
    let (_scratch, daemon, mut client) = started();
    let served = client.status().requests_served;
    let mut raw = daemon.raw();
    assert!(raw.send(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"shut"));
    raw.finish_writing();
    assert_eq!(raw.rest(), "");
    let whole = request(2, "status", json!({}));
    let mut raw = daemon.raw();
    assert!(raw.send(&[&whole[..], b"{\"jsonrpc\":"].concat()));
    raw.finish_writing();
    let said = raw.rest();
    assert_eq!(said.lines().count(), 1, "{said}");
    assert_eq!(client.status().requests_served, served + 2);
}

#[test]
fn clients_that_disconnect_during_an_answer_affect_no_other_client() {
    let (scratch, mut daemon, mut client) = started();
    for _ in 0..30 {
        let mut raw = daemon.raw();
        for id in 0..50 {
            let params = json!({"workspace": scratch.workspace(), "query": "blue pump", "limit": 200});
            if !raw.send(&request(id, "search", params)) {
                break;
            }
        }
        // Close the connection while the daemon sends its answers.
        drop(raw);
    }
    assert_eq!(
        client.search(&scratch.workspace(), "valve7").results[0].path,
        "memory/7.md"
    );
    assert!(daemon.is_alive());
}

#[test]
fn clients_that_never_read_affect_no_other_client() {
    let (scratch, daemon, mut client) = started();
    let mut deaf = Vec::new();
    for _ in 0..4 {
        let mut stream = UnixStream::connect(daemon.socket()).unwrap();
        stream
            .set_write_timeout(Some(Duration::from_millis(300)))
            .unwrap();
        let params =
            json!({"workspace": scratch.workspace(), "query": "blue pump", "mode": "lexical", "limit": 20});
        let line = request(1, "search", params);
        let mut taken = 0;
        // Send requests until the daemon stops reading. By then, its answers have filled the socket and its own
        // output buffer.
        while taken < 20_000 && stream.write_all(&line).is_ok() {
            taken += 1;
        }
        assert!(taken < 20_000, "the daemon keeps answers without end");
        deaf.push(stream);
    }
    for number in 0..20 {
        let best = client.best(&scratch.workspace(), &format!("valve{number}"));
        assert_eq!(best, Some(format!("memory/{number}.md:4")));
    }
    scratch.write("memory/new.md", "- the periscope is new\n");
    client.sync(&scratch.workspace());
    assert_eq!(
        client.best(&scratch.workspace(), "periscope").as_deref(),
        Some("memory/new.md:1")
    );
    assert!(daemon.terminate() < Duration::from_secs(3));
}

#[test]
fn each_refusal_has_its_kind_and_a_hint() {
    let (scratch, daemon, _client) = started();
    let root = scratch.workspace();
    let mut raw = daemon.raw();
    let cases = [
        ("serach", json!({}), -32601, "bad-request", "search"),
        (
            "search",
            json!({"workspace": root, "qeury": "x"}),
            -32602,
            "bad-request",
            "query",
        ),
        (
            "search",
            json!({"workspace": root, "query": "x", "limit": "ten"}),
            -32602,
            "bad-request",
            "",
        ),
        (
            "search",
            json!({"workspace": root, "query": "x", "limit": 0}),
            -32602,
            "bad-request",
            "1 to 200",
        ),
        (
            "search",
            json!({"workspace": root, "query": "x", "mode": "indx"}),
            -32602,
            "bad-request",
            "\"index\"",
        ),
        (
            "search",
            json!({"workspace": root, "query": "x", "since": "May"}),
            -32602,
            "bad-request",
            "YYYY-MM-DD",
        ),
        (
            "search",
            json!({"workspace": "/nowhere/at/all", "query": "x"}),
            -32002,
            "no-workspace",
            "workspace add",
        ),
        ("search", json!([root, "x"]), -32602, "bad-request", "by name"),
        (
            "get",
            json!({"workspace": root, "path": "memory/none.md"}),
            -32003,
            "not-found",
            "",
        ),
        (
            "get",
            json!({"id": "c00000000000000000000"}),
            -32003,
            "not-found",
            "search",
        ),
        (
            "workspace.add",
            json!({"workspace": "/nowhere/at/all"}),
            -32003,
            "not-found",
            "existing folder",
        ),
        (
            "hello",
            json!({"protocol": 99, "client": "t/1"}),
            -32001,
            "unsupported-protocol",
            "protocol 1",
        ),
    ];
    for (method, params, code, kind, hint) in cases {
        assert!(raw.send(&request(5, method, params)));
        let answer = raw.line().expect("an answer");
        let error = &answer["error"];
        assert_eq!(
            (&answer["id"], &error["code"]),
            (&json!(5), &json!(code)),
            "{answer}"
        );
        assert_eq!(error["data"]["kind"], kind, "{answer}");
        assert!(error["data"]["hint"].as_str().unwrap().contains(hint), "{answer}");
        assert_eq!(error["data"]["retryable"], false, "{answer}");
    }
    let batch = [
        &b"["[..],
        request(1, "status", json!({})).trim_ascii_end(),
        b"]\n",
    ]
    .concat();
    assert!(raw.send(&batch));
    let answer = raw.line().unwrap();
    assert_eq!(answer["error"]["code"], -32600, "{answer}");
    assert!(
        answer["error"]["data"]["hint"]
            .as_str()
            .unwrap()
            .contains("separate line")
    );
    assert_works(&mut raw);
}

#[test]
fn a_connection_beyond_the_limit_is_refused_with_a_hint() {
    let scratch = Scratch::new();
    let daemon = Daemon::start(&scratch.home(), &[]);
    let mut places = Vec::new();
    // The connections that were used to check the start of the daemon may still be open.
    loop {
        let mut raw = daemon.raw();
        raw.send(&request(1, "status", json!({})));
        let answer = raw.line().expect("an answer or a refusal");
        if answer["error"].is_null() {
            places.push(raw);
            continue;
        }
        assert_eq!(answer["error"]["data"]["kind"], "warming", "{answer}");
        assert_eq!(answer["error"]["data"]["retryable"], true, "{answer}");
        let hint = answer["error"]["data"]["hint"].as_str().unwrap();
        assert!(hint.contains("close some connections"), "{answer}");
        if places.len() == 256 {
            break;
        }
    }
    for raw in &mut places {
        assert_works(raw);
    }
    places.pop();
    loop {
        let mut raw = daemon.raw();
        raw.send(&request(1, "status", json!({})));
        if raw.line().is_some_and(|answer| answer["error"].is_null()) {
            break;
        }
    }
}
