//! Counts and durations of requests and cycles.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use hippo_proto::ErrorKind;
use hippo_types::time::Timestamp;
use parking_lot::Mutex;

/// Method name under which invalid requests are counted.
pub const NO_METHOD: &str = "none";
/// Counters since the start of the daemon.
pub struct Measures {
    /// Prefix of the request ids that distinguishes this run of the daemon from earlier runs in the same log.
    start: i64,
    last: AtomicU64,
    /// Number of requests, by method and outcome.
    requests: Mutex<BTreeMap<(&'static str, String), u64>>,
    cycles: Mutex<BTreeMap<(&'static str, &'static str), u64>>,
    /// Longest time that the engine was busy with one task, in microseconds.
    longest_slice: AtomicU64,
}

impl Measures {
    /// Creates counters at zero.
    pub fn new(now: Timestamp) -> Self {
        Self {
            start: (now.0 / 1000) & 0xff_ffff,
            last: AtomicU64::new(0),
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

    /// Returns the number of answered requests.
    pub fn served(&self) -> u64 {
        self.requests.lock().values().sum()
    }

    /// Counts a request with its outcome; `failed` is the kind of its error.
    pub fn request(&self, method: &'static str, failed: Option<ErrorKind>) {
        let key = (method, outcome(failed));
        *self.requests.lock().entry(key).or_default() += 1;
    }

    /// Counts a run of a cycle.
    pub fn cycle(&self, cycle: &'static str, outcome: &'static str) {
        *self.cycles.lock().entry((cycle, outcome)).or_default() += 1;
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

    /// Returns the number of requests, by method and outcome.
    pub fn requests(&self) -> BTreeMap<(&'static str, String), u64> {
        self.requests.lock().clone()
    }

    /// Returns the number of cycle runs, by cycle and outcome.
    pub fn cycles(&self) -> BTreeMap<(&'static str, &'static str), u64> {
        self.cycles.lock().clone()
    }
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
    fn requests_are_counted_by_outcome_and_have_unique_ids() {
        let measures = Measures::new(Timestamp(0));
        measures.request("search", None);
        measures.request("search", None);
        measures.request("search", Some(ErrorKind::NoWorkspace));
        let all = measures.requests();
        assert_eq!(all[&("search", "ok".to_owned())], 2);
        assert_eq!(all[&("search", "no-workspace".to_owned())], 1);
        assert_eq!(
            (measures.next_id(), measures.next_id()),
            ("000000-1".into(), "000000-2".into())
        );
    }
}
