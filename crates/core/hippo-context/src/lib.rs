//! Context entries: short pointers in an agent's context to content kept elsewhere.
//!
//! The schema is v2 §14.1, field for field. Time is counted in turns of a session.

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

/// Tool results with more tokens than this become entries (v2 §6.1); smaller results pass through unchanged.
pub const WORTH_AN_ENTRY: u64 = 1_000;
