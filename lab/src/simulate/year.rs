//! A simulated year and its weekly observations.

use std::collections::BTreeMap;

use anyhow::Result;
use hippo_map::bootstrap::entry_tokens;
use hippo_map::consolidation::RecordPlace;
use hippo_types::entry::EntryId;
use hippo_types::time::{Date, Timestamp};
use hippo_types::tokens;

use super::agent::SimulatedAgent;
use super::brain::{Brain, BrainOptions, SILENT};
use super::dice::Dice;
use super::shelf::Shelf;
use super::sweep::EntryHistory;
use super::world::World;

/// Number of simulated days.
pub const DAYS: usize = 364;
/// Number of events that are asked for at the end of each week.
const PROBED_EVENTS: usize = 200;
/// Milliseconds in a second and in a day.
const SECOND: i64 = 1_000;
const DAY: i64 = 86_400 * SECOND;
/// Number of entries that a question considers.
pub const LOOKED_AT: usize = 5;
/// Number of first results that count as accessed by a question.
const RETURNED: usize = 3;

/// Observations at the end of a week.
#[derive(Debug, Clone, Default)]
pub struct Week {
    /// Entries in the index.
    pub live: usize,
    /// Entries in the Decay Queue.
    pub queued: usize,
    /// Entries in the archive.
    pub archived: usize,
    /// Entries in the index file.
    pub shown: usize,
    /// Tokens of the index file.
    pub tokens: usize,
    /// Tokens of all entries outside the archive.
    pub all_tokens: usize,
    /// Mean strength of live entries.
    pub strength: f64,
    /// Live entries by band: silent, decaying, weak, moderate, strong.
    pub bands: [usize; 5],
    /// Results of the week's own questions.
    pub asked: QuestionResults,
    /// Results for needs that were asked for before.
    pub accessed: QuestionResults,
    /// Results for needs that were never asked for.
    pub never: QuestionResults,
    /// Number of pointers of live entries, and number of those whose target exists.
    pub pointers: (usize, usize),
    /// Size of the workspace in bytes.
    pub bytes: usize,
}

/// Results of questions.
#[derive(Debug, Clone, Copy, Default)]
pub struct QuestionResults {
    /// Number of questions.
    pub all: usize,
    /// Questions whose right entry was the best.
    pub first: usize,
    /// Questions whose right entry was among the five best.
    pub found: usize,
    /// Questions without an entry.
    pub missing: usize,
    /// Questions whose entry is in the archive.
    pub archived: usize,
    /// Questions whose entry is silent.
    pub silent: usize,
    /// Questions whose entry was in the index file, so that a reader sees the entry without asking.
    pub shown: usize,
}

impl QuestionResults {
    /// Returns a share of the questions.
    pub fn share(&self, part: usize) -> f64 {
        part as f64 / self.all.max(1) as f64
    }

    /// Adds other results.
    pub fn add(&mut self, other: &Self) {
        self.all += other.all;
        self.first += other.first;
        self.found += other.found;
        self.missing += other.missing;
        self.archived += other.archived;
        self.silent += other.silent;
        self.shown += other.shown;
    }
}

/// A simulated year.
pub struct Year {
    /// Observations by week.
    pub weeks: Vec<Week>,
    /// Strength of each entry at the end of each day; 0 before its creation.
    pub strengths: BTreeMap<EntryId, Vec<f32>>,
    /// The entries at the end.
    pub brain: Brain,
    /// The files at the end.
    pub shelf: Shelf,
    /// Everything that could be asked for.
    pub world: World,
    /// History of the entries.
    pub trace: EntryHistory,
}

/// Returns the first moment.
pub fn first_moment() -> Timestamp {
    // A Monday.
    Timestamp::start_of(Date::constant(2026, 1, 5), 0)
}

