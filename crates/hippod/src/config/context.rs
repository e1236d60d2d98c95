//! Which settings have the contexts of sessions?

use serde::{Deserialize, Serialize};

use hippo_core::context::{WORTH_AN_ENTRY, capture};

/// `[context]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Context {
    /// Tool results of more tokens become entries.
    pub worth_tokens: u64,
    /// Megabytes that contents may take as they are stored.
    pub budget_mb: u64,
    /// Days for which the contents of closed sessions are kept after their last use.
    pub keep_days: u32,
    /// Tokens of a rendered section, unless the request says otherwise.
    pub render_tokens: u32,
    /// Share of the context's limit from which a turn is a deep cycle.
    pub threshold: f64,
    /// Whether content that shows a secret is stored.
    pub store_secrets: bool,
    /// Whether what remains of a session goes into MEMORY.md too.
    pub persist_to_memory_md: bool,
}

impl Context {
    /// Bytes that contents may take.
    pub fn budget_bytes(&self) -> u64 {
        self.budget_mb.saturating_mul(1 << 20)
    }

    /// As the core takes it.
    pub fn capture(&self) -> capture::CaptureSettings {
        capture::CaptureSettings {
            worth_tokens: self.worth_tokens,
            store_secrets: self.store_secrets,
            ..capture::CaptureSettings::default()
        }
    }
}

impl Default for Context {
    fn default() -> Self {
        Self {
            worth_tokens: WORTH_AN_ENTRY,
            budget_mb: 1_024,
            keep_days: 90,
            render_tokens: 5_000,
            threshold: 0.8,
            store_secrets: true,
            persist_to_memory_md: false,
        }
    }
}
