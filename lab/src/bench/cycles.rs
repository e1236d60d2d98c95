//! Cost of cycles, and answers from entries.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context, Result, anyhow, bail};
use hippo_proto::{
    Cycle, CycleHistoryRequest, CycleHistoryResponse, CycleReport, CycleRunRequest, Request, SearchMode,
    SearchRequest, Strategy,
};

use super::BenchEnvironment;
use super::ask::{Asker, BenchQuestion, questions};
use super::entries::{add, clear, embedding};
use super::fresh::{at_rest, fresh};
use super::table::{Figure, ms, percentile};
use super::{mixture, ways};
use crate::scratch::Scratch;
use crate::terminal::say;

/// Time limit of a cycle.
const PATIENCE: Duration = Duration::from_secs(900);
/// Number of timed light cycles.
const LIGHT: usize = 20;
/// Number of questions that are asked while the engine is idle, before the deep cycle.
const IDLE: usize = 300;
/// Pause between two requests that only the engine can answer.
const PAUSE: Duration = Duration::from_millis(2);
/// Number of questions that are asked again in each round. The next constant is the number of rounds.
const REPEATED: usize = 200;
const ROUNDS: usize = 3;

/// Measures light and deep cycles, and answers from entries.
///
/// # Errors
/// Fails if the data is missing, or the daemon fails.
pub fn run(ground: &mut BenchEnvironment<'_>) -> Result<Vec<Figure>> {
    // No vectors are needed, because the questions are answered from entries.
    embedding(ground, false)?;
    let large = volumes(ground, 10_000, 1).and_then(|root| light(ground, &root, 20.0));
    embedding(ground, true)?;
    let mut figures = large?;
    let root = volumes(ground, 1_000, 5)?;
    figures.splice(0..0, light(ground, &root, 2.0)?);
    figures.extend(answers(ground, &root)?);
    figures.extend(deep(ground)?);
    Ok(figures)
}

/// Creates a workspace of `sections` sections, with `each` sections per file. `each` is also the maximum number of
/// entries of a file. Removes the remains of an earlier run.
pub(super) fn volumes(ground: &BenchEnvironment<'_>, sections: usize, each: usize) -> Result<String> {
    let folder = ground
        .scratch
        .folder
        .join("eval")
        .join(format!("volumes-{sections}"));
    clear(ground, &folder)?;
    mixture::volumes(ground.workspaces.eval(), &folder, sections, each)?;
    add(ground, &folder)
}

pub(super) fn cycle(scratch: &Scratch, root: &str, cycle: Cycle) -> Result<CycleReport> {
    let request = CycleRunRequest {
        workspace: root.to_owned(),
        cycle,
        dry_run: false,
        at: None,
    };
    Ok(scratch.connect(PATIENCE)?.call(&Request::from(request))?)
}

pub(super) fn light(ground: &BenchEnvironment<'_>, root: &str, most: f64) -> Result<Vec<Figure>> {
    // This cycle writes everything that is not in the index file yet.
    cycle(ground.scratch, root, Cycle::Light)?;
    thread::sleep(Duration::from_secs(2));
    let status = at_rest(&mut ground.scratch.connect(PATIENCE)?, root)?;
    let entries = status.index.unwrap_or_default().entries;
    let before = written(Path::new(root))?;
    let mut times = Vec::new();
    let (mut files, mut steps) = (0, 0);
    for _ in 0..LIGHT {
        let report = cycle(ground.scratch, root, Cycle::Light)?;
        times.push(report.took_ms);
        files += report.files.len();
        steps += report.applied;
    }
    let touched = differing(&before, &written(Path::new(root))?);
    let (p50, worst) = (percentile(&times, 0.5), percentile(&times, 1.0));
    say(format_args!(
        "light cycles, {entries} entries: {times:.1?} ms, {steps} steps"
    ));
    Ok(vec![
        Figure::new(
            "cycles",
            format!("light cycle, {entries} entries, nothing changed: p50 (worst) of {LIGHT}"),
            format!("{} ({})", ms(p50), ms(worst)),
        )
        .reach(format!("≤ {most} ms"), p50 <= most),
        Figure::new(
            "cycles",
            "light cycles without changes: written files according to the reports, and according to file \
             times",
            format!("{files}, {}", touched.len()),
        )
        .reach("none", files == 0 && touched.is_empty()),
    ])
}

