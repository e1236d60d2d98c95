//! Counts and durations of requests and cycles.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hippo_proto::ErrorKind;
use hippo_types::time::Timestamp;

/// Method name for input that is not a valid request.
pub const NO_METHOD: &str = "none";
/// Upper bounds of the duration classes, in seconds. Longer durations are counted only in the total.
pub const BUCKETS: [f64; 13] = [
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 60.0,
];

/// Counters since the start of the daemon.
pub struct Measures {
    /// Prefix of the request ids that distinguishes this run of the daemon from earlier runs in the same log.
    start: i64,
    last: AtomicU64,
    served: AtomicU64,
    requests: Mutex<BTreeMap<(&'static str, String), Timing>>,
    cycles: Mutex<BTreeMap<(&'static str, &'static str), u64>>,
    /// Longest time that the engine was busy with one task, in microseconds.
    longest_slice: AtomicU64,
}

/// Durations of a group of requests.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Timing {
    /// Number of requests per duration class of [`BUCKETS`]; each request is counted in at most one class.
    pub classes: [u64; BUCKETS.len()],
    /// Number of all requests.
    pub count: u64,
    /// Total duration, in seconds.
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
    /// Creates counters at zero.
    pub fn new(now: Timestamp) -> Self {
        Self {
            start: (now.0 / 1000) & 0xff_ffff,
            last: AtomicU64::new(0),
            served: AtomicU64::new(0),
            requests: Mutex::default(),
            cycles: Mutex::default(),
            longest_slice: AtomicU64::new(0),
        }
    }

    /// Returns the id of the next request.
    pub fn next_id(&self) -> String {
        let number = self.last.fetch_add(1, Ordering::Relaxed) + 1;
        format!("{:06x}-{number}", self.start)
    }

    /// Counts an answered request.
    pub fn count_served(&self) {
        self.served.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the number of answered requests.
    pub fn served(&self) -> u64 {
        self.served.load(Ordering::Relaxed)
    }

    /// Counts a request with its outcome and duration; `failed` is the kind of its error.
    pub fn request(&self, method: &'static str, failed: Option<ErrorKind>, took: Duration) {
        let key = (method, outcome(failed));
        locked(&self.requests).entry(key).or_default().add(took);
    }

    /// Counts a run of a cycle.
    pub fn cycle(&self, cycle: &'static str, outcome: &'static str) {
        *locked(&self.cycles).entry((cycle, outcome)).or_default() += 1;
    }

    /// Records how long the engine was busy with one task.
    pub fn engine_slice(&self, took: Duration) {
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.longest_slice.fetch_max(micros, Ordering::Relaxed);
    }

    /// Returns the longest time that the engine was busy with one task.
    pub fn longest_engine_slice(&self) -> Duration {
        Duration::from_micros(self.longest_slice.load(Ordering::Relaxed))
    }

    /// Returns the timings of all requests, by method and outcome.
    pub fn requests(&self) -> BTreeMap<(&'static str, String), Timing> {
        locked(&self.requests).clone()
    }

    /// Returns the number of cycle runs, by cycle and outcome.
    pub fn cycles(&self) -> BTreeMap<(&'static str, &'static str), u64> {
        locked(&self.cycles).clone()
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the outcome of a request as one word: `ok`, or the error kind as on the wire.
pub fn outcome(failed: Option<ErrorKind>) -> String {
    let kind = failed.and_then(|kind| serde_json::to_value(kind).ok());
    let word = kind.as_ref().and_then(serde_json::Value::as_str);
    word.unwrap_or("ok").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_request_has_one_latency_class_and_a_unique_id() {
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
