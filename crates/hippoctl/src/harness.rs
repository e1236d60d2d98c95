//! Files that `init` lays out for the harness of an agent and `init --undo` takes back.
//!
//! Layout (what a platform gets) and snapshot (what stands there) make a plan, purely; the plan is shown or applied. What was
//! made is recorded in the state folder, so that it can be taken back to the byte.

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

pub use config::{CONFIG, Config};
pub use plan::{Plan, plan};
pub use platform::{Found, Platform, detect};
pub use record::{OLD_RECORD, Record};
pub use revert::take_back;
pub use snapshot::{Snapshot, State};

/// Why a file cannot be used: it stays as it is, and nothing is written at all.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Problem {
    /// Relative to the workspace.
    pub path: String,
    /// What is wrong; with line and column where there is one.
    pub what: String,
}

/// Something that is left as it is, and why.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Kept {
    /// Relative to the workspace.
    pub path: String,
    /// Why.
    pub why: String,
}
