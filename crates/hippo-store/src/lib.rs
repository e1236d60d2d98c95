//! Everything hippod keeps on disk: the database of a workspace, the vector index beside it, atomic files.

pub mod db;
mod error;
pub mod shared_file;
pub mod vector;

pub use error::StoreError;
