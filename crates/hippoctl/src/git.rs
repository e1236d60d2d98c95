//! Calls of git.

use std::path::Path;
use std::process::{Command, Output};

use crate::failure::{Exit, Failure};

/// Calls git in a folder. Returns its output, also if git fails.
///
/// # Errors
/// Fails if git cannot be started.
pub fn call(root: &Path, words: &[&str]) -> Result<Output, Failure> {
    let output = Command::new("git")
        // Otherwise, a setting of an untrusted repository could start a program.
        .args(["-c", "core.fsmonitor=false", "-C"])
        .arg(root)
        .args(words)
        .env_remove("GIT_DIR")
        .env_remove("GIT_WORK_TREE")
        .env_remove("GIT_INDEX_FILE")
        // The output of git is read here, so it must not be translated.
        .env("LC_ALL", "C")
        .output();
    output.map_err(|error| {
        Failure::new(Exit::Failed, format!("could not start git: {error}")).hint("install git")
    })
}

/// Calls git in a folder, and returns its output. Returns `None` if git is not installed or fails.
pub fn ask(root: &Path, words: &[&str]) -> Option<String> {
    let output = call(root, words).ok().filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Returns the paths that a call with the option `-z` prints. Returns no paths if git fails.
pub fn paths(root: &Path, words: &[&str]) -> Vec<String> {
    let listed = ask(root, words).unwrap_or_default();
    listed.split_terminator('\0').map(str::to_owned).collect()
}
