//! Checks of reproducibility and installation of the packages.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::contents::make_pages;
use super::root::Root;
use super::runtime::sum;
use super::{Processor, commit, folder, make, time, write};
use crate::demo::{self, DemoQuestion};
use crate::house::{self, ProjectFolders};
use crate::terminal::{duration, say};

/// Maximum size of the Debian package in bytes. The package contains the model and the runtime library.
const MOST: u64 = 140_000_000;

/// Builds the packages in two folders, compares the builds, and tests the Debian package.
///
/// # Errors
/// Fails if a check failed. The error lists differences, failed commands, or files that were left behind.
pub fn run(house: &ProjectFolders) -> Result<()> {
    Root::possible()?;
    let work = work(house);
    let (time, commit) = (time(house)?, commit(house));
    let pages = make_pages(house)?;
    let begun = Instant::now();
    let first = make(house, time, &commit, &pages, Processor::HERE)?;
    say(format_args!(
        "built in {}: {}",
        house.root.display(),
        duration(begun.elapsed())
    ));
    write(&first, &folder(house))?;

    let elsewhere = ProjectFolders {
        root: work.join("tree"),
        target: work.join("target"),
    };
    copy_sources(house, &elsewhere.root)?;
    let begun = Instant::now();
    let again = make(&elsewhere, time, &commit, &pages, Processor::HERE)?;
    say(format_args!(
        "built in {}: {}",
        elsewhere.root.display(),
        duration(begun.elapsed())
    ));
    for (one, other) in first.iter().zip(&again) {
        let sums = [sum(one)?, sum(other)?];
        let name = one.file_name().unwrap_or_default().to_string_lossy();
        if sums[0] != sums[1] {
            bail!("two builds of {name} in different folders differ: {sums:?}");
        }
        say(format_args!(
            "{name}: both builds are identical, SHA-256 {}",
            sums[0]
        ));
    }
    let size = fs::metadata(&first[1])
        .context("could not inspect the Debian package")?
        .len();
    if size > MOST {
        bail!("the Debian package has {size} bytes, and the maximum is {MOST}");
    }
    try_out(house, &first[1])
}

/// Returns the folder that contains the second build and the Debian system.
fn work(house: &ProjectFolders) -> PathBuf {
    house.target.join("dist-check")
}

/// Installs a package in a fresh Debian system without network access, uses the package, and removes it. Compares the
/// files before the installation and after the removal.
///
/// # Errors
/// Fails if a check failed. The error lists failed commands, or files that were left behind.
pub fn try_out(house: &ProjectFolders, package: &Path) -> Result<()> {
    Root::possible()?;
    let bytes = fs::read(package).with_context(|| format!("could not read {}", package.display()))?;
    let root = Root::fresh(&work(house))?;
    let before = root.files()?;
    let begun = Instant::now();
    root.write("tmp/hippod.deb", &bytes)?;
    root.run_as_root(&["dpkg", "--install", "/tmp/hippod.deb"])?;
    say(format_args!("installed in {}", duration(begun.elapsed())));
    root.run_as_root(&["dpkg", "--verify", "hippod"])?;
    root.run_as_root(&["bash", "-n", "/usr/share/bash-completion/completions/hippoctl"])?;
    for name in ["demo", "agent"] {
        root.copy_for_user(&house.root.join("examples/workspace"), name)?;
    }
    let questions = demo::questions(&house.root.join("examples/questions.jsonl"))?;
    let begun = Instant::now();
    root.run_as_user(&session(&questions))?;
    say(format_args!(
        "the simulated user session took {}",
        duration(begun.elapsed())
    ));
    look_at_answers(&root, &questions)?;

    root.run_as_root(&["dpkg", "--purge", "hippod"])?;
    root.remove("tmp/hippod.deb")?;
    let after = root.files()?;
    let left: Vec<_> = before.symmetric_difference(&after).collect();
    if !left.is_empty() {
        bail!("files differ after the removal: {left:#?}");
    }
    say(format_args!(
        "removed: all files outside the user's folder are unchanged"
    ));
    root.discard()
}

/// Returns a script with commands that a user would run. The commands write their answers to files, which are checked
/// afterwards.
fn session(questions: &[DemoQuestion]) -> String {
    let mut lines = vec![
        "hippoctl --version".to_owned(),
        "hippoctl model verify".to_owned(),
        "cd demo".to_owned(),
        "hippoctl workspace add".to_owned(),
        "hippoctl sync --wait".to_owned(),
    ];
    for (at, question) in questions.iter().enumerate() {
        let words = question.query.replace('\'', r"'\''");
        lines.push(format!(
            "hippoctl --json search -n {} -- '{words}' > ../answer-{at}.json",
            demo::DEPTH
        ));
    }
    let rest = [
        "cd ../agent",
        "hippoctl init --platform claude-code",
        "hippoctl sync --wait",
        "hippoctl search pipe organ",
        "hippoctl --json doctor > ../doctor.json",
        "hippoctl init --undo",
        "hippoctl service stop",
    ];
    lines.extend(rest.map(str::to_owned));
    lines.join("\n")
}

fn look_at_answers(root: &Root, questions: &[DemoQuestion]) -> Result<()> {
    let read = |name: &str| -> Result<Value> {
        serde_json::from_slice(&root.read_of_user(name)?).with_context(|| format!("could not read {name}"))
    };
    for (at, question) in questions.iter().enumerate() {
        let answer = read(&format!("answer-{at}.json"))?;
        let rank = question.rank_in(&answer);
        let rank =
            rank.with_context(|| format!("the first results contain no evidence: {}", question.query))?;
        let missing = &answer["index"]["degraded"];
        if !missing.is_null() {
            bail!("answered without {missing}: {}", question.query);
        }
        say(format_args!("  result {}: {}", rank + 1, question.query));
    }
    let doctor = read("doctor.json")?;
    let problems = doctor["problems"]
        .as_array()
        .context("doctor reports no problems")?;
    if let Some(problem) = problems.iter().find(|problem| problem["severity"] != "info") {
        bail!("doctor reports a problem on a fresh machine: {problem}");
    }
    Ok(())
}

/// Copies the files of the project. Modification times are kept, so that cargo does not build unchanged files again.
fn copy_sources(house: &ProjectFolders, to: &Path) -> Result<()> {
    let listed =
        house::output(
            house
                .git()
                .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]),
        )?;
    if to.exists() {
        fs::remove_dir_all(to).with_context(|| format!("could not remove {}", to.display()))?;
    }
    let listed = String::from_utf8_lossy(&listed);
    for name in listed.split('\0').filter(|name| !name.is_empty()) {
        let (from, to) = (house.root.join(name), to.join(name));
        let failed = || format!("could not copy {}", from.display());
        // Git still lists a deleted file until the deletion is staged.
        if !from.is_file() {
            continue;
        }
        fs::create_dir_all(to.parent().unwrap_or(&to)).with_context(failed)?;
        fs::copy(&from, &to).with_context(failed)?;
        let time = from
            .metadata()
            .and_then(|metadata| metadata.modified())
            .with_context(failed)?;
        let copy = fs::File::options().write(true).open(&to).with_context(failed)?;
        copy.set_modified(time).with_context(failed)?;
    }
    Ok(())
}
