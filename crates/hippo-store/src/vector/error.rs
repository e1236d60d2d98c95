//! What can be wrong with a vector that is offered to the index.

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
