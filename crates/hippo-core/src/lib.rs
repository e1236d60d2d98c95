//! Core of hippod: chunks, terms, ranking, strength, index file, cycles, sessions.
//!
//! The crate is pure: it does not use a clock, files, the environment or randomness, so that the same
//! arguments yield the same result.
#![warn(clippy::disallowed_methods)]

pub mod audit;
pub mod bootstrap;
pub mod chunk;
pub mod compaction;
pub mod consolidation;
pub mod context;
pub mod control;
pub mod corpus;
pub mod decay;
pub mod entry;
pub mod extract;
pub mod flush;
pub mod harness;
pub mod hierarchy;
pub mod import;
pub mod index_file;
pub mod instruction;
pub mod layout;
pub mod literal;
pub mod nesting;
pub mod own_block;
pub mod redact;
pub mod retrieval;
pub mod schedule;
pub mod section;
pub mod source;
pub mod text;
pub mod time;
pub mod tokens;
pub mod tree;
pub mod yaml;
