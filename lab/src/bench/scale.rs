//! A workspace of 11,112 files and 100,000 sections.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use hippo_proto::{Cycle, SearchMode};

use super::BenchEnvironment;
use super::ask::{Asker, questions};
use super::cycles::{cycle, light, volumes};
use super::entries::embedding;
use super::fresh::{at_rest, grown};
use super::process::resident_mib;
use super::table::{Figure, ms, percentile};
use crate::terminal::duration;

/// Number of sections, and of sections per file.
const SHAPE: (usize, usize) = (100_000, 9);
/// Number of files that change before the timed light cycle.
const CHANGED: usize = 100;
/// Number of light cycles that create the entries.
const CYCLES: usize = 12;
/// Number of timed questions.
const QUESTIONS: usize = 300;
/// Maximum size of a topics file in bytes.
const TOPICS: u64 = 20_480;
const PATIENCE: Duration = Duration::from_secs(1800);

/// Measures the index, light cycles, searches by keyword, and the derived files, without the model.
///
/// # Errors
/// Fails if the data is missing, or the daemon fails.
pub fn run(ground: &mut BenchEnvironment<'_>) -> Result<Vec<Figure>> {
    embedding(ground, false)?;
    let figures = measure(ground);
    embedding(ground, true)?;
    figures
}

fn measure(ground: &BenchEnvironment<'_>) -> Result<Vec<Figure>> {
    let begun = Instant::now();
    let root = volumes(ground, SHAPE.0, SHAPE.1)?;
    let status = at_rest(&mut ground.scratch.connect(PATIENCE)?, &root)?;
    let indexed = begun.elapsed();
    // A cycle creates at most 1,000 entries.
    for _ in 0..CYCLES {
        cycle(ground.scratch, &root, Cycle::Light)?;
    }
    grown(&mut ground.scratch.connect(PATIENCE)?, &root)?;
    let size = format!("{} files, {} passages", status.documents, status.chunks);
    let figure = |what: &str, measured: String| Figure::new("scale", format!("{size}: {what}"), measured);
    let mut figures = vec![figure(
        "time to write the files and to index them by keyword",
        duration(indexed).to_string(),
    )];
    figures.extend(light(ground, &root, 20.0)?);
    for at in 0..CHANGED {
        let path = Path::new(&root).join(format!("knowledge/volume-{:04}.md", at * 100));
        let failed = || format!("could not change {}", path.display());
        let mut file = OpenOptions::new().append(true).open(&path).with_context(failed)?;
        writeln!(file, "\nThe reading of gauge {at} was {} today.", at * 7).with_context(failed)?;
    }
    at_rest(&mut ground.scratch.connect(PATIENCE)?, &root)?;
    let report = cycle(ground.scratch, &root, Cycle::Light)?;
    figures.push(
        figure("light cycle after 100 changed files", ms(report.took_ms))
            .reach("≤ 1 s", report.took_ms <= 1000.0),
    );
    let asked = questions(&ground.workspaces.data("scifact").join("questions.jsonl"))?;
    let mut asker = Asker::new(ground.scratch, &root)?;
    let mut times = Vec::new();
    for question in asked.iter().take(QUESTIONS) {
        times.push(asker.ask(asker.request(SearchMode::Lexical, &question.query))?.1);
    }
    let (p50, p95) = (percentile(&times, 0.5), percentile(&times, 0.95));
    figures.push(figure(
        "query by keyword, p50 / p95",
        format!("{} / {}", ms(p50), ms(p95)),
    ));
    let resident = resident_mib(ground.scratch)?;
    figures.push(figure(
        "resident memory of the daemon",
        format!("{resident:.0} MiB"),
    ));
    figures.push(derived(Path::new(&root), &figure)?);
    Ok(figures)
}

/// Measures the derived files.
fn derived(root: &Path, figure: &dyn Fn(&str, String) -> Figure) -> Result<Figure> {
    let map = fs::metadata(root.join("HIPPOCAMPUS.md"))?.len();
    let topics = root.join(".hippocampus/topics");
    let mut sizes = Vec::new();
    for entry in fs::read_dir(&topics).with_context(|| format!("could not read {}", topics.display()))? {
        sizes.push(entry?.metadata()?.len());
    }
    let largest = sizes.iter().copied().max().unwrap_or(0);
    let measured = format!("{map}; {} files, the largest {largest}", sizes.len());
    let what = "bytes of HIPPOCAMPUS.md; topics files";
    Ok(figure(what, measured).reach("≤ 20 KB per topics file", largest <= TOPICS))
}
