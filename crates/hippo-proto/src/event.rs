//! What does the daemon say without being asked again: events after `subscribe`, progress during `model.pull`?

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::id::Id;
use crate::reply::encode_notification;
use crate::types::{CycleName, CycleOutcome};

/// A line without an id, as a client receives it.
#[derive(Debug, Clone, PartialEq)]
pub struct Notification {
    /// `event` or `progress`; others come from newer daemons and may be ignored.
    pub method: String,
    /// Its parameters, untyped.
    pub params: Value,
}

impl Notification {
    /// The event, or `None` where this is something else or an event of a newer daemon.
    pub fn event(&self) -> Option<Event> {
        (self.method == Event::METHOD)
            .then(|| Event::deserialize(&self.params).ok())
            .flatten()
    }

    /// The progress, or `None` where this is something else.
    pub fn progress(&self) -> Option<Progress> {
        (self.method == Progress::METHOD)
            .then(|| Progress::deserialize(&self.params).ok())
            .flatten()
    }
}

/// The events that can be subscribed to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum EventName {
    /// Changes of files have become searchable.
    Indexed,
    /// A workspace became degraded, or whole again.
    Degraded,
    /// A long-running job moved on.
    Job,
    /// A consolidation cycle ended.
    Cycle,
}

/// Parameters of an `event` notification: `{"event":"indexed", …}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// Changes of files have become searchable.
    Indexed {
        /// Canonical root of the workspace.
        workspace: String,
        /// Generation of the index from now on.
        generation: u64,
        /// Documents added or changed by this step.
        changed: u64,
        /// Documents removed by this step.
        removed: u64,
        /// Chunks that still wait for their vectors.
        pending: u64,
    },
    /// A workspace became degraded, or whole again.
    Degraded {
        /// Canonical root of the workspace.
        workspace: String,
        /// The state in one kebab-case word as in the `index` of an answer to `search`, or null: whole again.
        degraded: Option<String>,
        /// What it means and what to do, for a person.
        why: Option<String>,
    },
    /// A long-running job moved on.
    Job {
        /// Canonical root of the workspace, where the job concerns one.
        workspace: Option<String>,
        /// What runs, in kebab-case: `first-index`, `embed`, `vector-rebuild`, `model-pull`, `reconcile`.
        job: String,
        /// Units done.
        done: u64,
        /// Units in all, where known.
        total: Option<u64>,
        /// Whether this is the last word on this job.
        finished: bool,
    },
    /// A consolidation cycle ended.
    Cycle {
        /// Canonical root of the workspace.
        workspace: String,
        /// Its number in the workspace.
        run: i64,
        /// Which cycle.
        cycle: CycleName,
        /// How it ended.
        outcome: CycleOutcome,
        /// Steps that are done.
        applied: u64,
    },
}

impl Event {
    /// Method of the notification.
    pub const METHOD: &'static str = "event";

    /// Its name, for matching against a subscription.
    pub fn name(&self) -> EventName {
        match self {
            Event::Indexed { .. } => EventName::Indexed,
            Event::Degraded { .. } => EventName::Degraded,
            Event::Job { .. } => EventName::Job,
            Event::Cycle { .. } => EventName::Cycle,
        }
    }

    /// The workspace that it concerns, where it concerns one.
    pub fn workspace(&self) -> Option<&str> {
        match self {
            Event::Indexed { workspace, .. }
            | Event::Degraded { workspace, .. }
            | Event::Cycle { workspace, .. } => Some(workspace),
            Event::Job { workspace, .. } => workspace.as_deref(),
        }
    }

    /// The notification as one line, with its line feed.
    pub fn to_line(&self) -> Vec<u8> {
        encode_notification(Self::METHOD, self)
    }
}

/// Parameters of a `progress` notification, sent while the request `id` runs and before its answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Progress {
    /// Of the request that runs.
    pub id: Id,
    /// What is being done, in one word: `cache`, `download`, `verify`, `extract`, `install`; `backup`, …; of an import `wait` (for another
    /// one), `read`, `compare`, `prepare`, `write`, `save`.
    pub stage: String,
    /// The file or package that it concerns.
    pub item: String,
    /// Bytes done; of an import memories (`prepare`) or files (`write`).
    pub done: u64,
    /// The same in all, where known.
    pub total: Option<u64>,
}

impl Progress {
    /// Method of the notification.
    pub const METHOD: &'static str = "progress";

    /// The notification as one line, with its line feed.
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
    fn events_on_the_wire() {
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
                    cycle: CycleName::Deep,
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
    fn progress_on_the_wire() {
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
    fn an_event_of_a_newer_daemon_is_none() {
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
