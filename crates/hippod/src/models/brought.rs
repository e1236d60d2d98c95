//! Import and removal of models.

use std::path::Path;
#[cfg(feature = "onnx")]
use std::time::Instant;

use hippo_embed::acquire::{self, Model};
use hippo_proto::{ErrorKind, ModelImportRequest, ModelPullResponse, ModelRemoveResponse, RpcError};

use super::{Models, refusal};

impl Models {
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
            files: self.files(&model)?,
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
        let bytes = Model::find(&self.layout, &self.manifest, name)
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
