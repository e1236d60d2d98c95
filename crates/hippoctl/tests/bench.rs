//! Does `bench` reckon its figures from what the daemon answers?
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests, outside the functions that clippy knows as tests"
)]

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::os::unix::net::UnixListener;
use std::process::{Command, Stdio};
use std::thread;

use hippo_proto::{
    Frame, FrameReader, IndexState, Mode, Paths, Request, SearchHit, SearchResponse, Strategy,
    WorkspaceSyncResponse, encode_result, parse_request,
};

/// Answers every search with line 1, then line 5 of a.md; within a budget below 1000 tokens with line 1 alone.
fn answer(line: &[u8]) -> Vec<u8> {
    let call = match parse_request(line) {
        Ok(call) => call,
        Err(reply) => return reply.to_line(),
    };
    let Request::Search(request) = &call.request else {
        let synced = WorkspaceSyncResponse {
            documents: 1,
            changed: 0,
            removed: 0,
            pending: 0,
            generation: 1,
            took_ms: 0.0,
            notes: Vec::new(),
        };
        return encode_result(&call.id, &synced);
    };
    assert!(!request.record);
    let hit = |line| SearchHit {
        id: format!("c{line}"),
        path: "a.md".into(),
        start_line: line,
        end_line: line,
        heading: vec!["A".into()],
        score: 0.5,
        scores: None,
        strength: None,
        entry: None,
        tokens: 7,
        text: "x".into(),
        date: None,
        explain: None,
    };
    let count = if request.budget_tokens.is_some_and(|budget| budget < 1000) {
        1
    } else {
        2
    };
    let response = SearchResponse {
        query: request.query.clone(),
        mode: Mode::Hybrid,
        strategy: Strategy::Search,
        results: [hit(1), hit(5)][..count].to_vec(),
        tokens: 14,
        index: IndexState::default(),
        notes: vec![],
        trace: None,
        took_ms: 0.1,
    };
    encode_result(&call.id, &response)
}

fn scripted_daemon(home: &std::path::Path) {
    let listener = UnixListener::bind(Paths::below(home).socket).unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let mut frames = FrameReader::new();
            let mut chunk = [0; 4096];
            while let Ok(count @ 1..) = stream.read(&mut chunk) {
                frames.push(&chunk[..count]);
                while let Some(Frame::Line(line)) = frames.next_frame() {
                    if stream.write_all(&answer(&line)).is_err() {
                        return;
                    }
                }
            }
        }
    });
}

#[test]
fn figures_of_a_scripted_daemon_and_of_the_baselines() {
    let home = tempfile::tempdir().unwrap();
    scripted_daemon(home.path());
    let eval = tempfile::tempdir().unwrap();
    std::fs::create_dir(eval.path().join("workspace")).unwrap();
    std::fs::write(eval.path().join("workspace/a.md"), "deploy\n\n\n\nfriday\n").unwrap();
    let questions = eval.path().join("q.jsonl");
    let second = r#"{"id":"q2","query":"nothing known","evidence":[{"path":"b.md","start_line":1,"end_line":1}],"group":"g"}"#;
    let first = r#"{"id":"q1","query":"friday?","evidence":[{"path":"a.md","start_line":5,"end_line":6}],"group":"g"}"#;
    std::fs::write(&questions, format!("{first}\n{second}\n")).unwrap();

    let output = Command::new(env!("CARGO_BIN_EXE_hippoctl"))
        .args([
            "bench",
            "--json",
            "--modes",
            "hybrid,grep,full-scan",
            "-k",
            "1,2",
            "--budgets",
            "500,1000",
        ])
        .arg(&questions)
        .env_clear()
        .env("HIPPOD_HOME", home.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(output.stderr.is_empty());
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["questions"], 2);
    let rows: BTreeMap<&str, &serde_json::Value> = report["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["mode"].as_str().unwrap(), row))
        .collect();
    assert_eq!(rows.len(), 3);
    let hybrid = rows["hybrid"];
    assert_eq!(hybrid["recall_at"], serde_json::json!({"1": 0.0, "2": 0.5}));
    assert_eq!(
        hybrid["budget_recall"],
        serde_json::json!({"500": 0.0, "1000": 0.5})
    );
    assert_eq!(
        (hybrid["mrr"].as_f64(), hybrid["tokens_per_question"].as_f64()),
        (Some(0.25), Some(14.0))
    );
    // The file is 17 bytes: 5 tokens; the second question's words stand nowhere.
    assert_eq!(
        (
            rows["grep"]["mrr"].as_f64(),
            rows["grep"]["tokens_per_question"].as_f64()
        ),
        (Some(0.5), Some(2.5))
    );
    assert_eq!(
        rows["full-scan"]["recall_at"],
        serde_json::json!({"1": 0.5, "2": 0.5})
    );
    assert_eq!(rows["full-scan"]["tokens_per_question"], 5.0);
    assert!(rows["full-scan"]["mrr"].is_null());
}
