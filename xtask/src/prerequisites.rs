//! Checks for required programs.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Result, bail};

use crate::house::{self, ProjectFolders};
use crate::setup;
use crate::terminal::say;

/// Checks that there is a C compiler, which SQLite requires. Other tools check the other requirements: cargo checks
/// the version of Rust, and `hippoctl model pull` looks for pip.
///
/// # Errors
/// Fails if there is no C compiler. The message lists the packages to install.
pub fn check() -> Result<()> {
    let cc = std::env::var_os("CC")
        .filter(|cc| !cc.is_empty())
        .unwrap_or_else(|| "cc".into());
    if !runs(Command::new(&cc).arg("--version")) {
        bail!(
            "no C compiler found\nhint: Debian: `apt install build-essential`, macOS: `xcode-select --install`"
        );
    }
    Ok(())
}

/// Installs strace on Debian, if the user may do so. Without strace, some attacks are skipped.
pub fn provide_strace() {
    if !cfg!(target_os = "linux") || runs(Command::new("strace").arg("-V")) {
        return;
    }
    if !install("strace") {
        say(format_args!(
            "strace not found, so the tests with injected errors and power loss are skipped (Debian: `apt \
             install strace`)"
        ));
    }
}

/// Returns true if Chromium is installed. On Debian, first installs it if the user may do so.
pub fn provide_chromium() -> bool {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let is_there = std::env::var_os("CHROMIUM").is_some() || names.into_iter().any(has_program);
    if is_there || cfg!(target_os = "linux") && install("chromium") {
        return true;
    }
    say(format_args!(
        "Chromium not found, so the page of `hippoctl ui` is not tested (Debian: `apt install chromium`)"
    ));
    false
}

/// Installs a Debian package. Returns true if it is installed.
fn install(package: &str) -> bool {
    say(format_args!("{package} is missing: trying apt-get"));
    let mut install = Command::new("apt-get");
    install.args(["install", "--yes", "--no-install-recommends", package]);
    runs(&mut install) || (runs(Command::new("apt-get").arg("update")) && runs(&mut install))
}

/// Returns true if `cargo NAME` is installed.
pub fn has_subcommand(name: &str) -> bool {
    has_program(&format!("cargo-{name}"))
}

/// Returns true if the program is installed and accepts `--version`.
pub fn has_program(name: &str) -> bool {
    runs(Command::new(name).arg("--version"))
}

/// Returns the path of a program from crates.io in the given version. First installs the program into the cache, if
/// necessary.
///
/// # Errors
/// Fails if the program cannot be installed.
pub fn tool(house: &ProjectFolders, name: &str, version: &str, more: &[&str]) -> Result<PathBuf> {
    let folder = setup::cache(house)?
        .join("tools")
        .join(format!("{name}-{version}"));
    let program = folder.join("bin").join(name);
    if !program.is_file() {
        let mut install = house.cargo();
        install
            .args(["install", "--locked", "--root"])
            .arg(&folder)
            .args(more);
        house::run(install.arg(format!("{name}@{version}")))?;
    }
    Ok(program)
}

fn runs(command: &mut Command) -> bool {
    let quiet = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    quiet.status().is_ok_and(|status| status.success())
}
