//! What does a question ask for, and which chunks answer it?

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
