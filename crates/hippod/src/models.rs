//! Configured embedding models: state, installation and verification.

mod brought;
mod load;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use hippo_embed::acquire::{self, AcquireError, Artifact, FileCheck, Layout, Model, ModelManifest};
use hippo_embed::{Embedder, HashEmbedder};
use hippo_proto::{
    ErrorKind, ModelFile, ModelImportRequest, ModelInfo, ModelListResponse, ModelPullRequest,
    ModelPullResponse, ModelState as Installed, ModelVerifyResponse, Paths, RpcError, RuntimeInfo,
};
use parking_lot::Mutex;

use crate::config::EmbedConfig;
use crate::embed_worker::{Loader, ModelPhase};
use crate::tasks::{OneAtATime, OneAtATimeGuard};

/// Name of the embedder without a model. It hashes words into a vector, needs no download and does not capture meaning.
pub const HASH: &str = "hash";

/// Identity of the configured model, in the form that the database stores.
#[derive(Debug, Clone)]
pub struct ConfiguredModel {
    /// Text form of the model id.
    pub id: Arc<str>,
    /// Number of components of a vector.
    pub dimension: usize,
}

/// The models of this installation.
#[derive(Debug)]
pub struct Models {
    manifest: ModelManifest,
    layout: Layout,
    config: EmbedConfig,
    busy: OneAtATime,
    checking: Mutex<()>,
}

impl Models {
    /// Creates the models for the folders of `paths`, and removes leftovers of an interrupted import.
    ///
    /// # Errors
    /// Fails if the embedded manifest cannot be read.
    pub fn new(paths: &Paths, config: &EmbedConfig) -> anyhow::Result<Self> {
        let manifest = ModelManifest::built_in()?;
        let layout = Layout {
            models: paths.models.clone(),
            runtime: paths.runtime.clone(),
            shipped: paths.shipped.clone(),
            cache: paths.cache.clone(),
        };
        acquire::tidy(&layout);
        let models = Self {
            manifest,
            layout,
            config: config.clone(),
            busy: OneAtATime::default(),
            checking: Mutex::default(),
        };
        if config.enabled && config.model != HASH {
            models.check_copied();
        }
        Ok(models)
    }

    /// Verifies each installed file whose modification time differs from the recorded one. Copying a file into place
    /// causes this.
    pub fn check_copied(&self) {
        let _one_at_a_time = self.checking.lock();
        acquire::check_copied(&self.layout, &self.manifest);
    }

    /// Returns the configured model, or `None` if embedding is disabled or the name is unknown.
    pub fn configured(&self) -> Option<ConfiguredModel> {
        self.find_model(&self.config.model)
    }

    /// Like [`Models::configured`], but for the model with this name; used by workspaces that set their own model.
    pub fn find_model(&self, name: &str) -> Option<ConfiguredModel> {
        if !self.config.enabled {
            return None;
        }
        let id = self.identify(name)?;
        Some(ConfiguredModel {
            dimension: id.dimension,
            id: id.to_string().into(),
        })
    }

    /// Returns the name of the configured model.
    pub fn configured_name(&self) -> &str {
        &self.config.model
    }

    /// Returns whether semantic search is enabled.
    pub fn are_enabled(&self) -> bool {
        self.config.enabled
    }

    /// Returns the folder of the models.
    pub fn folder(&self) -> &Path {
        &self.layout.models
    }

    /// Returns the initial state of the configured model.
    pub fn state(&self) -> ModelPhase {
        self.state_of(&self.config.model)
    }

    /// Returns the initial state of the model with this name.
    pub fn state_of(&self, name: &str) -> ModelPhase {
        if !self.config.enabled {
            return ModelPhase::Absent(
                "search by meaning is disabled, because embed.enabled is false".to_owned(),
            );
        }
        if name == HASH {
            return ModelPhase::Unloaded;
        }
        if let Some(why) = unsupported() {
            return ModelPhase::Absent(why);
        }
        let found = match Model::find(&self.layout, &self.manifest, name) {
            Ok(Some(model)) => model.locate(&self.layout, &self.manifest),
            Ok(None) => {
                return ModelPhase::Absent(format!("could not find the embedding model \"{name}\""));
            }
            Err(error) => Err(error),
        };
        match found {
            Ok(_) => ModelPhase::Unloaded,
            Err(error) => ModelPhase::Absent(error.to_string()),
        }
    }

    /// Returns the command that installs a missing model.
    pub fn remedy(&self, name: &str) -> String {
        let pinned = self.manifest.models.iter().any(|model| model.name == name);
        if pinned || acquire::locate_runtime(&self.layout, &self.manifest).is_err() {
            "hippoctl model pull".to_owned()
        } else {
            format!("hippoctl model import DIR --name {name}")
        }
    }

