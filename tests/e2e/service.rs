//! Protocols of service managers: sockets, readiness, watchdog, journal.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixDatagram, UnixStream};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use hippod_tests::{Manager, PATIENCE, Scratch, program};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketType, bind, socket};

/// Python program that starts the given command as a daemon. It pauses the engine thread of the daemon from one line
/// of input to the next.
const HOLD: &str = r#"
import ctypes, os, signal, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
SEIZE, INTERRUPT, DETACH, DEATH_SIGNAL, EACH_THREAD = 0x4206, 0x4207, 17, 1, 0x40000000
child = os.fork()
if child == 0:
    libc.prctl(DEATH_SIGNAL, signal.SIGKILL)
    os.execv(sys.argv[1], sys.argv[1:])
sys.stdin.readline()
tasks = f"/proc/{child}/task"
engine = next(int(t) for t in os.listdir(tasks) if open(f"{tasks}/{t}/comm").read().strip() == "engine")
assert libc.ptrace(SEIZE, engine, None, None) == 0, os.strerror(ctypes.get_errno())
assert libc.ptrace(INTERRUPT, engine, None, None) == 0, os.strerror(ctypes.get_errno())
os.waitpid(engine, EACH_THREAD)
print("held", flush=True)
sys.stdin.readline()
assert libc.ptrace(DETACH, engine, None, None) == 0, os.strerror(ctypes.get_errno())
os.waitpid(child, 0)
"#;

/// A child process that is killed on drop.
struct Held(Child);

impl Drop for Held {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn ask(stream: &mut UnixStream) {
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
        .write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"status\"}\n")
        .unwrap();
}

fn answer(stream: UnixStream) -> serde_json::Value {
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).unwrap();
    serde_json::from_str(&line).unwrap()
}

#[test]
fn a_request_before_the_start_is_answered_and_the_socket_is_kept() {
    let scratch = Scratch::new();
    let manager = Manager::new(&scratch);
    let listener = manager.bind();
    for start in ["first", "second"] {
        let socket = scratch.home().join("hippod.sock");
        let mut early = UnixStream::connect(&socket).unwrap();
        ask(&mut early);
        let daemon = manager.start(manager.passing(listener.try_clone().unwrap()));
        let said = answer(early);
        assert_eq!(
            said["result"]["socket"],
            socket.to_str().unwrap(),
            "{start}: {said}"
        );
        manager.hear("READY=1");
        assert_eq!(
            daemon.client().status().pid,
            said["result"]["pid"].as_u64().unwrap() as u32
        );
        daemon.terminate();
        assert!(socket.exists(), "the {start} daemon removed what is not its own");
    }
}

#[test]
fn the_manager_is_notified_of_readiness_and_stopping() {
    let scratch = Scratch::new();
    scratch.write("memory/3.md", "# Note\n\n- the pump is blue\n");
    let manager = Manager::new(&scratch);
    let daemon = manager.start(manager.passing(manager.bind()));
    let first = manager.next();
    assert_eq!(first, "READY=1\n");
    let mut client = daemon.client();
    client.index(&scratch.workspace());
    daemon.terminate();
    let rest = manager.rest();
    assert_eq!(rest.last().map(String::as_str), Some("STOPPING=1\n"), "{rest:?}");
    let silent = |message: &String| !message.contains("pump") && !message.contains("READY");
    assert!(rest.iter().all(silent), "{rest:?}");
}

#[test]
fn readiness_is_reported_without_a_passed_socket() {
    let scratch = Scratch::new();
    let manager = Manager::new(&scratch);
    let socket = scratch.home().join("hippod.sock");
    // `LISTEN_PID` names another process, so this daemon must not use the passed descriptor.
    let mut command = manager.passing(std::fs::File::open("/dev/null").unwrap());
    command.env("PID", "1");
    let daemon = manager.start(command);
    manager.hear("READY=1");
    daemon.client().status();
    daemon.terminate();
    assert!(!socket.exists());
}

