//! Determines the commit of the source code.

use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=HIPPOD_COMMIT");
    let given = std::env::var("HIPPOD_COMMIT").ok();
    let commit = given.filter(|commit| !commit.is_empty()).or_else(checked_out);
    let commit = commit.map_or(String::new(), |commit| format!(" ({commit})"));
    println!(
        "cargo::rustc-env=HIPPOD_VERSION={}{commit}",
        env!("CARGO_PKG_VERSION")
    );
}

/// Returns the commit of the git checkout that contains this file, with `-dirty` if files differ from the commit. Later
/// edits do not run this script again, but the next commit does. In a copy of the source code without git, or inside of
/// another repository, returns `None`.
fn checked_out() -> Option<String> {
    git(&["ls-files", "--error-unmatch", "build.rs"])?;
    // Git appends a line to this file after each commit and each checkout.
    let log = git(&["rev-parse", "--git-path", "logs/HEAD"])?;
    println!("cargo::rerun-if-changed={log}");
    git(&["describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"])
}

/// Returns the output of a git command. The current folder is the folder of the package.
fn git(words: &[&str]) -> Option<String> {
    let output = Command::new("git").args(words).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
