//! Number of cases of an attack, their seeds, and reports.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use hippod_tests::Dice;
use serde_json::json;

/// Seed of the test suite. It is constant, so that the test suite always runs the same cases.
const SEED: u64 = 14;

/// Environment variables that `cargo xtask attack` sets.
const SECONDS: &str = "HIPPOD_ATTACK_SECONDS";
const SEED_IS: &str = "HIPPOD_ATTACK_SEED";
const CASE: &str = "HIPPOD_ATTACK_CASE";
const REPORT: &str = "HIPPOD_ATTACK_REPORT";

/// The cases of an attack. The gate is the short run in the test suite.
#[derive(Clone, Copy)]
pub enum Cases {
    /// Random cases. The gate runs this many, and a longer run can have any number.
    Drawn(usize),
    /// Cases with numbers below `all`. The gate runs `in_gate` of them, evenly spread.
    Numbered { all: usize, in_gate: usize },
}

/// Runs an attack. `case` runs one case and returns the number of its checks.
///
/// The arguments of `case` are dice and the number of the case. The dice depend only on the seed, the attack and this
/// number. A case fails by panicking.
///
/// # Panics
/// Panics if a case failed. In the gate, the message of the first failure contains the seed and the number, with
/// which the case can be repeated.
pub fn attack(name: &str, cases: Cases, case: impl Fn(&mut Dice, usize) -> usize) {
    let seed = number(SEED_IS).unwrap_or(SEED);
    let begun = Instant::now();
    let limit = number(SECONDS).map(Duration::from_secs);
    let numbers: Box<dyn Iterator<Item = usize>> = match (number(CASE), cases, limit) {
        (Some(only), ..) => Box::new(std::iter::once(usize::try_from(only).unwrap())),
        (None, Cases::Drawn(_), Some(_)) => Box::new(0..),
        (None, Cases::Drawn(in_gate), None) => Box::new(0..in_gate),
        (None, Cases::Numbered { all, .. }, Some(_)) => Box::new(shuffled(all, seed).into_iter()),
        (None, Cases::Numbered { all, in_gate }, None) => {
            let in_gate = in_gate.min(all);
            Box::new((0..in_gate).map(move |at| at * all / in_gate))
        }
    };
    let (mut tried, mut done, mut failures) = (0, 0, Vec::new());
    for number in numbers {
        if limit.is_some_and(|limit| begun.elapsed() >= limit) {
            break;
        }
        let mut dice = Dice::of(seed_of(seed, name, number));
        match catch_unwind(AssertUnwindSafe(|| case(&mut dice, number))) {
            Ok(count) => tried += count,
            Err(panic) => {
                tried += 1;
                let message = panic
                    .downcast_ref::<String>()
                    .cloned()
                    .or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()))
                    .unwrap_or_default();
                let repeat = format!("{SEED_IS}={seed} {CASE}={number}");
                failures.push((number, format!("{name}: case {number} ({repeat}): {message}")));
                if limit.is_none() {
                    break;
                }
            }
        }
        done += 1;
    }
    report(name, seed, (done, tried), &failures, begun.elapsed());
    if let Some((_, first)) = failures.first() {
        panic!("{} cases failed, the first: {first}", failures.len());
    }
}

/// Returns the numbers below `all` in an order that depends on the seed. Short runs with different seeds thus run
/// different cases.
fn shuffled(all: usize, seed: u64) -> Vec<usize> {
    let mut numbers: Vec<usize> = (0..all).collect();
    let mut dice = Dice::of(seed);
    for at in (1..all).rev() {
        numbers.swap(at, dice.below(at + 1));
    }
    numbers
}

/// Appends the results of an attack to the report of `cargo xtask attack`, as one line of JSON.
fn report(
    name: &str,
    seed: u64,
    (cases, tried): (usize, usize),
    failures: &[(usize, String)],
    took: Duration,
) {
    let Some(path) = std::env::var_os(REPORT) else {
        return;
    };
    let numbers: Vec<usize> = failures.iter().map(|(number, _)| *number).collect();
    let line = json!({
        "attack": name, "seed": seed, "cases": cases, "tried": tried, "failed": numbers,
        "first": failures.first().map(|(_, message)| message), "seconds": took.as_secs(),
    });
    let mut file = std::fs::File::options()
        .create(true)
        .append(true)
        .open(path)
        .unwrap();
    writeln!(file, "{line}").unwrap();
}

/// Returns `true` if the attack has a time limit instead of a fixed number of cases.
pub fn is_long() -> bool {
    number(SECONDS).is_some()
}

fn number(variable: &str) -> Option<u64> {
    let value = std::env::var(variable).ok()?;
    Some(
        value
            .parse()
            .unwrap_or_else(|_| panic!("{variable} is no number: {value}")),
    )
}

/// Returns the seed of one case.
fn seed_of(seed: u64, name: &str, case: usize) -> u64 {
    let mut hasher = DefaultHasher::new();
    (seed, name, case).hash(&mut hasher);
    hasher.finish()
}
