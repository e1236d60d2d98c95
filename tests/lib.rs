//! Shared support for tests: a scratch folder, a real daemon, and clients.
#![cfg(unix)]

mod caller;
mod clocked;
mod dice;
mod entries;
mod managed;
mod mcp;
pub mod page;
pub mod postgres;
mod terminal;

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use hippo_proto::Client;
use hippo_proto::folder::{self, Trust};
use serde_json::Value;

pub use caller::{Answer, Caller, Essence, assert_same, essence};
pub use clocked::Clocked;
pub use dice::Dice;
pub use entries::QUIET;
pub use managed::Manager;
pub use mcp::Mcp;
pub use postgres::Postgres;
pub use terminal::Terminal;

/// Maximum time of a single wait. If a daemon takes longer, the test fails.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// A home for daemons and a workspace beside it. Dropping it deletes both.
pub struct Scratch {
    folder: tempfile::TempDir,
}

impl Default for Scratch {
    fn default() -> Self {
        Self::new()
    }
}

impl Scratch {
    /// Creates an empty home and an empty workspace.
    pub fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        std::fs::create_dir_all(folder.path().join("workspace/memory")).expect("a workspace");
        Self { folder }
    }

    /// Returns the home of the daemons.
    pub fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// Returns the root of the workspace.
    pub fn workspace(&self) -> PathBuf {
        self.folder.path().join("workspace")
    }

    /// Returns a path beside the home and the workspace.
    pub fn beside(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file of the workspace as editors do: writes a new file and renames it.
    pub fn write(&self, path: &str, bytes: impl AsRef<[u8]>) {
        let file = self.workspace().join(path);
        std::fs::create_dir_all(file.parent().expect("a parent")).expect("a folder");
        let draft = self.folder.path().join("draft");
        std::fs::write(&draft, bytes).expect("a file written");
        std::fs::rename(&draft, &file).expect("a file in its place");
    }

    /// Writes a settings file of the workspace that the user trusts. Records the trust before it writes the file, so
    /// that the daemon never reads the file untrusted.
    pub fn trusted(&self, path: &str, text: &str) {
        let root = self.workspace().canonicalize().expect("a workspace");
        let state = self.home().join("state");
        let mut trust = Trust::of(&state, &root);
        trust.add(path, &folder::hash(text.as_bytes()));
        trust.keep(&state, &root).expect("a record of trust");
        self.write(path, text);
    }

    /// Returns the path of a state file of the workspace.
    pub fn state(&self, name: &str) -> PathBuf {
        let mut folders = std::fs::read_dir(self.home().join("state/workspaces")).expect("a state folder");
        let folder = folders.next().expect("a workspace").expect("its state");
        folder.path().join(name)
    }

    /// Starts a daemon that embeds without a model and uses short delays.
    pub fn daemon(&self) -> Daemon {
        Daemon::start(&self.home(), &[])
    }

    /// Runs the real program with this home and waits until it exits. Use it only if the daemon must refuse to start.
    pub fn refused_daemon(&self) -> Output {
        Command::new(program())
            .arg("run")
            .env("HIPPOD_HOME", self.home())
            .env("HIPPOD_EMBED_MODEL", "hash")
            .stdin(Stdio::null())
            .output()
            .expect("hippod started")
    }

    /// Starts a daemon with another home, which is empty.
    pub fn fresh_daemon(&self, name: &str) -> Daemon {
        Daemon::start(&self.folder.path().join(name), &[])
    }
}

/// Creates a workspace with one small indexed file. Also returns its daemon and a client.
pub fn begun() -> (Scratch, Daemon, Caller) {
    let scratch = Scratch::new();
    scratch.write(
        "MEMORY.md",
        "# Memory\n\n## Pumps\n\nThe pump of hall 3 is blue.\n",
    );
    let daemon = scratch.daemon();
    let mut client = daemon.client();
    client.index(&scratch.workspace());
    (scratch, daemon, client)
}

