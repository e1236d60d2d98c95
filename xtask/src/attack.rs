//! Long runs of the attack tests, with a table of results.

use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::house::{ProjectFolders, describe, succeeded};
use crate::prerequisites;
use crate::terminal::say;

/// Default duration of a run over all attacks, in minutes.
const MINUTES: u64 = 60;
/// Cargo arguments that run the attack tests. They select the same features as all other builds of the workspace.
const ATTACKS: [&str; 6] = ["test", "--quiet", "--workspace", "--test", "attacks", "--"];
const USAGE: &str = "usage: cargo xtask attack [--only NAME,…] [--minutes N] [--seed N]";

struct AttackOptions {
    only: Vec<String>,
    minutes: u64,
    seed: u64,
}

/// Runs attacks one after the other. Each attack gets an equal share of the time. Prints a table of the results.
///
/// # Errors
/// Fails if an argument is unknown, an attack cannot be run, or a case failed.
pub fn run(house: &ProjectFolders, arguments: &[String]) -> Result<()> {
    let options = AttackOptions::parse(arguments)?;
    prerequisites::provide_strace();
    let tests = tests(house)?;
    let is_wanted = |test: &&String| {
        options.only.is_empty()
            || options
                .only
                .iter()
                .any(|name| test.starts_with(&format!("{name}::")))
    };
    let wanted: Vec<&String> = tests.iter().filter(is_wanted).collect();
    if wanted.is_empty() {
        let mut names: Vec<&str> = tests.iter().filter_map(|test| test.split("::").next()).collect();
        names.dedup();
        bail!(
            "no such attack: {}\nhint: the attacks are {}",
            options.only.join(","),
            names.join(", ")
        );
    }
    let folder = tempfile::tempdir().context("could not create a temporary folder")?;
    let report = folder.path().join("report");
    let seconds = options.minutes * 60 / wanted.len() as u64;
    for test in &wanted {
        say(format_args!("\n=== {test}: {seconds} s, seed {}", options.seed));
        let mut command = house.cargo();
        command
            .args(ATTACKS)
            .args(["--exact", test, "--nocapture"])
            .env("HIPPOD_ATTACK_SECONDS", seconds.to_string())
            .env("HIPPOD_ATTACK_SEED", options.seed.to_string())
            .env("HIPPOD_ATTACK_REPORT", &report);
        let before = rows(&report);
        let status = command
            .status()
            .with_context(|| format!("could not run {}", describe(&command)))?;
        // The table lists the failed cases. An attack without a row failed before its first case.
        if rows(&report) == before {
            bail!("{test} wrote no row to the report ({status})");
        }
    }
    let lines = fs::read_to_string(&report).unwrap_or_default();
    let runs: Vec<Value> = lines
        .lines()
        .map(serde_json::from_str)
        .collect::<Result<_, _>>()
        .context("could not read the report of the attacks")?;
    table(&runs, options.seed);
    let failed: usize = runs.iter().map(|run| failed_cases(run).len()).sum();
    if failed > 0 {
        bail!("{failed} cases failed");
    }
    Ok(())
}

fn rows(report: &Path) -> usize {
    fs::read_to_string(report).map_or(0, |text| text.lines().count())
}

impl AttackOptions {
    fn parse(arguments: &[String]) -> Result<Self> {
        let mut options = Self {
            only: Vec::new(),
            minutes: MINUTES,
            seed: RandomState::new().hash_one(0) >> 32,
        };
        let mut rest = arguments.iter();
        while let Some(flag) = rest.next() {
            let value = rest.next().with_context(|| USAGE.to_owned())?;
            match flag.as_str() {
                "--only" => options.only = value.split(',').map(str::to_owned).collect(),
                "--minutes" => options.minutes = value.parse().with_context(|| USAGE.to_owned())?,
                "--seed" => options.seed = value.parse().with_context(|| USAGE.to_owned())?,
                _ => bail!("{USAGE}"),
            }
        }
        Ok(options)
    }
}

/// Returns the names of all attacks, as `MODULE::TEST`. Modules with the name `tests` are omitted, because they only
/// test the helpers of the attacks.
fn tests(house: &ProjectFolders) -> Result<Vec<String>> {
    let mut command = house.cargo();
    command.args(ATTACKS);
    command.args(["--list", "--format", "terse"]);
    let name = describe(&command);
    let output = command
        .stderr(std::process::Stdio::inherit())
        .output()
        .with_context(|| format!("could not run {name}"))?;
    succeeded(&name, output.status)?;
    let lines = String::from_utf8_lossy(&output.stdout).into_owned();
    let names = lines.lines().filter_map(|line| line.strip_suffix(": test"));
    let attacks = names.filter(|name| !name.contains("::tests::"));
    Ok(attacks.map(str::to_owned).collect())
}

/// Returns the failed cases in one line of the report.
fn failed_cases(run: &Value) -> &[Value] {
    run["failed"].as_array().map_or(&[], Vec::as_slice)
}

/// Prints the report as a table.
fn table(runs: &[Value], seed: u64) {
    say(format_args!(
        "\n{:<24} {:>8} {:>10} {:>8} {:>8}  repeat with",
        "attack", "cases", "tried", "failed", "seconds"
    ));
    for run in runs {
        let failed = failed_cases(run);
        let repeat = failed
            .first()
            .map(|case| format!("HIPPOD_ATTACK_SEED={seed} HIPPOD_ATTACK_CASE={case}"));
        let number = |name: &str| run[name].as_u64().unwrap_or_default();
        say(format_args!(
            "{:<24} {:>8} {:>10} {:>8} {:>8}  {}",
            run["attack"].as_str().unwrap_or_default(),
            number("cases"),
            number("tried"),
            failed.len(),
            number("seconds"),
            repeat.unwrap_or_default()
        ));
    }
    for first in runs.iter().filter_map(|run| run["first"].as_str()) {
        say(format_args!("\n{first}"));
    }
    say(format_args!("seed: {seed}"));
}
