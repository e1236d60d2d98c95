//! What can be wrong with a vector that is offered to the index, or with a dump of one.

use std::io;

/// Why a vector was refused. Nothing was changed in the index.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum VectorError {
    /// The vector has another number of dimensions than the index.
    #[error("could not take a vector of {got} dimensions: the index holds vectors of {expected}")]
    Dimension {
        /// Dimensions of the index.
        expected: usize,
        /// Dimensions of the vector.
        got: usize,
    },
    /// A component is NaN or infinite.
    #[error("could not take a vector that is not finite")]
    NotFinite,
    /// The length is not 1 (within 1 %); the zero vector is the usual case.
    #[error("could not take a vector of length {length}: unit length is expected")]
    NotUnit {
        /// Euclidean length.
        length: f32,
    },
    /// The id is `u32::MAX`, which marks an empty slot.
    #[error("could not take a vector for id {}", u32::MAX)]
    Id,
}

/// A dump was not used. The index can be built from the store again.
#[derive(Debug, thiserror::Error)]
#[error("could not use the dump of the vector index: {reason}")]
pub struct DumpRejected {
    /// What is wrong with it.
    pub reason: RejectReason,
}

/// What is wrong with a dump.
#[derive(Debug, thiserror::Error)]
pub enum RejectReason {
    /// There is no dump.
    #[error("there is none")]
    Missing,
    /// The system could not read it.
    #[error("{0}")]
    Unreadable(io::Error),
    /// It does not begin as one.
    #[error("it is not a dump")]
    NotADump,
    /// It was written by another version of the format.
    #[error("its format has version {0}")]
    Version(u32),
    /// It is shorter or longer than it says.
    #[error("its length is wrong")]
    Length,
    /// A checksum differs: the file is damaged.
    #[error("its checksum is wrong")]
    Checksum,
    /// It belongs to another state of the store; the field that differs is named.
    #[error("it belongs to another {0}")]
    Identity(&'static str),
    /// The checksums are right, yet the parts do not fit each other.
    #[error("its parts do not fit each other")]
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
