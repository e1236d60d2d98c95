//! Replay of the transcript in docs/protocol.md.
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests, outside the functions that clippy knows as tests"
)]

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use hippo_proto::Paths;
use hippod::clock::SystemClock;
use hippod::config::Config;
use hippod::{DaemonOptions, run};
use serde_json::Value;

/// Path of the workspace in the document.
const WORKSPACE: &str = "/home/ada/agent";
/// Placeholder that matches any value.
const ANY: &str = "<any>";
/// Placeholder member that allows additional members.
const MORE: &str = "…";

/// Returns the document with the transcript.
fn document() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/protocol.md");
    fs::read_to_string(path).unwrap()
}

/// Writes the file that the document shows into a workspace.
fn write_workspace(root: &Path, document: &str) {
    fs::create_dir_all(root.join("memory")).unwrap();
    fs::write(root.join("memory/2026-03-02.md"), block(document, "file")).unwrap();
}

/// Sends the requests of the document's transcript and compares the answers. Ignores events that the document does
/// not show. `root` is the canonical path of the workspace from [`write_workspace`]. The daemon must not know any
/// workspace before the call, and has stopped after the call.
fn replay(stream: &UnixStream, document: &str, root: &Path) {
    let root = serde_json::to_string(root.to_str().unwrap()).unwrap();
    let here = |line: &str| line.replace(WORKSPACE, &root[1..root.len() - 1]);
    let mut answers = BufReader::new(stream);
    let mut sent = 0;
    for line in block(document, "transcript").lines() {
        if let Some(request) = line.strip_prefix("> ") {
            let mut writer = stream;
            writer
                .write_all(format!("{}\n", here(request)).as_bytes())
                .unwrap();
            sent += 1;
        } else {
            let expected: Value = serde_json::from_str(&here(line.strip_prefix("< ").unwrap())).unwrap();
            let found = loop {
                let mut line = String::new();
                answers.read_line(&mut line).unwrap();
                let found: Value = serde_json::from_str(&line).unwrap();
                // An event can arrive at any time, even between a request and its answer.
                if found["method"] != "event" || expected["method"] == "event" {
                    break found;
                }
            };
            if let Err(difference) = compare(&expected, &found) {
                panic!("{difference}\nexpected {expected}\nfound    {found}");
            }
        }
    }
    assert!(sent > 10, "the transcript is too short to mean anything");
}

/// Returns the text of the only block of this kind.
fn block<'a>(document: &'a str, kind: &str) -> &'a str {
    let (_, rest) = document.split_once(&format!("\n```{kind}\n")).unwrap();
    let (text, rest) = rest.split_once("```\n").unwrap();
    assert!(
        !rest.contains(&format!("\n```{kind}\n")),
        "more than one block: {kind}"
    );
    text
}

fn compare(expected: &Value, found: &Value) -> Result<(), String> {
    match (expected, found) {
        (Value::String(any), _) if any == ANY => Ok(()),
        (Value::Object(expected), Value::Object(found)) => {
            for (name, value) in expected.iter().filter(|(name, _)| *name != MORE) {
                let other = found.get(name).ok_or_else(|| format!("no member \"{name}\""))?;
                compare(value, other).map_err(|difference| format!("{name}: {difference}"))?;
            }
            match found.keys().find(|name| !expected.contains_key(*name)) {
                Some(name) if !expected.contains_key(MORE) => Err(format!("unexpected member \"{name}\"")),
                _ => Ok(()),
            }
        }
        (Value::Array(expected), Value::Array(found)) if expected.len() == found.len() => expected
            .iter()
            .zip(found)
            .try_for_each(|(one, other)| compare(one, other)),
        (expected, found) if expected == found => Ok(()),
        _ => Err("differs".to_owned()),
    }
}

#[test]
fn the_daemon_follows_the_documented_conversation() {
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().canonicalize().unwrap();
    let (root, paths) = (base.join("agent"), Paths::below(&base.join("home")));
    let document = document();
    write_workspace(&root, &document);
    let socket = paths.socket.clone();
    let options = DaemonOptions {
        config: Config::default(),
        paths,
        clock: Arc::new(SystemClock::new(None)),
        passed: None,
    };
    let daemon = thread::spawn(move || {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(run(options, std::future::pending()))
    });
    let stream = loop {
        match UnixStream::connect(&socket) {
            Ok(stream) => break stream,
            Err(_) => assert!(!daemon.is_finished(), "{:?}", daemon.join()),
        }
        thread::yield_now();
    };
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    replay(&stream, &document, &root);
    daemon.join().unwrap().unwrap();
}

#[test]
fn differences_from_the_documented_answer_are_detected() {
    let json = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    let cases = [
        (r#"{"a":1}"#, r#"{"a":1}"#, true),
        (r#"{"a":1}"#, r#"{"a":2}"#, false),
        (r#"{"a":1}"#, r#"{"a":1,"b":2}"#, false),
        (r#"{"a":1,"…":"…"}"#, r#"{"a":1,"b":2}"#, true),
        (r#"{"a":1,"…":"…"}"#, r#"{"b":2}"#, false),
        (r#"{"a":"<any>"}"#, r#"{"a":[1]}"#, true),
        (r#"{"a":"<any>"}"#, r#"{}"#, false),
        (r#"[1,"<any>"]"#, r#"[1]"#, false),
    ];
    for (expected, found, same) in cases {
        assert_eq!(
            compare(&json(expected), &json(found)).is_ok(),
            same,
            "{expected} {found}"
        );
    }
}
