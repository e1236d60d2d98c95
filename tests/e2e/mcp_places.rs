//! The workspace and the daemon that the MCP server uses.

use std::process::Command;
use std::time::Instant;

use hippod_tests::{Mcp, PATIENCE, client_program};
use serde_json::{Value, json};

use crate::mcp::{begun, served};

#[test]
fn an_unregistered_folder_is_reported() {
    let (scratch, _daemon) = begun();
    let elsewhere = scratch.beside("elsewhere");
    std::fs::create_dir_all(&elsewhere).unwrap();
    let mut mcp = Mcp::initialized(&scratch.home(), &elsewhere, &[]);
    for (tool, arguments) in [
        ("memory_search", json!({"query": "q"})),
        ("memory_status", json!({})),
    ] {
        let told = mcp.fails(tool, arguments);
        assert!(
            told.contains("no registered workspace") && told.contains("hippoctl workspace add"),
            "{told}"
        );
    }

    // The server finds the workspace from a folder below its root, or from a path on the command line.
    let below = scratch.workspace().join("memory");
    for (cwd, words) in [
        (&below, vec![]),
        (&elsewhere, vec!["--workspace", below.to_str().unwrap()]),
    ] {
        let mut mcp = Mcp::initialized(&scratch.home(), cwd, &words);
        let found = mcp.gives("memory_search", json!({"query": "staging port"}));
        assert_eq!(found["results"][0]["path"], "memory/2026-03-02.md");
    }
}

#[test]
fn a_killed_daemon_is_restarted() {
    let (scratch, daemon, mut mcp) = served();
    let (home, root) = (scratch.home(), scratch.workspace());
    let mut careful = Mcp::initialized(&home, &root, &["--no-start"]);
    careful.gives("memory_status", json!({}));
    daemon.kill();
    let told = careful.fails("memory_search", json!({"query": "staging"}));
    assert!(
        told.contains("could not connect to the daemon") && told.contains("hippoctl service start"),
        "{told}"
    );

    // Two calls at the same time must start only one daemon.
    let ids = ["staging", "gateway"].map(|query| {
        mcp.begin(
            "tools/call",
            json!({"name": "memory_search", "arguments": {"query": query}}),
        )
    });
    for _ in ids {
        let answer = mcp.line();
        assert!(ids.map(Value::from).contains(&answer["id"]), "{answer}");
        let best = &answer["result"]["structuredContent"]["results"][0];
        assert_eq!(best["path"], "memory/2026-03-02.md", "{answer}");
    }
    careful.gives("memory_search", json!({"query": "staging"}));

    // The server must outlive the daemon that it started, and must not leave a zombie process.
    let stopped = Command::new(client_program())
        .args(["service", "stop"])
        .env("HIPPOD_HOME", &home)
        .env_remove("HIPPOD_SOCKET")
        .output()
        .unwrap();
    assert!(stopped.status.success(), "{stopped:?}");
    let deadline = Instant::now() + PATIENCE;
    while has_children(mcp.pid()) {
        assert!(
            Instant::now() < deadline,
            "a daemon that has ended was not waited for"
        );
        std::thread::yield_now();
    }
}

/// Returns `true` if a process has children, including zombies. Reads `/proc`, so it works only on Linux.
fn has_children(pid: u32) -> bool {
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    processes
        .filter_map(|process| std::fs::read_to_string(process.path().join("stat")).ok())
        .any(|stat| {
            // The name of the process can contain any characters. The fields after the name are the state and the
            // parent.
            let parent = stat
                .rsplit_once(')')
                .and_then(|(_, rest)| rest.split_whitespace().nth(1));
            parent == Some(&*pid.to_string())
        })
}
