//! Tests of the blocking client: answers and failures.
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests, outside the functions that clippy knows as tests"
)]

use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use hippo_proto::*;

/// A folder for one test. Dropping it removes the folder.
struct ClientFolder(PathBuf);

impl ClientFolder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("hippo-proto-{}-{name}", std::process::id()));
        std::fs::create_dir(&path).unwrap();
        Self(path)
    }
}

impl Drop for ClientFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Serves one connection. `script` returns the answer to a request, given its number, from 1.
fn daemon(
    folder: &ClientFolder,
    script: impl Fn(u64, Call) -> Vec<u8> + Send + 'static,
) -> (PathBuf, JoinHandle<()>) {
    let socket = folder.0.join("s");
    let listener = UnixListener::bind(&socket).unwrap();
    let thread = thread::spawn(move || {
        let (mut stream, _): (UnixStream, _) = listener.accept().unwrap();
        let mut frames = FrameReader::new();
        let mut chunk = [0; 1000];
        let mut number = 0;
        while let Ok(count @ 1..) = stream.read(&mut chunk) {
            frames.push(&chunk[..count]);
            while let Some(Frame::Line(line)) = frames.next_frame() {
                number += 1;
                let answer = script(number, parse_request(&line).unwrap());
                if answer.is_empty() || stream.write_all(&answer).is_err() {
                    return;
                }
            }
        }
    });
    (socket, thread)
}

fn connect(socket: &std::path::Path) -> Client {
    Client::connect(socket, Some(Duration::from_secs(20))).unwrap()
}

fn list() -> Request {
    WorkspaceListRequest {}.into()
}

fn event(generation: u64) -> Event {
    Event::Indexed {
        workspace: "/w".into(),
        generation,
        changed: 1,
        removed: 0,
        pending: 0,
    }
}

#[test]
fn answers_are_matched_among_notifications_and_other_replies() {
    let folder = ClientFolder::new("match");
    let (socket, _daemon) = daemon(&folder, |_, call| {
        let empty = WorkspaceListResponse { workspaces: vec![] };
        let stranger = encode_error(&Id::from(99), &RpcError::internal("for somebody else"));
        [
            event(1).to_line(),
            stranger,
            event(2).to_line(),
            encode_result(&call.id, &empty),
            event(3).to_line(),
        ]
        .concat()
    });
    let mut client = connect(&socket);
    let answer: WorkspaceListResponse = client.call(&list()).unwrap();
    assert_eq!(answer.workspaces, []);
    let events: Vec<Event> = client
        .notifications()
        .take(3)
        .map(|notification| notification.event().unwrap())
        .collect();
    assert_eq!(events, [event(1), event(2), event(3)]);

    let mut heard = 0;
    let _: WorkspaceListResponse = client.call_with(&list(), |_| heard += 1).unwrap();
    assert_eq!(heard, 2);
}

#[test]
fn a_refusal_keeps_its_kind_and_hint() {
    let folder = ClientFolder::new("refuse");
    let (socket, _daemon) = daemon(&folder, |number, call| {
        let error = RpcError::new(ErrorKind::NoWorkspace, "no workspace").hint("add it");
        // The second error has a null id, as for a line that could not be parsed.
        encode_error(&if number == 1 { call.id } else { Id::Null }, &error)
    });
    let mut client = connect(&socket);
    for _ in 0..2 {
        let Err(ClientError::Refused(error)) = client.call::<WorkspaceListResponse>(&list()) else {
            panic!("answered")
        };
        assert_eq!(
            (error.data.kind, error.data.hint.as_ref()),
            (ErrorKind::NoWorkspace, "add it")
        );
    }
}

#[test]
fn a_connection_closed_by_the_daemon_is_an_error() {
    let folder = ClientFolder::new("close");
    let (socket, thread) = daemon(&folder, |_, _| Vec::new());
    let mut client = connect(&socket);
    assert!(matches!(
        client.call::<StatusResponse>(&StatusRequest {}.into()),
        Err(ClientError::Closed)
    ));
    thread.join().unwrap();
    let gone = Client::connect(&socket, Some(Duration::from_secs(20))).unwrap_err();
    assert!(matches!(gone, ClientError::Connect { path, .. } if path == socket));
}

#[test]
fn a_late_answer_is_a_timeout_and_is_then_dropped() {
    let folder = ClientFolder::new("late");
    let (socket, _daemon) = daemon(&folder, |number, call| {
        let shut = |id: &Id, pid| encode_result(id, &ShutdownResponse { pid });
        match number {
            // The script sends only an event, so the first call gets no answer.
            1 => event(1).to_line(),
            _ => [shut(&Id::from(1), 1), shut(&call.id, 2)].concat(),
        }
    });
    let mut client = connect(&socket);
    client.set_timeout(Some(Duration::from_millis(30)));
    let late = client.call::<ShutdownResponse>(&ShutdownRequest {}.into());
    assert!(matches!(late, Err(ClientError::Timeout(_))), "{late:?}");
    client.set_timeout(Some(Duration::from_secs(20)));
    let answer: ShutdownResponse = client.call(&ShutdownRequest {}.into()).unwrap();
    assert_eq!(answer.pid, 2);
}

#[test]
fn an_answer_of_another_type_is_malformed() {
    let folder = ClientFolder::new("shape");
    let (socket, _daemon) = daemon(&folder, |number, call| match number {
        1 => encode_result(&call.id, &serde_json::json!({"pid": "none"})),
        _ => b"<html>\n".to_vec(),
    });
    let mut client = connect(&socket);
    for _ in 0..2 {
        let answer = client.call::<ShutdownResponse>(&ShutdownRequest {}.into());
        assert!(matches!(answer, Err(ClientError::Malformed(_))), "{answer:?}");
    }
}
