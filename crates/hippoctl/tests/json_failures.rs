//! Tests of failures under `--json`.
//!
//! Every verb prints one JSON object of the same shape.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests, outside the functions that clippy knows as tests"
)]

mod scripted;

use std::path::Path;

use hippo_proto::{ErrorKind, RpcError, encode_error};
use scripted::{Daemon, hippoctl, out};
use serde_json::Value;

/// Returns the kind, the message and the hint of the failure in the last line of standard error.
fn failure(errors: &str, words: &[&str]) -> (String, String, String) {
    let last = errors.lines().last().unwrap_or_default();
    let value: Value =
        serde_json::from_str(last).unwrap_or_else(|error| panic!("{words:?}: {error}: {errors}"));
    let member = |name: &str| {
        value["error"][name]
            .as_str()
            .unwrap_or_else(|| panic!("{words:?}: {last}"))
            .to_owned()
    };
    (member("kind"), member("message"), member("hint"))
}

#[test]
fn every_verb_fails_with_one_json_object() {
    let home = tempfile::tempdir().unwrap();
    let run = |words: &[&str]| out(&hippoctl(home.path(), home.path(), words));
    let verbs: [&[&str]; 25] = [
        &["status"],
        &["doctor"],
        &["doctor", "--audit"],
        &["workspace", "add"],
        &["workspace", "list"],
        &["workspace", "remove"],
        &["sync"],
        &["search", "x"],
        &["get", "memory/a.md"],
        &["index", "list"],
        &["index", "unpin", "a"],
        &["remember", "x"],
        &["consolidate", "light"],
        &["consolidate", "history"],
        &["consolidate", "undo", "1"],
        &["heartbeat"],
        &["context", "list"],
        &["tree", "compact"],
        &["tree", "show"],
        &["model", "list"],
        &["model", "verify"],
        &["backup", "/nowhere/a.tar.zst"],
        &["restore", "/nowhere/a.tar.zst"],
        &["import", "mem0", "/nowhere/m.json"],
        &["ingest", "/nowhere/s.jsonl"],
    ];
    for words in verbs {
        let words = [&["--json", "--no-start"], words].concat();
        let (code, told, errors) = run(&words);
        assert_ne!(code, 0, "{words:?}");
        assert_eq!(told, "", "{words:?}");
        let (kind, message, _) = failure(&errors, &words);
        assert!(!kind.is_empty() && !message.is_empty(), "{words:?}: {errors}");
    }
}

#[test]
fn wrong_usage_is_reported_as_json() {
    let home = tempfile::tempdir().unwrap();
    for words in [
        &["--json", "serach", "x"][..],
        &["search", "--json"],
        &["status", "--bogus", "--json"],
        &["consolidate", "undo", "--json", "x"],
    ] {
        let (code, told, errors) = out(&hippoctl(home.path(), home.path(), words));
        assert_eq!((code, told.as_str()), (2, ""), "{words:?}: {errors}");
        let (kind, message, _) = failure(&errors, words);
        assert!(
            kind == "usage" && !message.starts_with("error"),
            "{words:?}: {errors}"
        );
    }
    let (code, told, _) = out(&hippoctl(home.path(), home.path(), &["--json", "--help"]));
    assert!(code == 0 && told.contains("Usage"), "{told}");
}

#[test]
fn a_refusal_keeps_the_kind_of_the_daemon() {
    let daemon = Daemon::start(|call| {
        let error = RpcError::new(ErrorKind::NotFound, "could not find the entry: a");
        encode_error(&call.id, &error.hint("hippoctl index list"))
    });
    let words = ["--json", "--workspace", "/w", "index", "show", "a"];
    let (code, told, errors) = out(&daemon.run(Path::new("/"), &words));
    assert_eq!((code, told.as_str()), (4, ""), "{errors}");
    assert!(daemon.requests.try_recv().is_ok(), "it was asked");
    let expected = ("not-found", "could not find the entry: a", "hippoctl index list");
    let (kind, message, hint) = failure(&errors, &words);
    assert_eq!((kind.as_str(), message.as_str(), hint.as_str()), expected);
}
