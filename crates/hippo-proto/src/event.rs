//! Notifications: subscribed events, and progress of long requests.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::id::Id;
use crate::reply::encode_notification;
use crate::types::CycleOutcome;
use hippo_types::cycle::Cycle;

/// A notification as received by a client: a line without an id.
#[derive(Debug, Clone, PartialEq)]
pub struct Notification {
    /// `event` or `progress`; a newer daemon may send other methods, which clients ignore.
    pub method: String,
    /// Parameters of the notification, untyped.
    pub params: Value,
}

impl Notification {
    /// Parses the event. Returns `None` for other notifications and for unknown events.
    pub fn event(&self) -> Option<Event> {
        (self.method == Event::METHOD)
            .then(|| Event::deserialize(&self.params).ok())
            .flatten()
    }

    /// Parses the progress. Returns `None` for other notifications.
    pub fn progress(&self) -> Option<Progress> {
        (self.method == Progress::METHOD)
            .then(|| Progress::deserialize(&self.params).ok())
            .flatten()
    }
}

/// The events of a subscription.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EventName {
    /// File changes are searchable.
    Indexed,
    /// A workspace became degraded or recovered.
    Degraded,
    /// A long-running job made progress.
    Job,
    /// A consolidation cycle finished.
    Cycle,
}

/// Parameters of an `event` notification: `{"event":"indexed", …}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// File changes are searchable.
    Indexed {
        /// Canonical root of the workspace.
        workspace: String,
        /// New generation of the index.
        generation: u64,
        /// Documents added or changed by this step.
        changed: u64,
        /// Documents removed by this step.
        removed: u64,
        /// Chunks without a vector.
        pending: u64,
    },
    /// A workspace became degraded or recovered.
    Degraded {
        /// Canonical root of the workspace.
        workspace: String,
        /// The state as one kebab-case word, as in the `index` member of a `search` answer; null after recovery.
        degraded: Option<String>,
        /// The meaning of the state and how to fix it, as text.
        why: Option<String>,
    },
    /// A long-running job made progress.
    Job {
        /// Canonical root of the workspace, if the job belongs to one.
        workspace: Option<String>,
        /// The job in kebab-case: `first-index`, `embed`, `vector-rebuild`, `model-pull`, `reconcile`.
        job: String,
        /// Number of completed units.
        done: u64,
        /// Total number of units, if known.
        total: Option<u64>,
        /// True if the job is finished.
        finished: bool,
    },
    /// A consolidation cycle finished.
    Cycle {
        /// Canonical root of the workspace.
        workspace: String,
        /// Number of the run, which is unique in the workspace.
        run: i64,
        /// The cycle that finished.
        cycle: Cycle,
        /// The outcome of the run.
        outcome: CycleOutcome,
        /// Number of applied steps.
        applied: u64,
    },
}

impl Event {
    /// Method of the notification.
    pub const METHOD: &'static str = "event";

    /// Returns the name of the event for a subscription.
    pub fn name(&self) -> EventName {
        match self {
            Event::Indexed { .. } => EventName::Indexed,
            Event::Degraded { .. } => EventName::Degraded,
            Event::Job { .. } => EventName::Job,
            Event::Cycle { .. } => EventName::Cycle,
        }
    }

    /// Returns the workspace of the event, if it has one.
    pub fn workspace(&self) -> Option<&str> {
        match self {
            Event::Indexed { workspace, .. }
            | Event::Degraded { workspace, .. }
            | Event::Cycle { workspace, .. } => Some(workspace),
            Event::Job { workspace, .. } => workspace.as_deref(),
        }
    }

    /// Encodes the notification as one line with a line feed.
    pub fn to_line(&self) -> Vec<u8> {
        encode_notification(Self::METHOD, self)
    }
}

/// Parameters of a `progress` notification, sent while the request `id` runs and before its answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Progress {
    /// Id of the running request.
    pub id: Id,
    /// The current stage: `download`, `check`, `extract` or `done`.
    pub stage: String,
    /// The current file or package.
    pub item: String,
    /// Number of bytes processed so far.
    pub done: u64,
    /// Total number of bytes, if known.
    pub total: Option<u64>,
}

impl Progress {
    /// Method of the notification.
    pub const METHOD: &'static str = "progress";

    /// Encodes the notification as one line with a line feed.
    pub fn to_line(&self) -> Vec<u8> {
        encode_notification(Self::METHOD, self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn roundtrip(line: Vec<u8>) -> (String, Notification) {
        let text = String::from_utf8(line).unwrap();
        let value: Value = serde_json::from_str(&text).unwrap();
        let method = value["method"].as_str().unwrap().to_owned();
        (
            text,
            Notification {
                method,
                params: value["params"].clone(),
            },
        )
    }

    #[test]
    fn events_survive_a_round_trip() {
        let events = [
            (
                Event::Indexed {
                    workspace: "/w".into(),
                    generation: 3,
                    changed: 2,
                    removed: 0,
                    pending: 9,
                },
                r#"{"jsonrpc":"2.0","method":"event","params":{"event":"indexed","workspace":"/w","generation":3,"changed":2,"removed":0,"pending":9}}"#,
            ),
            (
                Event::Degraded {
                    workspace: "/w".into(),
                    degraded: Some("no-model".into()),
                    why: None,
                },
                r#"{"jsonrpc":"2.0","method":"event","params":{"event":"degraded","workspace":"/w","degraded":"no-model","why":null}}"#,
            ),
            (
                Event::Job {
                    workspace: None,
                    job: "model-pull".into(),
                    done: 1,
                    total: Some(2),
                    finished: false,
                },
                r#"{"jsonrpc":"2.0","method":"event","params":{"event":"job","workspace":null,"job":"model-pull","done":1,"total":2,"finished":false}}"#,
            ),
            (
                Event::Cycle {
                    workspace: "/w".into(),
                    run: 12,
                    cycle: Cycle::Deep,
                    outcome: CycleOutcome::Capped,
                    applied: 40,
                },
                r#"{"jsonrpc":"2.0","method":"event","params":{"event":"cycle","workspace":"/w","run":12,"cycle":"deep","outcome":"capped","applied":40}}"#,
            ),
        ];
        for (event, golden) in events {
            let (text, notification) = roundtrip(event.to_line());
            assert_eq!(text.trim_end(), golden);
            assert_eq!(notification.progress(), None);
            assert_eq!(notification.event(), Some(event));
        }
    }

    #[test]
    fn progress_survives_a_round_trip() {
        let progress = Progress {
            id: Id::from(4),
            stage: "download".into(),
            item: "model.safetensors".into(),
            done: 10,
            total: None,
        };
        let (text, notification) = roundtrip(progress.to_line());
        assert_eq!(
            text.trim_end(),
            r#"{"jsonrpc":"2.0","method":"progress","params":{"id":4,"stage":"download","item":"model.safetensors","done":10,"total":null}}"#
        );
        assert_eq!(notification.event(), None);
        assert_eq!(notification.progress(), Some(progress));
    }

    #[test]
    fn an_unknown_event_is_ignored() {
        let params = serde_json::json!({"event": "of-tomorrow", "workspace": "/w"});
        assert_eq!(
            Notification {
                method: "event".into(),
                params
            }
            .event(),
            None
        );
    }
}
