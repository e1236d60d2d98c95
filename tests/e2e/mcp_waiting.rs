//! Waiting, cancellation and shutdown of the MCP server.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};

use hippo_proto::{
    Call, ErrorKind, Id, Request, RpcError, SearchRequest, encode_error, encode_result, parse_request,
};
use hippod_tests::{Mcp, PATIENCE, Scratch};
use serde_json::{Value, json};

/// Response of the scripted daemon to a search request.
#[derive(Clone, Copy)]
enum Answer {
    /// No answer before the end of the test.
    Nothing,
    /// Refuses this many requests as not ready. After that, returns an empty result.
    Warming(u32),
}

/// Creates a socket with a scripted daemon, and returns the channel that receives the requests.
fn scripted(scratch: &Scratch, answer: Answer) -> Receiver<Request> {
    std::fs::create_dir_all(scratch.home()).unwrap();
    let listener = UnixListener::bind(scratch.home().join("hippod.sock")).unwrap();
    let (sender, asked) = channel();
    let root = scratch.workspace().canonicalize().unwrap();
    let searches = Arc::new(AtomicU32::new(0));
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let (sender, root, searches) = (sender.clone(), root.clone(), searches.clone());
            std::thread::spawn(move || serve(stream, answer, &searches, &sender, &root));
        }
    });
    asked
}

fn serve(stream: UnixStream, answer: Answer, searches: &AtomicU32, asked: &Sender<Request>, root: &Path) {
    let mut writer = stream.try_clone().unwrap();
    for line in BufReader::new(stream).lines().map_while(Result::ok) {
        let Call { id, request, .. } = parse_request(line.as_bytes()).unwrap();
        let _ = asked.send(request.clone());
        let line = match (request, answer) {
            (Request::WorkspaceList(_), _) => registered(&id, root),
            (Request::Search(_), Answer::Warming(times))
                if searches.fetch_add(1, Ordering::SeqCst) < times =>
            {
                encode_error(
                    &id,
                    &RpcError::new(ErrorKind::Warming, "the workspace is still being opened"),
                )
            }
            (Request::Search(_), Answer::Warming(_)) => encode_result(&id, &nothing_found()),
            _ => continue,
        };
        if writer.write_all(&line).is_err() {
            return;
        }
    }
}

/// Returns an answer that lists only this workspace.
fn registered(id: &Id, root: &Path) -> Vec<u8> {
    let workspace =
        json!({"root": root, "documents": 0, "pending": 0, "generation": 1, "root_present": true});
    encode_result(id, &json!({"workspaces": [workspace]}))
}

fn nothing_found() -> Value {
    let index = json!({"generation": 1, "pending": 3, "lag_ms": 0, "degraded": "no-model", "why": "it is not installed"});
    json!({"query": "q", "mode": "hybrid", "strategy": "search", "results": [], "tokens": 0, "index": index, "took_ms": 1.0})
}

fn waited_for(asked: &Receiver<Request>) -> SearchRequest {
    loop {
        if let Request::Search(search) = asked.recv_timeout(PATIENCE).unwrap() {
            return search;
        }
    }
}

#[test]
fn a_call_waits_for_a_workspace_that_is_being_opened() {
    let scratch = Scratch::new();
    let asked = scripted(&scratch, Answer::Warming(2));
    let mut mcp = Mcp::initialized(&scratch.home(), &scratch.workspace(), &[]);
    let found = mcp.gives("memory_search", json!({"query": "q"}));
    let expected =
        json!({"results": [], "pending": 3, "degraded": "no-model", "notes": ["it is not installed"]});
    assert_eq!(found, expected, "an empty answer says what is missing");
    for _ in 0..3 {
        assert_eq!(waited_for(&asked).query, "q");
    }
}

fn cancel(mcp: &mut Mcp, id: u64) {
    let params = json!({"requestId": id, "reason": "enough"});
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params});
    mcp.send(&cancel.to_string());
}

#[test]
fn a_cancelled_call_is_not_answered_and_blocks_no_other_call() {
    let scratch = Scratch::new();
    let asked = scripted(&scratch, Answer::Nothing);
    let mut mcp = Mcp::initialized(&scratch.home(), &scratch.workspace(), &[]);
    let call = |query: &str| json!({"name": "memory_search", "arguments": {"query": query}});
    let ids = ["one", "two"].map(|query| mcp.begin("tools/call", call(query)));
    let _ = [waited_for(&asked), waited_for(&asked)];
    // The server must answer other requests while the calls wait.
    assert_eq!(mcp.ask("ping", json!({}))["result"], json!({}));
    for id in ids {
        cancel(&mut mcp, id);
    }
    assert_eq!(mcp.ask("ping", json!({}))["result"], json!({}));
    // No call is pending, so the server exits immediately. The cancelled calls got no answer.
    mcp.close_input();
    assert_eq!(mcp.line_within(PATIENCE), None);
    let (status, errors) = mcp.wait();
    assert!(status.success() && errors.is_empty(), "{status}: {errors}");
}

#[test]
fn the_server_exits_with_its_client() {
    let scratch = Scratch::new();
    let asked = scripted(&scratch, Answer::Nothing);
    let (home, root) = (scratch.home(), scratch.workspace());
    // One client exits before its first request, one after the handshake, and one while a call waits for a silent
    // daemon.
    let mut silent = Mcp::start(&home, &root, &[]);
    let mut idle = Mcp::initialized(&home, &root, &[]);
    let mut busy = Mcp::initialized(&home, &root, &[]);
    busy.begin(
        "tools/call",
        json!({"name": "memory_search", "arguments": {"query": "q"}}),
    );
    waited_for(&asked);
    for mcp in [&mut silent, &mut idle, &mut busy] {
        mcp.close_input();
    }
    for mcp in [silent, idle, busy] {
        let (status, errors) = mcp.wait();
        assert!(status.success() && errors.is_empty(), "{status}: {errors}");
    }

    let mut busy = Mcp::initialized(&home, &root, &[]);
    busy.begin(
        "tools/call",
        json!({"name": "memory_search", "arguments": {"query": "q"}}),
    );
    waited_for(&asked);
    let told = Command::new("kill")
        .arg("-TERM")
        .arg(busy.pid().to_string())
        .status();
    assert!(told.unwrap().success());
    assert!(!busy.wait().0.success());
}

#[test]
fn a_client_that_skips_initialize_gets_an_error_on_standard_error() {
    let scratch = Scratch::new();
    let mut mcp = Mcp::start(&scratch.home(), &scratch.workspace(), &["--no-start"]);
    mcp.send(
        &json!({"jsonrpc": "2.0", "method": "notifications/x", "params": {"text": "swordfish"}}).to_string(),
    );
    let (status, errors) = mcp.wait();
    assert_eq!(status.code(), Some(1));
    assert!(
        errors.contains("was not `initialize`") && !errors.contains("swordfish"),
        "{errors}"
    );
}
