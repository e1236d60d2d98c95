//! Quality and speed of session summaries.

mod measure;
pub(super) mod needs;
mod reference;

use std::fs;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result};
use hippo_session::compaction::{CompactionOptions, compact};

use super::table::Figure;
use measure::CompactionSums;

const PART: &str = "compaction";
/// Sessions that are timed, in their original format. They are long enough for a measurement.
const LONG: [&str; 3] = [
    "raw/pi/large-session.jsonl",
    "raw/claude-code/long-conversation.jsonl",
    "raw/swe-agent/marshmallow-1867-function_calling.traj",
];
/// A session in the common format, which is repeated to form a longer session.
const LIST: &str = "norm/pi/large-session.jsonl";
/// Number of repetitions of [`LIST`].
const REPEATED: usize = 10;
/// Number of timed runs. The fastest one is reported.
const TIMES: usize = 30;

/// Measures summaries of the transcripts below `transcripts/` of the evaluation data. The baselines are the
/// extension's formula and plain truncation.
///
/// # Errors
/// Fails if the transcripts cannot be read, or if a summary violates an invariant.
pub fn run(eval: &Path) -> Result<Vec<Figure>> {
    let folder = eval.join("transcripts");
    let sums = measure::all(&folder.join("norm"))?;
    let mut figures = Vec::new();
    let mut all = CompactionSums::default();
    for (name, sums) in &sums {
        all.add(sums);
        figures.push(figure(name, sums));
    }
    let times = all.ours / all.reference;
    figures.push(figure("all cuts", &all).reach("≥ 1.5 × the formula", times >= 1.5));
    figures.push(of_programs(sums.values()));
    let reachable = all.reachable / all.cuts;
    figures.push(
        Figure::new(PART, "reachable by ids", format!("{:.1} %", reachable * 100.0))
            .reach("100 %", reachable >= 1.0 - 1e-9),
    );
    for name in LONG {
        let bytes = read(&folder.join(name))?;
        figures.push(speed(&bytes, name));
        figures.push(tiers(&bytes, name));
    }
    let bytes = read(&folder.join(LIST))?;
    figures.push(speed(&bytes, LIST));
    figures.push(speed(
        &bytes.repeat(REPEATED),
        &format!("{REPEATED} times {LIST}"),
    ));
    Ok(figures)
}

fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).with_context(|| format!("could not read {}", path.display()))
}

fn figure(name: &str, sums: &CompactionSums) -> Figure {
    let CompactionSums {
        cuts,
        ours,
        reference,
        truncated,
        before,
        tokens,
        budget,
        ..
    } = sums;
    let share = |of: &f64| of / cuts * 100.0;
    Figure::new(
        PART,
        format!(
            "{name}, {cuts} cuts (mean tokens: {:.0} before the cut, {:.0} in the summary, budget {:.0}): \
             share of later needs that the summary contains verbatim",
            before / cuts,
            tokens / cuts,
            budget / cuts
        ),
        format!(
            "{:.1} % (reference formula {:.1} %, truncation {:.1} %; {:.2} × the reference formula)",
            share(ours),
            share(reference),
            share(truncated),
            ours / reference
        ),
    )
}

/// Returns averages over the programs. Each program has the same weight, regardless of its number of transcripts.
fn of_programs<'s>(sums: impl Iterator<Item = &'s CompactionSums>) -> Figure {
    let mut all = CompactionSums::default();
    for sums in sums {
        all.cuts += 1.0;
        all.ours += sums.ours / sums.cuts;
        all.reference += sums.reference / sums.cuts;
        all.truncated += sums.truncated / sums.cuts;
    }
    let share = |of: f64| of / all.cuts * 100.0;
    Figure::new(
        PART,
        format!(
            "mean of {} programs: share of later needs that the summary contains verbatim",
            all.cuts
        ),
        format!(
            "{:.1} % (reference formula {:.1} %, truncation {:.1} %; {:.2} × the reference formula)",
            share(all.ours),
            share(all.reference),
            share(all.truncated),
            all.ours / all.reference
        ),
    )
}

fn speed(bytes: &[u8], name: &str) -> Figure {
    let (mut best, mut tokens) = (f64::MAX, 0);
    let options = CompactionOptions {
        budget: Some(5_000),
        ..CompactionOptions::default()
    };
    for _ in 0..TIMES {
        let started = Instant::now();
        tokens = compact(bytes, &options).stats.tokens_before;
        best = best.min(started.elapsed().as_secs_f64() * 1_000.0);
    }
    let thousands = tokens as f64 / 1_000.0;
    let each = best / thousands;
    let what = format!(
        "{name}, {tokens} tokens in {:.2} MB: time from the bytes to the summary, per 1,000 tokens",
        bytes.len() as f64 / 1e6
    );
    Figure::new(PART, what, format!("{each:.3} ms")).reach("≤ 0.04 ms", each <= 0.04)
}

/// Measures how much the rules alone shorten a session, and how many messages are in each tier.
fn tiers(bytes: &[u8], name: &str) -> Figure {
    let stats = compact(bytes, &CompactionOptions::default()).stats;
    Figure::new(
        PART,
        format!(
            "{name}, without a budget: summary tokens, ratio; messages kept, compressed, sparse (of {})",
            stats.messages
        ),
        format!(
            "{}, {:.1} ×; {}, {}, {}",
            stats.tokens_after, stats.ratio, stats.kept, stats.compressed, stats.sparse
        ),
    )
}
