//! Which stored vectors are nearest to a query: one index, exact scan and HNSW graph inside.
//!
//! Vectors are truth in SQLite; everything here is a rebuildable cache of them. A vector of unit length is kept as
//! one int8 code per dimension and one scale (`quantize`). Below [`VectorParams::exact_below`] live vectors every
//! query reads all of them (`scan`); above it a graph built in the background (`build`, `graph`) names the
//! candidates. Both paths refine their candidates with the full codes and rescore the best with the exact vectors
//! that the caller fetches.

mod build;
mod dump;
mod error;
mod graph;
mod index;
mod params;
mod quantize;
mod scan;
mod search;
mod slots;

pub use build::{BuildCancelled, BuildJob, Built};
pub use dump::{DUMP_FILE, DumpIdentity};
pub use error::{DumpRejected, RejectReason, VectorError};
pub use index::VectorIndex;
pub use params::VectorParams;
pub use quantize::PreparedQuery;
pub use search::{Filter, Rescore};
