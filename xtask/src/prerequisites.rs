//! What must be on the machine, and how does it get there?

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Result, bail};
use hippo_embed::acquire::{AcquireError, check_pip};

use crate::terminal::say;

/// The oldest Rust that builds the project.
const RUST: &str = env!("CARGO_PKG_RUST_VERSION");

/// Checks for Rust and a C compiler, and for Python with pip where something must be downloaded.
///
/// # Errors
/// Names everything that is missing, each with what to install.
pub fn check(download: bool) -> Result<()> {
    let mut missing = Vec::new();
    match version(&cargo()) {
        None => missing.push(format!("Rust {RUST} or newer: install it from https://rustup.rs")),
        Some(found) if older(&found, RUST) => {
            missing.push(format!(
                "Rust {RUST} or newer (found {found}): run `rustup update stable`"
            ));
        }
        Some(_) => {}
    }
    let cc = std::env::var_os("CC")
        .filter(|cc| !cc.is_empty())
        .unwrap_or_else(|| "cc".into());
    if !runs(Command::new(&cc).arg("--version")) {
        missing.push(
            "a C compiler: Debian: `apt install build-essential`, macOS: `xcode-select --install`".into(),
        );
    }
    if download {
        match check_pip(Path::new("python3")) {
            Ok(()) => {}
            Err(AcquireError::Pip { .. }) => {
                missing.push(
                    "pip for Python 3: Debian: `apt install python3-pip`, macOS: `brew install python`"
                        .into(),
                );
            }
            Err(_) => {
                let debian = "apt install python3 python3-pip";
                missing.push(format!(
                    "Python 3 with pip: Debian: `{debian}`, macOS: `brew install python`"
                ));
            }
        }
    }
    if missing.is_empty() {
        return Ok(());
    }
    bail!("these prerequisites are missing:\n  - {}", missing.join("\n  - "))
}

/// Installs strace on Debian where the user may do that. Without it two attacks are left out, which is no failure.
pub fn provide_strace() {
    if !cfg!(target_os = "linux") || runs(Command::new("strace").arg("-V")) {
        return;
    }
    say(format_args!("strace is missing: trying apt-get"));
    let mut install = Command::new("apt-get");
    install.args(["install", "--yes", "--no-install-recommends", "strace"]);
    if !(runs(&mut install) || (runs(Command::new("apt-get").arg("update")) && runs(&mut install))) {
        say(format_args!(
            "no strace here: injected errors and power loss are not tested (Debian: `apt install strace`)"
        ));
    }
}

/// Whether `cargo NAME` is installed.
pub fn has_subcommand(name: &str) -> bool {
    runs(Command::new(cargo()).args([name, "--version"]))
}

/// Whether a program is installed that knows `--version`.
pub fn has_program(name: &str) -> bool {
    runs(Command::new(name).arg("--version"))
}

/// The cargo that runs this task; it has the version of its compiler.
fn cargo() -> OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

fn runs(command: &mut Command) -> bool {
    let quiet = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    quiet.status().is_ok_and(|status| status.success())
}

/// The second word of what `PROGRAM --version` prints.
fn version(program: &OsStr) -> Option<String> {
    let output = Command::new(program)
        .arg("--version")
        .stdin(Stdio::null())
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.split_whitespace()
        .nth(1)
        .map(str::to_owned)
        .filter(|_| output.status.success())
}

fn older(found: &str, wanted: &str) -> bool {
    let numbers = |version: &str| -> Vec<u32> {
        version
            .split(['.', '-'])
            .map_while(|part| part.parse().ok())
            .collect()
    };
    numbers(found) < numbers(wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_by_number() {
        for (found, wanted, is_older) in [
            ("1.95.0", "1.89", false),
            ("1.89.0", "1.89", false),
            ("1.9.0", "1.89", true),
            ("1.88.1", "1.89", true),
            ("1.97.0-nightly", "1.89", false),
            ("2.0.0", "1.89", false),
        ] {
            assert_eq!(older(found, wanted), is_older, "{found} {wanted}");
        }
    }

    #[test]
    fn a_program_that_is_not_there_has_no_version() {
        assert_eq!(version("no-such-program-of-hippod".as_ref()), None);
        assert!(version(&cargo()).is_some());
    }
}
