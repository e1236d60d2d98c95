//! Single daemon per home: its socket, lock and shutdown.

use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::process::Stdio;
use std::time::Instant;

use super::service_systemd::cannot;
use hippo_proto::{
    ClientError, ErrorKind, ShutdownRequest, ShutdownResponse, WorkspaceAddRequest, WorkspaceAddResponse,
};
use hippod_tests::{Caller, Daemon, PATIENCE, Scratch, assert_same, client_program};

fn started() -> (Scratch, Daemon, Caller) {
    let scratch = Scratch::new();
    scratch.write("memory/3.md", "# Note\n\n- the pump is blue\n- valve3 is red\n");
    let daemon = scratch.daemon();
    let mut client = daemon.client();
    client.index(&scratch.workspace());
    (scratch, daemon, client)
}

#[test]
fn the_socket_is_private_and_a_second_daemon_is_refused() {
    let (scratch, mut daemon, mut client) = started();
    let mode = |path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(daemon.socket()), 0o600);
    assert_eq!(mode(scratch.home()), 0o700);
    assert_eq!(mode(scratch.home().join("state")), 0o700);
    let database = scratch.state("index.db");
    assert_eq!(mode(database), 0o600);

    let second = scratch.refused_daemon();
    let said = String::from_utf8_lossy(&second.stderr);
    assert!(!second.status.success(), "{said}");
    assert!(
        said.contains("another hippod") && said.contains("hint: "),
        "{said}"
    );
    assert!(daemon.is_alive());
    assert_eq!(
        client.best(&scratch.workspace(), "valve3").as_deref(),
        Some("memory/3.md:4")
    );
}

#[test]
fn a_stale_socket_is_replaced() {
    let (scratch, daemon, _client) = started();
    let socket = daemon.socket();
    daemon.kill();
    assert!(socket.exists(), "a killed daemon leaves its socket");
    let daemon = scratch.daemon();
    assert_eq!(
        daemon.client().best(&scratch.workspace(), "valve3").as_deref(),
        Some("memory/3.md:4")
    );
    daemon.terminate();
    assert!(!socket.exists(), "a stopped one does not");
    drop(UnixListener::bind(&socket).unwrap());
    assert!(socket.exists());
    scratch.daemon().client().status();
}

#[test]
fn a_file_at_the_socket_path_is_left_unchanged() {
    let scratch = Scratch::new();
    std::fs::create_dir_all(scratch.home()).unwrap();
    let place = scratch.home().join("hippod.sock");
    std::fs::write(&place, "somebody's letters").unwrap();
    let refused = scratch.refused_daemon();
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(!refused.status.success(), "{said}");
    assert!(said.contains("hippod.sock") && said.contains("hint: "), "{said}");
    assert_eq!(std::fs::read_to_string(&place).unwrap(), "somebody's letters");

    // The daemon must not replace the socket of another listener.
    std::fs::remove_file(&place).unwrap();
    let listener = UnixListener::bind(&place).unwrap();
    let refused = scratch.refused_daemon();
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(!refused.status.success() && said.contains("answers at"), "{said}");
    assert!(place.exists());
    drop(listener);
}

#[test]
fn shutdown_is_answered_before_the_daemon_exits() {
    let (scratch, daemon, mut client) = started();
    let pid = client.status().pid;
    let answer: ShutdownResponse = client.raw().call(&ShutdownRequest {}.into()).unwrap();
    assert_eq!(answer.pid, pid);
    let socket = daemon.socket();
    let status = daemon.wait();
    assert!(status.success(), "{status}");
    assert!(!socket.exists());
    assert_eq!(
        scratch
            .daemon()
            .client()
            .best(&scratch.workspace(), "valve3")
            .as_deref(),
        Some("memory/3.md:4")
    );
}

#[test]
fn stop_ends_or_names_a_daemon_whose_socket_was_removed() {
    let (scratch, daemon, mut client) = started();
    let pid = client.status().pid;
    std::fs::remove_file(daemon.socket()).unwrap();
    let stop = std::process::Command::new(client_program())
        .env("HIPPOD_HOME", scratch.home())
        .args(["service", "stop"])
        .output()
        .unwrap();
    // If the daemon has bound its socket again, `service stop` stops it. Otherwise, `service stop` prints a command
    // that stops the daemon.
    let said = String::from_utf8_lossy(&stop.stderr);
    let named = stop.status.code() == Some(1) && said.contains(&format!("kill {pid}"));
    assert!(stop.status.success() || named, "{said}");
}

/// Returns the number of sockets with this path. These are the listening socket and each connection that the daemon
/// has not accepted yet.
#[cfg(target_os = "linux")]
fn sockets(path: &std::path::Path) -> usize {
    let all = std::fs::read_to_string("/proc/net/unix").unwrap();
    all.lines()
        .filter(|line| line.ends_with(path.to_str().unwrap()))
        .count()
}

