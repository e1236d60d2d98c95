//! How many requests were there, how long did they take, and how did they end?

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hippo_core::time::Timestamp;
use hippo_proto::ErrorKind;

/// Stands for the method of what is no request.
pub const NO_METHOD: &str = "none";
/// Upper bounds of the classes of times, in seconds; above the last one there is one class more.
pub const BUCKETS: [f64; 13] = [
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 60.0,
];

/// What is counted since the start.
pub struct Measures {
    /// Tells requests of this daemon from those of an earlier one in the same log.
    start: i64,
    last: AtomicU64,
    requests: Mutex<BTreeMap<(&'static str, String), Timing>>,
    cycles: Mutex<BTreeMap<(&'static str, &'static str), u64>>,
    /// The longest time that the engine was busy with one thing, in microseconds.
    longest_slice: AtomicU64,
}

/// How long some requests took.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Timing {
    /// Requests of each class of [`BUCKETS`], each counted in one of them.
    pub classes: [u64; BUCKETS.len()],
    /// All requests.
    pub count: u64,
    /// Seconds of all of them together.
    pub seconds: f64,
}

impl Timing {
    fn add(&mut self, took: Duration) {
        let seconds = took.as_secs_f64();
        if let Some(class) = BUCKETS.iter().position(|bound| seconds <= *bound) {
            self.classes[class] += 1;
        }
        self.count += 1;
        self.seconds += seconds;
    }
}

impl Measures {
    /// Nothing is counted yet.
    pub fn new(now: Timestamp) -> Self {
        Self {
            start: (now.0 / 1000) & 0xff_ffff,
            last: AtomicU64::new(0),
            requests: Mutex::default(),
            cycles: Mutex::default(),
            longest_slice: AtomicU64::new(0),
        }
    }

    /// The id of the next request.
    pub fn next_id(&self) -> String {
        let number = self.last.fetch_add(1, Ordering::Relaxed) + 1;
        format!("{:06x}-{number}", self.start)
    }

    /// Counts a request that was answered, or failed with an error of that kind.
    pub fn request(&self, method: &'static str, failed: Option<ErrorKind>, took: Duration) {
        let key = (method, outcome(failed));
        locked(&self.requests).entry(key).or_default().add(took);
    }

    /// Counts a run of a cycle.
    pub fn cycle(&self, cycle: &'static str, outcome: &'static str) {
        *locked(&self.cycles).entry((cycle, outcome)).or_default() += 1;
    }

    /// Notes for how long the engine heard nothing else.
    pub fn engine_slice(&self, took: Duration) {
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.longest_slice.fetch_max(micros, Ordering::Relaxed);
    }

    /// The longest time for which the engine heard nothing else.
    pub fn longest_engine_slice(&self) -> Duration {
        Duration::from_micros(self.longest_slice.load(Ordering::Relaxed))
    }

    /// All requests so far, by method and outcome.
    pub fn requests(&self) -> BTreeMap<(&'static str, String), Timing> {
        locked(&self.requests).clone()
    }

    /// All runs of cycles so far, by cycle and outcome.
    pub fn cycles(&self) -> BTreeMap<(&'static str, &'static str), u64> {
        locked(&self.cycles).clone()
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How a request ended, in one word: `ok`, or the kind of its error as on the wire.
pub fn outcome(failed: Option<ErrorKind>) -> String {
    let kind = failed.and_then(|kind| serde_json::to_value(kind).ok());
    let word = kind.as_ref().and_then(serde_json::Value::as_str);
    word.unwrap_or("ok").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_request_is_in_one_class_and_has_an_id_of_its_own() {
        let measures = Measures::new(Timestamp(0));
        for took in [0, 1, 2, 3000, 70_000] {
            measures.request("search", None, Duration::from_millis(took));
        }
        measures.request("search", Some(ErrorKind::NoWorkspace), Duration::ZERO);
        let all = measures.requests();
        let fine = &all[&("search", "ok".to_owned())];
        assert_eq!((fine.count, fine.classes.iter().sum::<u64>()), (5, 4));
        assert_eq!((fine.classes[0], fine.classes[1], fine.classes[11]), (2, 1, 1));
        assert_eq!(all[&("search", "no-workspace".to_owned())].count, 1);
        assert_eq!(
            (measures.next_id(), measures.next_id()),
            ("000000-1".into(), "000000-2".into())
        );
    }
}
