//! Times, ids, entries and token estimates that all crates share.
#![warn(clippy::disallowed_methods)]

pub mod entry;
pub mod time;
pub mod tokens;