fn answers(ground: &BenchEnvironment<'_>, root: &str) -> Result<Vec<Figure>> {
    let mut asked = questions(&ground.workspaces.data("scifact").join("questions.jsonl"))?;
    asked.truncate(REPEATED);
    let mut asker = Asker::new(ground.scratch, root)?;
    for question in &asked {
        let request = SearchRequest {
            record: true,
            ..asker.request(SearchMode::Hybrid, &question.query)
        };
        asker.ask(request)?;
    }
    ways::settled(ground, root)?;
    let status = at_rest(&mut ground.scratch.connect(PATIENCE)?, root)?;
    let entries = status.index.unwrap_or_default().entries;
    let mut figures = Vec::new();
    for (mode, what) in [
        (SearchMode::Hybrid, "a repeated question, mode hybrid"),
        (SearchMode::Index, "mode index"),
    ] {
        let (mut times, mut searched) = (Vec::new(), 0);
        for _ in 0..ROUNDS {
            for question in &asked {
                let (answer, took) = asker.ask(asker.request(mode, &question.query))?;
                if answer.strategy == Strategy::Index {
                    times.push(took);
                } else {
                    searched += 1;
                }
            }
        }
        let (p50, p95) = (percentile(&times, 0.5), percentile(&times, 0.95));
        let all = times.len() + searched;
        figures.push(
            Figure::new(
                "cycles",
                format!("index-first answer over the socket, {entries} entries, {what}: p50 (p95)"),
                format!("{} ({}), {} of {all} by entries", ms(p50), ms(p95), times.len()),
            )
            .reach("≤ 2 ms", !times.is_empty() && p50 <= 2.0),
        );
    }
    Ok(figures)
}

fn deep(ground: &mut BenchEnvironment<'_>) -> Result<Vec<Figure>> {
    let folder = ground.workspaces.data("memaware");
    let mut asked = questions(&folder.join("questions_explicit.jsonl"))?;
    asked.extend(questions(&folder.join("questions_implicit.jsonl"))?);
    let root = fresh(ground, "memaware")?;
    let scratch = ground.scratch;
    let (before, rest) = asked.split_at(IDLE.min(asked.len() / 2));
    // These questions load the model and warm the caches.
    let last = asked.len().saturating_sub(20);
    questioned(scratch, &root, &asked[last..], &mut |at| at >= 20)?;
    let idle = questioned(scratch, &root, before, &mut |at| at >= before.len())?;

    let over = AtomicBool::new(false);
    let (report, during) = thread::scope(|scope| {
        let run = scope.spawn(|| {
            let report = cycle(scratch, &root, Cycle::Deep);
            over.store(true, Ordering::Release);
            report
        });
        let during = questioned(scratch, &root, rest, &mut |_| over.load(Ordering::Acquire));
        let report = run
            .join()
            .map_err(|_| anyhow!("the thread that runs the deep cycle ended early"));
        (report, during)
    });
    let (report, during) = (report??, during?);
    let again = cycle(scratch, &root, Cycle::Deep)?;
    let status = at_rest(&mut scratch.connect(PATIENCE)?, &root)?;
    say(format_args!(
        "deep cycle: {} steps, {:?}; {} questions during the cycle; second deep cycle: {} \
         steps, files {:?}",
        report.applied,
        report.outcome,
        during.times.len(),
        again.applied,
        again.files
    ));
    let entries = status.index.unwrap_or_default().entries;
    let (p95, idle_p95) = (percentile(&during.times, 0.95), percentile(&idle.times, 0.95));
    let ratio = p95 / idle_p95;
    let figure = |what: &str, measured: String| Figure::new("cycles", what, measured);
    Ok(vec![
        figure(
            &format!("first deep cycle, memaware, {entries} entries, during searches"),
            format!("{:.1} s", report.took_ms / 1e3),
        )
        .reach("≤ 60 s", report.took_ms <= 60_000.0),
        figure("second deep cycle, without changes", ms(again.took_ms))
            .reach("≤ 1 s", again.took_ms <= 1_000.0),
        figure(
            "hybrid questions during the first deep cycle, against idle: p95 (p50)",
            format!(
                "{} ({}) against {} ({}) = {ratio:.2} ×",
                ms(p95),
                ms(percentile(&during.times, 0.5)),
                ms(idle_p95),
                ms(percentile(&idle.times, 0.5))
            ),
        )
        .reach("≤ 2 × idle", ratio <= 2.0),
        figure(
            "longest wait for the engine during the first deep cycle (idle): its longest slice and the round \
             trip",
            format!("{} ({})", ms(during.engine), ms(idle.engine)),
        )
        .reach("≤ 50 ms", during.engine <= 50.0),
    ])
}

