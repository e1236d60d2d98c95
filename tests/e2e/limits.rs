//! Requests and answers that are too large.
//! The daemon refuses each request with the id of the request, and the connection stays open.

use hippod_tests::Raw;
use serde_json::json;

use crate::clients::{assert_works, request, started};

#[test]
fn a_line_of_17_mib_is_refused_and_the_connection_stays_open() {
    let (scratch, daemon, _client) = started();
    let mut raw = daemon.raw();
    let mut line = request(
        1,
        "search",
        json!({"workspace": scratch.workspace(), "query": "x".repeat(17 << 20)}),
    );
    assert!(raw.send(&line));
    let answer = raw.line().expect("an answer");
    assert_eq!(answer["error"]["data"]["kind"], "too-large", "{answer}");
    assert_ne!(answer["error"]["data"]["hint"], "", "{answer}");
    assert_works(&mut raw);
    // A line just below the limit is processed like any other line.
    line = request(2, "status", json!({}));
    let at = line.len() - 1;
    line.splice(at..at, std::iter::repeat_n(b' ', (16 << 20) - at));
    assert!(raw.send(&line));
    assert_eq!(raw.line().unwrap()["id"], 2);
}

#[test]
fn a_query_of_megabytes_is_refused_without_blocking_other_clients() {
    let (scratch, daemon, mut client) = started();
    let long: String = (0..130_000).map(|word| format!("word{word} ")).collect();
    let mut rude: Vec<Raw> = (0..4).map(|_| daemon.raw()).collect();
    for raw in &mut rude {
        let params = json!({"workspace": scratch.workspace(), "query": long});
        assert!(raw.send(&request("long", "search", params)));
    }
    assert!(client.status().pid > 0);
    for raw in &mut rude {
        let answer = raw.line().expect("an answer");
        assert_eq!(answer["id"], "long", "{answer}");
        assert_eq!(answer["error"]["data"]["kind"], "too-large", "{answer}");
        assert_works(raw);
    }
}
