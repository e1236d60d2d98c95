//! Cache of the model, and temporary homes of daemons.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use anyhow::{Context, Result};
use tempfile::TempDir;

use crate::house::{self, ProjectFolders};
use crate::prerequisites;
use crate::terminal::{duration, note, say, status};

/// Downloads the model and the runtime library with the programs in `programs`. Returns the folder that contains
/// `models/` and `runtime/`.
///
/// # Errors
/// Fails if the download failed.
pub fn obtain(house: &ProjectFolders, programs: &Path) -> Result<PathBuf> {
    DaemonHome::new(house, programs)?.close()?;
    Ok(cache(house)?.join("home"))
}

/// Builds hippod and hippoctl for a demonstration, and returns their folder.
///
/// # Errors
/// Fails if a prerequisite is missing, or the build failed.
pub fn build(house: &ProjectFolders) -> Result<PathBuf> {
    prerequisites::check()?;
    let mut command = house.cargo();
    command.args([
        "build",
        "--profile",
        "demo",
        "--package",
        "hippod",
        "--package",
        "hippoctl",
    ]);
    let name = house::describe(&command);
    let ended = status(&mut command, "building").with_context(|| format!("could not run {name}"))?;
    house::succeeded(&name, ended)?;
    Ok(house.target.join("demo"))
}

/// Returns the cache folder of this user. If the user has no known home, returns a folder below the target folder.
///
/// # Errors
/// Fails if the current folder cannot be determined.
pub fn cache(house: &ProjectFolders) -> Result<PathBuf> {
    let folder = |name: &str| {
        std::env::var_os(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    let base = match std::env::consts::OS {
        "macos" => folder("HOME").map(|home| home.join("Library/Caches")),
        _ => folder("XDG_CACHE_HOME")
            .filter(|path| path.is_absolute())
            .or_else(|| folder("HOME").map(|home| home.join(".cache"))),
    };
    let cache = folder("HIPPOD_CACHE")
        .or_else(|| base.map(|base| base.join("hippod")))
        .unwrap_or_else(|| house.target.join("hippod-cache"));
    std::path::absolute(&cache).with_context(|| format!("could not find the cache: {}", cache.display()))
}

/// A temporary home of a daemon, with the model and the runtime library from the cache. The daemon is stopped and the
/// home is removed when the value is dropped, or when the user interrupts the task.
struct DaemonHome {
    inner: Arc<Mutex<HomeState>>,
    folder: PathBuf,
}

struct HomeState {
    folder: Option<TempDir>,
    hippoctl: PathBuf,
    wheels: PathBuf,
}

impl DaemonHome {
    /// Creates the home, and downloads the files that are not in the cache. A process can create only one home, because
    /// the home sets the interrupt handler of the process.
    ///
    /// # Errors
    /// Fails if the folder cannot be created, or if a download failed.
    fn new(house: &ProjectFolders, programs: &Path) -> Result<Self> {
        let cache = cache(house)?;
        let folder = tempfile::Builder::new().prefix("hippod-").tempdir();
        let folder = folder.context("could not create a temporary folder")?;
        let path = fs::canonicalize(folder.path()).context("could not find the temporary folder")?;
        fs::create_dir_all(path.join("home")).context("could not create a home")?;
        for name in ["models", "runtime"] {
            let kept = cache.join("home").join(name);
            fs::create_dir_all(&kept).with_context(|| format!("could not create {}", kept.display()))?;
            link(&kept, &path.join("home").join(name))
                .with_context(|| format!("could not link {}", kept.display()))?;
        }
        let inner = Arc::new(Mutex::new(HomeState {
            folder: Some(folder),
            hippoctl: programs.join(format!("hippoctl{}", std::env::consts::EXE_SUFFIX)),
            wheels: cache.join("wheels"),
        }));
        let interrupted = Arc::clone(&inner);
        ctrlc::set_handler(move || {
            note(format_args!("\nxtask: interrupted"));
            let _ = interrupted.lock().unwrap_or_else(PoisonError::into_inner).close();
            std::process::exit(130);
        })
        .context("could not watch for interrupts")?;
        let home = Self { inner, folder: path };
        say(format_args!("model and runtime library: {}", cache.display()));
        let begun = Instant::now();
        home.run(&["model", "pull"])?;
        say(format_args!("  there after {}", duration(begun.elapsed())));
        Ok(home)
    }

    /// Returns a client command for this home. The client starts the daemon if necessary.
    fn hippoctl(&self) -> Command {
        self.inner
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .hippoctl(&self.folder)
    }

    /// Runs a client command, and shows its output.
    ///
    /// # Errors
    /// Fails if the command failed.
    fn run(&self, words: &[&str]) -> Result<()> {
        let mut command = self.hippoctl();
        command.args(words);
        let name = house::describe(&command);
        let ended = status(&mut command, words[0]).with_context(|| format!("could not run {name}"))?;
        house::succeeded(&name, ended)
    }

    /// Stops the daemon and removes the home.
    ///
    /// # Errors
    /// Fails if the daemon does not stop, or if the folder cannot be removed.
    fn close(self) -> Result<()> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner).close()
    }
}

impl Drop for DaemonHome {
    fn drop(&mut self) {
        if let Err(error) = self.inner.lock().unwrap_or_else(PoisonError::into_inner).close() {
            note(format_args!("xtask: {error:#}"));
        }
    }
}

impl HomeState {
    fn hippoctl(&self, folder: &Path) -> Command {
        let mut command = Command::new(&self.hippoctl);
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("HIPPOD_") {
                command.env_remove(&name);
            }
        }
        command
            .env("HIPPOD_HOME", folder.join("home"))
            .env("HIPPOD_CACHE", &self.wheels)
            .stdin(Stdio::null());
        command
    }

    fn close(&mut self) -> Result<()> {
        let Some(folder) = self.folder.take() else {
            return Ok(());
        };
        let path = fs::canonicalize(folder.path()).context("could not find the temporary folder")?;
        let stopped = house::output(self.hippoctl(&path).args(["--no-start", "service", "stop"]));
        folder.close().context("could not remove the temporary folder")?;
        stopped.map(drop)
    }
}

fn link(from: &Path, to: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(from, to)
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
            // Permissions are not copied, because the copy of a read-only file must be writable.
            let bytes = fs::read(entry.path()).with_context(failed)?;
            fs::write(target, bytes).with_context(failed)?;
        }
    }
    Ok(())
}
