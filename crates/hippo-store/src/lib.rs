//! Everything that hippod stores: databases, contexts, vector index, shared files.
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
