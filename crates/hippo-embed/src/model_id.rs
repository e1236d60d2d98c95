//! Identity of a model.

use std::fmt;

/// Identity of an embedding model. Vectors are comparable only when their ids are equal.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ModelId {
    /// Name of the model.
    pub name: String,
    /// Number of components of its vectors.
    pub dimension: usize,
    /// Revision of the weights, prefixes and lengths.
    pub revision: String,
}

/// Formats the id in its stable text form, which is stored with every vector.
impl fmt::Display for ModelId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}|{}|{}", self.name, self.dimension, self.revision)
    }
}
