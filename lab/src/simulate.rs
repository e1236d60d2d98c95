//! Simulation of the index over a year of an agent.
//!
//! It generates the figures and tables of docs/simulation.md; the text of that file is written by hand. Each year runs
//! in a separate daemon, with a manual clock and the embedder that needs no model. The same seed gives the same bytes.

mod agent;
mod daemon;
mod dice;
mod figures;
pub mod plot;
mod report;
mod studies;
mod sweep;
mod templates;
mod words;
mod world;
mod year;

use std::fs;
use std::thread;
use std::time::Instant;

use anyhow::{Context, Result, anyhow, bail};
use hippo_map::decay::DecayCurve;
use hippod::config::DecayProfile;

use crate::house::ProjectDirs;
use crate::terminal::{duration, note, say};
use sweep::{Curve, CurveOutcome};
use year::{DAYS, YearOptions};

/// Seed of the figures in the documentation.
const SEED: u64 = 1;
/// Number of days of the simulation that starts with an empty index.
const COLD_DAYS: usize = 56;
/// Speeds at which the relevance of topics changes: no change, slow, the speed of the simulated year, and fast.
const DRIFTS: [f64; 4] = [0.0, 0.3, 1.0, 3.0];

/// Simulates a year with each decay profile, and writes the results into docs/.
///
/// # Errors
/// Fails if an argument is unknown, or if a file cannot be written.
pub fn run(house: &ProjectDirs, arguments: &[String]) -> Result<()> {
    let seed = match arguments {
        [] => SEED,
        [flag] if flag == "--learned" => {
            say(format_args!(
                "share of the questions whose entry fits into the file / mean share of weaker entries / silent"
            ));
            learned(SEED);
            return Ok(());
        }
        [flag, seed] if flag == "--seed" => seed.parse().context("could not read the seed")?,
        _ => bail!("usage: cargo lab simulate [--seed N | --learned]"),
    };
    let begun = Instant::now();
    let (protocol, tuned, cold, curves) = thread::scope(|scope| -> Result<_> {
        let year = |profile| YearOptions {
            profile,
            cycles: true,
            days: DAYS,
        };
        let protocol = scope.spawn(move || year::live(seed, year(DecayProfile::Protocol)));
        let tuned = scope.spawn(move || year::live(seed, year(DecayProfile::Tuned)));
        let cold = YearOptions {
            cycles: false,
            days: COLD_DAYS,
            ..year(DecayProfile::Protocol)
        };
        let cold = scope.spawn(move || year::live(seed, cold));
        // The curves are computed while the years are simulated.
        let curves = curves(seed);
        let [protocol, tuned, cold] = [protocol, tuned, cold].map(|life| {
            life.join()
                .unwrap_or_else(|_| Err(anyhow!("the simulation failed")))
        });
        Ok((protocol?, tuned?, cold?, curves))
    })?;
    let cold: Vec<(bool, bool)> = cold.found.into_iter().zip(protocol.found.clone()).collect();
    let tables = [
        ("bands", report::band_table()),
        (
            "year",
            report::year_table(&[("PROTOCOL", &protocol), ("TUNED", &tuned)]),
        ),
        ("curves", report::curve_table(&curves)),
        ("cold", report::cold_table(&cold)),
        ("grain", report::grain_table(&studies::granularity(&tuned))),
        ("alike", report::alike_table(&studies::alike(&tuned)?)),
    ];
    let folder = house.root.join("docs/simulation");
    fs::create_dir_all(&folder).context("could not create docs/simulation")?;
    for (name, svg) in figures::all(&[("PROTOCOL", &protocol), ("TUNED", &tuned)], &cold) {
        let path = folder.join(name);
        fs::write(&path, svg).with_context(|| format!("could not write {}", path.display()))?;
    }
    let path = house.root.join("docs/simulation.md");
    let mut document =
        fs::read_to_string(&path).with_context(|| format!("could not read {}", path.display()))?;
    for (name, table) in tables {
        say(format_args!("{name}\n\n{table}"));
        // Tables that the document has no place for are omitted.
        if document.contains(&format!("<!-- simulate: {name} -->")) {
            document = report::fill(&document, name, &table)?;
        }
    }
    fs::write(&path, document).with_context(|| format!("could not write {}", path.display()))?;
    note(format_args!("two years in {}", duration(begun.elapsed())));
    Ok(())
}

