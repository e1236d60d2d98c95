//! Quality of decay curves as predictions of future questions.
//!
//! The accesses of a year are replayed for each curve, because the entry that a question needs does not depend on the
//! curve. Before each question, all entries are ranked by their current strength.

use std::collections::BTreeMap;
use std::ops::Range;

use hippo_map::decay::{self, DecayCurve};
use hippo_types::entry::{Entry, EntryId};
use hippo_types::time::Timestamp;

use super::agent::SimulatedAgent;
use super::dice::Dice;
use super::world::World;
use super::year::{DAYS, busy, first_moment};

/// Number of entries that fit into the index file.
pub const ROOM: usize = 170;
/// Minimum strength of an entry that can answer a question alone (v1 §6.2). Weaker entries are silent.
const SILENT: f32 = 0.1;
/// Share of the year, from its start, that is not counted, because all entries are new then.
pub const SETTLED: f64 = 0.25;
/// Factors by which [`learn`] multiplies the tuned parameters.
const FACTORS: [f64; 5] = [0.25, 0.5, 1.0, 2.0, 4.0];

/// History of all entries in a year.
#[derive(Debug, Clone, Default)]
pub struct EntryHistory {
    /// Entries in order of creation.
    pub born: Vec<Entry>,
    /// For each question, its time, the entry that answers it, and the accessed entries.
    pub touches: Vec<(Timestamp, EntryId, Vec<EntryId>)>,
}

/// Curve by which entries are ranked.
#[derive(Debug, Clone, Copy)]
pub enum Curve {
    /// The strength that a decay profile gives.
    Profile(DecayCurve),
    /// Time of the last access only.
    Recency,
    /// Number of accesses only.
    Frequency,
    /// Base-level activation of ACT-R: the sum of age^−0.5 over all accesses. It requires the time of every access.
    Activation,
}

/// Quality of the predictions of a curve.
#[derive(Debug, Clone, Copy, Default)]
pub struct CurveOutcome {
    /// Share of the questions whose entry was among the [`ROOM`] strongest entries.
    pub seen: f64,
    /// Logarithm of the likelihood of the questions. The likelihood of a question is the share of its entry's strength
    /// in the total strength of all entries.
    pub likelihood: f64,
    /// Mean share of the other entries that were weaker than the entry of the question.
    pub above: f64,
    /// Share of the questions whose entry was silent.
    pub silent: f64,
    /// Share of the entries that are not silent at the end of the year.
    pub loud: f64,
    /// Of the questions about an entry that was accessed before, the share for which this entry was silent.
    pub lost: f64,
}

/// Returns the questions of a year. Each need has one entry, so no index is required.
pub fn trace(seed: u64, drift: f64) -> EntryHistory {
    let start = first_moment();
    let (mut world, _) = World::new(seed, drift);
    let mut agent = SimulatedAgent::new(seed);
    let mut happenings = Dice::new(seed, "days");
    let mut trace = EntryHistory::default();
    for day in 0..DAYS {
        let midnight = start.plus(day as i64 * 86_400_000);
        if day % 7 == 0 {
            world.week(day / 7 + 1, day);
        }
        born(&mut trace, &world, midnight);
        for question in agent.day(&mut world, day) {
            let id = EntryId(question.need.to_string());
            let now = midnight.plus(question.second * 1_000);
            trace.touches.push((now, id.clone(), vec![id]));
        }
        let busy = busy(day, &mut happenings);
        world.day(day, &midnight.date(0).to_string(), busy);
        born(&mut trace, &world, midnight.plus(64_000_000));
    }
    trace
}

/// Adds an entry for each new need.
fn born(trace: &mut EntryHistory, world: &World, now: Timestamp) {
    for need in trace.born.len()..world.needs.len() {
        trace.born.push(Entry {
            id: EntryId(need.to_string()),
            created: now,
            accessed: now,
            strength: 1.0,
            ..Entry::default()
        });
    }
}

struct SweptEntry {
    entry: Entry,
    day: i64,
    nth: u32,
    accesses: Vec<Timestamp>,
}

