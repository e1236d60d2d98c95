//! Folders of the project, and helpers for running programs.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::Value;

/// The folders of the project.
pub struct ProjectFolders {
    /// Folder that contains the `Cargo.toml` of the workspace.
    pub root: PathBuf,
    /// Cargo's target folder.
    pub target: PathBuf,
}

impl ProjectFolders {
    /// Returns the folders of this project, as `cargo metadata` reports them.
    ///
    /// # Errors
    /// Fails if cargo cannot be run, or if the project was moved.
    pub fn find() -> Result<Self> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let output = cargo(&root)
            .args(["metadata", "--format-version", "1", "--no-deps"])
            .stderr(Stdio::inherit())
            .output()
            .context("could not run cargo")?;
        if !output.status.success() {
            bail!(
                "could not read the workspace: cargo metadata ended with {}",
                output.status
            );
        }
        let said: Value =
            serde_json::from_slice(&output.stdout).context("could not parse the output of cargo metadata")?;
        let folder = |name: &str| {
            said[name]
                .as_str()
                .map(PathBuf::from)
                .context("the output of cargo metadata contains no folder")
        };
        Ok(Self {
            root: folder("workspace_root")?,
            target: folder("target_directory")?,
        })
    }

    /// Returns a git command in the project's root.
    pub fn git(&self) -> Command {
        let mut command = Command::new("git");
        command.current_dir(&self.root);
        command
    }

    /// Returns a cargo command in the project's root.
    pub fn cargo(&self) -> Command {
        cargo(&self.root)
    }
}

/// Returns a cargo command in a folder. Removes the environment variables that `cargo xtask` sets for its own package,
/// because build scripts would treat them as a change.
fn cargo(folder: &Path) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&name);
        }
    }
    command.current_dir(folder).stdin(Stdio::null());
    command
}

/// Runs a command until it exits, and shows its output.
///
/// # Errors
/// Fails if the command could not be run, or if it failed.
pub fn run(command: &mut Command) -> Result<()> {
    let name = describe(command);
    let status = command
        .status()
        .with_context(|| format!("could not run {name}"))?;
    succeeded(&name, status)
}

/// Checks that a command was successful.
///
/// # Errors
/// Fails if the command failed.
pub fn succeeded(name: &str, status: ExitStatus) -> Result<()> {
    if status.success() {
        Ok(())
    } else {
        bail!("{name} failed ({status})")
    }
}

/// Returns the text of a command, as it would be typed in a shell.
pub fn describe(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let name = program.file_stem().unwrap_or(program.as_os_str());
    let words = std::iter::once(name).chain(command.get_args());
    words.map(OsStr::to_string_lossy).collect::<Vec<_>>().join(" ")
}

/// Runs a command and returns its standard output.
///
/// # Errors
/// Fails if the command could not be run, or if it failed. The error contains the standard error of the command.
pub fn output(command: &mut Command) -> Result<Vec<u8>> {
    let name = describe(command);
    let output = command
        .output()
        .with_context(|| format!("could not run {name}"))?;
    if !output.status.success() {
        let why = String::from_utf8_lossy(&output.stderr);
        bail!("{name} failed ({}): {}", output.status, why.trim());
    }
    Ok(output.stdout)
}
