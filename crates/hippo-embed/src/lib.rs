//! How text becomes vectors: the local model, its acquisition, and a model-free fallback.

pub mod acquire;
mod model_id;

pub use acquire::ModelFiles;
pub use model_id::{InvalidModelId, ModelId};