#[cfg(target_os = "linux")]
#[test]
fn requests_unread_by_a_killed_daemon_are_answered_by_the_next() {
    let (scratch, daemon, mut client) = started();
    let pid = client.status().pid.to_string();
    drop(client);
    let stopped = std::process::Command::new("kill").args(["-STOP", &pid]).status();
    assert!(stopped.unwrap().success());
    let (root, before) = (
        scratch.workspace().display().to_string(),
        sockets(&daemon.socket()),
    );
    let verbs: [&[&str]; 3] = [
        &["status"],
        &["search", "valve3", "--workspace", &root],
        &["remember", "the fan is green", "--workspace", &root],
    ];
    let asked = verbs.map(|words| {
        let mut command = std::process::Command::new(client_program());
        command.args(words).env("HIPPOD_HOME", scratch.home());
        command.env("HIPPOD_EMBED_MODEL", "hash");
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    });
    let deadline = Instant::now() + PATIENCE;
    while sockets(&daemon.socket()) < before + verbs.len() {
        assert!(Instant::now() < deadline, "they do not connect");
        std::thread::yield_now();
    }
    daemon.kill();
    for (child, words) in asked.into_iter().zip(verbs) {
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{words:?}: {said}");
    }
    let stop = std::process::Command::new(client_program())
        .env("HIPPOD_HOME", scratch.home())
        .args(["service", "stop"])
        .status();
    assert!(stop.unwrap().success());
    let logs = std::fs::read_dir(scratch.workspace().join("memory")).unwrap();
    let logs = logs.filter_map(|file| std::fs::read_to_string(file.unwrap().path()).ok());
    let written = logs.collect::<String>();
    // The heading of the entry also contains the text, so only the line below it is counted.
    assert_eq!(written.matches("\nthe fan is green\n").count(), 1, "{written}");
}

#[test]
fn another_user_is_refused_even_with_wide_permissions() {
    if !rustix::process::geteuid().is_root() {
        return cannot("only root can become another user");
    }
    let (scratch, daemon, _client) = started();
    let open = |path: &std::path::Path| {
        let all = std::fs::Permissions::from_mode(0o777);
        std::fs::set_permissions(path, all).unwrap();
    };
    let (top, own) = (scratch.beside("."), scratch.beside("hippoctl"));
    std::fs::copy(client_program(), &own).unwrap();
    for path in [&top, &scratch.home(), &daemon.socket(), &own] {
        open(path);
    }
    let ask = |user: &str| {
        std::process::Command::new("setpriv")
            .args(["--reuid", user, "--regid", user, "--clear-groups"])
            .arg(&own)
            .args(["--no-start", "--socket"])
            .arg(daemon.socket())
            .arg("status")
            .env("HOME", &top)
            .output()
    };
    let Ok(as_root) = ask("0") else {
        return cannot("there is no setpriv");
    };
    let told = |output: &std::process::Output| String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(as_root.status.success(), "{}", told(&as_root));
    let refused = ask("65534").unwrap();
    assert_eq!(refused.status.code(), Some(1), "{}", told(&refused));
    assert!(refused.stdout.is_empty());
    assert!(daemon.log().contains("refused a connection of another user"));
}

#[test]
fn a_damaged_registry_is_kept_and_rebuilt() {
    let (scratch, daemon, mut client) = started();
    let before = client.answers(&scratch.workspace(), &["blue pump", "valve3"]);
    daemon.terminate();
    let registry = scratch.home().join("state/registry.json");
    let whole = std::fs::read(&registry).unwrap();
    for (number, damaged) in [
        &whole[..whole.len() / 2],
        b"",
        b"\0\0\0\0\0\0",
        b"{\"version\":1,\"other\":[]}",
    ]
    .into_iter()
    .enumerate()
    {
        std::fs::write(&registry, damaged).unwrap();
        scratch.daemon().terminate();
        assert_eq!(std::fs::read(&registry).unwrap(), whole);
        let suffix = if number == 0 {
            String::new()
        } else {
            format!(".{}", number + 1)
        };
        let aside = scratch
            .home()
            .join(format!("state/registry.json.damaged{suffix}"));
        assert_eq!(std::fs::read(aside).unwrap(), damaged, "what was there is kept");
    }
    let daemon = scratch.daemon();
    assert_same(
        "mended",
        &daemon
            .client()
            .answers(&scratch.workspace(), &["blue pump", "valve3"]),
        &before,
    );
}

#[test]
fn folders_with_files_of_hippod_are_refused_as_workspaces() {
    let (scratch, _daemon, mut client) = started();
    let (state, models) = (scratch.home().join("state"), scratch.home().join("models"));
    std::fs::create_dir_all(&models).unwrap();
    let link = scratch.beside("link");
    std::os::unix::fs::symlink(&models, &link).unwrap();
    for folder in [state, scratch.state(""), models, link] {
        let request = WorkspaceAddRequest {
            workspace: folder.display().to_string(),
        };
        let added: Result<WorkspaceAddResponse, _> = client.raw().call(&request.into());
        let ClientError::Refused(refused) = added.unwrap_err() else {
            panic!("no refusal")
        };
        assert_eq!(refused.data.kind, ErrorKind::BadRequest);
        assert!(refused.message.contains("hippod's own files"), "{refused:?}");
    }
}
