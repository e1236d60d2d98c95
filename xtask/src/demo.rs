//! Does it work? Builds hippod, runs it on the example workspace and asks it five questions.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use hippo_core::text::clip;
use hippo_proto::{SearchHit, SearchResponse};
use serde::Deserialize;

use crate::edit::{Edit, Editor};
use crate::house::{self, House};
use crate::scratch::{self, Scratch};
use crate::setup;
use crate::terminal::{duration, say};

/// How many results are looked at.
pub const DEPTH: u32 = 5;
/// How long the daemon may be silent.
const PATIENCE: Duration = Duration::from_secs(20);

const EDIT: Edit<'_> = Edit {
    file: "memory/2026-03-30.md",
    line: "- The locksmith moved the appointment for the cellar door to Thursday at half past four.",
    words: "locksmith cellar door",
    meaning: "When will somebody come to repair the entrance to the basement?",
    depth: DEPTH,
};

/// A question with the places that answer it.
#[derive(Deserialize)]
pub struct Question {
    /// What is asked.
    pub query: String,
    evidence: Vec<Span>,
    group: String,
}

#[derive(Deserialize)]
struct Span {
    path: String,
    start_line: u32,
    end_line: u32,
}

/// Runs the demonstration.
///
/// # Errors
/// Something did not work, or an answer was not found.
pub fn run(house: &House) -> Result<()> {
    let mut times: Vec<(String, Duration)> = Vec::new();
    say(format_args!("building hippod and hippoctl"));
    let begun = Instant::now();
    house.build_release(&["hippod", "hippoctl"])?;
    times.push(("build".into(), begun.elapsed()));

    let begun = Instant::now();
    let installed = setup::run(house)?;
    times.push(("set-up".into(), begun.elapsed()));

    let scratch = Scratch::new(house, &installed)?;
    let workspace = scratch.folder.join("workspace");
    scratch::copy_folder(&house.root.join("examples/workspace"), &workspace)?;
    let root = workspace
        .to_str()
        .context("the temporary folder's name is not unicode")?;
    times.push(("daemon start".into(), scratch.start()?));

    say(format_args!("\nindexing a copy of examples/workspace"));
    let begun = Instant::now();
    house::run(scratch.hippoctl().args(["workspace", "add"]).arg(root))?;
    house::run(scratch.hippoctl().args(["--workspace", root, "sync", "--wait"]))?;
    times.push(("index".into(), begun.elapsed()));

    say(format_args!("\n$ hippoctl status"));
    house::run(scratch.hippoctl().arg("status"))?;

    let asked = ask_all(
        &scratch,
        root,
        &house.root.join("examples/questions.jsonl"),
        &mut times,
    )?;

    say(format_args!("\nadding a line to {}:\n  {}", EDIT.file, EDIT.line));
    let mut editor = Editor::new(root, scratch.connect(PATIENCE)?, scratch.connect(PATIENCE)?)?;
    let found = editor.make(&EDIT)?;
    drop(editor);
    say(format_args!(
        "  found by the words \"{}\" after {}",
        EDIT.words,
        duration(found.lexical)
    ));
    say(format_args!(
        "  found by the meaning \"{}\" after {}",
        EDIT.meaning,
        duration(found.vector)
    ));
    times.push(("saved edit to found by words".into(), found.lexical));
    times.push(("saved edit to found by meaning".into(), found.vector));

    times.push(("daemon stop".into(), scratch.stop()?));
    scratch.remove()?;

    say(format_args!("\ntimings:"));
    for (name, time) in &times {
        say(format_args!("  {name:<32} {}", duration(*time)));
    }
    if let Some(first) = asked.missed.first() {
        let (missed, all) = (asked.missed.len(), asked.missed.len() + asked.found);
        bail!(
            "{missed} of {all} answers were not among the first {DEPTH} results, the first one of: {first}"
        );
    }
    say(format_args!(
        "\nall {} questions answered; the daemon has stopped, nothing is left running",
        asked.found
    ));
    Ok(())
}

struct Asked {
    found: usize,
    missed: Vec<String>,
}

fn ask_all(
    scratch: &Scratch,
    root: &str,
    questions: &Path,
    times: &mut Vec<(String, Duration)>,
) -> Result<Asked> {
    let mut asked = Asked {
        found: 0,
        missed: Vec::new(),
    };
    for question in self::questions(questions)? {
        let begun = Instant::now();
        let mut command = scratch.hippoctl();
        command.args([
            "--json",
            "--workspace",
            root,
            "search",
            "-n",
            &DEPTH.to_string(),
            "--",
            &question.query,
        ]);
        let answer: SearchResponse = scratch::answer(&mut command)?;
        let whole = begun.elapsed();
        let rank = question.rank_in(&answer);
        say(format_args!("\n{}", question.query));
        if answer.results.is_empty() {
            say(format_args!("  nothing found"));
        }
        let shown = rank.map_or(answer.results.len(), |rank| rank + 1);
        for (at, hit) in answer.results.iter().take(shown).enumerate() {
            let mark = if rank == Some(at) { "*" } else { " " };
            let text = hit.text.split_whitespace().collect::<Vec<_>>().join(" ");
            let place = format!("{}:{}", hit.path, hit.start_line);
            say(format_args!(
                "{mark} {:.2}  {place}\n        {}",
                hit.score,
                clip(&text, 180)
            ));
        }
        let inside = duration(Duration::from_secs_f64(answer.took_ms.max(0.0) / 1e3)).to_string();
        say(format_args!(
            "  {} in the daemon, {} with the client's process",
            inside,
            duration(whole)
        ));
        times.push((
            format!("query {} (daemon {inside})", asked.found + asked.missed.len() + 1),
            whole,
        ));
        match rank {
            Some(_) => asked.found += 1,
            None => asked.missed.push(question.query),
        }
    }
    Ok(asked)
}

/// The questions of the demonstration in a file.
///
/// # Errors
/// It cannot be read, or has none.
pub fn questions(path: &Path) -> Result<Vec<Question>> {
    let failed = || format!("could not read the questions: {}", path.display());
    let text = fs::read_to_string(path).with_context(failed)?;
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let all: Vec<Question> = lines
        .map(serde_json::from_str)
        .collect::<Result<_, _>>()
        .with_context(failed)?;
    let asked: Vec<Question> = all
        .into_iter()
        .filter(|question| question.group == "demo")
        .collect();
    if asked.is_empty() {
        bail!("no questions of the group \"demo\": {}", path.display());
    }
    Ok(asked)
}

impl Question {
    /// Where in an answer the first result stands that holds the evidence, from 0.
    pub fn rank_in(&self, answer: &SearchResponse) -> Option<usize> {
        answer.results.iter().position(|hit| self.is_answered_by(hit))
    }

    fn is_answered_by(&self, hit: &SearchHit) -> bool {
        self.evidence.iter().any(|span| {
            span.path == hit.path && span.start_line <= hit.end_line && hit.start_line <= span.end_line
        })
    }
}
