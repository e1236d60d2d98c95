//! Embedding cost of the model without the daemon.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::BenchEnvironment;
use super::table::{Figure, percentile};
use crate::house::{describe, succeeded};
use crate::terminal::duration;

/// Number of memaware files that are embedded for the comparison with the model alone.
const FILES: usize = 12;

#[derive(Deserialize)]
struct QuestionTimes {
    times_ms: Vec<f64>,
}

#[derive(Deserialize)]
struct Pieces {
    pieces: u64,
}

#[derive(Deserialize)]
struct PassageThroughput {
    seconds: f64,
    windows: usize,
}

/// Returns the median time for embedding a question, in milliseconds.
///
/// # Errors
/// Fails if the benchmark does not run.
pub fn questions(ground: &BenchEnvironment<'_>, queries: &[String]) -> Result<f64> {
    let path = ground.scratch.folder.join("questions.txt");
    fs::write(&path, queries.join("\n")).with_context(|| format!("could not write {}", path.display()))?;
    let measured: QuestionTimes = run(ground, "questions", &path)?;
    Ok(percentile(&measured.times_ms, 0.5))
}

/// Compares the number of word pieces that the daemon embedded for a workspace with the number in the workspace's
/// files.
///
/// # Errors
/// Fails if the benchmark does not run.
pub fn pieces(ground: &mut BenchEnvironment<'_>) -> Result<Vec<Figure>> {
    let indexed = ground.workspaces.get("memaware")?;
    if indexed.pieces == 0 {
        bail!("an earlier run indexed memaware: run again without --keep");
    }
    let own: Pieces = run(ground, "pieces", Path::new(&indexed.root))?;
    let ratio = indexed.pieces as f64 / own.pieces as f64;
    Ok(vec![
        Figure::new(
            "pieces",
            "first index of memaware: word pieces that the model processed ÷ word pieces of the files",
            format!("{ratio:.3}"),
        )
        .reach("≤ 1.3", ratio <= 1.3),
        Figure::new(
            "pieces",
            format!("first index of memaware: time for {} chunks", indexed.chunks),
            duration(indexed.took).to_string(),
        ),
    ])
}

/// Compares the whole pipeline with fastembed alone on the same texts.
///
/// # Errors
/// Fails if the benchmark does not run.
pub fn throughput(ground: &mut BenchEnvironment<'_>) -> Result<Vec<Figure>> {
    let from = ground.workspaces.data("memaware").join("workspace");
    let mut files: Vec<PathBuf> = Vec::new();
    markdown(&from, &mut files)?;
    files.sort();
    let names: Vec<_> = files
        .iter()
        .take(FILES)
        .filter_map(|path| path.file_name())
        .map(ToOwned::to_owned)
        .collect();
    let wanted = |path: &Path| {
        path.file_name()
            .is_some_and(|name| names.iter().any(|wanted| wanted == name))
    };
    let indexed = ground.workspaces.index("throughput", &from, wanted)?;
    if indexed.pieces == 0 {
        bail!("an earlier run indexed these files: run again without --keep");
    }
    let alone: PassageThroughput = run(ground, "passages", Path::new(&indexed.root))?;
    let ratio = alone.seconds / indexed.took.as_secs_f64();
    let what = format!(
        "time of fastembed with 32-bit floats for {} windows of text ÷ time of hippod for indexing {FILES} \
         files of memaware with the same text",
        alone.windows
    );
    let measured = format!(
        "{ratio:.2} (hippod {}, fastembed {:.1} s)",
        duration(indexed.took),
        alone.seconds
    );
    Ok(vec![
        Figure::new("throughput", what, measured).reach("≥ 1.8", ratio >= 1.8),
    ])
}

fn run<T: DeserializeOwned>(ground: &BenchEnvironment<'_>, part: &str, input: &Path) -> Result<T> {
    let mut command = ground.house.cargo();
    command
        .args([
            "bench",
            "--quiet",
            "--package",
            "hippo-embed",
            "--bench",
            "bare",
            "--",
            part,
        ])
        .arg(input);
    command
        .env("HIPPOD_TEST_MODEL_HOME", ground.installed)
        .stderr(std::process::Stdio::inherit());
    let name = describe(&command);
    let output = command
        .output()
        .with_context(|| format!("could not run {name}"))?;
    succeeded(&name, output.status)?;
    serde_json::from_slice(&output.stdout).with_context(|| format!("could not parse the output of {name}"))
}

fn markdown(folder: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| format!("could not read {}", folder.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            markdown(&path, found)?;
        } else if path.extension().is_some_and(|extension| extension == "md") {
            found.push(path);
        }
    }
    Ok(())
}
