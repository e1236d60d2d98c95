//! Errors of the vector index.

/// The reason why the index rejected a vector. After an error, the index is unchanged.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum VectorError {
    /// The number of dimensions differs from that of the index.
    #[error("could not add a vector of {got} dimensions: the index has {expected}")]
    Dimension {
        /// Number of dimensions of the index.
        expected: usize,
        /// Number of dimensions of the vector.
        got: usize,
    },
    /// A component is NaN or infinite.
    #[error("could not add a vector with a component that is not finite")]
    NotFinite,
    /// The length of the vector is not 1 (within 1 %), usually because all components are zero.
    #[error("could not add a vector of length {length}: its length must be 1")]
    NotUnit {
        /// Euclidean length of the vector.
        length: f32,
    },
    /// The id is `u32::MAX`, which is reserved for empty slots.
    #[error("could not add a vector with id {}: the id is reserved", u32::MAX)]
    Id,
}
