//! Does the tree type-check for other systems than this one?

use std::process::{Command, Stdio};

use anyhow::Result;

use crate::house::{self, House};
use crate::terminal::say;

/// What is checked for another system. The daemon and its socket are written for Unix.
pub struct Target {
    name: &'static str,
    what: &'static [&'static str],
}

const TARGETS: [Target; 3] = [
    Target {
        name: "aarch64-apple-darwin",
        what: &["--workspace"],
    },
    Target {
        name: "x86_64-apple-darwin",
        what: &["--workspace"],
    },
    Target {
        name: "x86_64-pc-windows-msvc",
        what: &[
            "--package",
            "hippo-core",
            "--package",
            "hippo-proto",
            "--package",
            "hippoctl",
        ],
    },
];
/// Said with every check of Windows: that it passes is no word about the daemon.
const NOT_ON_WINDOWS: &str = "hippod does not build for Windows (its socket and its files are Unix's): only what a client needs is checked";

/// The targets whose libraries are installed here; says of each other one that it is not checked.
pub fn installed() -> Vec<Target> {
    let print = |what: &str| {
        let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let output = Command::new(rustc)
            .args(["--print", what])
            .stdin(Stdio::null())
            .output();
        output.map_or(String::new(), |output| {
            String::from_utf8_lossy(&output.stdout).trim().to_owned()
        })
    };
    let (sysroot, host) = (print("sysroot"), print("host-tuple"));
    let libraries = std::path::Path::new(&sysroot).join("lib/rustlib");
    TARGETS
        .into_iter()
        // The steps before checked this system.
        .filter(|target| target.name != host)
        .filter(|target| {
            let why = lacks(target.name, libraries.join(target.name).join("lib").is_dir());
            if let Some(why) = &why {
                say(format_args!("\n{why}: not type-checked for {}", target.name));
            }
            why.is_none()
        })
        .collect()
}

/// What is missing. Dependencies in C are compiled even for a check, which needs a compiler for that system.
fn lacks(target: &str, has_libraries: bool) -> Option<String> {
    let compiler = format!("CC_{}", target.replace('-', "_"));
    let native = std::env::consts::OS
        == if target.contains("apple") {
            "macos"
        } else {
            "windows"
        };
    if !has_libraries {
        Some(format!("no Rust libraries here (rustup target add {target})"))
    } else if !native && std::env::var_os(&compiler).is_none() {
        Some(format!("no C compiler for it here ({compiler} names one)"))
    } else {
        None
    }
}

/// What a passed check of a target does not say.
fn limits(target: &str) -> Option<&'static str> {
    target.contains("windows").then_some(NOT_ON_WINDOWS)
}

/// Type-checks for a target.
///
/// # Errors
/// It does not compile there.
pub fn check(house: &House, target: &Target) -> Result<()> {
    if let Some(word) = limits(target.name) {
        say(format_args!("{}: {word}", target.name));
    }
    let mut command = house.cargo();
    command.args(["check", "--target", target.name]).args(target.what);
    house::run(&mut command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_that_leaves_the_daemon_out_says_so() {
        for target in TARGETS {
            let whole = target.what == ["--workspace"];
            assert_eq!(limits(target.name).is_none(), whole, "{}", target.name);
            if let Some(word) = limits(target.name) {
                assert!(word.contains("hippod does not build for Windows"), "{word}");
            }
        }
    }
}
