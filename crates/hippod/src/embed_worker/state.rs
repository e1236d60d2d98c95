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
    pub(super) configured: Arc<str>,
    /// State of each model: the configured one, those that workspaces configure for themselves, and previous models
    /// that are still requested.
    pub(super) models: BTreeMap<Arc<str>, ModelPhase>,
    pub(super) counters: EmbedCounters,
}

impl EmbedState {
    /// Returns the state of a model. A model that was never requested counts as unloaded.
    pub(super) fn of(&self, id: &str) -> ModelPhase {
        self.models.get(id).cloned().unwrap_or(ModelPhase::Unloaded)
    }
}
