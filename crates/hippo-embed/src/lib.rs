//! Text embedding with a local model, or with hashes.

pub mod acquire;
mod error;
mod hash;
mod model_id;
#[cfg(feature = "onnx")]
mod onnx;
#[doc(hidden)]
pub mod quantize;
#[cfg(feature = "onnx")]
mod weights;
#[cfg(feature = "onnx")]
mod window;
mod words;

pub use acquire::ModelFiles;
pub use error::EmbedError;
pub use hash::HashEmbedder;
pub use model_id::ModelId;
#[cfg(feature = "onnx")]
pub use onnx::{OnnxEmbedder, check_processor};
pub use words::WordVectors;

use std::sync::Arc;

/// A converter of text into unit vectors. Calls block, and an embedder is used by one thread only.
pub trait Embedder: Send {
    /// Returns the identity of the vectors. Vectors with different ids must not be compared.
    fn id(&self) -> &ModelId;

    /// Returns the vector of a query, with [`ModelId::dimension`] components and unit length. Text that does not fit
    /// into one pass of the model is ignored.
    ///
    /// # Errors
    /// Fails if the model cannot process the text.
    fn embed_query(&mut self, text: &str) -> Result<Vec<f32>, EmbedError>;

    /// Returns one unit vector per text, in order. The texts are consecutive chunks of one section. The model reads
    /// them together in one pass, after `context`, such as the headings. Each vector therefore depends on the
    /// neighbouring texts (late chunking). Text that does not fit into one pass is split over several passes.
    ///
    /// # Errors
    /// Fails if the model cannot process the texts. In this case, no vectors are returned.
    fn embed_passages(&mut self, context: &str, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError>;

    /// Returns the number of word pieces of a text, excluding special tokens.
    fn count_tokens(&self, text: &str) -> usize;

    /// Returns the vectors of single words; `None` if the model has none.
    fn words(&mut self) -> Option<Arc<WordVectors>> {
        None
    }

    /// Returns the number of word pieces that the model has processed so far, including contexts and special tokens.
    fn word_pieces_embedded(&self) -> u64;
}

/// Scales a vector to unit length. A vector that is zero or not finite becomes the first unit vector, so that every
/// text has a vector.
fn normalise(vector: &mut [f32]) {
    let norm = vector
        .iter()
        .map(|x| f64::from(*x) * f64::from(*x))
        .sum::<f64>()
        .sqrt();
    if norm > 1e-12 && norm.is_finite() {
        let scale = (1.0 / norm) as f32;
        vector.iter_mut().for_each(|x| *x *= scale);
    } else {
        vector.fill(0.0);
        if let Some(first) = vector.first_mut() {
            *first = 1.0;
        }
    }
}
