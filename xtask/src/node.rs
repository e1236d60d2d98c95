//! Node tests of the extension, the MCP clients, the TypeScript client and the page.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::SystemTime;

use anyhow::{Context, Result};

use crate::house::{self, ProjectFolders};
use crate::prerequisites;
use crate::terminal::say;

/// The suite that needs Chromium.
pub const BROWSER: (&str, &str) = ("page in Chromium", "tests/browser");

/// Name and folder of each test suite. The folder contains a lock file and a `test` script.
pub const SUITES: [(&str, &str); 4] = [
    ("extension for Pi and OpenClaw", "integrations/openclaw"),
    ("official clients of MCP", "tests/mcp_clients"),
    ("TypeScript client", "integrations/typescript"),
    (BROWSER.0, BROWSER.1),
];

/// Returns true if Node is installed. Otherwise, reports the suites that are skipped.
pub fn is_there() -> bool {
    let there = prerequisites::has_program("node") && prerequisites::has_program("npm");
    if !there {
        for (what, folder) in SUITES {
            say(format_args!(
                "\nNode 20 with npm not found: {what} ({folder}): not tested"
            ));
        }
    }
    there
}

/// Runs the tests in a folder. First installs the packages in its lock file, if necessary.
///
/// # Errors
/// Fails if a command failed. The error names the command.
pub fn test(house: &ProjectFolders, name: &str) -> Result<()> {
    house::run(&mut command(house, name, &["npm", "test"])?)
}

/// Returns a command in a folder with a lock file, with the paths of the built programs in its environment. First
/// installs the packages in the lock file, if necessary.
///
/// # Errors
/// Fails if the packages could not be installed.
pub fn command(house: &ProjectFolders, name: &str, words: &[&str]) -> Result<Command> {
    let folder = house.root.join(name);
    let run = |words: &[&str]| {
        let mut command = Command::new(words[0]);
        command
            .args(&words[1..])
            .current_dir(&folder)
            .stdin(Stdio::null());
        command
    };
    if !is_installed(&folder) {
        house::run(&mut run(&[
            "npm",
            "ci",
            "--ignore-scripts",
            "--no-audit",
            "--no-fund",
        ]))
        .with_context(|| format!("could not install the packages in {name}/package-lock.json"))?;
    }
    let built = |program: &str| {
        let program = format!("{program}{}", std::env::consts::EXE_SUFFIX);
        house.target.join("debug").join(program)
    };
    let mut command = run(words);
    command.env("HIPPOD_PROGRAM", built("hippod"));
    command.env("HIPPOCTL_PROGRAM", built("hippoctl"));
    Ok(command)
}

/// Returns true if the installed packages are newer than the lock file.
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