/// Returns the curve that best predicts the accesses in a part of a year. It maximizes the likelihood times a prior.
///
/// The likelihood of a question is the share of its entry's strength in the total strength of all entries. The prior
/// has its mode at [`DecayCurve::TUNED`], and a standard deviation of a factor of two for each parameter. Each
/// parameter is searched between a quarter and four times its tuned value.
pub fn learn(trace: &EntryHistory, weeks: Range<f64>) -> DecayCurve {
    let tuned = DecayCurve::TUNED;
    let mut best = (f64::MIN, tuned);
    for rate in FACTORS {
        for exponent in FACTORS {
            for practice in FACTORS {
                let curve = DecayCurve {
                    decay_rate: tuned.decay_rate * rate,
                    forgetting_rate: tuned.forgetting_rate * exponent,
                    practice: tuned.practice * practice,
                    ..tuned
                };
                let prior: f64 = [rate, exponent, practice]
                    .map(|factor| -factor.log2().powi(2) / 2.0)
                    .iter()
                    .sum();
                let outcome = play(trace, Curve::Profile(curve), weeks.clone());
                let likelihood = outcome.likelihood + prior;
                if likelihood > best.0 {
                    best = (likelihood, curve);
                }
            }
        }
    }
    best.1
}

/// Replays a year, ranks the entries by the curve, and returns the quality of its predictions in a part of the year.
pub fn play(trace: &EntryHistory, curve: Curve, part: Range<f64>) -> CurveOutcome {
    let mut all: Vec<SweptEntry> = Vec::new();
    let mut by_id: BTreeMap<&EntryId, usize> = BTreeMap::new();
    let mut unborn = trace.born.iter().peekable();
    let (Some(first), Some(last)) = (trace.touches.first(), trace.touches.last()) else {
        return CurveOutcome::default();
    };
    let moment = |share: f64| first.0.plus(((last.0.0 - first.0.0) as f64 * share) as i64);
    let (from, until) = (moment(part.start), moment(part.end));
    let (mut outcome, mut asked, mut known) = (CurveOutcome::default(), 0.0, 0.0);
    for (now, right, accessed) in trace.touches.iter().filter(|touch| touch.0 <= until) {
        while let Some(entry) = unborn.next_if(|entry| entry.created <= *now) {
            by_id.insert(&entry.id, all.len());
            all.push(SweptEntry {
                entry: entry.clone(),
                day: 0,
                nth: 0,
                accesses: vec![entry.created],
            });
        }
        if let Some(at) = by_id.get(right).filter(|_| *now >= from) {
            let mine = value(&all[*at], curve, *now);
            let (mut above, mut same, mut sum) = (0.0, 0.0, 0.0);
            for other in &all {
                let theirs = value(other, curve, *now);
                sum += theirs;
                above += f64::from(u8::from(theirs > mine));
                same += f64::from(u8::from(theirs == mine));
            }
            let rank = above + (same - 1.0) / 2.0;
            outcome.seen += f64::from(u8::from(rank < ROOM as f64));
            outcome.likelihood += (mine / sum).ln();
            outcome.above += 1.0 - rank / (all.len() as f64 - 1.0);
            let silent = matches!(curve, Curve::Profile(_)) && mine < f64::from(SILENT);
            outcome.silent += f64::from(u8::from(silent));
            if all[*at].entry.hits > 0 {
                known += 1.0;
                outcome.lost += f64::from(u8::from(silent));
            }
            asked += 1.0;
        }
        for id in accessed {
            let Some(state) = by_id.get(id).and_then(|at| all.get_mut(*at)) else {
                continue;
            };
            let day = now.0 / 86_400_000;
            state.nth = if state.day == day { state.nth + 1 } else { 1 };
            state.day = day;
            match curve {
                Curve::Profile(profile) => decay::record_access(&profile, &mut state.entry, *now, state.nth),
                _ => {
                    state.entry.hits += 1;
                    state.entry.accessed = *now;
                }
            }
            state.accesses.push(*now);
        }
    }
    outcome.seen /= asked;
    outcome.above /= asked;
    outcome.silent /= asked;
    outcome.lost /= f64::max(known, 1.0);
    let loud = all
        .iter()
        .filter(|state| value(state, curve, last.0) >= f64::from(SILENT));
    outcome.loud = loud.count() as f64 / all.len() as f64;
    outcome
}

fn value(state: &SweptEntry, curve: Curve, now: Timestamp) -> f64 {
    match curve {
        Curve::Profile(profile) => f64::from(decay::strength_at(&profile, &state.entry, now)),
        Curve::Recency => state.entry.accessed.0 as f64,
        Curve::Frequency => f64::from(state.entry.hits),
        Curve::Activation => {
            let age = |access: &Timestamp| (now.0 - access.0) as f64 / 3_600_000.0 + 1.0;
            state.accesses.iter().map(|access| age(access).powf(-0.5)).sum()
        }
    }
}
