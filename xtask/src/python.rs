//! Python tests of the MCP client and of the Python client.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

use crate::house::{self, ProjectFolders};
use crate::terminal::say;

/// A test suite.
pub struct Suite {
    /// Name of the suite.
    pub what: &'static str,
    /// Folder that contains the suite.
    folder: &'static str,
    /// Name of the requirements file, in the folder of the suite.
    requirements: &'static str,
    /// Folder of the virtual environment, below the target folder.
    environment: &'static str,
    /// Modules to run, in order, each with its arguments.
    modules: &'static [&'static [&'static str]],
}

/// All test suites.
pub const SUITES: [Suite; 2] = [
    Suite {
        what: "Python client of MCP",
        folder: "tests/mcp_clients",
        requirements: "requirements.txt",
        environment: "mcp-python",
        modules: &[&["unittest", "client_test"]],
    },
    Suite {
        what: "Python client",
        folder: "integrations/python",
        requirements: "tests/requirements.txt",
        environment: "client-python",
        modules: &[&["mypy"], &["pytest"]],
    },
];

/// Python program that fails unless this Python has a supported version and can create virtual environments.
const FIT: &str = "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))";

/// Returns true if a suitable Python is installed. Otherwise, reports the suites that are skipped.
pub fn is_there() -> bool {
    let mut command = Command::new("python3");
    command.args(["-c", FIT]).stderr(Stdio::null());
    let there = command.status().is_ok_and(|status| status.success());
    if !there {
        for Suite { what, folder, .. } in SUITES {
            say(format_args!(
                "\nPython 3.11 with venv not found: {what} ({folder}): not tested"
            ));
        }
    }
    there
}

/// Runs the tests of a suite. First installs its requirements, if necessary, into an environment below the target
/// folder.
///
/// # Errors
/// Fails if a command failed. The error names the command.
pub fn test(house: &ProjectFolders, suite: &Suite) -> Result<()> {
    let folder = house.root.join(suite.folder);
    let environment = house.target.join(suite.environment);
    let wanted = folder.join(suite.requirements);
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
        let pip = ["-m", "pip", "install", "--quiet", "--no-deps", "-r"];
        house::run(run(&python, &pip).arg(suite.requirements))
            .with_context(|| format!("could not install the packages in {}", wanted.display()))?;
        // This file is written last. After an interrupted installation, it does not exist, so the installation is
        // repeated.
        std::fs::write(&installed, named)
            .with_context(|| format!("could not write {}", installed.display()))?;
    }
    let built = |program: &str| {
        let program = format!("{program}{}", std::env::consts::EXE_SUFFIX);
        house.target.join("debug").join(program)
    };
    for words in suite.modules {
        let mut command = run(&python, &["-B", "-m"]);
        command.args(*words).env("HIPPOD_PROGRAM", built("hippod"));
        house::run(command.env("HIPPOCTL_PROGRAM", built("hippoctl")))?;
    }
    Ok(())
}
