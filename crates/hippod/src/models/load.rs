//! Creation of the embedder for a model id.

#[cfg(feature = "onnx")]
use hippo_embed::acquire::{self, LocalModel};
use hippo_embed::acquire::{Layout, ModelManifest};
use hippo_embed::{EmbedError, Embedder, HashEmbedder};

#[cfg(feature = "onnx")]
use super::brought;

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
        let local = LocalModel::find(layout, name).ok().flatten();
        if let Some(model) = local.filter(|model| model.id().to_string() == id) {
            let runtime = brought::locate(&model, layout, manifest).map_err(absent)?;
            let model = hippo_embed::OnnxEmbedder::load(&model.files(layout), &runtime, threads)?;
            return Ok(Box::new(model));
        }
        let installed = acquire::locate(layout, manifest).map_err(absent)?;
        if installed.model.id.to_string() == id {
            let model = hippo_embed::OnnxEmbedder::load(&installed.model, &installed.runtime, threads)?;
            return Ok(Box::new(model));
        }
        Err(EmbedError::UnknownModel(id.to_owned()))
    }
    #[cfg(not(feature = "onnx"))]
    {
        let _ = (manifest, layout, threads);
        Err(EmbedError::NotInstalled(
            "this build has no embedding model".to_owned(),
        ))
    }
}
