//! A daemon in a temporary folder that leaves no files behind.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};
use hippo_proto::{Client, Paths, Request, ShutdownRequest, ShutdownResponse};
use serde::de::DeserializeOwned;
use tempfile::TempDir;

use crate::house::{ProjectDirs, describe, succeeded};
use crate::terminal::note;

/// Time limit for the daemon's first answer, and for its exit.
const PATIENCE: Duration = Duration::from_secs(10);
/// Pause between two checks of a process.
const PAUSE: Duration = Duration::from_millis(5);

/// A temporary home with a daemon of the release build. The daemon and the home are removed on drop, or when the user
/// interrupts the task.
pub struct Scratch {
    /// The temporary folder.
    pub folder: PathBuf,
    paths: Paths,
    hippod: PathBuf,
    hippoctl: PathBuf,
    running: Arc<Mutex<ScratchDaemon>>,
}

struct ScratchDaemon {
    folder: Option<TempDir>,
    daemon: Option<Child>,
    socket: PathBuf,
    log: PathBuf,
}

impl Scratch {
    /// Creates the home. `installed` contains `models/` and `runtime/`, which are linked instead of copied. A process
    /// can create only one instance, because the instance handles interrupts.
    ///
    /// # Errors
    /// Fails if the folder cannot be created.
    pub fn new(house: &ProjectDirs, installed: &Path) -> Result<Self> {
        let folder = temporary()?;
        let path = fs::canonicalize(folder.path()).context("could not find the temporary folder")?;
        Self::at(released(house), installed, path, Some(folder))
    }

    /// Creates the home for a daemon whose program is in the folder `programs`.
    ///
    /// # Errors
    /// Fails if the folder cannot be created.
    pub fn of_programs(programs: &Path, installed: &Path) -> Result<Self> {
        let folder = temporary()?;
        let path = fs::canonicalize(folder.path()).context("could not find the temporary folder")?;
        let programs = ["hippod", "hippoctl"].map(|name| programs.join(name));
        Self::at(programs, installed, path, Some(folder))
    }

    /// Creates the home in a permanent folder, which may contain files of an earlier run.
    ///
    /// # Errors
    /// Fails if the folder cannot be created.
    pub fn kept(house: &ProjectDirs, installed: &Path, folder: &Path) -> Result<Self> {
        fs::create_dir_all(folder).with_context(|| format!("could not create {}", folder.display()))?;
        let path =
            fs::canonicalize(folder).with_context(|| format!("could not find {}", folder.display()))?;
        Self::at(released(house), installed, path, None)
    }

    fn at(
        [hippod, hippoctl]: [PathBuf; 2],
        installed: &Path,
        path: PathBuf,
        folder: Option<TempDir>,
    ) -> Result<Self> {
        let home = path.join("home");
        fs::create_dir_all(&home).with_context(|| format!("could not create {}", home.display()))?;
        for name in ["models", "runtime"] {
            if !home.join(name).exists() {
                share(&installed.join(name), &home.join(name))?;
            }
        }
        let paths = Paths::below(&home);
        let running = ScratchDaemon {
            folder,
            daemon: None,
            socket: paths.socket.clone(),
            log: path.join("hippod.log"),
        };
        let running = Arc::new(Mutex::new(running));
        let interrupted = Arc::clone(&running);
        ctrlc::set_handler(move || {
            note(format_args!("\nlab: interrupted"));
            lock(&interrupted).clean_up();
            std::process::exit(130);
        })
        .context("could not watch for interrupts")?;
        Ok(Self {
            folder: path,
            paths,
            hippod,
            hippoctl,
            running,
        })
    }

    /// Starts the daemon, waits until it answers, and returns how long this took.
    ///
    /// # Errors
    /// Fails if the daemon exits or does not answer in time. The message contains the end of the daemon's log.
    pub fn start(&self) -> Result<Duration> {
        let log = lock(&self.running).log.clone();
        let mut options = File::options();
        let file = options.create(true).append(true).open(&log);
        let file = file.with_context(|| format!("could not create {}", log.display()))?;
        let mut command = self.in_home(&self.hippod);
        command
            .arg("run")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(file);
        let begun = Instant::now();
        let mut running = lock(&self.running);
        let daemon = command
            .spawn()
            .with_context(|| format!("could not run {}", self.hippod.display()))?;
        let daemon = running.daemon.insert(daemon);
        loop {
            if Client::connect(&self.paths.socket, Some(PATIENCE)).is_ok() {
                return Ok(begun.elapsed());
            }
            if let Some(status) = daemon.try_wait().context("could not check the daemon")? {
                bail!("the daemon ended early ({status})\n{}", last_words(&log));
            }
            if begun.elapsed() > PATIENCE {
                bail!(
                    "the daemon did not answer within {PATIENCE:?}\n{}",
                    last_words(&log)
                );
            }
            thread::sleep(PAUSE);
        }
    }

    /// Stops the daemon, waits until its process has exited, and returns how long this took.
    ///
    /// # Errors
    /// Fails if the daemon was not running, had to be killed, failed, or left files behind.
    pub fn stop(&self) -> Result<Duration> {
        let begun = Instant::now();
        let mut running = lock(&self.running);
        let pid = running
            .daemon
            .as_ref()
            .map(Child::id)
            .context("no daemon is running")?;
        running.stop()?;
        let took = begun.elapsed();
        if Client::connect(&self.paths.socket, Some(PATIENCE)).is_ok() {
            bail!("a process still answers at {}", self.paths.socket.display());
        }
        let left = processes_in(&self.folder.join("home"));
        if !left.is_empty() {
            bail!("processes still run after the daemon {pid} ended: {left:?}");
        }
        Ok(took)
    }

