//! Folders of the project, and helpers for running cargo.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use anyhow::{Context, Result, bail};
use serde::Deserialize;

/// The folders of the project.
pub struct ProjectDirs {
    /// Folder of the workspace's `Cargo.toml`.
    pub root: PathBuf,
    /// Build folder of cargo.
    pub target: PathBuf,
}

#[derive(Deserialize)]
struct Metadata {
    workspace_root: PathBuf,
    target_directory: PathBuf,
}

impl ProjectDirs {
    /// Returns the folders that `cargo metadata` reports.
    ///
    /// # Errors
    /// Fails if cargo cannot be run, or if the project no longer exists.
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
        let Metadata {
            workspace_root,
            target_directory,
        } = serde_json::from_slice(&output.stdout).context("could not parse the output of cargo metadata")?;
        Ok(Self {
            root: workspace_root,
            target: target_directory,
        })
    }

    /// Returns a cargo command in the project's root.
    pub fn cargo(&self) -> Command {
        cargo(&self.root)
    }

    /// Returns the path of a release binary.
    pub fn release(&self, name: &str) -> PathBuf {
        self.target
            .join("release")
            .join(format!("{name}{}", std::env::consts::EXE_SUFFIX))
    }

    /// Builds release binaries.
    ///
    /// # Errors
    /// Fails if the build fails.
    pub fn build_release(&self, packages: &[&str]) -> Result<()> {
        let mut command = self.cargo();
        command.args(["build", "--release"]);
        for package in packages {
            command.args(["--package", package]);
        }
        run(&mut command)
    }
}

/// Returns a cargo command in a folder, without the environment variables that cargo set for this program. Otherwise,
/// build scripts would run again, because they would see changed variables.
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
/// Fails if the command cannot be run, or if it fails.
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

/// Returns the text of a command, as a person would type it.
pub fn describe(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let name = program.file_stem().unwrap_or(program.as_os_str());
    let words = std::iter::once(name).chain(command.get_args());
    words.map(OsStr::to_string_lossy).collect::<Vec<_>>().join(" ")
}
