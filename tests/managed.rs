//! Test service manager with socket activation, notifications and watchdog.

use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixDatagram, UnixListener};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::{Daemon, PATIENCE, Scratch, program};

/// Shell script that passes its standard input to the program `$0` as the first descriptor of socket activation. If
/// `PID` is set, the script declares that the descriptor is for that process.
const PASS: &str = r#"exec 3<&0 0</dev/null; LISTEN_PID=${PID:-$$} LISTEN_FDS=1 exec "$0" run"#;

/// A service manager that speaks the protocols of systemd.
pub struct Manager {
    home: PathBuf,
    socket: PathBuf,
    notify: PathBuf,
    heard: UnixDatagram,
}

impl Manager {
    /// Creates a manager without a service.
    pub fn new(scratch: &Scratch) -> Self {
        let home = scratch.home();
        std::fs::create_dir_all(&home).expect("a home");
        let private = std::fs::Permissions::from_mode(0o700);
        std::fs::set_permissions(&home, private).expect("a private home");
        let notify = scratch.beside("notify");
        let heard = UnixDatagram::bind(&notify).expect("a socket for messages");
        heard.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        Self {
            socket: home.join("hippod.sock"),
            home,
            notify,
            heard,
        }
    }

    /// Binds the daemon's socket.
    pub fn bind(&self) -> UnixListener {
        let listener = UnixListener::bind(&self.socket).expect("a socket");
        let private = std::fs::Permissions::from_mode(0o600);
        std::fs::set_permissions(&self.socket, private).expect("a private socket");
        listener
    }

    /// Returns a command that runs `hippod` with this descriptor.
    pub fn passing(&self, passed: impl Into<OwnedFd>) -> Command {
        let mut command = Command::new("sh");
        command
            .args(["-c", PASS])
            .arg(program())
            .stdin(Stdio::from(passed.into()))
            .env("HIPPOD_HOME", &self.home)
            .env("HIPPOD_EMBED_MODEL", "hash")
            .env("NOTIFY_SOCKET", &self.notify)
            .stdout(Stdio::null());
        command
    }

    /// Runs the command, and writes its log to the home.
    pub fn start(&self, mut command: Command) -> Daemon {
        let options = std::fs::File::options().create(true).append(true).clone();
        let log = options.open(self.home.join("log")).expect("a log");
        let child = command.stderr(log).spawn().expect("hippod started");
        Daemon {
            child,
            home: self.home.clone(),
        }
    }

    /// Returns the next message.
    pub fn next(&self) -> String {
        let mut bytes = [0; 4096];
        let length = self.heard.recv(&mut bytes).expect("a message of the daemon");
        String::from_utf8_lossy(&bytes[..length]).into_owned()
    }

    /// Returns the next message that contains `what`.
    pub fn hear(&self, what: &str) -> String {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let message = self.next();
            if message.contains(what) {
                return message;
            }
            assert!(Instant::now() < deadline, "the daemon never said {what}");
        }
    }

    /// Returns all messages that have arrived and were not read yet.
    pub fn rest(&self) -> Vec<String> {
        self.heard.set_nonblocking(true).expect("no waiting");
        let mut bytes = [0; 4096];
        let messages = std::iter::from_fn(|| {
            self.heard
                .recv(&mut bytes)
                .ok()
                .map(|length| bytes[..length].to_vec())
        });
        let messages = messages
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            .collect();
        self.heard.set_nonblocking(false).expect("waiting");
        messages
    }

    /// Returns `true` if no message arrives within this time.
    pub fn is_silent(&self, long: std::time::Duration) -> bool {
        self.heard.set_read_timeout(Some(long)).expect("a timeout");
        let silent = self.heard.recv(&mut [0; 4096]).is_err();
        self.heard.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        silent
    }
}
