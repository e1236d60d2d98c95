//! How text becomes vectors: the local model, its acquisition, and a model-free fallback.

pub mod acquire;
mod error;
mod hash;
mod model_id;
#[cfg(feature = "onnx")]
mod onnx;
#[cfg(feature = "onnx")]
mod window;

pub use acquire::ModelFiles;
pub use error::EmbedError;
pub use hash::HashEmbedder;
pub use model_id::{InvalidModelId, ModelId};
#[cfg(feature = "hub")]
pub use onnx::NamedEmbedder;
#[cfg(feature = "onnx")]
pub use onnx::{OnnxEmbedder, check_processor};

/// Something that turns text into vectors of unit length. Blocking; meant to be owned by one thread.
pub trait Embedder: Send {
    /// Which model, used in which way: vectors of different ids must not be compared.
    fn id(&self) -> &ModelId;

    /// The vector of a question: [`ModelId::dimension`] components, unit length. What exceeds one pass of the
    /// model is left out.
    ///
    /// # Errors
    /// Fails when the model does.
    fn embed_query(&mut self, text: &str) -> Result<Vec<f32>, EmbedError>;

    /// One unit vector per text, in order. The texts are consecutive chunks of one section and pass through the
    /// model together, so that each vector knows its neighbours (late chunking); `context`, such as the heading
    /// path, precedes them. More than fits into one pass is split.
    ///
    /// # Errors
    /// Fails when the model does; then no text has a vector.
    fn embed_passages(&mut self, context: &str, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError>;

    /// Length of a text in the model's word pieces, without special ones.
    fn count_tokens(&self, text: &str) -> usize;

    /// Word pieces sent through the model so far, contexts and special pieces included.
    fn word_pieces_embedded(&self) -> u64;
}

/// Scales to unit length. A vector without direction becomes the first axis, so that every text has a vector.
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
