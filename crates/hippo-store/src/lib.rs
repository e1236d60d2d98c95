//! Everything hippod keeps on disk: the database of a workspace, the contexts of agents, the vector index, atomic files.
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

pub mod contexts;
pub mod copies;
pub mod db;
mod error;
pub mod in_place;
pub mod shared_file;
pub mod system;
pub mod vector;

pub use error::StoreError;
