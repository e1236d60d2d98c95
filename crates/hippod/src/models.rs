//! Which embedding model is configured, whether it is installed, and how it gets there.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use hippo_embed::acquire::{self, AcquireError, FileState, Layout, Manifest};
use hippo_embed::{EmbedError, Embedder, HashEmbedder};
use hippo_proto::{
    ErrorKind, ModelFile, ModelInfo, ModelListResponse, ModelPullResponse, ModelState as Installed,
    ModelVerifyResponse, Paths, RpcError, RuntimeInfo,
};

use crate::config::Embed;
use crate::embed_worker::{Loader, ModelState};
use crate::shared::{Turn, Turns};

/// Name of the model-free embedder: words hashed into a vector, no download, no understanding.
pub const HASH: &str = "hash";

/// The configured model as the store knows it.
#[derive(Debug, Clone)]
pub struct Configured {
    /// Text form of its id.
    pub id: Arc<str>,
    /// Components of a vector.
    pub dimension: usize,
}

/// The models of this installation.
#[derive(Debug)]
pub struct Models {
    manifest: Manifest,
    layout: Layout,
    config: Embed,
    busy: Turns,
}

impl Models {
    /// Over the folders of `paths`.
    ///
    /// # Errors
    /// For a model name that this build does not know.
    pub fn new(paths: &Paths, config: &Embed) -> anyhow::Result<Self> {
        let manifest = Manifest::embedded()?;
        if identify(&config.model, &manifest).is_none() {
            let names: Vec<&str> = manifest.models.iter().map(|model| model.name.as_str()).collect();
            anyhow::bail!(
                "could not find the embedding model \"{}\": this build knows {} and {HASH}",
                config.model,
                names.join(", ")
            );
        }
        let layout = Layout {
            models: paths.models.clone(),
            runtime: paths.runtime.clone(),
            shipped_runtime: paths.shipped_runtime.clone(),
            cache: paths.cache.clone(),
        };
        Ok(Self {
            manifest,
            layout,
            config: config.clone(),
            busy: Turns::default(),
        })
    }

    /// The configured model; none when embedding is switched off.
    pub fn configured(&self) -> Option<Configured> {
        if !self.config.enabled {
            return None;
        }
        let id = identify(&self.config.model, &self.manifest)?;
        Some(Configured {
            dimension: id.dimension,
            id: id.to_string().into(),
        })
    }

    /// Where the configured model is before anybody asked for it.
    pub fn state(&self) -> ModelState {
        if !self.config.enabled {
            return ModelState::Absent("search by meaning is switched off ([embed] enabled)".to_owned());
        }
        if self.config.model == HASH {
            return ModelState::Unloaded;
        }
        if let Some(why) = unsupported() {
            return ModelState::Absent(why);
        }
        match acquire::locate(&self.layout, &self.manifest) {
            Ok(_) => ModelState::Unloaded,
            Err(error) => ModelState::Absent(error.to_string()),
        }
    }

    /// What the embed worker loads models with.
    pub fn loader(&self) -> Loader {
        let (manifest, layout, threads) = (self.manifest.clone(), self.layout.clone(), self.config.threads);
        Box::new(move |id| load(id, &manifest, &layout, threads))
    }

