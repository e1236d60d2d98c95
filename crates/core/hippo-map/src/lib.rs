//! Index entries: strength, index file, layout, consolidation, bootstrap.
#![warn(clippy::disallowed_methods)]

pub mod audit;
pub mod bootstrap;
pub mod consolidation;
pub mod decay;
pub mod hierarchy;
pub mod index_file;
pub mod layout;
pub mod schedule;
pub mod truth;

#[cfg(test)]
mod secret_tests;
