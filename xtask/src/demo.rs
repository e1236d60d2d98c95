//! Demonstration with the example workspace, and questions about it.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::house::{self, ProjectFolders};
use crate::setup;
use crate::terminal::say;

/// An answer counts as found only if it is among this number of first results.
pub const DEPTH: usize = 5;

/// A question, and the places that contain its answer.
pub struct DemoQuestion {
    /// Text of the question.
    pub query: String,
    evidence: Vec<Value>,
}

/// Builds the programs, downloads the model, and runs `hippoctl demo`.
///
/// # Errors
/// Fails if a step failed.
pub fn run(house: &ProjectFolders) -> Result<()> {
    say(format_args!("building hippod and hippoctl"));
    let programs = setup::build(house)?;
    let home = setup::obtain(house, &programs)?;
    let hippoctl = programs.join(format!("hippoctl{}", std::env::consts::EXE_SUFFIX));
    house::run(Command::new(hippoctl).arg("demo").env("HIPPOD_HOME", home))
}

fn hits(answer: &Value) -> impl Iterator<Item = &Value> {
    answer["results"].as_array().into_iter().flatten()
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
