//! Imported models: listing, verification, import and removal.

use std::path::{Path, PathBuf};
#[cfg(feature = "onnx")]
use std::time::Instant;

use hippo_embed::acquire::{self, AcquireError, LocalModel};
use hippo_proto::{
    ErrorKind, ModelFile, ModelImportRequest, ModelInfo, ModelPullResponse, ModelRemoveResponse,
    ModelState as Installed, ModelVerifyResponse, RpcError,
};

use super::{Layout, ModelManifest, Models, refusal};

/// Returns the runtime library for an imported model whose files are unchanged, judged by their metadata.
pub(super) fn locate(
    model: &LocalModel,
    layout: &Layout,
    manifest: &ModelManifest,
) -> Result<PathBuf, AcquireError> {
    let runtime = acquire::locate_runtime(layout, manifest)?;
    match model.artifact(layout).fault() {
        Some(fault) => Err(fault),
        None => Ok(runtime),
    }
}

impl Models {
    /// Returns the imported models for `model.list`.
    pub(super) fn brought(&self, unsupported: bool) -> Vec<ModelInfo> {
        let told = |(name, model): (String, Result<LocalModel, AcquireError>)| {
            let model = model.ok();
            let id = model.as_ref().map(LocalModel::id);
            let artifact = model.as_ref().map(|model| model.artifact(&self.layout));
            let damaged = artifact.as_ref().is_none_or(|files| files.fault().is_some());
            ModelInfo {
                selected: self.config.enabled && self.config.model == name,
                name,
                dimension: id
                    .as_ref()
                    .map_or(0, |id| u32::try_from(id.dimension).unwrap_or(u32::MAX)),
                id: id.map_or_else(String::new, |id| id.to_string()),
                sha256: model.and_then(|model| model.weights_sha256().map(str::to_owned)),
                state: match (unsupported, damaged) {
                    (true, _) => Installed::Unsupported,
                    (false, true) => Installed::Damaged,
                    (false, false) => Installed::Installed,
                },
                bytes: artifact.map_or(0, |files| files.size()),
                licence: None,
                source: "imported".to_owned(),
            }
        };
        LocalModel::list_all(&self.layout).into_iter().map(told).collect()
    }

    /// Compares the checksums of an imported model and of the runtime library. Returns `None` if no imported model has
    /// this name.
    pub(super) fn verify_brought(&self, name: &str) -> Result<Option<ModelVerifyResponse>, RpcError> {
        let found = LocalModel::find(&self.layout, name).map_err(|error| refusal(&error))?;
        let Some(model) = found else { return Ok(None) };
        let files = self.files_of(&model)?;
        Ok(Some(ModelVerifyResponse {
            ok: files.iter().all(|file| file.ok),
            model: model.name,
            files,
        }))
    }

    fn files_of(&self, model: &LocalModel) -> Result<Vec<ModelFile>, RpcError> {
        let runtime = self
            .manifest
            .runtime(&self.layout)
            .map_err(|error| refusal(&error))?;
        Ok(Self::verified([model.artifact(&self.layout), runtime]))
    }

    /// Imports a sentence-transformers folder under a name. Blocks while the folder is copied and tested.
    #[cfg(feature = "onnx")]
    pub(super) fn bring(
        &self,
        from: &Path,
        name: &str,
        request: &ModelImportRequest,
    ) -> Result<ModelPullResponse, RpcError> {
        let _turn = self.turn()?;
        let start = Instant::now();
        let wish = acquire::ImportOptions {
            name: name.to_owned(),
            query_prefix: request.query_prefix.clone(),
            passage_prefix: request.passage_prefix.clone(),
        };
        let model = acquire::import_folder(&self.layout, &self.manifest, from, &wish)
            .map_err(|error| refusal(&error))?;
        tracing::info!(model = %model.id(), "imported a model");
        Ok(ModelPullResponse {
            files: self.files_of(&model)?,
            model: model.name,
            took_ms: start.elapsed().as_secs_f64() * 1e3,
        })
    }

    #[cfg(not(feature = "onnx"))]
    pub(super) fn bring(
        &self,
        _: &Path,
        _: &str,
        _: &ModelImportRequest,
    ) -> Result<ModelPullResponse, RpcError> {
        Err(RpcError::new(
            ErrorKind::Degraded,
            super::unsupported().unwrap_or_default(),
        ))
    }

    /// Handles `model.remove`. `used` contains the ids of the models that computed the vectors of workspaces, and the
    /// names in their configurations.
    ///
    /// # Errors
    /// Fails if no imported model has this name, or if the model is in use.
    pub fn remove(&self, name: &str, used: &[String]) -> Result<ModelRemoveResponse, RpcError> {
        if self.manifest.models.iter().any(|model| model.name == name) || name == super::HASH {
            return Err(RpcError::bad_request(format!(
                "could not remove the model \"{name}\": it is a built-in model"
            ))
            .hint("to use another model, set embed.model"));
        }
        let _turn = self.turn()?;
        let chosen = self.config.enabled && self.config.model == name;
        let answers = |used: &&String| used.as_str() == name || used.starts_with(&format!("{name}|"));
        if chosen || used.iter().any(|used| answers(&used)) {
            let what = format!("could not remove the model \"{name}\": it is in use");
            return Err(RpcError::new(ErrorKind::Conflict, what).hint(
                "set embed.model to another model, restart hippod, and wait until this command ends: \
                 hippoctl sync --wait",
            ));
        }
        let bytes = LocalModel::find(&self.layout, name)
            .ok()
            .flatten()
            .map_or(0, |model| model.artifact(&self.layout).size());
        acquire::remove(&self.layout, name).map_err(|error| refusal(&error))?;
        Ok(ModelRemoveResponse {
            model: name.to_owned(),
            bytes,
        })
    }
}
