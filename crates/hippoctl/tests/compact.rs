//! Tests of `hippoctl compact` without a daemon.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests, outside the functions that clippy knows as tests"
)]

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

fn compact(folder: &Path, arguments: &[&str], input: Option<&Path>) -> Output {
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

/// A session with an abandoned branch and a broken line.
fn session(folder: &Path) -> std::path::PathBuf {
    let line = |id: &str, parent: &str, role: &str, text: &str| {
        serde_json::json!({"type": "message", "id": id, "parentId": parent, "message": {"role": role, "content": text}}).to_string()
    };
    let lines = [
        line("a", "", "user", "please change src/limits.rs to read max_size"),
        line("b", "a", "assistant", "a way that was left"),
        "{\"type\":\"mess".to_owned(),
        line("c", "a", "assistant", "My plan: read max_size once"),
    ];
    let path = folder.join("session.jsonl");
    fs::write(&path, lines.join("\n")).unwrap();
    path
}

#[test]
fn a_file_and_standard_input_give_the_same_summary() {
    let folder = tempfile::tempdir().unwrap();
    let path = session(folder.path());
    let file = compact(
        folder.path(),
        &["compact", "session.jsonl", "--budget", "500"],
        None,
    );
    assert!(file.status.success(), "{}", text(&file.stderr));
    let summary = text(&file.stdout);
    assert!(summary.starts_with("<!-- hippod: context -->\n"), "{summary}");
    assert!(summary.contains("\n# hippocampus.md Compaction\n"), "{summary}");
    assert!(summary.contains("My plan: read max_size once") && !summary.contains("was left"));
    assert!(summary.len() <= 2_001, "{}", summary.len());
    assert_eq!(
        text(&file.stderr),
        "warning: line 3: not a JSON object; skipped\n"
    );
    let piped = compact(folder.path(), &["compact", "-", "--budget", "500"], Some(&path));
    assert_eq!(text(&piped.stdout), summary);
}

#[test]
fn json_output_contains_the_scores() {
    let folder = tempfile::tempdir().unwrap();
    session(folder.path());
    fs::write(
        folder.path().join("hipocampus.config.json"),
        r#"{"sessionCompaction": {"sparsTreshold": 1}}"#,
    )
    .unwrap();
    let found = compact(
        folder.path(),
        &["--json", "compact", "session.jsonl", "--format", "pi"],
        None,
    );
    let warnings = text(&found.stderr);
    assert!(warnings.contains("unknown key sparsTreshold"), "{warnings}");
    let answer: Value = serde_json::from_slice(&found.stdout).unwrap();
    let entries = answer["entries"].as_array().unwrap();
    assert_eq!(entries.len(), 2);
    assert_eq!(
        (&entries[0]["index"], &entries[0]["type"], &entries[0]["tier"]),
        (&0.into(), &"user_intent".into(), &"keep".into())
    );
    assert!(
        answer["summary"]
            .as_str()
            .unwrap()
            .contains(entries[1]["id"].as_str().unwrap())
    );
    assert_eq!(
        (&answer["stats"]["format"], &answer["stats"]["malformed"]),
        (&"pi".into(), &1.into())
    );
}

#[test]
fn dropped_messages_are_listed_by_id_and_not_claimed_as_stored() {
    let folder = tempfile::tempdir().unwrap();
    let line = |number: usize| {
        serde_json::json!({"role": "tool", "content": format!("part {number} \u{7}of value_{number}")})
            .to_string()
    };
    let lines: Vec<String> = (0..60).map(line).collect();
    fs::write(folder.path().join("session.jsonl"), lines.join("\n")).unwrap();
    let arguments = ["--json", "compact", "session.jsonl", "--budget", "300"];
    let found = compact(folder.path(), &arguments, None);
    let answer: Value = serde_json::from_slice(&found.stdout).unwrap();
    let rest = answer["rest"].as_array().unwrap();
    assert_eq!(answer["stats"]["dropped"], rest.len());
    assert!(rest.len() > 10, "{answer}");
    let ids: Vec<&Value> = answer["entries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| &entry["id"])
        .collect();
    assert!(rest.iter().all(|id| ids.contains(&id)));
    assert!(
        !answer["summary"].as_str().unwrap().contains("fetch any"),
        "{answer}"
    );
    // Control sequences for the terminal are not printed.
    let printed = compact(folder.path(), &arguments[1..], None);
    let printed = text(&printed.stdout);
    assert!(
        printed.contains("part 59") && !printed.contains('\u{7}'),
        "{printed:?}"
    );
}

#[test]
fn a_file_without_messages_fails_with_a_hint() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("notes.md"), "# Notes\n").unwrap();
    let none = compact(folder.path(), &["compact", "notes.md"], None);
    assert_eq!(none.status.code(), Some(1));
    assert!(
        text(&none.stderr).contains("the transcript contains no message: notes.md\nhint: "),
        "{}",
        text(&none.stderr)
    );
    let missing = compact(folder.path(), &["compact", "gone.jsonl"], None);
    assert_eq!(missing.status.code(), Some(1));
    assert!(text(&missing.stderr).contains("could not read the transcript: gone.jsonl: "));
    assert_eq!(compact(folder.path(), &["compact"], None).status.code(), Some(2));
    assert_eq!(
        compact(folder.path(), &["compact", "x", "--budget", "0"], None)
            .status
            .code(),
        Some(2)
    );
}
