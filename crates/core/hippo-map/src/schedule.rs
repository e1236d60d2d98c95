//! Due consolidation cycles.
//!
//! The caller only provides ticks. The due cycles follow from the recorded runs, the time and the time zone. Any number
//! of missed times leads to a single run. Repeated runs are harmless, so if the clock is uncertain, a cycle runs.

mod cron;
#[cfg(test)]
mod tests;

use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};

use hippo_types::cycle::Cycle;
use hippo_types::time::{DAY_MS, Timestamp};

pub use cron::{Cron, CronError};

/// Maximum number of missed times that are counted.
const COUNTED: u32 = 1_000;
/// Number of failures after which the delay between attempts stops doubling.
const DOUBLINGS: u32 = 6;
/// Minimum number of days between two archival cycles. Entries fade over months, and a weekly check is cheap.
const ARCHIVAL_DAYS: i64 = 28;
/// Milliseconds between a failed run and the next attempt; the delay doubles with each consecutive failure.
const RETRY: i64 = 5 * 60_000;

/// Result of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunOutcome {
    /// The run is in progress.
    Running,
    /// The plan was completed.
    Done,
    /// The run stopped at the limit of demotions; the rest is left for the next run.
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
    /// Times at which archival cycles are checked; `None` disables automatic runs.
    pub archival: Option<Cron>,
}

impl ScheduleSettings {
    /// Returns the default schedule: light hourly, deep at 02:30, archival checked on Sundays at 03:30 and run every
    /// 28 days.
    ///
    /// # Errors
    /// Never fails in practice, because the lines are constant and covered by a test.
    pub fn standard() -> Result<Self, CronError> {
        Ok(Self {
            light: Some(Cron::parse("0 * * * *")?),
            deep: Some(Cron::parse("30 2 * * *")?),
            archival: Some(Cron::parse("30 3 * * sun")?),
        })
    }
}

/// Reason why a cycle is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// A planned time was reached.
    Planned,
    /// Several planned times passed without a run.
    Missed,
    /// A light cycle has never run.
    First,
    /// The last run was interrupted.
    Interrupted,
    /// The last run failed, and the delay is over.
    Retry,
    /// All recorded runs are in the future, so the clock was set back.
    ClockSetBack,
}

/// A due cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct DueCycle {
    /// Cycle.
    pub cycle: Cycle,
    /// Time since which the cycle is due.
    pub since: Timestamp,
    /// Planned times since the last run, at most 1,000.
    pub missed: u32,
    /// Reason.
    pub reason: Reason,
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
) -> Vec<DueCycle> {
    let cycles = [Cycle::Light, Cycle::Deep, Cycle::Archival];
    let of = |cycle| {
        due_of(
            cycle,
            &PastRuns::of(runs, cycle, known_since, now),
            now,
            zone,
            settings,
        )
    };
    cycles.into_iter().filter_map(of).collect()
}

/// Returns the next time after `now` at which a cycle can become due, or `None` without a schedule.
#[must_use]
pub fn next_tick(
    runs: &[RunRecord],
    known_since: Timestamp,
    now: Timestamp,
    zone: &TimeZone,
    settings: &ScheduleSettings,
) -> Option<Timestamp> {
    let cycles = [Cycle::Light, Cycle::Deep, Cycle::Archival];
    let of = |cycle| {
        let past = PastRuns::of(runs, cycle, known_since, now);
        let planned = first_planned(cycle, past.base.unwrap_or(now), zone, settings)?;
        let planned = match planned > now {
            true => planned,
            false => line(cycle, settings)?.next_after(now, zone)?,
        };
        let retry = past.wait_until().filter(|until| *until > now);
        Some(retry.map_or(planned, |until| until.min(planned)))
    };
    cycles.into_iter().filter_map(of).min()
}

