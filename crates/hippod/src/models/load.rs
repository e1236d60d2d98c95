//! Creation of the embedder for a model id.

#[cfg(feature = "onnx")]
use hippo_embed::acquire::{self, Model};
use hippo_embed::acquire::{Layout, ModelManifest};
use hippo_embed::{EmbedError, Embedder, HashEmbedder};

/// Creates the embedder for a model id.
pub(super) fn load(
    id: &str,
    manifest: &ModelManifest,
    layout: &Layout,
    threads: usize,
) -> Result<Box<dyn Embedder>, EmbedError> {
    let hash = HashEmbedder::new();
    if hash.id().to_string() == id {
        return Ok(Box::new(hash));
    }
    #[cfg(feature = "onnx")]
    {
        let absent = |error: acquire::AcquireError| EmbedError::NotInstalled(error.to_string());
        let name = id.split('|').next().unwrap_or_default();
        let model = Model::find(layout, manifest, name).ok().flatten();
        let model = model.filter(|model| model.id().to_string() == id);
        let model = model.ok_or_else(|| EmbedError::UnknownModel(id.to_owned()))?;
        let installed = model.locate(layout, manifest).map_err(absent)?;
        let model = hippo_embed::OnnxEmbedder::load(&installed.model, &installed.runtime, threads)?;
        Ok(Box::new(model))
    }
    #[cfg(not(feature = "onnx"))]
    {
        let _ = (manifest, layout, threads);
        Err(EmbedError::NotInstalled(
            "this build has no embedding model".to_owned(),
        ))
    }
}
