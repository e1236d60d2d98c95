//! Files that `init` installs and `init --undo` removes.
//!
//! The layout (the files of a platform) and the snapshot (the files on disk) are combined into a plan, without side
//! effects. The plan is then shown or applied. All changes are recorded in the state folder, so that undo can restore
//! every byte.

pub mod apply;
pub mod aside;
mod config;
mod json;
pub mod layout;
pub mod plan;
mod platform;
pub mod record;
pub mod rest;
mod revert;
pub mod snapshot;
mod splice;
mod text;

#[cfg(test)]
mod integrations;
#[cfg(test)]
mod tests;

pub use config::{CONFIG, LayoutConfig};
pub use plan::{ChangePlan, plan};
pub use platform::{DetectedPlatform, Harness, detect};
pub use record::{InitRecord, OLD_RECORD};
pub use revert::take_back;
pub use snapshot::{PathSnapshot, PathState};

/// A file that cannot be used. A single such file prevents all writes.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct UnusableFile {
    /// The path relative to the workspace.
    pub path: String,
    /// The description, with line and column if known.
    pub what: String,
}

/// A file or folder that stays unchanged.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct KeptPath {
    /// The path relative to the workspace.
    pub path: String,
    /// The reason.
    pub why: String,
}