    /// Returns the process id of the daemon.
    ///
    /// # Errors
    /// Fails if no daemon runs.
    pub fn process_id(&self) -> Result<u32> {
        lock(&self.running)
            .daemon
            .as_ref()
            .map(Child::id)
            .context("no daemon is running")
    }

    /// Connects to the daemon with a time limit for each call.
    ///
    /// # Errors
    /// Fails if the daemon does not answer.
    pub fn connect(&self, patience: Duration) -> Result<Client> {
        Ok(Client::connect(&self.paths.socket, Some(patience))?)
    }

    /// Returns a client command for the daemon of this home.
    pub fn hippoctl(&self) -> Command {
        let mut command = self.in_home(&self.hippoctl);
        command.arg("--no-start").stdin(Stdio::null());
        command
    }

    /// Removes the folder. The daemon must be stopped before.
    ///
    /// # Errors
    /// Fails if a file cannot be removed.
    pub fn remove(self) -> Result<()> {
        let folder = lock(&self.running).folder.take();
        folder
            .map_or(Ok(()), TempDir::close)
            .context("could not remove the temporary folder")
    }

    fn in_home(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("HIPPOD_") {
                command.env_remove(&name);
            }
        }
        command.env("HIPPOD_HOME", self.folder.join("home"));
        // The daemon must not defer work that is measured.
        command
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        lock(&self.running).clean_up();
    }
}

impl ScratchDaemon {
    fn clean_up(&mut self) {
        if self.daemon.is_some()
            && let Err(error) = self.stop()
        {
            note(format_args!("lab: {error:#}"));
        }
        // If removing fails, the remaining files are in the system's temporary folder.
        drop(self.folder.take());
    }

    fn stop(&mut self) -> Result<()> {
        let Some(mut daemon) = self.daemon.take() else {
            return Ok(());
        };
        let asked = Client::connect(&self.socket, Some(PATIENCE)).and_then(|mut client| {
            client
                .call::<ShutdownResponse>(&Request::from(ShutdownRequest {}))
                .map(|_| ())
        });
        let begun = Instant::now();
        while asked.is_ok() && begun.elapsed() < PATIENCE {
            if let Some(status) = daemon.try_wait().context("could not check the daemon")? {
                return succeeded("the daemon", status).with_context(|| last_words(&self.log));
            }
            thread::sleep(PAUSE);
        }
        daemon.kill().context("could not kill the daemon")?;
        daemon.wait().context("could not wait for the daemon")?;
        match asked {
            Ok(()) => bail!("the daemon did not end within {PATIENCE:?} and was killed"),
            Err(error) => Err(anyhow!(error).context("could not ask the daemon to stop, so it was killed")),
        }
    }
}

fn released(house: &ProjectDirs) -> [PathBuf; 2] {
    ["hippod", "hippoctl"].map(|name| house.release(name))
}

fn temporary() -> Result<TempDir> {
    let mut builder = tempfile::Builder::new();
    let folder = builder.prefix("hippod-").tempdir();
    folder.context("could not create a temporary folder")
}

/// Returns the end of a log.
fn last_words(log: &Path) -> String {
    let text = fs::read_to_string(log).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    let last = &lines[lines.len().saturating_sub(10)..];
    format!("the end of its log:\n{}", last.join("\n"))
}

/// Locks the state even after a panic in another thread, so that the daemon is always stopped.
fn lock(running: &Mutex<ScratchDaemon>) -> MutexGuard<'_, ScratchDaemon> {
    running.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the processes whose environment contains this home, or none if the system does not report environments.
fn processes_in(home: &Path) -> Vec<u32> {
    let wanted = format!("HIPPOD_HOME={}", home.display()).into_bytes();
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    processes
        .filter_map(|entry| {
            let pid = entry.file_name().to_str()?.parse().ok()?;
            let environment = fs::read(entry.path().join("environ")).ok()?;
            environment
                .split(|byte| *byte == 0)
                .any(|variable| variable == wanted)
                .then_some(pid)
        })
        .collect()
}

#[cfg(unix)]
fn share(from: &Path, to: &Path) -> Result<()> {
    std::os::unix::fs::symlink(from, to).with_context(|| format!("could not link {}", from.display()))
}

#[cfg(not(unix))]
fn share(from: &Path, to: &Path) -> Result<()> {
    copy_folder(from, to)
}

/// Copies a folder recursively.
///
/// # Errors
/// Fails if a file cannot be read or written.
pub fn copy_folder(from: &Path, to: &Path) -> Result<()> {
    let failed = || format!("could not copy {}", from.display());
    fs::create_dir_all(to).with_context(failed)?;
    for entry in fs::read_dir(from).with_context(failed)? {
        let entry = entry.with_context(failed)?;
        let target = to.join(entry.file_name());
        if entry.file_type().with_context(failed)?.is_dir() {
            copy_folder(&entry.path(), &target)?;
        } else {
            // Permissions are not copied, because copies of read-only files must be writable.
            fs::read(entry.path())
                .and_then(|bytes| fs::write(target, bytes))
                .with_context(failed)?;
        }
    }
    Ok(())
}

/// Runs a client command and parses its answer as JSON.
///
/// # Errors
/// Fails if the command fails, or if its answer has another format. The error contains the standard error of the
/// command.
pub fn answer<T: DeserializeOwned>(command: &mut Command) -> Result<T> {
    let name = describe(command);
    let output = command
        .output()
        .with_context(|| format!("could not run {name}"))?;
    if !output.status.success() {
        bail!(
            "{name} failed ({}): {}",
            output.status,
            String::from_utf8_lossy(&output.stderr).trim()
        );
    }
    serde_json::from_slice(&output.stdout).with_context(|| format!("could not read the answer of {name}"))
}
