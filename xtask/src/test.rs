//! The gate: all checks that a change must pass.

use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::house::{self, ProjectFolders, describe, succeeded};
use crate::terminal::{duration, say};
use crate::{dist, node, prerequisites, python, setup, targets};

/// Runs all steps in order, and stops at the first failure.
///
/// # Errors
/// Fails if a step failed. The error names the step.
pub fn run(house: &ProjectFolders) -> Result<()> {
    let begun = Instant::now();
    let mut gate = Gate {
        house,
        done: Vec::new(),
    };
    prerequisites::provide_strace();
    prerequisites::check()?;
    gate.step("format", |house| {
        house::run(house.cargo().args(["fmt", "--all", "--check"]))?;
        house::run(
            house
                .cargo()
                .args(["fmt", "--manifest-path", "lab/Cargo.toml", "--check"]),
        )
    })?;
    gate.step("lints", |house| {
        let mut whole = cargo(house);
        house::run(whole.args(["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]))?;
        // In these packages, the model is an optional feature. Here, the code without the feature is linted, but not
        // built and tested again.
        let mut fewer = cargo(house);
        fewer.args([
            "clippy",
            "-p",
            "hippo-embed",
            "-p",
            "hippod",
            "--no-default-features",
            "--all-targets",
        ]);
        house::run(fewer.args(["--", "-D", "warnings"]))
    })?;
    for target in targets::installed() {
        gate.step("types on other systems", |house| targets::check(house, target))?;
    }
    // The build has the same features as the tests, so the programs that the tests start are built only once.
    gate.step("build", |house| {
        house::run(cargo(house).args(["build", "--workspace", "--bins", "--tests"]))
    })?;
    let home = gate.step("set-up", |house| {
        setup::provide_postgres(house)?;
        setup::obtain(house, &house.target.join("debug"))
    })?;
    let runner = Runner::choose();
    let tests = gate.step("tests", |house| runner.run(house, &home))?;
    if node::is_there() {
        let has_browser = prerequisites::provide_chromium();
        let suites = node::SUITES.into_iter();
        for (what, folder) in suites.filter(|suite| has_browser || *suite != node::BROWSER) {
            gate.step(what, |house| node::test(house, folder))?;
        }
    }
    if python::is_there() {
        for suite in &python::SUITES {
            gate.step(suite.what, |house| python::test(house, suite))?;
        }
    }
    if cfg!(target_os = "linux") {
        gate.step("packages", dist::rehearse)?;
    } else {
        say(format_args!("\nnot Linux: packages are not created"));
    }
    gate.step("documentation", |house| {
        let mut command = cargo(house);
        command.args(["doc", "--workspace", "--no-deps", "--quiet"]);
        house::run(command.env("RUSTDOCFLAGS", "-D warnings"))
    })?;
    if prerequisites::has_subcommand("deny") {
        gate.step("dependencies", |house| {
            house::run(house.cargo().args(["deny", "check"]))
        })?;
    } else {
        say(format_args!(
            "\ncargo-deny not found: licences and advisories of dependencies are not checked"
        ));
    }
    say(format_args!("\nsteps:"));
    for (name, time) in &gate.done {
        say(format_args!("  {name:<24} {}", duration(*time)));
    }
    say(format_args!("tests: {tests}"));
    say(format_args!(
        "all {} steps passed in {}",
        gate.done.len(),
        duration(begun.elapsed())
    ));
    Ok(())
}

/// Returns a cargo command without incremental compilation, which would need disk space and slow down a build from
/// scratch.
fn cargo(house: &ProjectFolders) -> Command {
    let mut command = house.cargo();
    command.env("CARGO_INCREMENTAL", "0");
    command
}

struct Gate<'a> {
    house: &'a ProjectFolders,
    done: Vec<(&'static str, Duration)>,
}

impl Gate<'_> {
    fn step<T>(&mut self, name: &'static str, work: impl FnOnce(&ProjectFolders) -> Result<T>) -> Result<T> {
        say(format_args!("\n=== {name}"));
        let begun = Instant::now();
        let result = work(self.house).with_context(|| format!("the gate failed at the step \"{name}\""))?;
        say(format_args!(
            "=== {name}: passed in {}",
            duration(begun.elapsed())
        ));
        self.done.push((name, begun.elapsed()));
        Ok(result)
    }
}

/// Program that runs the tests.
#[derive(Clone, Copy)]
enum Runner {
    Nextest,
    Cargo,
}

impl Runner {
    fn choose() -> Self {
        if prerequisites::has_subcommand("nextest") {
            return Self::Nextest;
        }
        say(format_args!(
            "\ncargo-nextest not found: cargo test runs the tests instead"
        ));
        Self::Cargo
    }

    /// Runs the tests, and returns the summary that the runner prints.
    fn run(self, house: &ProjectFolders, home: &Path) -> Result<String> {
        let mut command = cargo(house);
        match self {
            Self::Nextest => command.args(["nextest", "run", "--no-fail-fast"]),
            Self::Cargo => command.args(["test", "--no-fail-fast", "--all-targets"]),
        };
        command.arg("--workspace").env("HIPPOD_TEST_MODEL_HOME", home);
        match self {
            Self::Nextest => {
                let summary = watch(&mut command, |line| line.trim_start().starts_with("Summary"))?;
                Ok(summary
                    .last()
                    .map_or_else(|| "no summary".into(), |line| line.trim().to_owned()))
            }
            Self::Cargo => {
                let results = watch(command.stderr(Stdio::inherit()), |line| {
                    line.starts_with("test result: ")
                })?;
                let passed = |line: &String| line.split_whitespace().nth(3)?.parse::<u64>().ok();
                Ok(format!(
                    "{} passed",
                    results.iter().filter_map(passed).sum::<u64>()
                ))
            }
        }
    }
}

/// Runs a command, shows its output, and returns the lines that `keep` selects. Captures only the stream with the
/// results: standard error for nextest, standard output for `cargo test`.
fn watch(command: &mut Command, keep: impl Fn(&str) -> bool + Sync) -> Result<Vec<String>> {
    let name = describe(command);
    let (reader, writer) = io::pipe().context("could not open a pipe")?;
    if name.contains("nextest") {
        command.stderr(writer);
    } else {
        command.stdout(writer);
    }
    let mut child = command.spawn().with_context(|| format!("could not run {name}"))?;
    // The command has its own handle of the pipe. The loop below ends only after all these handles are closed.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut kept = Vec::new();
    for line in BufReader::new(reader).split(b'\n') {
        let line = line.with_context(|| format!("could not read the output of {name}"))?;
        let text = String::from_utf8_lossy(&line);
        let _ = writeln!(io::stderr().lock(), "{text}");
        if keep(&text) {
            kept.push(text.into_owned());
        }
    }
    let status = child
        .wait()
        .with_context(|| format!("could not wait for {name}"))?;
    succeeded(&name, status)?;
    Ok(kept)
}
