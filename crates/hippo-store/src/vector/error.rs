//! Errors of the vector index.

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
