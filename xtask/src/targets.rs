//! Does the tree type-check for other systems than this one?

use std::process::{Command, Stdio};

use anyhow::Result;

use crate::house::{self, House};
use crate::terminal::say;

/// The systems that the tree is written for beside Linux.
const TARGETS: [&str; 4] = [
    "aarch64-apple-darwin",
    "x86_64-apple-darwin",
    "x86_64-pc-windows-gnu",
    "x86_64-pc-windows-msvc",
];

/// The targets whose libraries are installed here; says of each other one that it is not checked.
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
        // The steps before checked this system.
        .filter(|target| *target != host)
        .filter(|target| {
            let why = lacks(target, libraries.join(target).join("lib").is_dir());
            if let Some(why) = &why {
                say(format_args!("\n{why}: not type-checked for {target}"));
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

/// Type-checks for a target.
///
/// # Errors
/// It does not compile there.
pub fn check(house: &House, target: &str) -> Result<()> {
    let mut command = house.cargo();
    command.args(["check", "--workspace", "--target", target]);
    house::run(&mut command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_check_lacks_is_said() {
        for target in TARGETS {
            let none = lacks(target, false).unwrap();
            assert!(none.contains(&format!("rustup target add {target}")), "{none}");
            let why = lacks(target, true);
            let compiler = format!("CC_{}", target.replace('-', "_"));
            let is_here = match target.contains("apple") {
                true => cfg!(target_os = "macos"),
                false => cfg!(windows),
            };
            let has_compiler = is_here || std::env::var_os(&compiler).is_some();
            assert_eq!(why.is_none(), has_compiler, "{why:?}");
            assert!(why.is_none_or(|why| why.contains(&compiler)));
        }
    }
}
