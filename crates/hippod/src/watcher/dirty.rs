//! Debounced set of changes that are not reported yet.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::WatchEvent;

/// Maximum number of paths in the set. If there are more, a rescan replaces them.
const MOST_PATHS: usize = 10_000;

/// Changes that have not been reported yet, without duplicates.
#[derive(Debug)]
pub(super) struct DirtySet {
    quiet: Duration,
    max_wait: Duration,
    paths: BTreeSet<PathBuf>,
    /// Reason for a rescan, which replaces the paths; `None` if no rescan is pending.
    rescan: Option<&'static str>,
    /// Times of the oldest and the newest change in the set; `None` if the set is empty.
    since: Option<(Instant, Instant)>,
}

impl DirtySet {
    /// Creates an empty set. Its changes are due when no other change has been added for the time `quiet`, and at the
    /// latest when the oldest change has waited for `max_wait`.
    pub fn new(quiet: Duration, max_wait: Duration) -> Self {
        Self {
            quiet,
            max_wait,
            paths: BTreeSet::new(),
            rescan: None,
            since: None,
        }
    }

    /// Adds a path that may have changed.
    pub fn insert(&mut self, path: PathBuf, now: Instant) {
        self.touch(now);
        if self.rescan.is_none() {
            self.paths.insert(path);
            if self.paths.len() > MOST_PATHS {
                self.rescan("too many paths changed", now);
            }
        }
    }

    /// Marks all paths as changed. If a rescan is already pending, its reason does not change.
    pub fn rescan(&mut self, reason: &'static str, now: Instant) {
        self.touch(now);
        self.rescan.get_or_insert(reason);
        self.paths = BTreeSet::new();
    }

    /// Returns the time at which the changes are due; `None` if the set is empty.
    pub fn due(&self) -> Option<Instant> {
        self.since
            .map(|(first, last)| (last + self.quiet).min(first + self.max_wait))
    }

    /// Removes the changes and returns them as an event; `None` if they are not due.
    pub fn take(&mut self, now: Instant) -> Option<WatchEvent> {
        if self.due()? > now {
            return None;
        }
        self.since = None;
        let paths = std::mem::take(&mut self.paths);
        Some(
            self.rescan
                .take()
                .map_or(WatchEvent::Dirty(paths), WatchEvent::Rescan),
        )
    }

    /// Removes the changes and returns them as an event, even if they are not due; `None` if the set is empty.
    pub fn take_all(&mut self) -> Option<WatchEvent> {
        self.due().and_then(|due| self.take(due))
    }

    /// Returns the paths in the set.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.paths.iter().map(PathBuf::as_path)
    }

    /// Returns whether a rescan is pending.
    pub fn is_rescan(&self) -> bool {
        self.rescan.is_some()
    }

    /// Returns the time of the oldest change in the set.
    pub fn since(&self) -> Option<Instant> {
        self.since.map(|(first, _)| first)
    }

    fn touch(&mut self, now: Instant) {
        let first = self.since.map_or(now, |(first, _)| first);
        self.since = Some((first, now));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const QUIET: Duration = Duration::from_millis(300);
    const MAX_WAIT: Duration = Duration::from_millis(2000);

    fn path(number: u32) -> PathBuf {
        PathBuf::from(format!("/w/{number}.md"))
    }

    #[test]
    fn changes_are_reported_after_a_quiet_period() {
        let start = Instant::now();
        let mut set = DirtySet::new(QUIET, MAX_WAIT);
        assert_eq!(set.due(), None);
        set.insert(path(1), start);
        set.insert(path(2), start + QUIET / 2);
        assert_eq!(set.take(start + QUIET), None);
        let batch = set.take(start + QUIET / 2 + QUIET);
        assert_eq!(batch, Some(WatchEvent::Dirty(BTreeSet::from([path(1), path(2)]))));
        assert_eq!(set.due(), None);
        assert_eq!(set.take(start + MAX_WAIT * 2), None);
    }

    #[test]
    fn too_many_changes_become_one_rescan() {
        let now = Instant::now();
        let mut set = DirtySet::new(QUIET, MAX_WAIT);
        for number in 0..=u32::try_from(MOST_PATHS).unwrap() {
            set.insert(path(number), now);
        }
        set.insert(path(7), now);
        set.rescan("the system dropped events", now);
        assert!(set.paths.is_empty());
        assert_eq!(
            set.take(now + QUIET),
            Some(WatchEvent::Rescan("too many paths changed"))
        );
        set.insert(path(7), now + QUIET);
        assert_eq!(
            set.take(now + QUIET * 2),
            Some(WatchEvent::Dirty(BTreeSet::from([path(7)])))
        );
    }

    #[derive(Debug, Clone)]
    enum Step {
        Insert(u32),
        Rescan,
    }

    proptest! {
        /// For any sequence of changes, no change is lost, and no change waits longer than `max_wait`. No change is
        /// reported before the quiet period has ended, unless `max_wait` has elapsed.
        #[test]
        fn no_change_is_lost_or_delayed_beyond_the_limit(
            steps in prop::collection::vec(
                (0u64..400, prop_oneof![20 => (0u32..50).prop_map(Step::Insert), 1 => Just(Step::Rescan)]),
                1..300,
            ),
        ) {
            let mut now = Instant::now();
            let mut set = DirtySet::new(QUIET, MAX_WAIT);
            let mut waiting: BTreeSet<PathBuf> = BTreeSet::new();
            let mut all = false;
            let mut first = None;
            let mut last = now;
            let end = [(10_000, Step::Insert(0))];
            for (pause, step) in steps.into_iter().chain(end) {
                let next = now + Duration::from_millis(pause);
                // Simulate the watcher's thread, which sleeps until changes are due.
                while let Some(due) = set.due().filter(|due| *due <= next) {
                    let batch = set.take(due).unwrap();
                    prop_assert!(due <= first.unwrap() + MAX_WAIT);
                    prop_assert!(due >= last + QUIET || due == first.unwrap() + MAX_WAIT);
                    match batch {
                        WatchEvent::Dirty(paths) => {
                            prop_assert!(!all);
                            prop_assert_eq!(&paths, &waiting);
                        }
                        other => {
                            prop_assert!(all);
                            prop_assert_eq!(other, WatchEvent::Rescan("the system dropped events"));
                        }
                    }
                    waiting.clear();
                    all = false;
                    first = None;
                }
                now = next;
                match step {
                    Step::Insert(number) => {
                        set.insert(path(number), now);
                        waiting.insert(path(number));
                    }
                    Step::Rescan => {
                        set.rescan("the system dropped events", now);
                        all = true;
                    }
                }
                first.get_or_insert(now);
                last = now;
            }
            prop_assert_eq!(set.due(), Some(now + QUIET));
        }
    }
}