#[test]
fn passed_descriptors_that_are_not_listening_sockets_are_refused() {
    let scratch = Scratch::new();
    let manager = Manager::new(&scratch);
    let file = scratch.beside("file");
    std::fs::write(&file, "somebody's letters").unwrap();
    let (one, _other) = UnixStream::pair().unwrap();
    let place = scratch.home().join("hippod.sock");
    let datagrams = UnixDatagram::bind(&place).unwrap();
    // This socket has an address but does not listen.
    let deaf = socket(AddressFamily::UNIX, SocketType::STREAM, None).unwrap();
    bind(&deaf, &SocketAddrUnix::new(scratch.home().join("deaf")).unwrap()).unwrap();
    let refused = |mut command: Command| {
        let output = command.stderr(Stdio::piped()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && said.contains("hint: "), "{said}");
        said
    };
    for command in [
        manager.passing(std::fs::File::open(&file).unwrap()),
        manager.passing(one),
        manager.passing(datagrams),
        manager.passing(deaf),
    ] {
        let said = refused(command);
        assert!(
            said.contains("must be a Unix socket that listens at a path"),
            "{said}"
        );
    }
    assert!(place.exists() && scratch.home().join("deaf").exists());
    for count in ["0x1", "-1", "4294967296", "99999999999999999999"] {
        let mut command = Command::new("sh");
        command
            .args(["-c", r#"LISTEN_PID=$$ exec "$0" run"#])
            .arg(program());
        command
            .env("HIPPOD_HOME", scratch.home())
            .env("LISTEN_FDS", count);
        let said = refused(command);
        assert!(said.contains("LISTEN_FDS"), "{said}");
    }
}

#[test]
fn a_passed_socket_open_to_others_is_made_private() {
    let scratch = Scratch::new();
    let manager = Manager::new(&scratch);
    let listener = manager.bind();
    let socket = scratch.home().join("hippod.sock");
    std::fs::set_permissions(&socket, std::fs::Permissions::from_mode(0o666)).unwrap();
    let daemon = manager.start(manager.passing(listener));
    manager.hear("READY=1");
    assert_eq!(socket.metadata().unwrap().mode() & 0o777, 0o600);
    daemon.terminate();
}

#[test]
fn the_watchdog_is_notified_only_while_the_engine_progresses() {
    let scratch = Scratch::new();
    let manager = Manager::new(&scratch);
    let mut command = Command::new("python3");
    command.args(["-c", HOLD]).arg(program()).arg("run");
    for (name, value) in manager.passing(manager.bind()).get_envs() {
        command.env(name, value.unwrap());
    }
    std::fs::remove_file(scratch.home().join("hippod.sock")).unwrap();
    let period = Duration::from_millis(200);
    command.env("WATCHDOG_USEC", period.as_micros().to_string());
    let log = std::fs::File::create(scratch.beside("log")).unwrap();
    let child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(log)
        .spawn();
    let mut held = Held(child.unwrap());
    let (mut tell, said) = (held.0.stdin.take().unwrap(), held.0.stdout.take().unwrap());
    manager.hear("READY=1");
    for _ in 0..3 {
        manager.hear("WATCHDOG=1");
    }
    writeln!(tell, "hold it").unwrap();
    let mut line = String::new();
    BufReader::new(said).read_line(&mut line).unwrap();
    assert_eq!(
        line,
        "held\n",
        "{}",
        std::fs::read_to_string(scratch.beside("log")).unwrap()
    );
    // Messages that were sent before the pause may still arrive.
    manager.is_silent(period * 5);
    manager.rest();
    assert!(
        manager.is_silent(period * 5),
        "an engine that hangs is called well"
    );
    // The other threads still run, so the daemon must answer queries.
    let mut stream = UnixStream::connect(scratch.home().join("hippod.sock")).unwrap();
    ask(&mut stream);
    assert!(answer(stream)["result"]["pid"].is_u64());
    writeln!(tell, "let it go on").unwrap();
    manager.hear("WATCHDOG=1");
}

#[test]
fn journal_lines_have_no_timestamp() {
    let scratch = Scratch::new();
    let manager = Manager::new(&scratch);
    std::fs::write(scratch.home().join("log"), "").unwrap();
    let log = scratch.home().join("log").metadata().unwrap();
    let mut command = manager.passing(manager.bind());
    command.env("JOURNAL_STREAM", format!("{}:{}", log.dev(), log.ino()));
    let daemon = manager.start(command);
    manager.hear("READY=1");
    let text = daemon.log();
    daemon.terminate();
    assert!(text.trim_start().starts_with("INFO hippod answers"), "{text}");

    // `JOURNAL_STREAM` names a different stream, so the daemon must ignore the variable.
    std::fs::remove_file(scratch.home().join("hippod.sock")).unwrap();
    let mut command = manager.passing(manager.bind());
    command.env("JOURNAL_STREAM", format!("{}:{}", log.dev(), log.ino() + 1));
    std::fs::write(scratch.home().join("log"), "").unwrap();
    let daemon = manager.start(command);
    manager.hear("READY=1");
    let text = daemon.log();
    assert!(
        text.starts_with("20") && text.contains("INFO hippod answers"),
        "{text}"
    );
}