/// Measured times in milliseconds.
struct CycleTimes {
    /// Time of each question.
    times: Vec<f64>,
    /// Longest wait for a request that only the engine can answer.
    engine: f64,
}

/// Asks one question after another until `enough` returns true for the number of questions so far. Questions are
/// repeated only after all have been asked. A second connection sends requests that only the engine can answer.
fn questioned(
    scratch: &Scratch,
    root: &str,
    questions: &[BenchQuestion],
    enough: &mut dyn FnMut(usize) -> bool,
) -> Result<CycleTimes> {
    if questions.is_empty() {
        bail!("no questions are left");
    }
    let mut asker = Asker::new(scratch, root)?;
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        let watching = scope.spawn(|| -> Result<f64> {
            let mut client = scratch.connect(PATIENCE)?;
            let mut longest: f64 = 0.0;
            while !over.load(Ordering::Acquire) {
                let request = CycleHistoryRequest {
                    workspace: root.to_owned(),
                    limit: Some(1),
                    run: None,
                };
                let begun = Instant::now();
                let _: CycleHistoryResponse = client.call(&Request::from(request))?;
                longest = longest.max(begun.elapsed().as_secs_f64() * 1e3);
                thread::sleep(PAUSE);
            }
            Ok(longest)
        });
        let mut times = Vec::new();
        let mut failed = None;
        while !enough(times.len()) {
            let question = &questions[times.len() % questions.len()];
            match asker.ask(asker.request(SearchMode::Hybrid, &question.query)) {
                Ok((_, took)) => times.push(took),
                Err(error) => {
                    failed = Some(error);
                    break;
                }
            }
        }
        over.store(true, Ordering::Release);
        let engine = watching
            .join()
            .map_err(|_| anyhow!("the thread that measures the daemon ended early"))??;
        match failed {
            Some(error) => Err(error),
            None => Ok(CycleTimes { times, engine }),
        }
    })
}

/// Returns the modification time and the size of every file below a folder. The canary is skipped, because the daemon
/// writes it regularly.
fn written(root: &Path) -> Result<BTreeMap<PathBuf, (SystemTime, u64)>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).with_context(|| format!("could not read {}", folder.display()))? {
            let path = entry?.path();
            let about = fs::symlink_metadata(&path)?;
            if about.is_dir() {
                folders.push(path);
            } else if !path.ends_with(".hippocampus/canary") {
                found.insert(path, (about.modified()?, about.len()));
            }
        }
    }
    Ok(found)
}

fn differing(
    before: &BTreeMap<PathBuf, (SystemTime, u64)>,
    after: &BTreeMap<PathBuf, (SystemTime, u64)>,
) -> Vec<PathBuf> {
    let all = before.keys().chain(after.keys());
    let mut differing: Vec<PathBuf> = all
        .filter(|path| before.get(*path) != after.get(*path))
        .cloned()
        .collect();
    differing.dedup();
    differing
}
