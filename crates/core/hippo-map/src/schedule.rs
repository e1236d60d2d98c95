//! Due consolidation cycles.
//!
//! The caller asks at regular intervals which cycles are due. The answer follows from the recorded runs, the time and
//! the time zone. Any number of missed times leads to a single run. Repeated runs are harmless, so a cycle runs if the
//! clock is uncertain.

mod cron;
#[cfg(test)]
mod tests;

use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};

use hippo_types::cycle::Cycle;
use hippo_types::time::{DAY_MS, Timestamp};

pub use cron::Cron;

/// All cycles, light first.
const CYCLES: [Cycle; 3] = Cycle::ALL;
/// Number of failures after which the delay between attempts stops doubling.
const DOUBLINGS: u32 = 6;
/// Minimum number of days between two archival cycles, because entries fade over months. The weekly check whether a
/// cycle is due is cheap.
const ARCHIVAL_DAYS: i64 = 28;
/// Delay, in milliseconds, between a failed run and the next attempt. It doubles with each consecutive failure.
const RETRY: i64 = 5 * 60_000;

/// Result of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunOutcome {
    /// The run is in progress.
    Running,
    /// The plan was completed.
    Done,
    /// The run reached its limit of demotions. The next run demotes the remaining entries.
    Capped,
    /// The run ended with an error.
    Failed,
    /// The process ended before the run did.
    Interrupted,
}

/// A recorded run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunRecord {
    /// Cycle of the run.
    pub cycle: Cycle,
    /// Start time.
    pub started: Timestamp,
    /// End time; `None` if the run has not ended.
    pub finished: Option<Timestamp>,
    /// Result.
    pub outcome: RunOutcome,
}

/// Schedule of the cycles.
#[derive(Debug, Clone, PartialEq)]
pub struct ScheduleSettings {
    /// Light cycles; `None` disables automatic runs.
    pub light: Option<Cron>,
    /// Deep cycles; `None` disables automatic runs.
    pub deep: Option<Cron>,
    /// Times at which an archival cycle can become due; `None` disables automatic runs.
    pub archival: Option<Cron>,
}

impl ScheduleSettings {
    const fn line(&self, cycle: Cycle) -> Option<&Cron> {
        match cycle {
            Cycle::Light => self.light.as_ref(),
            Cycle::Deep => self.deep.as_ref(),
            Cycle::Archival => self.archival.as_ref(),
        }
    }
}

/// Returns the cycles due at `now`, light first.
///
/// `known_since` is the registration time of the workspace; times before it do not count as missed. A running cycle
/// is not due.
#[must_use]
pub fn due(
    runs: &[RunRecord],
    known_since: Timestamp,
    now: Timestamp,
    zone: &TimeZone,
    settings: &ScheduleSettings,
) -> Vec<Cycle> {
    let is_due = |cycle: &Cycle| {
        let past = PastRuns::of(runs, *cycle, known_since, now);
        settings.line(*cycle).is_some() && past.is_due(*cycle, now, zone, settings)
    };
    CYCLES.into_iter().filter(is_due).collect()
}

/// Returns the next time after `now` at which a cycle can become due, or `None` if the cycle has no schedule.
#[must_use]
pub fn next_tick(
    cycle: Cycle,
    runs: &[RunRecord],
    known_since: Timestamp,
    now: Timestamp,
    zone: &TimeZone,
    settings: &ScheduleSettings,
) -> Option<Timestamp> {
    let past = PastRuns::of(runs, cycle, known_since, now);
    let planned = first_planned(cycle, past.base.unwrap_or(now), zone, settings)?;
    let planned = match planned > now {
        true => planned,
        false => settings.line(cycle)?.next_after(now, zone)?,
    };
    let retry = past.wait_until().filter(|until| *until > now);
    retry.into_iter().chain([planned]).min()
}

/// Recorded runs of one cycle, without runs in the future.
struct PastRuns {
    /// Start of the last completed run. Without a completed run, the time of registration; `None` if that time is in
    /// the future.
    base: Option<Timestamp>,
    ever: bool,
    /// Outcome and start of the last run.
    last: Option<(RunOutcome, Timestamp)>,
    /// Number of consecutive failures up to the last run.
    failures: u32,
}

impl PastRuns {
    fn of(runs: &[RunRecord], cycle: Cycle, known_since: Timestamp, now: Timestamp) -> Self {
        let mine = runs.iter().filter(|run| run.cycle == cycle && run.started <= now);
        let mut mine: Vec<&RunRecord> = mine.collect();
        mine.sort_by_key(|run| run.started);
        let ended = |run: &&&RunRecord| matches!(run.outcome, RunOutcome::Done | RunOutcome::Capped);
        let last_done = mine.iter().rev().find(ended).map(|run| run.started);
        let latest = mine.iter().rev();
        let failures = latest.take_while(|run| run.outcome == RunOutcome::Failed).count();
        Self {
            base: last_done.or((known_since <= now).then_some(known_since)),
            ever: last_done.is_some(),
            last: mine.last().map(|run| (run.outcome, run.started)),
            failures: u32::try_from(failures).unwrap_or(u32::MAX),
        }
    }

    /// Returns the end of the delay after a failed run; `None` if the last run did not fail.
    fn wait_until(&self) -> Option<Timestamp> {
        let (_, started) = self.last.filter(|_| self.failures > 0)?;
        let factor = 1_i64 << (self.failures - 1).min(DOUBLINGS);
        Some(started.plus(RETRY * factor))
    }

    fn is_due(&self, cycle: Cycle, now: Timestamp, zone: &TimeZone, settings: &ScheduleSettings) -> bool {
        match (self.last.map(|(outcome, _)| outcome), self.base) {
            (Some(RunOutcome::Running), _) => false,
            (Some(RunOutcome::Interrupted), _) => true,
            (Some(RunOutcome::Failed), _) => self.wait_until().is_none_or(|until| until <= now),
            // The registration and all completed runs are in the future, so the clock was set back.
            (_, None) => true,
            (_, Some(_)) if cycle == Cycle::Light && !self.ever => true,
            (_, Some(base)) => first_planned(cycle, base, zone, settings).is_some_and(|since| since <= now),
        }
    }
}

/// Returns the first planned time after `base`. For an archival cycle, the minimum number of days must also have
/// passed.
fn first_planned(
    cycle: Cycle,
    base: Timestamp,
    zone: &TimeZone,
    settings: &ScheduleSettings,
) -> Option<Timestamp> {
    let from = match cycle {
        // Include a planned time at the exact end of the period.
        Cycle::Archival => base.plus(ARCHIVAL_DAYS * DAY_MS).plus(-1).max(base),
        Cycle::Light | Cycle::Deep => base,
    };
    settings.line(cycle)?.next_after(from, zone)
}
