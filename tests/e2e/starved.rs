//! Shortage of file handles, and a lost socket.
//!
//! The daemon reports the problem, stays reachable, and recovers.

use std::fs;
use std::io::Read;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use hippo_proto::{
    ClientError, ErrorKind, WorkspaceAddRequest, WorkspaceAddResponse, WorkspaceRemoveRequest,
    WorkspaceRemoveResponse,
};
use hippod_tests::{Caller, Daemon, PATIENCE, Scratch, begun, program};

/// Maximum number of files that the daemon may have open.
const FILES: usize = 110;
/// Number of workspaces: more than the daemon can open at once.
const WORKSPACES: usize = 16;

fn starved(scratch: &Scratch) -> Daemon {
    let mut command = Command::new("sh");
    let limited = format!("ulimit -n {FILES}; exec \"$0\" run");
    command.args(["-c", &limited]).arg(program());
    Daemon::start_as(command, &scratch.home(), &[])
}

fn add(client: &mut Caller, root: &Path) -> Result<(), ErrorKind> {
    let request = WorkspaceAddRequest {
        workspace: root.display().to_string(),
    };
    let added: Result<WorkspaceAddResponse, ClientError> = client.raw().call(&request.into());
    match added {
        Ok(_) => Ok(()),
        Err(ClientError::Refused(error)) => Err(error.data.kind),
        Err(error) => panic!("no answer: {error}"),
    }
}

/// Returns the processor time in ticks that a process has used so far.
fn ticks(pid: u32) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
    fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
}

fn words(client: &mut Caller) -> Vec<String> {
    let workspaces = client.status().workspaces.into_iter();
    workspaces.filter_map(|one| one.degraded).collect()
}

#[test]
fn a_daemon_without_file_handles_stays_reachable_and_recovers() {
    let scratch = Scratch::new();
    let daemon = starved(&scratch);
    let mut client = daemon.client();
    let roots: Vec<PathBuf> = (0..WORKSPACES)
        .map(|number| scratch.beside(&format!("w{number}")))
        .collect();
    for root in &roots {
        fs::create_dir_all(root.join("memory")).unwrap();
        fs::write(root.join("memory/a.md"), "# Pump\n\nThe pump is blue.\n").unwrap();
    }
    let outcomes: Vec<Result<(), ErrorKind>> = roots.iter().map(|root| add(&mut client, root)).collect();
    let fit = outcomes.iter().take_while(|outcome| outcome.is_ok()).count();
    assert!((1..WORKSPACES).contains(&fit), "{outcomes:?}");
    assert!(
        outcomes.contains(&Err(ErrorKind::TooManyOpenFiles)),
        "{outcomes:?}"
    );
    assert!(
        words(&mut client)
            .iter()
            .any(|word| word == "too-many-open-files")
    );

    // While the daemon lacks handles, it must be idle, keep this connection open, and send nothing.
    let pid = client.status().pid;
    let mut silent = UnixStream::connect(daemon.socket()).unwrap();
    let rest = Duration::from_millis(1500);
    silent.set_read_timeout(Some(rest)).unwrap();
    let before = ticks(pid);
    let (begun, mut byte) = (Instant::now(), [0]);
    assert!(silent.read(&mut byte).is_err());
    assert!(begun.elapsed() >= rest);
    let used = ticks(pid) - before;
    assert!(used < 100, "{used} ticks of a processor in {:?}", begun.elapsed());

    // The daemon accepts new clients. Removing a workspace frees its handles for a workspace that waits.
    let mut client = daemon.client();
    for root in &roots[..fit] {
        let request = WorkspaceRemoveRequest {
            workspace: root.display().to_string(),
            purge: true,
            dry_run: false,
        };
        let _: WorkspaceRemoveResponse = client.raw().call(&request.into()).expect("removed");
    }
    let root = roots[fit].display().to_string();
    let begun = Instant::now();
    let is_open = |client: &mut Caller| {
        let status = client.status();
        status
            .workspaces
            .iter()
            .any(|one| one.root == root && one.documents == 1)
    };
    while !is_open(&mut client) {
        assert!(begun.elapsed() < PATIENCE, "{:?}", words(&mut client));
    }
}

#[test]
fn a_low_soft_limit_of_open_files_is_raised() {
    let scratch = Scratch::new();
    let mut command = Command::new("sh");
    command
        .args(["-c", "ulimit -Sn 64; exec \"$0\" run"])
        .arg(program());
    let daemon = Daemon::start_as(command, &scratch.home(), &[]);
    let mut client = daemon.client();
    for number in 0..WORKSPACES {
        let root = scratch.beside(&format!("w{number}"));
        fs::create_dir_all(root.join("memory")).unwrap();
        fs::write(root.join("memory/a.md"), "# Pump\n\nThe pump is blue.\n").unwrap();
        client.index(&root);
        assert_eq!(client.best(&root, "blue pump").as_deref(), Some("memory/a.md:3"));
    }
    assert_eq!(words(&mut client), Vec::<String>::new());
    let open = fs::read_dir(format!("/proc/{}/fd", daemon.pid()))
        .unwrap()
        .count();
    assert!(open > 64, "{open} files are open: the limit was never reached");
}

#[test]
fn a_socket_whose_file_was_removed_is_bound_again() {
    let (_scratch, daemon, mut client) = begun();
    let pid = client.status().pid;
    fs::remove_file(daemon.socket()).unwrap();
    let begun = Instant::now();
    while UnixStream::connect(daemon.socket()).is_err() {
        assert!(begun.elapsed() < PATIENCE, "{}", daemon.log());
    }
    assert_eq!(daemon.client().status().pid, pid);
    // Existing connections must stay open.
    assert_eq!(client.status().pid, pid);
}

#[test]
fn idle_connections_are_closed_for_active_ones() {
    let (_scratch, daemon, _client) = begun();
    let silent: Vec<UnixStream> = (0..256)
        .filter_map(|_| UnixStream::connect(daemon.socket()).ok())
        .collect();
    assert_eq!(silent.len(), 256);
    let begun = Instant::now();
    loop {
        let mut one = daemon.raw();
        assert!(one.send(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"status\",\"params\":{}}\n"));
        // Before the daemon closes a connection, it must send an answer or a refusal.
        let line = one.line().expect("a line");
        if line["result"].is_object() {
            return;
        }
        assert_eq!(line["error"]["data"]["kind"], "warming", "{line}");
        assert!(begun.elapsed() < PATIENCE);
    }
}
