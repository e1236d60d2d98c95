//! Nodes of the compaction tree: days, weeks, months and `ROOT.md`.
//!
//! A node is a file that people and agents read. hippod derives each node from its sources: daily logs, or nodes of the
//! level below. hippod rebuilds a node only when its sources change, and keeps text that other writers added.
//! docs/tree.md describes the rules.

#![warn(clippy::disallowed_methods)]

mod below;
mod carried;
pub mod digest;
pub mod item;
mod make;
mod name;
mod node;
mod period;
mod plan;
pub mod root;
mod salience;
mod submitted;
mod top;
mod topic;
mod write;

pub use below::{collect_root_sources, sources};
pub use carried::ForeignRoot;
pub use item::NodeSource;
pub use make::{make, max_tokens};
pub use node::{BodyAuthor, Fingerprint, Node, NodeStatus, SINCE};
pub use period::Period;
pub use plan::{Cause, LevelInput, NodeAction, NodeStep, SourceFile, plan};
pub use submitted::{BodyRejection, LEAST_OVERLAP, build_submitted};
pub use top::build_root_file;

#[cfg(test)]
mod tests;

#[cfg(test)]
mod secret_tests;
