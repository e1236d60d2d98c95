//! State shared by engine, server and embed worker.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::mpsc::Sender;
use std::time::Instant;

use jiff::tz::TimeZone;
use tokio::sync::{broadcast, watch};

use hippo_proto::Paths;

use crate::clock::Clock;
use crate::config::Config;
use crate::contexts::Contexts;
use crate::embed_worker::EmbedWorker;
use crate::event::Event;
use crate::measures::Measures;
use crate::models::Models;
use crate::one_at_a_time::OneAtATime;
use crate::pulse::Pulse;
use crate::tree::Trees;
use crate::view::WorkspaceView;
use crate::views::Views;

/// Shared state of the daemon; one instance per process.
pub struct Shared {
    /// The configuration.
    pub config: Config,
    /// Paths of the daemon's files.
    pub paths: Paths,
    /// Clock.
    pub clock: Arc<dyn Clock>,
    /// Handle to the embed worker.
    pub embed: EmbedWorker,
    /// The installed models.
    pub models: Models,
    /// Channel to the engine.
    pub events: Sender<Event>,
    /// Events for subscribers.
    pub news: broadcast::Sender<hippo_proto::Event>,
    /// Views of the workspaces for queries.
    pub views: Views,
    /// Sessions of context entries.
    pub contexts: Contexts,
    /// Locks of the compaction trees.
    pub trees: Trees,
    /// Lock that serializes backups and restores.
    pub backups: OneAtATime,
    /// True if databases that were removed while open are being rewritten before shutdown.
    pub rescuing: AtomicBool,
    /// When the daemon started.
    pub started: Instant,
    /// Liveness signal of the engine.
    pub pulse: Pulse,
    /// Number of answered requests.
    pub served: AtomicU64,
    /// Counters of requests and cycles.
    pub measures: Measures,
    /// Shutdown signal; true once the daemon has to end.
    pub stop: watch::Sender<bool>,
}

impl Shared {
    /// Returns the time zone of a workspace: the configured one, or the machine's.
    pub fn zone_of(&self, view: &WorkspaceView) -> TimeZone {
        let own = view.config.search.time_zone();
        own.unwrap_or_else(|| self.clock.time_zone())
    }
}
