//! What `status` answers: from what the engine published last, so that it comes at once whatever the engine does.

use std::sync::atomic::Ordering;

use hippo_proto::{ModelLoad, ModelStatus, PROTOCOL, StatusResponse};

use crate::embed_worker::ModelState;
use crate::shared::{Shared, Slot};

/// Answers `status`.
pub fn status(shared: &Shared) -> StatusResponse {
    let workspaces = shared.views.all().into_iter().filter_map(|(_, slot)| match slot {
        Slot::Open(view) => view.status(),
        Slot::Opening | Slot::Broken(_) => None,
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

/// Resident memory of this process; 0 where the platform does not tell it in a file.
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
