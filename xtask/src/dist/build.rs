//! Reproducible build of programs, without paths of this machine.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::Processor;
use crate::house::{self, ProjectFolders};

/// Programs in a package.
pub const PROGRAMS: [&str; 2] = ["hippod", "hippoctl"];

/// Builds the programs from the source code of a commit, and returns their folder. For another processor, this needs its
/// Rust libraries (`rustup target add`) and Debian's cross compilers (`gcc-aarch64-linux-gnu`, `g++-aarch64-linux-gnu`).
///
/// # Errors
/// Fails if the build failed.
pub fn build(house: &ProjectFolders, commit: &str, processor: Processor) -> Result<PathBuf> {
    let mut command = house.cargo();
    command.env("HIPPOD_COMMIT", commit);
    command.args(["build", "--package", "hippod", "--package", "hippoctl"]);
    command.args(["--locked", "--profile", "dist"]);
    let mut folder = house.target.clone();
    if let Some(target) = processor.foreign() {
        let linker = format!("CARGO_TARGET_{}_LINKER", target.replace('-', "_").to_uppercase());
        if std::env::var_os(&linker).is_none() {
            command.env(linker, format!("{}-linux-gnu-gcc", processor.name));
        }
        command.args(["--target", &target]);
        folder.push(target);
    }
    house::run(for_everywhere(&mut command, &places(house)?, &house.target))?;
    Ok(folder.join("dist"))
}

/// Returns local folders, each with the path that replaces it in a program. If several of these folders contain a
/// path, the compiler applies the last replacement.
fn places(house: &ProjectFolders) -> Result<[(PathBuf, &'static str); 3]> {
    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    let home = variable("HOME").map(|home| Path::new(&home).join(".cargo"));
    let cargo = variable("CARGO_HOME").map(PathBuf::from).or(home);
    Ok([
        (house.root.clone(), "/hippod"),
        (
            cargo.context("could not find cargo's folder: set HOME or CARGO_HOME")?,
            "/cargo",
        ),
        (house.target.clone(), "/target"),
    ])
}

/// Sets the compiler flags that replace the paths of local folders in the programs.
fn for_everywhere<'c>(
    command: &'c mut Command,
    places: &[(PathBuf, &'static str)],
    target: &Path,
) -> &'c mut Command {
    let mut rust = OsString::new();
    let mut c = std::env::var_os("CFLAGS").unwrap_or_default();
    let add = |flags: &mut OsString, between: &str, flag: &str, from: &OsStr, to: &str| {
        if !flags.is_empty() {
            flags.push(between);
        }
        flags.push(flag);
        flags.push(from);
        flags.push("=");
        flags.push(to);
    };
    for (from, to) in places {
        add(&mut rust, "\u{1f}", "--remap-path-prefix=", from.as_os_str(), to);
        add(&mut c, " ", "-ffile-prefix-map=", from.as_os_str(), to);
    }
    command
        .env("CARGO_ENCODED_RUSTFLAGS", rust)
        .env("CFLAGS", c)
        .env("CARGO_TARGET_DIR", target)
}

/// Returns the first path of a local folder in a program, with some of the surrounding text.
pub fn named_folder(house: &ProjectFolders, program: &Path) -> Result<Option<String>> {
    let program = fs::read(program).with_context(|| format!("could not read {}", program.display()))?;
    for (place, _) in places(house)? {
        let name = place.as_os_str().as_encoded_bytes();
        if let Some(at) = program.windows(name.len()).position(|window| window == name) {
            let around = &program[at..program.len().min(at + name.len() + 60)];
            return Ok(Some(String::from_utf8_lossy(around).into_owned()));
        }
    }
    Ok(None)
}
