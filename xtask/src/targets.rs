//! Type checks for other operating systems.

use std::process::{Command, Stdio};

use anyhow::Result;

use crate::house::{self, ProjectFolders};
use crate::terminal::say;

/// Supported targets in addition to Linux.
const TARGETS: [&str; 2] = ["aarch64-apple-darwin", "x86_64-apple-darwin"];

/// Returns the targets whose libraries are installed. Reports the other targets, which are skipped.
pub fn installed() -> Vec<&'static str> {
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
        // An earlier step of the gate has checked the target of this machine.
        .filter(|target| *target != host)
        .filter(|target| {
            let has_libraries = libraries.join(target).join("lib").is_dir();
            let compiler = std::env::var_os(variable(target)).is_some();
            let why = lacks(target, std::env::consts::OS, has_libraries, compiler);
            if let Some(why) = &why {
                say(format_args!("\n{why}: not type-checked for {target}"));
            }
            why.is_none()
        })
        .collect()
}

/// Returns the missing requirement for checking a target, or `None` if all exist. A check also compiles the C code of
/// dependencies, which needs a C compiler for the target. `compiler` is true if the environment names such a compiler.
fn lacks(target: &str, here: &str, has_libraries: bool, compiler: bool) -> Option<String> {
    if !has_libraries {
        Some(format!("Rust libraries not found (rustup target add {target})"))
    } else if here != "macos" && !compiler {
        Some(format!(
            "no C compiler for this target found (set {})",
            variable(target)
        ))
    } else {
        None
    }
}

/// Returns the name of the environment variable for the C compiler of a target.
fn variable(target: &str) -> String {
    format!("CC_{}", target.replace('-', "_"))
}

/// Checks the types of all code for a target.
///
/// # Errors
/// Fails if the check failed.
pub fn check(house: &ProjectFolders, target: &str) -> Result<()> {
    let mut command = house.cargo();
    command.args(["check", "--workspace", "--target", target]);
    house::run(&mut command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_tools_of_a_check_are_reported() {
        for target in TARGETS {
            let none = lacks(target, "linux", false, true).unwrap();
            assert!(none.contains(&format!("rustup target add {target}")), "{none}");
            let none = lacks(target, "linux", true, false).unwrap();
            assert!(none.contains(&variable(target)), "{none}");
            assert_eq!(lacks(target, "linux", true, true), None);
        }
        assert_eq!(lacks("aarch64-apple-darwin", "macos", true, false), None);
        assert_eq!(variable("x86_64-apple-darwin"), "CC_x86_64_apple_darwin");
    }
}
