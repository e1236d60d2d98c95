//! Vocabulary of all crates: times, ids, entries, and the values of settings and requests.
//!
//! Each enum is defined here once, with its names on the wire, in files and on the command line.
#![warn(clippy::disallowed_methods)]

#[macro_use]
mod names;

pub mod context;
pub mod cycle;
pub mod entry;
pub mod memory;
pub mod scope;
pub mod search;
pub mod time;
pub mod tokens;
pub mod transcript;

pub use names::UnknownName;
