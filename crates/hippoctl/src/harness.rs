//! Files that `init` installs and `init --undo` removes.
//!
//! The layout lists the files of a platform, and the snapshot contains the files on disk. A plan is computed from both
//! without side effects, and is then shown or applied. All changes are recorded in the state folder, so that `init
//! --undo` can restore every byte.

pub mod apply;
pub mod aside;
mod config;
mod json;
pub mod layout;
pub mod loaded;
pub mod nodes;
pub mod plan;
mod platform;
pub mod record;
pub mod repository;
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
pub use platform::{Harness, NO_AGENT, detect};
pub use record::InitRecord;
pub use revert::take_back;
pub use snapshot::{PathSnapshot, PathState};

/// A file or folder, with the reason why it stays unchanged or cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathReason {
    /// The path relative to the workspace.
    pub path: String,
    /// The reason, with line and column if known.
    pub why: String,
}

impl PathReason {
    /// Creates a path with a reason.
    pub fn new(path: impl Into<String>, why: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            why: why.into(),
        }
    }
}
