//! How does a model that somebody brought as a folder come into its place under a name, and go again?

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::extract::{hex, sync_folder};
use super::record::{Fault, Record};
use super::{AcquireError, Layout, ManifestFile, ModelFiles, Pooling};
use crate::ModelId;

/// What a folder of an imported model says of itself.
pub(super) const RECORD: &str = "imported.json";
/// Folders of imports under way, and of removals: what was cut off is removed before the next one.
const UNDER_WAY: &str = ".importing-";
pub(super) const WEIGHTS: &str = "model.safetensors";
pub(super) const TOKENIZER: &str = "tokenizer.json";
pub(super) const CONFIG: &str = "config.json";
const MAX_NAME: usize = 64;

/// A model that was imported from a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalModel {
    /// Name under which it was imported.
    pub name: String,
    pub(super) facts: Facts,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Facts {
    pub(super) dimension: usize,
    pub(super) max_pieces: usize,
    pub(super) pooling: Pooling,
    pub(super) query_prefix: String,
    pub(super) passage_prefix: String,
    pub(super) files: Vec<ManifestFile>,
}

impl LocalModel {
    /// The imported model of a name; none where there is none.
    ///
    /// # Errors
    /// When its record cannot be read.
    pub fn find(layout: &Layout, name: &str) -> Result<Option<Self>, AcquireError> {
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
        let facts = serde_json::from_slice(&bytes).map_err(|e| AcquireError::io("read", &path, e.into()))?;
        Ok(Some(Self {
            name: name.into(),
            facts,
        }))
    }

    /// All of them, by name. One whose record is damaged has its reason.
    pub fn all(layout: &Layout) -> Vec<(String, Result<Self, AcquireError>)> {
        let entries = fs::read_dir(&layout.models).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let mut all: Vec<_> = names
            .filter_map(|name| Some((name.clone(), Self::find(layout, &name).transpose()?)))
            .collect();
        all.sort_by(|a, b| a.0.cmp(&b.0));
        all
    }

    /// Identity of the vectors that it makes. The revision stands for all that they depend on: weights, tokenizer, settings, prefixes.
    pub fn id(&self) -> ModelId {
        let facts = &self.facts;
        let mut hash = Sha256::new();
        for file in &facts.files {
            hash.update(file.sha256.as_bytes());
        }
        for part in [&facts.query_prefix, &facts.passage_prefix] {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part.as_bytes());
        }
        hash.update((facts.max_pieces as u64).to_le_bytes());
        let prefix = match facts.query_prefix == facts.passage_prefix {
            true => facts.passage_prefix.clone(),
            false => format!("{:?} {:?}", facts.query_prefix, facts.passage_prefix),
        };
        ModelId {
            name: self.name.clone(),
            dimension: facts.dimension,
            revision: hex(&hash.finalize()).chars().take(12).collect(),
            pooling: facts.pooling.name().into(),
            prefix,
        }
    }

    /// Its files, with the checksums of what was imported.
    pub fn checksums(&self) -> &[ManifestFile] {
        &self.facts.files
    }

    /// SHA-256 of its weights.
    pub fn weights_sha256(&self) -> Option<&str> {
        let weights = self.facts.files.iter().find(|file| file.name == WEIGHTS);
        weights.map(|file| file.sha256.as_str())
    }

    /// Where it lies.
    pub fn folder(&self, layout: &Layout) -> PathBuf {
        layout.models.join(&self.name)
    }

    /// The first file that is not there as it was imported, found without reading it.
    pub fn absent(&self, layout: &Layout) -> Option<(PathBuf, Fault)> {
        let folder = self.folder(layout);
        let record = Record::load(&folder);
        let mut files = self.facts.files.iter();
        files.find_map(|file| Some((folder.join(&file.name), record.fault(&folder, file)?)))
    }

    /// What it is loaded from.
    pub fn files(&self, layout: &Layout) -> ModelFiles {
        self.files_in(&self.folder(layout))
    }

    pub(super) fn files_in(&self, folder: &Path) -> ModelFiles {
        ModelFiles {
            id: self.id(),
            max_pieces: self.facts.max_pieces,
            pooling: self.facts.pooling,
            query_prefix: self.facts.query_prefix.clone(),
            passage_prefix: self.facts.passage_prefix.clone(),
            weights: folder.join(WEIGHTS),
            tokenizer: folder.join(TOKENIZER),
            config: folder.join(CONFIG),
            special_tokens_map: None,
            tokenizer_config: None,
        }
    }
}

/// Removes an imported model.
///
/// # Errors
/// When there is none of this name, or it cannot be removed.
pub fn remove(layout: &Layout, name: &str) -> Result<(), AcquireError> {
    let folder = layout.models.join(name);
    // A name that is none leads nowhere else.
    if check_name(name).is_err() || !folder.join(RECORD).is_file() {
        return Err(AcquireError::NotImported(name.into()));
    }
    tidy(layout);
    // First out of sight as a whole, then away.
    let aside = beside(layout)?;
    let failed = |e| AcquireError::io("remove", &folder, e);
    fs::rename(&folder, aside.path().join("former")).map_err(failed)?;
    sync_folder(&layout.models).map_err(failed)?;
    aside.close().map_err(failed)
}

/// Removes what an import that was cut off left behind. One import runs at a time.
pub fn tidy(layout: &Layout) {
    let entries = fs::read_dir(&layout.models).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(UNDER_WAY)) {
        if let Err(error) = fs::remove_dir_all(entry.path()) {
            tracing::warn!(%error, folder = %entry.path().display(), "could not remove what an import left behind");
        }
    }
}

pub(super) fn beside(layout: &Layout) -> Result<tempfile::TempDir, AcquireError> {
    let folder = tempfile::Builder::new()
        .prefix(UNDER_WAY)
        .tempdir_in(&layout.models);
    folder.map_err(|e| AcquireError::io("write", &layout.models, e))
}

/// A name is a plain name of a folder on every system.
pub(super) fn check_name(name: &str) -> Result<(), AcquireError> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let starts = name.starts_with(|c: char| c.is_ascii_alphanumeric());
    if starts && name.len() <= MAX_NAME && name.chars().all(plain) && !name.ends_with('.') {
        Ok(())
    } else {
        Err(AcquireError::Name(name.into(), "it is not a plain name"))
    }
}
