//! Parsing and text analysis of markdown memory files.
#![warn(clippy::disallowed_methods)]

pub mod chunk;
pub mod control;
pub mod fence;
pub mod gist;
pub mod instruction;
pub mod literal;
pub mod own_block;
pub mod scope;
pub mod section;
pub mod source;
pub mod speaker;
pub mod terms;
pub mod text;