/// Returns the name of each decay curve, and the quality of its predictions at each speed in [`DRIFTS`].
fn curves(seed: u64) -> Vec<(String, [CurveOutcome; 4])> {
    let (protocol, tuned) = (DecayCurve::PROTOCOL, DecayCurve::TUNED);
    let practised = |practice| DecayCurve { practice, ..tuned };
    let curves = [
        ("the last access".to_owned(), Curve::Recency),
        ("the number of accesses".to_owned(), Curve::Frequency),
        ("ACT-R: Σ age^−0.5 of all accesses".to_owned(), Curve::Activation),
        ("**PROTOCOL**".to_owned(), Curve::Profile(protocol)),
        (
            "PROTOCOL, `access_gain` = 0.3".to_owned(),
            Curve::Profile(DecayCurve {
                access_gain: 0.3,
                ..protocol
            }),
        ),
        (
            "PROTOCOL, `restored` = 0.5".to_owned(),
            Curve::Profile(DecayCurve {
                restored: 0.5,
                ..protocol
            }),
        ),
        (
            "PROTOCOL, `restored` = 1".to_owned(),
            Curve::Profile(DecayCurve {
                restored: 1.0,
                ..protocol
            }),
        ),
        ("TUNED, `practice` = 0".to_owned(), Curve::Profile(practised(0.0))),
        (
            "TUNED, `practice` = 0.25".to_owned(),
            Curve::Profile(practised(0.25)),
        ),
        ("**TUNED** (`practice` = 0.5)".to_owned(), Curve::Profile(tuned)),
        ("TUNED, `practice` = 2".to_owned(), Curve::Profile(practised(2.0))),
        (
            "TUNED, `forgetting_rate` = 0.5".to_owned(),
            Curve::Profile(DecayCurve {
                forgetting_rate: 0.5,
                ..tuned
            }),
        ),
        (
            "TUNED, `forgetting_rate` = 1.2".to_owned(),
            Curve::Profile(DecayCurve {
                forgetting_rate: 1.2,
                ..tuned
            }),
        ),
    ];
    let traces = DRIFTS.map(|drift| sweep::trace(seed, drift));
    let settled = sweep::SETTLED..1.0;
    let outcomes = |curve| {
        traces
            .each_ref()
            .map(|trace| sweep::play(trace, curve, settled.clone()))
    };
    curves
        .into_iter()
        .map(|(name, curve)| (name, outcomes(curve)))
        .collect()
}

/// Compares decay curves over the second half of a year. The parameters of one curve are learned from the preceding
/// quarter.
fn learned(seed: u64) {
    for drift in DRIFTS {
        let trace = sweep::trace(seed, drift);
        let learned = sweep::learn(&trace, sweep::SETTLED..0.5);
        let outcome = |curve| {
            let outcome = sweep::play(&trace, curve, 0.5..1.0);
            format!(
                "{:.1} % / {:.3} / {:.1} %",
                outcome.seen * 100.0,
                outcome.above,
                outcome.silent * 100.0
            )
        };
        say(format_args!(
            "drift {drift}: last access {}, number {}, ACT-R {}, protocol {}, tuned {}, learned {} (rate {:.4} per \
             hour, exponent {:.2}, practice {:.2})",
            outcome(Curve::Recency),
            outcome(Curve::Frequency),
            outcome(Curve::Activation),
            outcome(Curve::Profile(DecayCurve::PROTOCOL)),
            outcome(Curve::Profile(DecayCurve::TUNED)),
            outcome(Curve::Profile(learned)),
            learned.decay_rate,
            learned.forgetting_rate,
            learned.practice,
        ));
    }
}