    /// Returns the callback with which the embed worker loads models.
    pub fn loader(&self) -> Loader {
        let (manifest, layout, threads) = (self.manifest.clone(), self.layout.clone(), self.config.threads);
        Box::new(move |id| load::load(id, &manifest, &layout, threads))
    }

    /// Handles `model.list`.
    ///
    /// # Errors
    /// Fails on a platform without a pinned runtime.
    pub fn list(&self) -> Result<ModelListResponse, RpcError> {
        self.check_copied();
        let unsupported = unsupported();
        let state = |fault: Option<&AcquireError>| match (&unsupported, fault) {
            (Some(_), _) => Installed::Unsupported,
            (None, None) => Installed::Installed,
            (None, Some(AcquireError::NotInstalled(_))) => Installed::Absent,
            (None, Some(_)) => Installed::Damaged,
        };
        let info = |(name, model): (String, Result<Model, AcquireError>)| {
            let files = model.as_ref().map(|model| model.artifact(&self.layout));
            let state = match &files {
                Ok(files) => state(files.fault().as_ref()),
                Err(error) => state(Some(error)),
            };
            let model = model.as_ref().ok();
            let package = model.and_then(|model| model.package.as_ref());
            ModelInfo {
                selected: self.config.enabled && self.config.model == name,
                name,
                id: model.map(|model| model.id().to_string()).unwrap_or_default(),
                sha256: model.and_then(|model| Some(model.weights_sha256()?.to_owned())),
                dimension: model.map_or(0, |model| u32::try_from(model.dimension).unwrap_or(u32::MAX)),
                state,
                bytes: files.map_or(0, |files| files.size()),
                licence: None,
                source: package.map_or("imported", |package| &package.name).to_owned(),
            }
        };
        let pinned = self.manifest.models.iter();
        let pinned = pinned.map(|model| (model.name.clone(), Ok(model.clone())));
        let mut models: Vec<ModelInfo> = pinned.map(info).collect();
        let hash = HashEmbedder::new();
        models.push(ModelInfo {
            name: HASH.to_owned(),
            id: hash.id().to_string(),
            sha256: None,
            dimension: u32::try_from(hash.id().dimension).unwrap_or(0),
            state: Installed::Installed,
            selected: self.config.enabled && self.config.model == HASH,
            bytes: 0,
            licence: None,
            source: "built in".to_owned(),
        });
        models.extend(Model::list_imported(&self.layout).into_iter().map(info));
        let runtime = self
            .manifest
            .runtime(&self.layout)
            .map_err(|error| refusal(&error))?;
        let fault = runtime.fault();
        Ok(ModelListResponse {
            models,
            runtime: RuntimeInfo {
                state: state(fault.as_ref()),
                path: fault.is_none().then(|| runtime.folder.display().to_string()),
                name: runtime.name,
                reason: unsupported.or_else(|| match fault {
                    Some(damaged @ AcquireError::Damaged(_)) => Some(damaged.to_string()),
                    _ => None,
                }),
            },
        })
    }

    /// Takes the installation lock.
    fn turn(&self) -> Result<OneAtATimeGuard, RpcError> {
        let busy = || RpcError::new(ErrorKind::Conflict, "another installation of a model is running");
        let turn = self.busy.enter_if_free();
        turn.ok_or_else(|| busy().hint("wait until that installation has finished"))
    }

