//! Response to `status`.
//!
//! The response contains the state last published by the engine, so it does not wait for the engine.

mod metrics;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use hippo_proto::{
    DiskStatus, ErrorKind, ModelLoad, ModelStatus, PROTOCOL, StatusResponse, VectorBackend, VectorStatus,
    WatcherMode, WatcherStatus, WorkspaceStatus,
};

use crate::embed_worker::ModelState;
use crate::shared::Shared;
use crate::tree;
use crate::view::Freshness;
use crate::views::Slot;

pub use metrics::metrics;

/// Handles `status`.
pub async fn status(shared: &Arc<Shared>) -> StatusResponse {
    let mut trees = tree::statuses(shared).await;
    let workspaces = shared.views.all().into_iter().map(|(root, slot)| {
        let mut status = workspace(&root, &slot);
        if let Slot::Open(view) = &slot {
            status.contexts = shared.contexts.usage(shared, view);
            let lost = shared.contexts.lost(shared, &root);
            if lost > 0 && status.degraded.is_none() {
                status.degraded = Some(Freshness::REPAIRED.to_owned());
                status.why = Some(format!(
                    "{lost} changes that sessions had stored are missing; hippoctl doctor says more"
                ));
            }
            status.tree = trees.remove(&root);
        }
        status
    });
    let uptime = shared.clock.monotonic().saturating_duration_since(shared.started);
    StatusResponse {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        pid: std::process::id(),
        uptime_ms: u64::try_from(uptime.as_millis()).unwrap_or(u64::MAX),
        protocol: PROTOCOL,
        socket: shared.paths.socket.display().to_string(),
        home: shared.paths.state.display().to_string(),
        model: model(shared),
        workspaces: workspaces.collect(),
        memory_rss_bytes: resident_bytes(),
        requests_served: shared.served.load(Ordering::Relaxed),
    }
}

/// Returns the published status of a workspace. Before the first one, and if the workspace could not be
/// opened, returns the reason without figures.
fn workspace(root: &Path, slot: &Slot) -> WorkspaceStatus {
    let (word, why) = match slot {
        Slot::Open(view) => match view.status() {
            Some(status) => return status,
            None => ("warming", "it is being opened".to_owned()),
        },
        Slot::Opening => ("warming", "it is being opened".to_owned()),
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
        documents: 0,
        chunks: 0,
        pending: 0,
        embedded: 0,
        skipped: Vec::new(),
        skipped_count: 0,
        generation: 0,
        lag_ms: 0,
        degraded: Some(word.to_owned()),
        why: Some(why),
        settings: None,
        untrusted: Vec::new(),
        watcher: WatcherStatus {
            mode: WatcherMode::None,
            alive: false,
            last_event_ms_ago: None,
            last_canary_ms_ago: None,
            last_reconcile_ms_ago: None,
            changed_at_last_reconcile: 0,
        },
        disk: DiskStatus::default(),
        held_deletions: 0,
        root_present: hippo_fs::is_present(root),
        vector: VectorStatus {
            backend: VectorBackend::Exact,
            vectors: 0,
            tombstones: 0,
            building: false,
            model: None,
        },
        database_bytes: 0,
        index: None,
        contexts: None,
        tree: None,
    }
}

fn model(shared: &Shared) -> ModelStatus {
    let (state, counters) = shared.embed.state();
    let (state, reason) = match state {
        ModelState::Absent(why) => (ModelLoad::Absent, Some(why)),
        ModelState::Unloaded => (ModelLoad::Unloaded, None),
        ModelState::Loading => (ModelLoad::Loading, None),
        ModelState::Ready => (ModelLoad::Ready, None),
        ModelState::Failed(why) => (ModelLoad::Failed, Some(why)),
    };
    ModelStatus {
        state,
        id: shared
            .models
            .configured()
            .map(|model| model.id.to_string())
            .unwrap_or_default(),
        reason,
        threads: u32::try_from(shared.config.embed.threads).unwrap_or(u32::MAX),
        loads: counters.loads,
        word_pieces: counters.word_pieces,
    }
}

/// Returns the resident memory of this process in bytes; 0 where the operating system does not report it in a
/// file.
#[cfg(unix)]
#[expect(clippy::disallowed_methods, reason = "a file of the system")]
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

#[cfg(not(unix))]
fn resident_bytes() -> u64 {
    0
}
