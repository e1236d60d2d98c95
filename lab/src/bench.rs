//! Benchmarks of quality, speed and size on a release build.

mod ask;
mod backup;
mod bare;
mod client;
mod compaction;
mod contexts;
mod corrections;
mod cycles;
mod edits;
mod entries;
mod extract;
mod folders;
mod fresh;
mod hooks;
mod latency;
mod mixture;
mod money;
mod process;
mod recall;
mod redact;
mod replay;
mod retrieval;
mod scale;
mod size;
mod table;
mod transcripts;
mod tree;
mod ways;
mod workspaces;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::house::ProjectDirs;
use crate::scratch::Scratch;
use crate::setup;
use crate::terminal::say;
use table::Figure;
use workspaces::Workspaces;

/// Names of the benchmarks, in order of execution. The option `--only` accepts them.
const PARTS: [&str; 28] = [
    "locomo",
    "corrections",
    "recall",
    "recall-memaware",
    "scifact",
    "memaware",
    "pieces",
    "latency",
    "restart",
    "memory",
    "edits",
    "folders",
    "throughput",
    "index-locomo",
    "index-memaware",
    "entries",
    "cycles",
    "scale",
    "extract",
    "compaction",
    "replay",
    "money",
    "contexts",
    "tree",
    "redact",
    "hooks",
    "backup",
    SIZE,
];

/// Name of the part that measures the packaged programs with the example of this repository. It needs no evaluation
/// data. If it is the only part, it needs no other release build.
const SIZE: &str = "size";

/// Parts that run without a daemon.
const VALUES: [&str; 5] = ["extract", "compaction", "money", "tree", "redact"];

/// Command-line options.
struct BenchOptions {
    eval: Option<PathBuf>,
    only: Vec<String>,
    idle_secs: u64,
    keep: Option<PathBuf>,
}

impl BenchOptions {
    /// Parses the arguments after `bench`.
    ///
    /// # Errors
    /// Fails if an argument is unknown or lacks its value.
    fn parse(arguments: &[String]) -> Result<Self> {
        let mut options = Self {
            eval: std::env::var_os("HIPPOD_EVAL").map(PathBuf::from),
            only: Vec::new(),
            idle_secs: 60,
            keep: None,
        };
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            let mut value = || rest.next().with_context(|| format!("{argument} needs a value"));
            match argument.as_str() {
                "--eval" => options.eval = Some(value()?.into()),
                "--keep" => options.keep = Some(value()?.into()),
                "--only" => options.only.extend(value()?.split(',').map(str::to_owned)),
                "--idle-secs" => {
                    options.idle_secs = value()?.parse().context("--idle-secs needs a number")?
                }
                unknown => bail!("unknown argument of bench: {unknown}"),
            }
        }
        if let Some(unknown) = options.only.iter().find(|name| !PARTS.contains(&name.as_str())) {
            bail!(
                "unknown benchmark: {unknown}; the benchmarks are {}",
                PARTS.join(", ")
            );
        }
        Ok(options)
    }

    fn wants(&self, part: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|name| name == part)
    }
}

/// Shared environment of the benchmarks.
struct BenchEnvironment<'a> {
    house: &'a ProjectDirs,
    installed: &'a Path,
    scratch: &'a Scratch,
    workspaces: Workspaces<'a>,
}

/// Runs the requested benchmarks, and prints their figures.
///
/// # Errors
/// Fails if an argument is unknown, the evaluation data is missing, or a benchmark fails.
pub fn run(house: &ProjectDirs, arguments: &[String]) -> Result<()> {
    let options = &BenchOptions::parse(arguments)?;
    let wanted: Vec<&str> = PARTS.into_iter().filter(|part| options.wants(part)).collect();
    if wanted == [SIZE] {
        table::print(&size::alone(house)?);
        return Ok(());
    }
    let values_alone = wanted.iter().all(|part| VALUES.contains(part));
    let eval = options
        .eval
        .clone()
        .context("no evaluation data: give --eval DIR or set HIPPOD_EVAL")?;
    let eval = std::fs::canonicalize(&eval).with_context(|| format!("could not find {}", eval.display()))?;
    if values_alone {
        let mut figures = Vec::new();
        for part in wanted {
            say(format_args!("\n=== {part}"));
            figures.extend(match part {
                "extract" => extract::run(&eval)?,
                "tree" => tree::run(&eval)?,
                "money" => money::run(&eval)?,
                "redact" => redact::run(&eval)?,
                _ => compaction::run(&eval)?,
            });
        }
        table::print(&figures);
        return Ok(());
    }
    house.build_release(&["hippod", "hippoctl"])?;
    let installed = setup::run(house)?;
    let scratch = match &options.keep {
        Some(folder) => Scratch::kept(house, &installed, folder)?,
        None => Scratch::new(house, &installed)?,
    };
    scratch.start()?;
    let workspaces = Workspaces::new(&scratch, eval.clone());
    let mut ground = BenchEnvironment {
        house,
        installed: &installed,
        scratch: &scratch,
        workspaces,
    };
    let mut figures = Vec::new();
    for part in wanted {
        say(format_args!("\n=== {part}"));
        let new = measure(part, &mut ground, options).with_context(|| format!("benchmark {part}"))?;
        new.iter().for_each(|figure| say(format_args!("{figure}")));
        figures.extend(new);
    }
    scratch.stop()?;
    scratch.remove()?;
    table::print(&figures);
    Ok(())
}

fn measure(part: &str, ground: &mut BenchEnvironment<'_>, options: &BenchOptions) -> Result<Vec<Figure>> {
    match part {
        "locomo" => retrieval::locomo(ground),
        "corrections" => corrections::run(ground),
        "recall" => recall::run(ground, "recall", recall::CONVERSATIONS),
        "recall-memaware" => recall::run(ground, "recall-memaware", recall::MEMAWARE),
        "scifact" => retrieval::scifact(ground),
        "memaware" => retrieval::memaware(ground),
        "pieces" => bare::pieces(ground),
        "latency" => latency::run(ground),
        "restart" => process::restart(ground),
        "memory" => process::memory(ground, options.idle_secs),
        "edits" => edits::run(ground),
        "folders" => folders::run(ground),
        "index-locomo" => ways::locomo(ground),
        "index-memaware" => ways::memaware(ground),
        "entries" => entries::run(ground),
        "cycles" => cycles::run(ground),
        "scale" => scale::run(ground),
        "replay" => replay::run(ground),
        "contexts" => contexts::run(ground),
        "hooks" => hooks::run(ground),
        "backup" => backup::run(ground),
        SIZE => size::run(ground),
        "extract" => extract::run(ground.workspaces.eval()),
        "tree" => tree::run(ground.workspaces.eval()),
        "money" => money::run(ground.workspaces.eval()),
        "redact" => redact::run(ground.workspaces.eval()),
        "compaction" => compaction::run(ground.workspaces.eval()),
        _ => bare::throughput(ground),
    }
}
