//! Tests of the hook that replaces large tool results.

use std::process::Command;

use hippod_tests::client_program;
use serde_json::{Value, json};

use crate::hooks::{begun, run};

#[test]
fn a_large_tool_result_is_replaced_by_its_entry_and_can_be_read_back() {
    let (scratch, daemon) = begun();
    let (home, root) = (scratch.home(), scratch.workspace());
    let log: String = (0..200)
        .map(|at| format!("INFO job {at} took {} ms on host-{}\n", at * 7, at % 9))
        .collect();
    let event = |session: &str, response: Value| {
        let event = json!({"session_id": session, "cwd": root, "hook_event_name": "PostToolUse", "tool_name": "Bash",
            "tool_input": {"command": "cat log.txt"}, "tool_response": response});
        event.to_string().into_bytes()
    };
    let hook = |event: &[u8]| {
        let output = run(&home, &root, &["tool-result"], event);
        String::from_utf8(output.stdout).unwrap()
    };
    let response = json!({"stdout": log, "stderr": "", "interrupted": false});
    let answer: Value = serde_json::from_str(&hook(&event("s1", response.clone()))).unwrap();
    let output = &answer["hookSpecificOutput"]["updatedToolOutput"];
    assert_eq!(
        (&output["stderr"], &output["interrupted"]),
        (&json!(""), &json!(false))
    );
    let note = output["stdout"].as_str().unwrap();
    assert!(
        note.starts_with(&format!(
            "hippod stored this result ({} bytes, as the tool returned it)",
            log.len()
        )),
        "{note}"
    );
    assert!(note.len() < 1_000 && !note.contains("job 77 "), "{note}");
    let id = note.trim_end().rsplit(' ').next().unwrap();
    let fetched = Command::new(client_program())
        .args(["context", "fetch", id])
        .env("HIPPOD_HOME", &home)
        .current_dir(&root)
        .output()
        .unwrap();
    assert_eq!(String::from_utf8(fetched.stdout).unwrap(), log);

    // The same result stays whole the second time. Another session gets an entry again.
    assert_eq!(hook(&event("s1", response.clone())), "");
    let plain: Value = serde_json::from_str(&hook(&event("s2", json!(log)))).unwrap();
    assert_eq!(plain["continue"], false);
    assert!(
        plain["stopReason"]
            .as_str()
            .unwrap()
            .starts_with("hippod stored this result")
    );
    assert_eq!(hook(&event("s1", json!({"stdout": "small"}))), "");
    daemon.kill();
    assert_eq!(
        hook(&event("s3", response)),
        "",
        "without a daemon, the result stays whole"
    );
}
