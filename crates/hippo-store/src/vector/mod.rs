//! Nearest-neighbour search over the stored vectors: exact scan and HNSW graph.
//!
//! The index is a cache of the vectors in SQLite, and can be rebuilt. A unit vector is stored as one int8 code per
//! dimension and one scale (`quantize`). With up to [`VectorParams::exact_below`] live vectors, every query scans all
//! of them (`scan`). With more, a graph that is built in the background (`build`, `graph`) selects the candidates. In
//! both cases, the candidates are refined with the full codes, and the best ones are then scored with the exact
//! vectors, which the caller provides.

mod build;
mod error;
mod graph;
mod index;
mod params;
mod quantize;
mod scan;
mod search;
mod slots;

pub use build::{BuildJob, BuiltGraph};
pub use error::VectorError;
pub use index::VectorIndex;
pub use params::VectorParams;
pub use quantize::PreparedQuery;
pub use search::{IdFilter, Rescore};