    /// Answers `model.list`.
    ///
    /// # Errors
    /// On a platform without a pinned runtime.
    pub fn list(&self) -> Result<ModelListResponse, RpcError> {
        let listed = acquire::list(&self.layout, &self.manifest).map_err(|error| refusal(&error))?;
        let unsupported = unsupported();
        let state = |installed: bool| match (&unsupported, installed) {
            (Some(_), _) => Installed::Unsupported,
            (None, true) => Installed::Installed,
            (None, false) => Installed::Absent,
        };
        let mut models: Vec<ModelInfo> = self
            .manifest
            .models
            .iter()
            .map(|entry| {
                let found = listed.iter().find(|listed| listed.name == entry.name);
                ModelInfo {
                    name: entry.name.clone(),
                    id: entry.id().to_string(),
                    dimension: u32::try_from(entry.dimension).unwrap_or(0),
                    state: state(found.is_some_and(|found| found.installed)),
                    selected: self.config.enabled && self.config.model == entry.name,
                    bytes: found.map_or(0, |found| found.size),
                    licence: None,
                    source: entry.package.clone(),
                }
            })
            .collect();
        let hash = HashEmbedder::new();
        models.push(ModelInfo {
            name: HASH.to_owned(),
            id: hash.id().to_string(),
            dimension: u32::try_from(hash.id().dimension).unwrap_or(0),
            state: Installed::Installed,
            selected: self.config.enabled && self.config.model == HASH,
            bytes: 0,
            licence: None,
            source: "built in".to_owned(),
        });
        let runtime = listed
            .iter()
            .find(|listed| listed.kind == acquire::ArtifactKind::Runtime);
        Ok(ModelListResponse {
            models,
            runtime: RuntimeInfo {
                name: runtime.map_or_else(String::new, |runtime| runtime.name.clone()),
                state: state(runtime.is_some_and(|runtime| runtime.installed)),
                path: runtime
                    .filter(|runtime| runtime.installed)
                    .map(|runtime| runtime.folder.display().to_string()),
                reason: unsupported,
            },
        })
    }

    /// The right to install.
    fn turn(&self) -> Result<Turn, RpcError> {
        let busy = || RpcError::new(ErrorKind::Conflict, "a model is being installed already");
        let turn = self.busy.take_if_free();
        turn.ok_or_else(|| busy().hint("wait for it to finish"))
    }

