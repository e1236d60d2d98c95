//! Import of a model folder: check, copy, trial run, rename.

use std::fs;
use std::io;
use std::path::Path;

use sha2::{Digest, Sha256};

use super::extract::{hex, replace_file, sync_folder};
use super::folder::{self, folder_error};
use super::local::{
    CONFIG, LocalModel, LocalModelFacts, RECORD, TOKENIZER, WEIGHTS, check_name, create_staging_folder, tidy,
};
use super::record::ChecksumRecord;
use super::{AcquireError, Layout, ManifestFile, ModelFiles, ModelManifest, locate_runtime};
use crate::onnx;

/// Reserved names.
const RESERVED: [&str; 2] = ["hash", "hub"];

/// Options of a model import.
#[derive(Debug, Clone, Default)]
pub struct ImportOptions {
    /// Name of the imported model.
    pub name: String,
    /// Prefix for each query; `None` uses the one of the folder.
    pub query_prefix: Option<String>,
    /// Prefix for each passage; `None` uses the one of the folder.
    pub passage_prefix: Option<String>,
}

/// Imports a sentence-transformers folder: checks its settings, copies its three files into a temporary folder, and
/// loads and tests the copy with the runtime library. Only then is the copy renamed to its final name.
///
/// # Errors
/// Fails if the model is not supported (the error has a hint), or another model has the name. In both cases, nothing is
/// changed.
pub fn import_folder(
    layout: &Layout,
    manifest: &ModelManifest,
    from: &Path,
    wish: &ImportOptions,
) -> Result<LocalModel, AcquireError> {
    check_free(manifest, &wish.name)?;
    let runtime = locate_runtime(layout, manifest)?;
    let described = folder::read(from)?;
    let mut model = LocalModel {
        name: wish.name.clone(),
        facts: LocalModelFacts {
            dimension: 0,
            max_pieces: described.max_pieces.unwrap_or(usize::MAX),
            pooling: described.pooling,
            query_prefix: wish.query_prefix.clone().unwrap_or(described.query_prefix),
            passage_prefix: wish.passage_prefix.clone().unwrap_or(described.passage_prefix),
            files: Vec::new(),
        },
    };
    let prefixed = !model.facts.query_prefix.is_empty() || !model.facts.passage_prefix.is_empty();
    if prefixed && !described.pools_prompt {
        let fix = "choose a model that pools the whole text, or set empty prefixes";
        return Err(folder_error(
            from,
            "its pooling excludes the prompt (include_prompt), which is not supported",
            fix,
        ));
    }
    let source = ModelFiles {
        weights: described.weights,
        tokenizer: described.tokenizer,
        config: described.config,
        ..model.files_in(from)
    };
    let shape = onnx::examine(&source)?;
    if described.pieces > shape.vocabulary {
        let what = format!(
            "its largest word piece id is {}, but its weights have only {} rows for word pieces",
            described.pieces - 1,
            shape.vocabulary
        );
        return Err(folder_error(&source.tokenizer, what, folder::WANTED));
    }
    model.facts.dimension = shape.dimension;
    model.facts.max_pieces = shape.max_pieces;

    tidy(layout);
    fs::create_dir_all(&layout.models).map_err(|e| AcquireError::io("create", &layout.models, e))?;
    let staged = create_staging_folder(layout)?;
    for (from, name) in [
        (&source.weights, WEIGHTS),
        (&source.tokenizer, TOKENIZER),
        (&source.config, CONFIG),
    ] {
        let file = copy_hashed(from, name, staged.path())?;
        model.facts.files.push(file);
    }
    match LocalModel::find(layout, &wish.name) {
        Ok(Some(there)) if there == model => {}
        Ok(None) if model.folder(layout).symlink_metadata().is_err() => {}
        // The name belongs to another model, or to a folder of unknown origin.
        _ => return Err(AcquireError::Exists(wish.name.clone())),
    }
    onnx::run_trial(&model.files_in(staged.path()), &runtime)?;
    model.install(layout, staged)?;
    Ok(model)
}

impl LocalModel {
    /// Renames the complete copy to its final name. If a damaged model with the same content has this name, it is
    /// replaced.
    fn install(&self, layout: &Layout, staged: tempfile::TempDir) -> Result<(), AcquireError> {
        let path = staged.path().join(RECORD);
        let text =
            serde_json::to_vec_pretty(&self.facts).map_err(|e| AcquireError::io("write", &path, e.into()))?;
        replace_file(&path, &mut text.as_slice(), None)?;
        let mut record = ChecksumRecord::default();
        for file in &self.facts.files {
            record.note(staged.path(), file, &file.sha256);
        }
        record.save(staged.path())?;
        let place = self.folder(layout);
        let failed = |e| AcquireError::io("write", &place, e);
        let former = create_staging_folder(layout)?;
        if place.symlink_metadata().is_ok() {
            fs::rename(&place, former.path().join("former")).map_err(failed)?;
        }
        fs::rename(staged.path(), &place).map_err(failed)?;
        // The folder was renamed: nothing is left to remove.
        let _ = staged.keep();
        sync_folder(&layout.models).map_err(failed)
    }
}

/// Copies one file and returns its manifest entry.
fn copy_hashed(from: &Path, name: &str, folder: &Path) -> Result<ManifestFile, AcquireError> {
    let file = fs::File::open(from).map_err(|e| AcquireError::io("read", from, e))?;
    let mut input = HashingReader {
        inner: file,
        hash: Sha256::new(),
        size: 0,
    };
    replace_file(&folder.join(name), &mut input, None)?;
    Ok(ManifestFile {
        name: name.into(),
        member: name.into(),
        size: input.size,
        sha256: hex(&input.hash.finalize()),
    })
}

/// A reader that computes the checksum and size of its content.
struct HashingReader {
    inner: fs::File,
    hash: Sha256,
    size: u64,
}

impl io::Read for HashingReader {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buf)?;
        self.hash.update(&buf[..n]);
        self.size += n as u64;
        Ok(n)
    }
}

fn check_free(manifest: &ModelManifest, name: &str) -> Result<(), AcquireError> {
    check_name(name)?;
    let lower = name.to_lowercase();
    let pinned = manifest.models.iter().any(|model| model.name == lower);
    if pinned || RESERVED.contains(&&*lower) {
        return Err(AcquireError::Name(
            name.into(),
            "it is a reserved name of this build",
        ));
    }
    Ok(())
}
