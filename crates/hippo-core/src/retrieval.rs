//! Query analysis and ranking of chunks.

pub mod collapse;
pub mod cue;
pub mod dates;
mod fuse;
mod lexical;
pub mod pack;
pub mod rank;
pub(crate) mod speaker;
pub mod terms;

pub use lexical::idf;