/// Recorded runs of one cycle, without runs in the future.
struct PastRuns {
    /// Time from which planned times count; `None` if all recorded runs lie in the future.
    base: Option<Timestamp>,
    ever: bool,
    running: bool,
    interrupted: Option<Timestamp>,
    /// Start of the last run and number of consecutive failures, if it failed.
    failed: Option<(Timestamp, u32)>,
}

impl PastRuns {
    fn of(runs: &[RunRecord], cycle: Cycle, known_since: Timestamp, now: Timestamp) -> Self {
        let mut mine: Vec<&RunRecord> = runs
            .iter()
            .filter(|run| run.cycle == cycle && run.started <= now)
            .collect();
        mine.sort_by_key(|run| run.started);
        let ended = |run: &&&RunRecord| matches!(run.outcome, RunOutcome::Done | RunOutcome::Capped);
        let last_done = mine.iter().rev().find(ended).map(|run| run.started);
        let last = mine.last();
        let failures = mine
            .iter()
            .rev()
            .take_while(|run| run.outcome == RunOutcome::Failed)
            .count();
        Self {
            base: last_done.or((known_since <= now).then_some(known_since)),
            ever: last_done.is_some(),
            running: last.is_some_and(|run| run.outcome == RunOutcome::Running),
            interrupted: last
                .filter(|run| run.outcome == RunOutcome::Interrupted)
                .map(|run| run.started),
            failed: last
                .filter(|_| failures > 0)
                .map(|run| (run.started, u32::try_from(failures).unwrap_or(u32::MAX))),
        }
    }

    /// Returns the end of the delay after a failed run.
    fn wait_until(&self) -> Option<Timestamp> {
        let (started, failures) = self.failed?;
        let factor = 1_i64 << failures.saturating_sub(1).min(DOUBLINGS);
        Some(started.plus(RETRY * factor))
    }
}

const fn line(cycle: Cycle, settings: &ScheduleSettings) -> Option<&Cron> {
    match cycle {
        Cycle::Light => settings.light.as_ref(),
        Cycle::Deep => settings.deep.as_ref(),
        Cycle::Archival => settings.archival.as_ref(),
    }
}

/// Returns the first planned time after the last run; for archival cycles, after the minimum number of days.
fn first_planned(
    cycle: Cycle,
    base: Timestamp,
    zone: &TimeZone,
    settings: &ScheduleSettings,
) -> Option<Timestamp> {
    let from = match cycle {
        // Include a check at the exact end of the period.
        Cycle::Archival => base.plus(ARCHIVAL_DAYS * DAY_MS).plus(-1).max(base),
        Cycle::Light | Cycle::Deep => base,
    };
    line(cycle, settings)?.next_after(from, zone)
}

fn due_of(
    cycle: Cycle,
    past: &PastRuns,
    now: Timestamp,
    zone: &TimeZone,
    settings: &ScheduleSettings,
) -> Option<DueCycle> {
    let line = line(cycle, settings)?;
    if past.running {
        return None;
    }
    let at_once = |since, reason| {
        Some(DueCycle {
            cycle,
            since,
            missed: 0,
            reason,
        })
    };
    if let Some(started) = past.interrupted {
        return at_once(started, Reason::Interrupted);
    }
    let waited = past.wait_until();
    if waited.is_some_and(|until| until > now) {
        return None;
    }
    let Some(base) = past.base else {
        return at_once(now, Reason::ClockSetBack);
    };
    if let Some((started, _)) = past.failed {
        return at_once(started, Reason::Retry);
    }
    if cycle == Cycle::Light && !past.ever {
        return at_once(base, Reason::First);
    }
    let since = first_planned(cycle, base, zone, settings).filter(|since| *since <= now)?;
    let mut missed = 1;
    let mut next = since;
    while let Some(later) = line
        .next_after(next, zone)
        .filter(|later| *later <= now && missed < COUNTED)
    {
        missed += 1;
        next = later;
    }
    let reason = if missed > 1 {
        Reason::Missed
    } else {
        Reason::Planned
    };
    Some(DueCycle {
        cycle,
        since,
        missed,
        reason,
    })
}
