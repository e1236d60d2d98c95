//! Response to `status`.
//!
//! The response contains the state that the engine published last, so it does not wait for the engine.

mod metrics;

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use hippo_proto::{ErrorKind, ModelLoad, ModelStatus, PROTOCOL, Paths, StatusResponse, WorkspaceStatus};

use crate::clock::Clock;
use crate::contexts::Contexts;
use crate::embed_worker::{EmbedWorker, ModelPhase};
use crate::measures::Measures;
use crate::models::Models;
use crate::tree::{self, Trees};
use crate::view::Freshness;
use crate::views::{Slot, Views};

pub use metrics::metrics;

/// Reporter of the daemon's status.
pub struct StatusReporter {
    /// Start time of the daemon.
    pub started: Instant,
    /// Clock.
    pub clock: Arc<dyn Clock>,
    /// Paths of the daemon's files.
    pub paths: Paths,
    /// Number of threads of the embed worker, from the user's settings.
    pub threads: usize,
    /// Registered workspaces.
    pub views: Arc<Views>,
    /// Handle to the embed worker.
    pub embed: EmbedWorker,
    /// The installed models.
    pub models: Arc<Models>,
    /// Sessions of context entries.
    pub contexts: Arc<Contexts>,
    /// Trees of the workspaces.
    pub trees: Arc<Trees>,
    /// Counters of requests and cycles.
    pub measures: Arc<Measures>,
}

/// Handles `status`.
pub async fn status(reporter: &StatusReporter) -> StatusResponse {
    let mut trees = tree::statuses(&reporter.trees).await;
    let workspaces = reporter.views.all().into_iter().map(|(root, slot)| {
        let mut status = workspace(&root, &slot);
        if let Slot::Open(view) = &slot {
            status.contexts = reporter.contexts.usage(view);
            let lost = reporter.contexts.lost(&root);
            if lost > 0 && status.degraded.is_none() {
                status.degraded = Some(Freshness::REPAIRED.to_owned());
                status.why = Some(format!(
                    "{lost} stored changes of sessions are missing; for details: hippoctl doctor"
                ));
            }
            status.tree = trees.remove(&root);
        }
        status
    });
    let uptime = reporter
        .clock
        .monotonic()
        .saturating_duration_since(reporter.started);
    StatusResponse {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        pid: std::process::id(),
        uptime_ms: u64::try_from(uptime.as_millis()).unwrap_or(u64::MAX),
        protocol: PROTOCOL,
        socket: reporter.paths.socket.display().to_string(),
        home: reporter.paths.state.display().to_string(),
        model: model(reporter),
        workspaces: workspaces.collect(),
        memory_rss_bytes: resident_bytes(),
        requests_served: reporter.measures.served(),
    }
}

/// Returns the published status of a workspace. If none is published yet, or if the workspace could not be opened,
/// returns the reason and no figures.
fn workspace(root: &Path, slot: &Slot) -> WorkspaceStatus {
    let (word, why) = match slot {
        Slot::Open(view) => match view.status() {
            Some(status) => return status,
            None => ("warming", "the workspace is being opened".to_owned()),
        },
        Slot::Opening => ("warming", "the workspace is being opened".to_owned()),
        Slot::Broken(error) => {
            let hint: &str = &error.data.hint;
            let word = match error.data.kind {
                ErrorKind::TooManyOpenFiles => "too-many-open-files",
                _ => "not-open",
            };
            (word, format!("{}; {hint}", error.message))
        }
    };
    WorkspaceStatus {
        root: root.display().to_string(),
        degraded: Some(word.to_owned()),
        why: Some(why),
        root_present: hippo_fs::is_present(root),
        ..WorkspaceStatus::default()
    }
}

fn model(reporter: &StatusReporter) -> ModelStatus {
    let (state, counters) = reporter.embed.state();
    let (state, reason) = match state {
        ModelPhase::Absent(why) => (ModelLoad::Absent, Some(why)),
        ModelPhase::Unloaded => (ModelLoad::Unloaded, None),
        ModelPhase::Loading => (ModelLoad::Loading, None),
        ModelPhase::Ready => (ModelLoad::Ready, None),
        ModelPhase::Failed(why) => (ModelLoad::Failed, Some(why)),
    };
    ModelStatus {
        state,
        id: reporter
            .models
            .configured()
            .map(|model| model.id.to_string())
            .unwrap_or_default(),
        reason,
        threads: u32::try_from(reporter.threads).unwrap_or(u32::MAX),
        loads: counters.loads,
        word_pieces: counters.word_pieces,
    }
}

/// Returns the resident memory of this process in bytes, or 0 if the system has no `/proc` file for it.
#[expect(clippy::disallowed_methods, reason = "a system file")]
fn resident_bytes() -> u64 {
    let Ok(statm) = std::fs::read_to_string("/proc/self/statm") else {
        return 0;
    };
    let pages = statm
        .split_whitespace()
        .nth(1)
        .and_then(|pages| pages.parse::<u64>().ok());
    pages.unwrap_or(0) * rustix::param::page_size() as u64
}
