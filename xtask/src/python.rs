//! Does the official Python client of MCP work with the real programs?

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

use crate::house::{self, House};
use crate::terminal::say;

/// The test and what it needs.
const FOLDER: &str = "tests/mcp_clients";
/// A Python that the versions named run on, with which an environment of its own can be made.
const FIT: &str = "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))";

/// Whether there is a Python for it; says so where there is none.
pub fn is_there() -> bool {
    let mut command = Command::new("python3");
    command.args(["-c", FIT]).stderr(Stdio::null());
    let there = command.status().is_ok_and(|status| status.success());
    if !there {
        say(format_args!(
            "\nno Python 3.11 with venv here: the Python client of MCP ({FOLDER}) is not tested"
        ));
    }
    there
}

/// Installs what `requirements.txt` names into an environment below the target folder, unless that is there, and runs the
/// test.
///
/// # Errors
/// Names the command that failed.
pub fn test(house: &House) -> Result<()> {
    let folder = house.root.join(FOLDER);
    let environment = house.target.join("mcp-python");
    let wanted = folder.join("requirements.txt");
    let installed = environment.join("installed.txt");
    let python = environment.join("bin/python");
    let run = |program: &Path, words: &[&str]| {
        let mut command = Command::new(program);
        command.args(words).current_dir(&folder).stdin(Stdio::null());
        command
    };
    let read =
        |path: &Path| std::fs::read(path).with_context(|| format!("could not read {}", path.display()));
    let named = read(&wanted)?;
    if !read(&installed).is_ok_and(|installed| installed == named) {
        let place = environment.to_string_lossy();
        house::run(&mut run(Path::new("python3"), &["-m", "venv", "--clear", &place]))?;
        let pip = [
            "-m",
            "pip",
            "install",
            "--quiet",
            "--no-deps",
            "-r",
            "requirements.txt",
        ];
        house::run(&mut run(&python, &pip))
            .with_context(|| format!("what {FOLDER}/requirements.txt names could not be installed"))?;
        // Written last: an installation that was cut off is made again.
        std::fs::write(&installed, named)
            .with_context(|| format!("could not write {}", installed.display()))?;
    }
    let program = format!("hippoctl{}", std::env::consts::EXE_SUFFIX);
    let mut command = run(&python, &["-B", "-m", "unittest", "client_test"]);
    house::run(command.env("HIPPOCTL_PROGRAM", house.target.join("debug").join(program)))
}
