//! Tests of `context policy` with rules from each location.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests, outside the functions that clippy knows as tests"
)]

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

const RULES: &str = "lifecycle_policies:
  - match: {source.type: exec}
    action: {decay_rate: 0.2, priority: low}
  - match: {type: tool_result, contains: noise}
    action: {keep: false}
  - match: {source.type: config.get}
    action: {persist: false}
";

fn hippoctl(folder: &Path, arguments: &[&str], input: Option<&Path>) -> Output {
    let input = input.map_or_else(Stdio::null, |path| File::open(path).unwrap().into());
    Command::new(env!("CARGO_BIN_EXE_hippoctl"))
        .args(arguments)
        .current_dir(folder)
        .env_clear()
        .env("HIPPOD_HOME", folder)
        .stdin(input)
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// A workspace with rules, and a transcript of five messages in it.
fn workspace() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join(".hippocampus")).unwrap();
    fs::create_dir_all(folder.path().join("deeper")).unwrap();
    fs::write(folder.path().join(".hippocampus/policies.yaml"), RULES).unwrap();
    let long = "0123 ".repeat(1_000);
    let messages = json!([
        {"role": "user", "content": "run it, and never on Fridays"},
        {"role": "user", "content": "hello"},
        {"role": "assistant", "content": "", "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "exec", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "c1", "content": long},
        {"role": "tool", "name": "ping", "content": "only noise"}
    ]);
    fs::write(folder.path().join("t.json"), messages.to_string()).unwrap();
    folder
}

#[test]
fn each_decision_names_its_rule() {
    let folder = workspace();
    let found = hippoctl(
        &folder.path().join("deeper"),
        &["context", "policy", "../t.json"],
        None,
    );
    assert_eq!(found.status.code(), Some(0), "{}", text(&found.stderr));
    let root = folder.path().canonicalize().unwrap();
    let plain = |bytes| text(bytes).replace(root.to_str().unwrap(), "/w");
    insta::assert_snapshot!(format!("{}---\n{}", plain(&found.stdout), plain(&found.stderr)));
    let more = hippoctl(
        folder.path(),
        &["--json", "context", "policy", "t.json", "--worth-tokens", "2000"],
        None,
    );
    let more: Value = serde_json::from_slice(&more.stdout).unwrap();
    assert_eq!((&more["entries"], &more["passed"]), (&1.into(), &3.into()));
    let all = hippoctl(folder.path(), &["context", "policy", "t.json", "--all"], None);
    assert!(text(&all.stdout).contains("1  message"), "{}", text(&all.stdout));
}

#[test]
fn json_has_every_field_and_the_matches_of_each_rule() {
    let folder = workspace();
    let path = folder.path().join("t.json");
    let found = hippoctl(folder.path(), &["--json", "context", "policy", "-"], Some(&path));
    assert_eq!(text(&found.stderr), "");
    let answer: Value = serde_json::from_slice(&found.stdout).unwrap();
    assert_eq!((&answer["entries"], &answer["dropped"]), (&2.into(), &1.into()));
    let record = &answer["records"][3];
    assert_eq!(
        (&record["type"], &record["source"], &record["outcome"]),
        (&"tool_result".into(), &"exec".into(), &"entry".into())
    );
    let rate = record["fields"]
        .as_array()
        .unwrap()
        .iter()
        .find(|field| field["field"] == "decay_rate");
    assert_eq!(
        rate.unwrap(),
        &json!({"field": "decay_rate", "value": 0.2, "rule": "line 2"})
    );
    let used = |place: &str| {
        let rules = answer["rules"].as_array().unwrap();
        rules.iter().find(|rule| rule["place"] == place).unwrap()["matched"].clone()
    };
    assert_eq!(
        [used("line 2"), used("line 4"), used("line 6")],
        [1, 1, 0].map(Value::from)
    );
}

#[test]
fn rules_are_read_from_the_given_place_and_errors_have_a_location() {
    let folder = workspace();
    let other = tempfile::tempdir().unwrap();
    let transcript = folder.path().join("t.json");
    let transcript = transcript.to_str().unwrap();
    let given = [
        "--workspace",
        folder.path().to_str().unwrap(),
        "context",
        "policy",
        transcript,
    ];
    let found = hippoctl(other.path(), &given, None);
    assert!(text(&found.stdout).contains("line 2"), "{}", text(&found.stdout));
    let none = [
        "--workspace",
        other.path().to_str().unwrap(),
        "context",
        "policy",
        transcript,
    ];
    let found = hippoctl(folder.path(), &none, None);
    assert!(
        text(&found.stderr).starts_with("rules: the built-in ones; no "),
        "{}",
        text(&found.stderr)
    );

    let draft = other.path().join("draft.yaml");
    fs::write(
        &draft,
        "lifecycle_policies:\n  - match: {typ: message}\n    action: {persist: true}\n",
    )
    .unwrap();
    let wrong = [
        "context",
        "policy",
        transcript,
        "--policy",
        draft.to_str().unwrap(),
    ];
    let found = hippoctl(other.path(), &wrong, None);
    let stderr = text(&found.stderr);
    assert_eq!((found.status.code(), text(&found.stdout)), (Some(1), ""));
    assert!(
        stderr.contains("could not use the policies: ") && stderr.contains("line 2, column"),
        "{stderr}"
    );
    fs::write(&draft, "").unwrap();
    let empty = ["context", "policy", draft.to_str().unwrap()];
    let found = hippoctl(other.path(), &empty, None);
    assert_eq!(found.status.code(), Some(1));
    assert!(
        text(&found.stderr).contains("contains no content to store"),
        "{}",
        text(&found.stderr)
    );
    let missing = ["context", "policy", "gone.jsonl"];
    assert_eq!(hippoctl(other.path(), &missing, None).status.code(), Some(1));
    assert_eq!(
        hippoctl(other.path(), &["context", "policy"], None).status.code(),
        Some(2)
    );
}