    /// Handles `model.pull`; blocks during the download.
    ///
    /// # Errors
    /// Returns `conflict` while another installation runs. The hints of other errors name what to install, or where to
    /// free disk space.
    pub fn pull(
        &self,
        request: &ModelPullRequest,
        progress: &mut dyn FnMut(acquire::PullProgress<'_>),
        cancel: &AtomicBool,
    ) -> Result<ModelPullResponse, RpcError> {
        let model = self.pinned(request.model.as_deref())?;
        let _turn = self.turn()?;
        let start = Instant::now();
        let options = acquire::PullOptions {
            model: Some(&model.name),
            from: request.from.as_deref(),
            ..acquire::PullOptions::default()
        };
        acquire::pull(&self.layout, &self.manifest, options, progress, cancel)
            .map_err(|error| refusal(&error))?;
        Ok(ModelPullResponse {
            files: self.files(model)?,
            model: model.name.clone(),
            took_ms: start.elapsed().as_secs_f64() * 1e3,
        })
    }

    /// Handles `model.verify` by reading every installed file.
    ///
    /// # Errors
    /// Fails for an unknown model.
    pub fn verify(&self, name: Option<&str>) -> Result<ModelVerifyResponse, RpcError> {
        let found = Model::find(&self.layout, &self.manifest, name.unwrap_or(&self.config.model));
        let model = match found.map_err(|error| refusal(&error))? {
            Some(model) => model,
            None => self.pinned(name)?.clone(),
        };
        let files = self.files(&model)?;
        Ok(ModelVerifyResponse {
            model: model.name,
            ok: files.iter().all(|file| file.ok),
            files,
        })
    }

    /// Handles `model.import`: installs a model from files on this machine.
    ///
    /// # Errors
    /// Fails if the folder contains no matching files, or if their content is wrong.
    #[expect(clippy::disallowed_methods, reason = "the user chose this path")]
    pub fn import(&self, request: &ModelImportRequest) -> Result<ModelPullResponse, RpcError> {
        let from = Path::new(&request.from);
        if !from.exists() {
            let what = format!("could not find {}", from.display());
            return Err(RpcError::not_found(what).hint("give the path of an existing file or folder"));
        }
        if request.name.is_some() && !from.is_dir() {
            let what = format!("{} is not a folder", from.display());
            return Err(
                RpcError::bad_request(what).hint("give the folder of the model, as downloaded from its hub")
            );
        }
        if let Some(name) = &request.name {
            return self.bring(from, name, request);
        }
        let model = self.pinned(request.model.as_deref())?;
        let _turn = self.turn()?;
        let start = Instant::now();
        acquire::import(&self.layout, &self.manifest, model, from).map_err(|error| refusal(&error))?;
        Ok(ModelPullResponse {
            files: self.files(model)?,
            model: model.name.clone(),
            took_ms: start.elapsed().as_secs_f64() * 1e3,
        })
    }

    /// Compares the checksums of a model and of the runtime library.
    fn files(&self, model: &Model) -> Result<Vec<ModelFile>, RpcError> {
        let runtime = self
            .manifest
            .runtime(&self.layout)
            .map_err(|error| refusal(&error))?;
        let artifacts = [runtime, model.artifact(&self.layout)];
        Ok(artifacts.iter().flat_map(Artifact::verify).map(file).collect())
    }

    /// Returns the identity of a model, given its name in the configuration.
    fn identify(&self, name: &str) -> Option<hippo_embed::ModelId> {
        if name == HASH {
            return Some(HashEmbedder::new().id().clone());
        }
        let model = Model::find(&self.layout, &self.manifest, name).ok().flatten();
        model.map(|model| model.id())
    }

    fn pinned(&self, name: Option<&str>) -> Result<&Model, RpcError> {
        let models = || self.manifest.models.iter();
        let names = || models().map(|model| model.name.as_str());
        let Some(name) = name else {
            let configured = models().find(|model| model.name == self.config.model);
            return Ok(configured.unwrap_or_else(|| self.manifest.default_model()));
        };
        if let Some(known) = models().find(|known| known.name == name) {
            return Ok(known);
        }
        let hint = match hippo_proto::nearest(name, names()) {
            Some(near) => format!("did you mean \"{near}\"?"),
            None => format!(
                "this build can install these models: {}",
                names().collect::<Vec<_>>().join(", ")
            ),
        };
        Err(RpcError::not_found(format!("could not find a model named \"{name}\"")).hint(hint))
    }
}

#[expect(clippy::disallowed_methods, reason = "the user chose this path")]
fn file(check: FileCheck) -> ModelFile {
    ModelFile {
        bytes: std::fs::metadata(&check.path).map_or(0, |metadata| metadata.len()),
        sha256: match check.path.exists() {
            true => check.expected,
            false => String::new(),
        },
        ok: check.ok,
        source: check.artifact,
        path: check.path.display().to_string(),
    }
}

/// Returns the reason why this machine or build cannot run the model, or `None` if it can.
pub fn unsupported() -> Option<String> {
    #[cfg(feature = "onnx")]
    {
        hippo_embed::check_processor()
            .err()
            .map(|error| error.to_string())
    }
    #[cfg(not(feature = "onnx"))]
    {
        Some("this build has no embedding model".to_owned())
    }
}

fn refusal(error: &AcquireError) -> RpcError {
    let refusal = match error {
        AcquireError::NothingToImport(_) | AcquireError::NotImported(_) => {
            RpcError::not_found(error.to_string())
        }
        AcquireError::Refused { .. } | AcquireError::Unusable(_) | AcquireError::Name(..) => {
            RpcError::bad_request(error.to_string())
        }
        AcquireError::NotInstalled(_) => RpcError::not_found(error.to_string()),
        AcquireError::Damaged(_) | AcquireError::Changed(_) | AcquireError::Unchecked(_) => {
            RpcError::new(ErrorKind::Degraded, error.to_string())
        }
        AcquireError::Exists(_) => RpcError::new(ErrorKind::Conflict, error.to_string()),
        _ => RpcError::internal(error.to_string()),
    };
    match error.hint() {
        Some(hint) => refusal.hint(hint),
        None => refusal,
    }
}
