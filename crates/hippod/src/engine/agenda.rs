//! Schedule of a workspace's recurring work.

use std::collections::BTreeMap;
use std::time::Instant;

/// A kind of recurring work of a workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Chore {
    /// Scan of the disk.
    Scan,
    /// Test of the file watcher: the daemon writes a file (the canary) and waits for the event.
    Canary,
    /// Attempt to start the watcher.
    StartWatcher,
    /// Build of the vector graph.
    BuildGraph,
    /// Spare copy of the data that exists only in the database, not in the memory files.
    SaveSpare,
    /// Check that the database file still exists at its path.
    CheckDatabase,
}

/// Earliest time of each chore. A chore without a time has not been done since the workspace was opened and is due now.
#[derive(Debug, Default)]
pub struct Agenda(BTreeMap<Chore, Instant>);

impl Agenda {
    /// Schedules a chore for a time. The new time replaces the previous one.
    pub fn plan(&mut self, chore: Chore, at: Instant) {
        self.0.insert(chore, at);
    }

    /// Moves a scheduled chore to an earlier time. A chore without a time, or with an earlier one, does not change.
    pub fn bring_forward(&mut self, chore: Chore, at: Instant) {
        if let Some(planned) = self.0.get_mut(&chore) {
            *planned = at.min(*planned);
        }
    }

    /// Returns whether a chore has a time.
    pub fn is_planned(&self, chore: Chore) -> bool {
        self.0.contains_key(&chore)
    }

    /// Returns whether a chore is due.
    pub fn is_due(&self, chore: Chore, now: Instant) -> bool {
        self.0.get(&chore).is_none_or(|at| *at <= now)
    }

    /// Returns the time of a chore, or `now` if the chore has no time.
    pub fn time(&self, chore: Chore, now: Instant) -> Instant {
        self.0.get(&chore).copied().unwrap_or(now)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_chore_is_due_until_it_is_planned_for_later() {
        let (now, mut agenda) = (Instant::now(), Agenda::default());
        let later = now + Duration::from_secs(1);
        assert!(agenda.is_due(Chore::Scan, now) && !agenda.is_planned(Chore::Scan));
        assert_eq!(agenda.time(Chore::Scan, now), now);
        agenda.plan(Chore::Scan, later);
        assert!(!agenda.is_due(Chore::Scan, now) && agenda.is_due(Chore::Scan, later));
        assert!(agenda.is_due(Chore::Canary, now), "each chore has its own time");
        agenda.bring_forward(Chore::Scan, later + Duration::from_secs(1));
        assert_eq!(agenda.time(Chore::Scan, now), later);
        agenda.bring_forward(Chore::Scan, now);
        assert!(agenda.is_due(Chore::Scan, now));
    }
}