/// A running `hippod`. Dropping it kills the daemon.
pub struct Daemon {
    child: Child,
    home: PathBuf,
}

impl Daemon {
    /// Starts the real program with `home` and waits until it answers.
    pub fn start(home: &Path, settings: &[(&str, &str)]) -> Self {
        let mut command = Command::new(program());
        command.arg("run");
        Self::start_as(command, home, settings)
    }

    /// Starts a daemon with a command. At its end, the command must run `hippod run`.
    pub fn start_as(command: Command, home: &Path, settings: &[(&str, &str)]) -> Self {
        Self::try_start_as(command, home, settings).unwrap_or_else(|why| panic!("{why}"))
    }

    /// Starts a daemon that may exit instead of answering.
    ///
    /// # Errors
    /// Returns the log of the daemon if it exited.
    pub fn try_start_as(
        mut command: Command,
        home: &Path,
        settings: &[(&str, &str)],
    ) -> Result<Self, String> {
        std::fs::create_dir_all(home).expect("a home");
        let log = std::fs::File::options()
            .create(true)
            .append(true)
            .open(home.join("log"))
            .expect("a log");
        let defaults = [
            ("HIPPOD_EMBED_MODEL", "hash"),
            ("HIPPOD_WATCH_QUIET_MS", "30"),
            ("HIPPOD_WATCH_DELETE_CONFIRM_MS", "200"),
            // The tests create many entries from few files, so they disable the limit per file.
            ("HIPPOD_INDEX_TOKENS_PER_FILE", "0"),
        ];
        let child = command
            .env("HIPPOD_HOME", home)
            .envs(defaults)
            .envs(settings.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .expect("hippod started");
        let mut daemon = Self {
            child,
            home: home.to_path_buf(),
        };
        let deadline = Instant::now() + PATIENCE;
        while UnixStream::connect(daemon.socket()).is_err() {
            if daemon.child.try_wait().expect("the state of hippod").is_some() {
                return Err(format!("hippod ended at once: {}", daemon.log()));
            }
            assert!(
                Instant::now() < deadline,
                "hippod does not answer: {}",
                daemon.log()
            );
            std::thread::yield_now();
        }
        Ok(daemon)
    }

    /// Returns the process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Returns the peak memory of the daemon in KiB. Reads `/proc`, so it works only on Linux.
    pub fn most_memory(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()));
        let status = status.expect("it runs");
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let number = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
        number.expect("a number of KiB")
    }

    /// Returns the processor time that all threads have used so far. Reads `/proc`, so it works only on Linux.
    pub fn processor_time(&self) -> Duration {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).expect("it runs");
        let (_, fields) = stat.rsplit_once(')').expect("a name");
        let ticks = fields.split_whitespace().skip(11).take(2);
        let ticks: u64 = ticks.map(|ticks| ticks.parse::<u64>().expect("ticks")).sum();
        // Linux counts 100 ticks per second.
        Duration::from_millis(10 * ticks)
    }

    /// Returns the path of the socket.
    pub fn socket(&self) -> PathBuf {
        self.home.join("hippod.sock")
    }

    /// Returns the log of the daemon.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.home.join("log")).unwrap_or_default()
    }

    /// Connects a client.
    pub fn client(&self) -> Caller {
        let client = Client::connect(&self.socket(), Some(PATIENCE)).expect("a connection");
        Caller::new(client)
    }

    /// Opens a connection for raw bytes.
    pub fn raw(&self) -> Raw {
        let stream = UnixStream::connect(self.socket()).expect("a connection");
        stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        Raw {
            reader: BufReader::new(stream.try_clone().expect("a second handle")),
            stream,
        }
    }

    /// Sends SIGTERM and returns without waiting.
    pub fn tell_to_stop(&self) {
        let told = Command::new("kill")
            .arg("-TERM")
            .arg(self.child.id().to_string())
            .status();
        assert!(told.expect("kill runs").success());
    }

    /// Sends SIGKILL and returns without waiting.
    pub fn shoot(&self) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::KILL).expect("killed");
    }

    /// Waits until the daemon exits without a signal from the test.
    pub fn wait(mut self) -> ExitStatus {
        self.child.wait().expect("reaped")
    }

    /// Kills the daemon with SIGKILL and waits until it has exited.
    pub fn kill(mut self) {
        self.child.kill().expect("killed");
        self.child.wait().expect("reaped");
    }

    /// Sends SIGTERM, asserts a successful exit, and returns the time until the exit.
    pub fn terminate(mut self) -> Duration {
        let start = Instant::now();
        self.tell_to_stop();
        let status = self.child.wait().expect("reaped");
        assert!(status.success(), "hippod ended with {status}: {}", self.log());
        start.elapsed()
    }

    /// Returns `true` while the daemon runs.
    pub fn is_alive(&mut self) -> bool {
        self.child.try_wait().expect("the state of hippod").is_none()
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // The daemon may have exited already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A connection for raw bytes.
pub struct Raw {
    stream: UnixStream,
    reader: BufReader<UnixStream>,
}

impl Raw {
    /// Sends bytes unchanged. Returns `false` if the daemon has closed the connection.
    pub fn send(&mut self, bytes: &[u8]) -> bool {
        self.stream.write_all(bytes).is_ok()
    }

    /// Returns the next line as JSON, or `None` if the daemon has closed the connection.
    pub fn line(&mut self) -> Option<Value> {
        let mut line = String::new();
        match self.reader.read_line(&mut line) {
            Ok(0) | Err(_) => None,
            Ok(_) => Some(serde_json::from_str(&line).expect("a line of JSON")),
        }
    }

    /// Returns all text until the daemon closes the connection.
    pub fn rest(mut self) -> String {
        let mut rest = String::new();
        let _ = self.reader.read_to_string(&mut rest);
        rest
    }

    /// Closes this side of the connection for writing.
    pub fn finish_writing(&self) {
        let _ = self.stream.shutdown(std::net::Shutdown::Write);
    }
}

/// Returns the path of the daemon's program, built with the same features as the tests.
pub fn program() -> &'static Path {
    built("hippod")
}

