//! Import of a model folder: check, copy, trial run, rename.

use std::fs;
use std::path::Path;

use super::extract::{replace_file, sync_folder};
use super::folder::{self, folder_error};
use super::model::{Model, RECORD, check_name, create_staging_folder, tidy};
use super::record::ChecksumRecord;
use super::{AcquireError, CONFIG, Layout, ManifestFile, ModelManifest, TOKENIZER, WEIGHTS, locate_runtime};
use crate::onnx;

/// Name of the embedder that needs no model; models cannot have this name.
const RESERVED: &str = "hash";

/// Options of a model import.
#[derive(Debug, Clone, Default)]
pub struct ImportOptions {
    /// Name of the imported model.
    pub name: String,
    /// Prefix for each query; `None` selects the prefix that the folder names.
    pub query_prefix: Option<String>,
    /// Prefix for each passage; `None` selects the prefix that the folder names.
    pub passage_prefix: Option<String>,
}

/// Imports a sentence-transformers folder. Checks its settings, copies its three files into a temporary folder, and
/// tests the copy with the runtime library. The copy is renamed to its final name only after the test.
///
/// # Errors
/// Fails if the model is not supported (the error has a hint), or if another model has this name. In both cases,
/// nothing is changed.
pub fn import_folder(
    layout: &Layout,
    manifest: &ModelManifest,
    from: &Path,
    wish: &ImportOptions,
) -> Result<Model, AcquireError> {
    check_free(manifest, &wish.name)?;
    let runtime = locate_runtime(layout, manifest)?;
    let described = folder::read(from)?;
    let mut model = Model {
        name: wish.name.clone(),
        dimension: 0,
        max_pieces: described.max_pieces.unwrap_or(usize::MAX),
        query_prefix: wish.query_prefix.clone().unwrap_or(described.query_prefix),
        passage_prefix: wish.passage_prefix.clone().unwrap_or(described.passage_prefix),
        pooling: described.pooling,
        files: Vec::new(),
        package: None,
    };
    let prefixed = !model.query_prefix.is_empty() || !model.passage_prefix.is_empty();
    if prefixed && !described.pools_prompt {
        let fix = "choose a model that pools the whole text, or set empty prefixes";
        return Err(folder_error(
            from,
            "its pooling excludes the prompt (include_prompt), which is not supported",
            fix,
        ));
    }
    let source = model.files_in(&described.transformer);
    let shape = onnx::examine(&source)?;
    model.dimension = shape.dimension;
    model.max_pieces = shape.max_pieces;

    tidy(layout);
    fs::create_dir_all(&layout.models).map_err(|e| AcquireError::io("create", &layout.models, e))?;
    let staged = create_staging_folder(layout)?;
    for name in [WEIGHTS, TOKENIZER, CONFIG] {
        let from = described.transformer.join(name);
        let mut file = fs::File::open(&from).map_err(|e| AcquireError::io("read", &from, e))?;
        let (size, sha256) = replace_file(&staged.path().join(name), &mut file, None)?;
        model.files.push(ManifestFile {
            name: name.into(),
            member: name.into(),
            size,
            sha256,
            url: None,
            source: None,
        });
    }
    match Model::find_imported(layout, &wish.name) {
        Ok(Some(there)) if there == model => {}
        Ok(None) if model.artifact(layout).folder.symlink_metadata().is_err() => {}
        // The name belongs to another model, or to a folder of unknown origin.
        _ => return Err(AcquireError::Exists(wish.name.clone())),
    }
    onnx::run_trial(&model.files_in(staged.path()), &runtime)?;
    model.install(layout, staged)?;
    Ok(model)
}

impl Model {
    /// Renames the complete copy to its final name. If a damaged model with the same content has this name, the copy
    /// replaces that model.
    fn install(&self, layout: &Layout, staged: tempfile::TempDir) -> Result<(), AcquireError> {
        let path = staged.path().join(RECORD);
        let text = serde_json::to_vec_pretty(self).map_err(|e| AcquireError::io("write", &path, e.into()))?;
        replace_file(&path, &mut text.as_slice(), None)?;
        let mut record = ChecksumRecord::default();
        for file in &self.files {
            record.note(staged.path(), file, Some(&file.sha256));
        }
        record.save(staged.path())?;
        let place = self.artifact(layout).folder;
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

fn check_free(manifest: &ModelManifest, name: &str) -> Result<(), AcquireError> {
    check_name(name)?;
    let lower = name.to_lowercase();
    let pinned = manifest.models.iter().any(|model| model.name == lower);
    if pinned || lower == RESERVED {
        return Err(AcquireError::Name(
            name.into(),
            "this build of hippod reserves the name",
        ));
    }
    Ok(())
}
