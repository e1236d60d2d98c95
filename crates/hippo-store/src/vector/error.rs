//! Errors of the vector index and its dumps.

use std::io;

/// The reason why a vector was rejected. The index is unchanged.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum VectorError {
    /// The vector has another number of dimensions than the index.
    #[error("could not add a vector of {got} dimensions: the index has {expected}")]
    Dimension {
        /// Dimensions of the index.
        expected: usize,
        /// Dimensions of the vector.
        got: usize,
    },
    /// A component is NaN or infinite.
    #[error("could not add a vector with a component that is not finite")]
    NotFinite,
    /// The length is not 1 (within 1 %), usually because all components are zero.
    #[error("could not add a vector of length {length}: its length must be 1")]
    NotUnit {
        /// Euclidean length.
        length: f32,
    },
    /// The id is `u32::MAX`, which is reserved for empty slots.
    #[error("could not add a vector with id {}: the id is reserved", u32::MAX)]
    Id,
}

/// A dump was rejected. The index can be rebuilt from the store.
#[derive(Debug, thiserror::Error)]
#[error("could not use the dump of the vector index: {reason}")]
pub struct DumpRejected {
    /// The reason.
    pub reason: RejectReason,
}

/// The reason why a dump was rejected.
#[derive(Debug, thiserror::Error)]
pub enum RejectReason {
    /// The file does not exist.
    #[error("no such file")]
    Missing,
    /// The file could not be read.
    #[error("{0}")]
    Unreadable(io::Error),
    /// The file does not start with the magic.
    #[error("not a dump of a vector index")]
    NotADump,
    /// The format has another version.
    #[error("unknown format version {0}")]
    Version(u32),
    /// The file is shorter or longer than its header states.
    #[error("wrong length")]
    Length,
    /// A checksum differs: the file is damaged.
    #[error("checksum mismatch")]
    Checksum,
    /// The dump belongs to another state of the store. The string is the name of the field that differs.
    #[error("other {0}")]
    Identity(&'static str),
    /// The checksums match, but the parts are inconsistent.
    #[error("inconsistent parts")]
    Malformed,
}

impl From<io::Error> for RejectReason {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => Self::Length,
            _ => Self::Unreadable(error),
        }
    }
}