/// Returns the path of the client's program.
pub fn client_program() -> &'static Path {
    built("hippoctl")
}

fn built(name: &str) -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    static NAMES: OnceLock<[PathBuf; 2]> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| {
        let tests = std::env::current_exe().expect("the path of the tests");
        let folder = tests.ancestors().nth(2).expect("the folder of the profile");
        build_once_a_run(folder);
        folder.to_path_buf()
    });
    let names = NAMES.get_or_init(|| [folder.join("hippod"), folder.join("hippoctl")]);
    names
        .iter()
        .find(|path| path.ends_with(name))
        .expect("a program of the project")
}

/// Builds the programs. Under nextest, only the first test of a run builds them.
fn build_once_a_run(folder: &Path) {
    let mark = folder.join("programs-of-run");
    let run = std::env::var("NEXTEST_RUN_ID").ok();
    if run.is_some() && std::fs::read_to_string(&mark).ok() == run {
        return;
    }
    let mut cargo = Command::new(env!("CARGO"));
    // The runner sets these variables for the package of the test. Build scripts would treat them as a change.
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            cargo.env_remove(&name);
        }
    }
    if cfg!(feature = "onnx") {
        // With the features of the tests, cargo compiles nothing twice.
        cargo.args(["build", "--quiet", "--workspace", "--bins", "--tests"]);
    } else {
        cargo.args([
            "build",
            "--quiet",
            "--package",
            "hippod",
            "--package",
            "hippoctl",
            "--no-default-features",
        ]);
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the project's root");
    let status = cargo.current_dir(root).status().expect("cargo runs");
    assert!(status.success(), "hippod and hippoctl could not be built");
    if let Some(run) = run {
        std::fs::write(&mark, run).expect("a mark");
    }
}
