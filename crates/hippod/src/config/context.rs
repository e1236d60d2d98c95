//! Settings of session contexts.

use serde::{Deserialize, Serialize};

use hippo_context::{WORTH_AN_ENTRY, capture};

/// `[context]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ContextConfig {
    /// Size in tokens above which a tool result becomes an entry.
    pub worth_tokens: u64,
    /// Maximum size of all stored contents in MiB.
    pub budget_mb: u64,
    /// Number of days for which contents of closed sessions are kept after their last use.
    pub keep_days: u32,
    /// Default maximum size of a rendered section in tokens.
    pub render_tokens: u32,
    /// Share of the context window from which a turn includes a deep cycle.
    pub threshold: f64,
    /// True if content that contains a secret is stored as well.
    pub store_secrets: bool,
}

impl ContextConfig {
    /// Returns the maximum size of all stored contents in bytes.
    pub fn budget_bytes(&self) -> u64 {
        self.budget_mb.saturating_mul(1 << 20)
    }

    /// Converts the settings for capturing tool results.
    pub fn capture(&self) -> capture::CaptureSettings {
        capture::CaptureSettings {
            worth_tokens: self.worth_tokens,
            store_secrets: self.store_secrets,
            ..capture::CaptureSettings::default()
        }
    }
}

impl Default for ContextConfig {
    fn default() -> Self {
        Self {
            worth_tokens: WORTH_AN_ENTRY,
            budget_mb: 1_024,
            keep_days: 90,
            render_tokens: 5_000,
            threshold: 0.8,
            store_secrets: true,
        }
    }
}
