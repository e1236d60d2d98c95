//! Demonstration: indexes, searches and edits the example workspace.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::house::{self, ProjectFolders};
use crate::setup::{self, DaemonHome, copy_folder};
use crate::terminal::{duration, say};

/// An answer counts as found only if it is among this number of first results.
pub const DEPTH: usize = 5;

/// The four constants of the edit: the file, the line that is added to it, words from that line, and a question about
/// the line in other words.
const FILE: &str = "memory/2026-03-30.md";
const LINE: &str = "- The locksmith moved the appointment for the cellar door to Thursday at half past four.";
const WORDS: &str = "locksmith cellar door";
const MEANING: &str = "When will somebody come to repair the entrance to the basement?";

/// A question, and the places that contain its answer.
pub struct DemoQuestion {
    /// Text of the question.
    pub query: String,
    evidence: Vec<Value>,
}

/// Runs the demonstration.
///
/// # Errors
/// Fails if a step failed, or an answer was not found.
pub fn run(house: &ProjectFolders) -> Result<()> {
    let mut times: Vec<(String, Duration)> = Vec::new();
    say(format_args!("building hippod and hippoctl"));
    let begun = Instant::now();
    let programs = setup::build(house)?;
    times.push(("build".into(), begun.elapsed()));

    let begun = Instant::now();
    let home = DaemonHome::new(house, &programs)?;
    times.push(("set-up".into(), begun.elapsed()));

    say(format_args!("\nindexing a copy of examples/workspace"));
    let begun = Instant::now();
    let workspace = home.folder.join("workspace");
    copy_folder(&house.root.join("examples/workspace"), &workspace)?;
    let root = workspace
        .to_str()
        .context("the name of the temporary folder is not Unicode")?;
    home.run(&["workspace", "add", root])?;
    home.run(&["--workspace", root, "sync", "--wait"])?;
    times.push(("index".into(), begun.elapsed()));
    say(format_args!("\n$ hippoctl status"));
    home.run(&["status"])?;

    let mut missed = Vec::new();
    let questions = questions(&house.root.join("examples/questions.jsonl"))?;
    for (nth, question) in questions.iter().enumerate() {
        let begun = Instant::now();
        let answer = search(&home, root, "hybrid", &question.query)?;
        let whole = begun.elapsed();
        let inside = Duration::from_secs_f64(answer["took_ms"].as_f64().unwrap_or_default().max(0.0) / 1e3);
        let rank = question.rank_in(&answer);
        show(question, &answer, rank);
        say(format_args!(
            "  {} in the daemon, {} including the process of the client",
            duration(inside),
            duration(whole)
        ));
        times.push((format!("query {} (daemon {})", nth + 1, duration(inside)), whole));
        if rank.is_none() {
            missed.push(&question.query);
        }
    }

    say(format_args!("\nadding a line to {FILE}:\n  {LINE}"));
    let mut file = OpenOptions::new().append(true).open(workspace.join(FILE))?;
    writeln!(file, "{LINE}")?;
    drop(file);
    let saved = Instant::now();
    for (mode, by, query) in [("lexical", "keyword", WORDS), ("vector", "meaning", MEANING)] {
        while !hits(&search(&home, root, mode, query)?)
            .any(|hit| hit["text"].as_str().is_some_and(|text| text.contains(LINE)))
        {
            if saved.elapsed() > Duration::from_secs(20) {
                bail!("no search found the edit of {FILE}: {query}");
            }
        }
        say(format_args!(
            "  found by {by} (\"{query}\") after {}",
            duration(saved.elapsed())
        ));
        times.push((format!("from edit to hit by {by}"), saved.elapsed()));
    }

    let begun = Instant::now();
    home.close()?;
    times.push(("daemon stop".into(), begun.elapsed()));
    say(format_args!("\ntimings:"));
    for (name, time) in &times {
        say(format_args!("  {name:<32} {}", duration(*time)));
    }
    if let Some(first) = missed.first() {
        let (missed, all) = (missed.len(), questions.len());
        bail!(
            "{missed} out of {all} answers were not among the first {DEPTH} results; the first question \
             without its answer: {first}"
        );
    }
    say(format_args!(
        "\nall {} questions answered; the daemon has stopped",
        questions.len()
    ));
    Ok(())
}

fn search(home: &DaemonHome, root: &str, mode: &str, query: &str) -> Result<Value> {
    let mut command = home.hippoctl();
    command.args([
        "--no-start",
        "--json",
        "--workspace",
        root,
        "search",
        "--mode",
        mode,
    ]);
    let said = house::output(command.args(["-n", &DEPTH.to_string(), "--", query]))?;
    serde_json::from_slice(&said).context("could not parse the answer to a search")
}

fn hits(answer: &Value) -> impl Iterator<Item = &Value> {
    answer["results"].as_array().into_iter().flatten()
}

/// Prints the results, up to the first one that contains the answer.
fn show(question: &DemoQuestion, answer: &Value, rank: Option<usize>) {
    say(format_args!("\n{}", question.query));
    for (at, hit) in hits(answer).enumerate().take(rank.map_or(DEPTH, |rank| rank + 1)) {
        let mark = if rank == Some(at) { "*" } else { " " };
        let text = hit["text"].as_str().unwrap_or_default();
        let text: String = text
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
            .chars()
            .take(180)
            .collect();
        let path = hit["path"].as_str().unwrap_or_default();
        let score = hit["score"].as_f64().unwrap_or_default();
        say(format_args!(
            "{mark} {score:.2}  {path}:{}\n        {text}",
            hit["start_line"]
        ));
    }
}

/// Reads the questions of the demonstration from a file.
///
/// # Errors
/// Fails if the file cannot be read or contains no questions.
pub fn questions(path: &Path) -> Result<Vec<DemoQuestion>> {
    let failed = || format!("could not read the questions: {}", path.display());
    let text = fs::read_to_string(path).with_context(failed)?;
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let all = lines
        .map(serde_json::from_str)
        .collect::<Result<Vec<Value>, _>>()
        .with_context(failed)?;
    let of_demo = all.iter().filter(|line| line["group"] == "demo");
    let asked: Vec<DemoQuestion> = of_demo
        .filter_map(|line| {
            Some(DemoQuestion {
                query: line["query"].as_str()?.to_owned(),
                evidence: line["evidence"].as_array()?.clone(),
            })
        })
        .collect();
    if asked.is_empty() {
        bail!("no questions of the group \"demo\": {}", path.display());
    }
    Ok(asked)
}

impl DemoQuestion {
    /// Returns the index of the first result that contains the answer to the question.
    pub fn rank_in(&self, answer: &Value) -> Option<usize> {
        hits(answer).position(|hit| {
            self.evidence.iter().any(|span| {
                hit["path"] == span["path"]
                    && span["start_line"].as_u64() <= hit["end_line"].as_u64()
                    && hit["start_line"].as_u64() <= span["end_line"].as_u64()
            })
        })
    }
}
