//! What does hippod decide from values alone? Chunks, index terms, date expressions, ranking, strength, the index file.
//!
//! Nothing in this crate reads a clock, a file, the environment or randomness: the same arguments give the same answer.
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