/// Simulates a year.
///
/// # Errors
/// Fails if the store refuses a write.
pub fn live(seed: u64, options: BrainOptions) -> Result<Year> {
    let start = first_moment();
    let (mut world, files) = World::new(seed, 1.0);
    let mut agent = SimulatedAgent::new(seed);
    let mut happenings = Dice::new(seed, "days");
    let mut probes = Dice::new(seed, "probes");
    let mut shelf = Shelf::default();
    let mut brain = Brain::new(options, start)?;
    for file in files {
        brain.wrote(&file.path);
        shelf.put(file, start);
    }
    let (mut weeks, mut week) = (Vec::new(), Week::default());
    let mut strengths: BTreeMap<EntryId, Vec<f32>> = BTreeMap::new();
    let mut trace = EntryHistory::default();
    brain.tick(&shelf, start)?;
    let mut now = start;
    for day in 0..DAYS {
        let midnight = start.plus(day as i64 * DAY);
        if day % 7 == 0 {
            for file in world.week(day / 7 + 1, day) {
                brain.wrote(&file.path);
                shelf.put(file, midnight);
            }
        }
        for question in agent.day(&mut world, day) {
            let then = midnight.plus(question.second * SECOND);
            now = pass(&mut brain, &shelf, now, then)?;
            let gold = world.needs[question.need].gold.clone();
            let named = ask(&mut brain, &question.text, &gold, now, &mut week.asked);
            let right = brain.of_place(&gold);
            let best = named
                .iter()
                .find(|id| right.contains(id))
                .or_else(|| right.first())
                .cloned();
            let mut answered: Vec<EntryId> = best.into_iter().collect();
            if let Some(id) = answered.first() {
                brain.restore(id, now)?;
            }
            // Results beside the right entry count as accessed as well, because the daemon does not know which result
            // was used.
            let beside = named.iter().filter(|id| !answered.contains(id)).cloned();
            answered.extend(beside.take(RETURNED - answered.len()).collect::<Vec<EntryId>>());
            brain.access(&answered, now)?;
            if let Some(id) = right.first() {
                let right = answered.first().unwrap_or(id).clone();
                trace.touches.push((now, right, answered));
            }
        }
        let busy = if day % 7 < 5 {
            happenings.between(3, 6)
        } else {
            happenings.below(2)
        };
        let evening = midnight.plus(64_000 * SECOND);
        now = pass(&mut brain, &shelf, now, evening)?;
        let date = evening.date(0).to_string();
        for file in world.day(day, &date, busy) {
            brain.wrote(&file.path);
            shelf.put(file, evening);
        }
        now = pass(&mut brain, &shelf, now, midnight.plus(DAY - 1))?;
        for (id, record) in &brain.snapshot.records {
            let line = strengths.entry(id.clone()).or_insert_with(|| {
                let mut born = record.entry.clone();
                (born.strength, born.hits, born.created) = (1.0, 0, midnight);
                born.accessed = midnight;
                trace.born.push(born);
                vec![0.0; day]
            });
            line.push(brain.strength(id, now));
        }
        if day % 7 == 6 {
            look(&mut week, &mut brain, &shelf, &world, &mut probes, now);
            weeks.push(std::mem::take(&mut week));
        }
    }
    Ok(Year {
        weeks,
        strengths,
        brain,
        shelf,
        world,
        trace,
    })
}

/// Returns the number of events on a day.
pub fn busy(day: usize, dice: &mut Dice) -> usize {
    if day % 7 < 5 {
        dice.between(3, 6)
    } else {
        dice.below(2)
    }
}

/// Advances the time and runs due cycles.
fn pass(brain: &mut Brain, shelf: &Shelf, now: Timestamp, then: Timestamp) -> Result<Timestamp> {
    let mut now = now;
    while let Some(tick) = brain.next_tick(now).filter(|tick| *tick <= then) {
        now = tick;
        brain.tick(shelf, now)?;
    }
    Ok(then)
}

/// Asks a question, records the result, and returns the best entries.
fn ask(
    brain: &mut Brain,
    question: &str,
    gold: &[hippo_types::entry::Pointer],
    now: Timestamp,
    asked: &mut QuestionResults,
) -> Vec<EntryId> {
    let named = brain.ask(question, now, LOOKED_AT);
    let right = brain.of_place(gold);
    asked.all += 1;
    asked.found += usize::from(named.iter().any(|id| right.contains(id)));
    asked.first += usize::from(named.first().is_some_and(|id| right.contains(id)));
    let there: Vec<&EntryId> = right
        .iter()
        .filter(|id| {
            let record = brain.snapshot.records.get(id);
            record.is_some_and(|record| !matches!(record.place, RecordPlace::Archive(_)))
        })
        .collect();
    let strongest = there.iter().map(|id| brain.strength(id, now)).fold(0.0, f32::max);
    asked.missing += usize::from(right.is_empty());
    asked.archived += usize::from(there.is_empty() && !right.is_empty());
    asked.silent += usize::from(!there.is_empty() && strongest < SILENT);
    asked.shown += usize::from(right.iter().any(|id| brain.shown.contains(id)));
    named
}

/// Records all observations at the end of a week.
fn look(week: &mut Week, brain: &mut Brain, shelf: &Shelf, world: &World, probes: &mut Dice, now: Timestamp) {
    let mut sum = 0.0;
    for (id, record) in &brain.snapshot.records {
        match record.place {
            RecordPlace::Queue(_) => {
                week.queued += 1;
                week.all_tokens += entry_tokens(&record.entry);
            }
            RecordPlace::Archive(_) => week.archived += 1,
            RecordPlace::Index => {
                let strength = brain.strength(id, now);
                week.live += 1;
                week.all_tokens += entry_tokens(&record.entry);
                sum += f64::from(strength);
                let least = [0.0, 0.1, 0.3, 0.5, 0.8];
                week.bands[least.iter().rposition(|least| strength >= *least).unwrap_or(0)] += 1;
                week.pointers.0 += record.entry.pointers.len();
                let holds = record
                    .entry
                    .pointers
                    .iter()
                    .filter(|pointer| shelf.holds(pointer));
                week.pointers.1 += holds.count();
            }
        }
    }
    week.strength = sum / week.live.max(1) as f64;
    week.shown = brain.shown.len();
    week.tokens = tokens::of_bytes(brain.file.len());
    week.bytes = shelf.bytes();
    let events: Vec<usize> = (0..world.needs.len())
        .filter(|need| world.needs[*need].event)
        .collect();
    let mut probed: Vec<usize> = (0..world.needs.len())
        .filter(|need| !world.needs[*need].event)
        .collect();
    probed.extend((0..PROBED_EVENTS.min(events.len())).map(|_| *probes.pick(&events)));
    for need in probed {
        let need = &world.needs[need];
        let question = probes.pick(&need.questions);
        let asked = if need.asked > 0 {
            &mut week.accessed
        } else {
            &mut week.never
        };
        ask(brain, question, &need.gold, now, asked);
    }
}
