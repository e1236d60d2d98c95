//! Model states and counters of the embed worker.

use std::collections::BTreeMap;
use std::sync::Arc;

/// State of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelPhase {
    /// The files are not installed, or embedding is disabled; the string is the reason.
    Absent(String),
    /// Installed, but not in memory.
    Unloaded,
    /// Being loaded into memory.
    Loading,
    /// Loaded and ready.
    Ready,
    /// Loading failed; the string is the reason.
    Failed(String),
}

impl ModelPhase {
    /// Returns whether the model can compute the vector of a query.
    pub fn is_usable(&self) -> bool {
        matches!(self, Self::Unloaded | Self::Loading | Self::Ready)
    }
}

/// Counters for `status`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EmbedCounters {
    /// Number of times a model was loaded.
    pub loads: u64,
    /// Tokens processed since the daemon started.
    pub word_pieces: u64,
}

/// State of all models.
pub(super) struct EmbedState {
    configured: Arc<str>,
    /// State of the configured model and of other requested models: models of workspaces that set their own, and
    /// previous models.
    models: BTreeMap<Arc<str>, ModelPhase>,
    pub(super) counters: EmbedCounters,
}

impl EmbedState {
    pub(super) fn new(configured: Arc<str>, model: ModelPhase) -> Self {
        Self {
            models: BTreeMap::from([(Arc::clone(&configured), model)]),
            configured,
            counters: EmbedCounters::default(),
        }
    }

    /// Sets the configured model and discards the states of all models.
    pub(super) fn forget(&mut self, configured: Arc<str>) {
        self.configured = configured;
        self.models.clear();
    }

    pub(super) fn configured(&self) -> &ModelPhase {
        self.of(&self.configured)
    }

    pub(super) fn of(&self, id: &str) -> &ModelPhase {
        self.models.get(id).unwrap_or(&ModelPhase::Unloaded)
    }

    pub(super) fn set(&mut self, id: &Arc<str>, state: ModelPhase) {
        self.models.insert(Arc::clone(id), state);
    }
}
