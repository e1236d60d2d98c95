//! Pinned and imported models: lookup, identity, removal.

use std::fs;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::extract::{hex, sync_folder};
use super::{
    AcquireError, Artifact, CONFIG, Installation, Layout, ManifestFile, ModelFiles, ModelManifest, Package,
    TOKENIZER, WEIGHTS, locate_runtime,
};
use crate::ModelId;

/// File that describes an imported model, in the model's folder.
pub(super) const RECORD: &str = "imported.json";
/// Prefix of the temporary folders of imports and removals. The next import removes folders that an interrupted import
/// or removal left behind.
const STAGING_PREFIX: &str = ".importing-";
const MAX_NAME: usize = 64;

/// A pinned model, or a model that was imported from a folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Model {
    /// Name of the model.
    pub name: String,
    /// Length of its vectors.
    pub dimension: usize,
    /// Maximum number of word pieces in one pass, including `[CLS]` and `[SEP]`.
    pub max_pieces: usize,
    /// Prefix that is put before each query.
    #[serde(default)]
    pub query_prefix: String,
    /// Prefix that is put before each passage.
    #[serde(default)]
    pub passage_prefix: String,
    /// How the model computes the vector of a text.
    #[serde(default, skip_serializing_if = "Pooling::is_mean")]
    pub pooling: Pooling,
    /// The files of the model.
    #[serde(rename = "file")]
    pub files: Vec<ManifestFile>,
    /// The package that contains the files; `None` for an imported model.
    #[serde(flatten)]
    pub package: Option<Package>,
}

/// How a model computes the vector of a text from the vectors of its tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pooling {
    /// The mean of all tokens.
    #[default]
    Mean,
    /// The first token, `[CLS]`.
    Cls,
}

impl Pooling {
    fn is_mean(&self) -> bool {
        *self == Self::Mean
    }
}

impl Model {
    /// Returns the pinned or imported model with this name, or `None`.
    ///
    /// # Errors
    /// Fails if the record of an imported model cannot be read.
    pub fn find(layout: &Layout, manifest: &ModelManifest, name: &str) -> Result<Option<Self>, AcquireError> {
        match manifest.models.iter().find(|model| model.name == name) {
            Some(pinned) => Ok(Some(pinned.clone())),
            None => Self::find_imported(layout, name),
        }
    }

