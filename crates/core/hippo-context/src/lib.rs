//! Context entries: summaries that replace large content in prompts.
//!
//! The fields are those of the specification (v2 §14.1). Time is counted in turns of a session.

#![warn(clippy::disallowed_methods)]

pub mod capture;
pub mod complete;
pub mod extract;
pub mod fade;
pub mod lifecycle;
pub mod policy;
pub mod render;
#[cfg(test)]
mod tests;
pub mod yaml;

/// Number of tokens above which a tool result becomes an entry (v2 §6.1). Smaller results stay in the context
/// unchanged.
pub const WORTH_AN_ENTRY: u64 = 1_000;
