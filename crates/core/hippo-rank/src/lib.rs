//! Query analysis and ranking of chunks.

#![warn(clippy::disallowed_methods)]

pub mod collapse;
pub mod corpus;
pub mod cue;
pub mod dates;
pub mod floor;
pub mod foreign;
mod fuse;
mod lexical;
pub mod pack;
pub mod rank;
pub mod reason;
pub mod rerank;

pub use lexical::idf;