    /// Returns the imported model with this name, or `None`.
    pub(super) fn find_imported(layout: &Layout, name: &str) -> Result<Option<Self>, AcquireError> {
        if check_name(name).is_err() {
            return Ok(None);
        }
        let path = layout.models.join(name).join(RECORD);
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
                ) =>
            {
                return Ok(None);
            }
            Err(error) => return Err(AcquireError::io("read", &path, error)),
        };
        let model: Self =
            serde_json::from_slice(&bytes).map_err(|e| AcquireError::io("read", &path, e.into()))?;
        Ok(Some(Self {
            name: name.into(),
            package: None,
            ..model
        }))
    }

    /// Returns all imported models, sorted by name. For a model with a damaged record, the value is the error.
    pub fn list_imported(layout: &Layout) -> Vec<(String, Result<Self, AcquireError>)> {
        let entries = fs::read_dir(&layout.models).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let mut all: Vec<_> = names
            .filter_map(|name| Some((name.clone(), Self::find_imported(layout, &name).transpose()?)))
            .collect();
        all.sort_by(|a, b| a.0.cmp(&b.0));
        all
    }

    /// Returns the identity of the model's vectors. Its revision identifies the weights and, for an imported model,
    /// also the tokenizer, the settings and the prefixes.
    pub fn id(&self) -> ModelId {
        let revision = match self.package {
            Some(_) => self.weights_sha256().unwrap_or_default().to_owned(),
            None => self.hash_all(),
        };
        ModelId {
            name: self.name.clone(),
            dimension: self.dimension,
            revision: revision.chars().take(12).collect(),
        }
    }

    fn hash_all(&self) -> String {
        let mut hash = Sha256::new();
        for file in &self.files {
            hash.update(file.sha256.as_bytes());
        }
        for part in [&self.query_prefix, &self.passage_prefix] {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part.as_bytes());
        }
        hash.update((self.max_pieces as u64).to_le_bytes());
        if self.pooling == Pooling::Cls {
            hash.update(b"cls");
        }
        hex(&hash.finalize())
    }

    /// Returns the SHA-256 of the weights.
    pub fn weights_sha256(&self) -> Option<&str> {
        let weights = self.files.iter().find(|file| file.name == WEIGHTS);
        weights.map(|file| file.sha256.as_str())
    }

    /// Returns the files of this model with their checksums: the user's own copy, or the copy of a package if only that
    /// copy is complete.
    pub fn artifact(&self, layout: &Layout) -> Artifact {
        let own = self.own_artifact(layout);
        match self.package {
            Some(_) => own.or_shipped(layout.shipped.as_ref().map(|folder| folder.join("models"))),
            // Packages contain no imported model.
            None => own,
        }
    }

    pub(super) fn own_artifact(&self, layout: &Layout) -> Artifact {
        Artifact {
            name: self.name.clone(),
            folder: layout.models.join(&self.name),
            files: self.files.clone(),
            shipped: false,
            package: self.package.clone(),
        }
    }

    /// Finds a complete installation of this model and the runtime library, without reading file contents.
    ///
    /// # Errors
    /// See [`locate`](super::locate).
    pub fn locate(&self, layout: &Layout, manifest: &ModelManifest) -> Result<Installation, AcquireError> {
        let runtime = locate_runtime(layout, manifest)?;
        match self.artifact(layout).fault() {
            Some(fault) => Err(fault),
            None => Ok(Installation {
                model: self.files(layout),
                runtime,
            }),
        }
    }

    /// Returns the files to load.
    pub fn files(&self, layout: &Layout) -> ModelFiles {
        self.files_in(&self.artifact(layout).folder)
    }

    pub(super) fn files_in(&self, folder: &Path) -> ModelFiles {
        ModelFiles {
            id: self.id(),
            max_pieces: self.max_pieces,
            query_prefix: self.query_prefix.clone(),
            passage_prefix: self.passage_prefix.clone(),
            pooling: self.pooling,
            weights: folder.join(WEIGHTS),
            tokenizer: folder.join(TOKENIZER),
            config: folder.join(CONFIG),
        }
    }
}

/// Removes an imported model.
///
/// # Errors
/// Fails if no imported model has this name, or if the model cannot be removed.
pub fn remove(layout: &Layout, name: &str) -> Result<(), AcquireError> {
    let folder = layout.models.join(name);
    // An invalid name could lead to a path outside the folder of models.
    if check_name(name).is_err() || !folder.join(RECORD).is_file() {
        return Err(AcquireError::NotImported(name.into()));
    }
    tidy(layout);
    // The folder is renamed first, so that the model disappears in one step.
    let aside = create_staging_folder(layout)?;
    let failed = |e| AcquireError::io("remove", &folder, e);
    fs::rename(&folder, aside.path().join("former")).map_err(failed)?;
    sync_folder(&layout.models).map_err(failed)?;
    aside.close().map_err(failed)
}

/// Removes the temporary folders of interrupted imports. Must not be called while an import runs.
pub fn tidy(layout: &Layout) {
    let entries = fs::read_dir(&layout.models).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(STAGING_PREFIX)) {
        if let Err(error) = fs::remove_dir_all(entry.path()) {
            tracing::warn!(%error, folder = %entry.path().display(), "could not remove the temporary folder of an import");
        }
    }
}

pub(super) fn create_staging_folder(layout: &Layout) -> Result<tempfile::TempDir, AcquireError> {
    let folder = tempfile::Builder::new()
        .prefix(STAGING_PREFIX)
        .tempdir_in(&layout.models);
    folder.map_err(|e| AcquireError::io("write", &layout.models, e))
}

/// Checks that a name is valid as a folder name on every operating system.
pub(super) fn check_name(name: &str) -> Result<(), AcquireError> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let starts = name.starts_with(|c: char| c.is_ascii_alphanumeric());
    if starts && name.len() <= MAX_NAME && name.chars().all(plain) && !name.ends_with('.') {
        Ok(())
    } else {
        Err(AcquireError::Name(name.into(), "it is not a plain name"))
    }
}