    /// Answers `model.pull`; blocks for as long as the download takes.
    ///
    /// # Errors
    /// `conflict` while another one runs, else with what to install or to free.
    pub fn pull(
        &self,
        name: Option<&str>,
        progress: &mut dyn FnMut(acquire::Progress<'_>),
        cancel: &AtomicBool,
    ) -> Result<ModelPullResponse, RpcError> {
        let name = self.pinned(name)?;
        let _turn = self.turn()?;
        let start = Instant::now();
        acquire::pull(&self.layout, &self.manifest, progress, cancel).map_err(|error| refusal(&error))?;
        let files = self.files()?;
        Ok(ModelPullResponse {
            model: name,
            files,
            took_ms: start.elapsed().as_secs_f64() * 1e3,
        })
    }

    /// Answers `model.verify`: reads every installed file.
    ///
    /// # Errors
    /// For an unknown model.
    pub fn verify(&self, name: Option<&str>) -> Result<ModelVerifyResponse, RpcError> {
        let model = self.pinned(name)?;
        let files = self.files()?;
        Ok(ModelVerifyResponse {
            model,
            ok: files.iter().all(|file| file.ok),
            files,
        })
    }

    /// Answers `model.import`: installs from wheels or files of this machine.
    ///
    /// # Errors
    /// When nothing there fits, or its content is wrong.
    pub fn import(&self, from: &Path, name: Option<&str>) -> Result<ModelPullResponse, RpcError> {
        let model = self.pinned(name)?;
        let _turn = self.turn()?;
        let start = Instant::now();
        acquire::import(&self.layout, &self.manifest, from).map_err(|error| refusal(&error))?;
        Ok(ModelPullResponse {
            model,
            files: self.files()?,
            took_ms: start.elapsed().as_secs_f64() * 1e3,
        })
    }

    fn files(&self) -> Result<Vec<ModelFile>, RpcError> {
        let checks = acquire::verify(&self.layout, &self.manifest).map_err(|error| refusal(&error))?;
        let artifacts = self
            .manifest
            .artifacts(&self.layout)
            .map_err(|error| refusal(&error))?;
        let pinned = |path: &Path| {
            let files = artifacts.iter().flat_map(|artifact| {
                artifact
                    .files
                    .iter()
                    .map(move |file| (artifact.folder.join(&file.name), file))
            });
            files
                .into_iter()
                .find(|(place, _)| place == path)
                .map(|(_, file)| file.sha256.clone())
        };
        Ok(checks
            .into_iter()
            .map(|check| ModelFile {
                bytes: std::fs::metadata(&check.path).map_or(0, |metadata| metadata.len()),
                sha256: pinned(&check.path)
                    .filter(|_| check.path.exists())
                    .unwrap_or_default(),
                ok: check.state == FileState::Good,
                source: check.artifact,
                path: check.path.display().to_string(),
            })
            .collect())
    }

    fn pinned(&self, name: Option<&str>) -> Result<String, RpcError> {
        let names = || self.manifest.models.iter().map(|model| model.name.as_str());
        let Some(name) = name else {
            return Ok(self.manifest.default_model().name.clone());
        };
        if names().any(|known| known == name) {
            return Ok(name.to_owned());
        }
        let hint = match hippo_proto::nearest(name, names()) {
            Some(near) => format!("did you mean \"{near}\"?"),
            None => format!(
                "this build can install {}",
                names().collect::<Vec<_>>().join(", ")
            ),
        };
        Err(RpcError::not_found(format!("could not find a model named \"{name}\"")).hint(hint))
    }
}

fn load(
    id: &str,
    manifest: &Manifest,
    layout: &Layout,
    threads: usize,
) -> Result<Box<dyn Embedder>, EmbedError> {
    let hash = HashEmbedder::new();
    if hash.id().to_string() == id {
        return Ok(Box::new(hash));
    }
    #[cfg(feature = "onnx")]
    {
        let installed =
            acquire::locate(layout, manifest).map_err(|error| EmbedError::NotInstalled(error.to_string()))?;
        if installed.model.id.to_string() == id {
            let model = hippo_embed::OnnxEmbedder::load(&installed.model, &installed.runtime, threads)?;
            return Ok(Box::new(model));
        }
        load_named(id, layout, &installed.runtime, threads)
    }
    #[cfg(not(feature = "onnx"))]
    {
        let _ = (manifest, layout, threads);
        Err(EmbedError::NotInstalled(
            "this build has no embedding model".to_owned(),
        ))
    }
}

/// A model of the hub, for builds that may fetch one.
#[cfg(feature = "hub")]
fn load_named(
    id: &str,
    layout: &Layout,
    runtime: &Path,
    threads: usize,
) -> Result<Box<dyn Embedder>, EmbedError> {
    let unknown = || EmbedError::UnknownModel(id.to_owned());
    let wanted: hippo_embed::ModelId = id.parse().map_err(|_| unknown())?;
    let cache = layout.models.join("hub");
    let model = hippo_embed::NamedEmbedder::load(&wanted.name, &wanted.prefix, &cache, runtime, threads)?;
    Ok(Box::new(model))
}

#[cfg(all(feature = "onnx", not(feature = "hub")))]
fn load_named(id: &str, _: &Layout, _: &Path, _: usize) -> Result<Box<dyn Embedder>, EmbedError> {
    Err(EmbedError::UnknownModel(id.to_owned()))
}

/// The identity of a model by the name that the configuration gives it.
fn identify(name: &str, manifest: &Manifest) -> Option<hippo_embed::ModelId> {
    if name == HASH {
        return Some(HashEmbedder::new().id().clone());
    }
    if let Some(entry) = manifest.models.iter().find(|model| model.name == name) {
        return Some(entry.id());
    }
    #[cfg(feature = "hub")]
    {
        hippo_embed::NamedEmbedder::identify(name, "").ok()
    }
    #[cfg(not(feature = "hub"))]
    {
        None
    }
}

/// Why the model cannot run here at all, if it cannot.
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
        AcquireError::NothingToImport(_) => RpcError::not_found(error.to_string()),
        _ => RpcError::internal(error.to_string()),
    };
    match error.hint() {
        Some(hint) => refusal.hint(hint),
        None => refusal,
    }
}
