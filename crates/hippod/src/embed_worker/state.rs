//! Where is each model, as far as the thread has heard of it, and what has it done?

use std::collections::BTreeMap;
use std::sync::Arc;

/// Where the model is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelState {
    /// Its files are not installed, or embedding is switched off.
    Absent(String),
    /// Installed, not in memory.
    Unloaded,
    /// On its way into memory.
    Loading,
    /// Answers.
    Ready,
    /// Could not be loaded.
    Failed(String),
}

impl ModelState {
    /// Whether a query may expect a vector.
    pub fn is_usable(&self) -> bool {
        matches!(self, Self::Unloaded | Self::Loading | Self::Ready)
    }
}

/// Counters for `status`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EmbedCounters {
    /// How often the model was loaded.
    pub loads: u64,
    /// Word pieces sent through it since the daemon started.
    pub word_pieces: u64,
}

/// What is known of the models.
pub(super) struct State {
    configured: Arc<str>,
    /// Of the configured model.
    pub(super) model: ModelState,
    /// Of the others that were asked for: of workspaces with a model of their own, and of former ones.
    others: BTreeMap<Arc<str>, ModelState>,
    pub(super) counters: EmbedCounters,
}

impl State {
    pub(super) fn new(configured: Arc<str>, model: ModelState) -> Self {
        Self {
            configured,
            model,
            others: BTreeMap::new(),
            counters: EmbedCounters::default(),
        }
    }

    /// What was known of the others holds no more.
    pub(super) fn forget(&mut self, configured: Arc<str>) {
        self.configured = configured;
        self.others.clear();
    }

    pub(super) fn of(&self, id: &str) -> &ModelState {
        if *self.configured == *id {
            return &self.model;
        }
        self.others.get(id).unwrap_or(&ModelState::Unloaded)
    }

    pub(super) fn set(&mut self, id: &Arc<str>, state: ModelState) {
        if self.configured == *id {
            self.model = state;
        } else {
            self.others.insert(Arc::clone(id), state);
        }
    }
}
