//! Does the extension for Pi and OpenClaw fit the host's types, and work with the real daemon?

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::SystemTime;

use anyhow::{Context, Result};

use crate::house::{self, House};
use crate::prerequisites;
use crate::terminal::say;

/// Where it is.
const FOLDER: &str = "integrations/openclaw";

/// Whether there is a Node that runs it; says so where there is none.
pub fn can_be_tested() -> bool {
    let there = prerequisites::has_program("node") && prerequisites::has_program("npm");
    if !there {
        say(format_args!(
            "\nno Node 20 with npm here: the extension for Pi and OpenClaw ({FOLDER}) is not tested"
        ));
    }
    there
}

/// Installs what its lock file names, unless that is there, compiles it, and runs its tests.
///
/// # Errors
/// Names the command that failed.
pub fn test(house: &House) -> Result<()> {
    let folder = house.root.join(FOLDER);
    let npm = |words: &[&str]| {
        let mut command = Command::new("npm");
        command.args(words).current_dir(&folder).stdin(Stdio::null());
        command
    };
    if !is_installed(&folder) {
        house::run(&mut npm(&["ci", "--ignore-scripts", "--no-audit", "--no-fund"]))
            .with_context(|| format!("what {FOLDER}/package-lock.json names could not be installed"))?;
    }
    let program = format!("hippod{}", std::env::consts::EXE_SUFFIX);
    house::run(npm(&["test"]).env("HIPPOD_PROGRAM", house.target.join("debug").join(program)))
}

/// Whether what the lock file names was installed after it was written.
fn is_installed(folder: &Path) -> bool {
    let written = |name: &str| -> Option<SystemTime> { folder.join(name).metadata().ok()?.modified().ok() };
    match (
        written("node_modules/.package-lock.json"),
        written("package-lock.json"),
    ) {
        (Some(installed), Some(locked)) => installed >= locked,
        _ => false,
    }
}
