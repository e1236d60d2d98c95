//! How is a folder that somebody brought taken in: looked at, copied, tried, and only then named?

use std::fs;
use std::io;
use std::path::Path;

use sha2::{Digest, Sha256};

use super::extract::{hex, replace_file, sync_folder};
use super::folder::{self, refused};
use super::local::{CONFIG, Facts, LocalModel, RECORD, TOKENIZER, WEIGHTS, beside, check_name, tidy};
use super::record::Record;
use super::{AcquireError, Layout, Manifest, ManifestFile, ModelFiles, locate_runtime};
use crate::onnx;

/// Names that mean something else.
const TAKEN: [&str; 2] = ["hash", "hub"];

/// How a model is to be imported.
#[derive(Debug, Clone, Default)]
pub struct Wish {
    /// Name to choose it by.
    pub name: String,
    /// Text before each question; what the folder says when absent.
    pub query_prefix: Option<String>,
    /// Text before each passage; what the folder says when absent.
    pub passage_prefix: Option<String>,
}

/// Takes a sentence-transformers folder in: looks at what it says, copies its three files beside the models, has the copy loaded and tried
/// with the runtime library, and only then gives it its name. `done` hears the bytes copied and all bytes.
///
/// # Errors
/// What cannot be carried is refused with what it is and what would work; a name that is taken by another model too. Then nothing is changed.
pub fn import_folder(
    layout: &Layout,
    manifest: &Manifest,
    from: &Path,
    wish: &Wish,
) -> Result<LocalModel, AcquireError> {
    check_free(manifest, &wish.name)?;
    let runtime = locate_runtime(layout, manifest)?;
    let described = folder::read(from)?;
    let mut model = LocalModel {
        name: wish.name.clone(),
        facts: Facts {
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
        let fix = "choose a model that pools the whole text, or give empty prefixes";
        return Err(refused(
            from,
            "its pooling leaves the prompt out (include_prompt), which is not supported",
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
            "it has pieces up to number {}, and the weights have {} rows for them",
            described.pieces - 1,
            shape.vocabulary
        );
        return Err(refused(&source.tokenizer, what, folder::WANTED));
    }
    model.facts.dimension = shape.dimension;
    model.facts.max_pieces = shape.max_pieces;

    tidy(layout);
    fs::create_dir_all(&layout.models).map_err(|e| AcquireError::io("create", &layout.models, e))?;
    let staged = beside(layout)?;
    for (from, name) in [
        (&source.weights, WEIGHTS),
        (&source.tokenizer, TOKENIZER),
        (&source.config, CONFIG),
    ] {
        let file = take(from, name, staged.path())?;
        model.facts.files.push(file);
    }
    match LocalModel::find(layout, &wish.name) {
        Ok(Some(there)) if there == model => {}
        Ok(None) if model.folder(layout).symlink_metadata().is_err() => {}
        // Another model, or a folder of which nobody knows whose it is.
        _ => return Err(AcquireError::Exists(wish.name.clone())),
    }
    onnx::try_out(&model.files_in(staged.path()), &runtime)?;
    model.settle(layout, staged)?;
    Ok(model)
}

impl LocalModel {
    /// Gives the complete copy its name. A damaged model of the same content makes room for it.
    fn settle(&self, layout: &Layout, staged: tempfile::TempDir) -> Result<(), AcquireError> {
        let path = staged.path().join(RECORD);
        let text =
            serde_json::to_vec_pretty(&self.facts).map_err(|e| AcquireError::io("write", &path, e.into()))?;
        replace_file(&path, &mut text.as_slice(), None)?;
        let mut record = Record::default();
        for file in &self.facts.files {
            record.note(staged.path(), file, &file.sha256);
        }
        record.save(staged.path())?;
        let place = self.folder(layout);
        let failed = |e| AcquireError::io("write", &place, e);
        let former = beside(layout)?;
        if place.symlink_metadata().is_ok() {
            fs::rename(&place, former.path().join("former")).map_err(failed)?;
        }
        fs::rename(staged.path(), &place).map_err(failed)?;
        // Its place is empty by now.
        let _ = staged.keep();
        sync_folder(&layout.models).map_err(failed)
    }
}

/// Copies one file and says what it is.
fn take(from: &Path, name: &str, folder: &Path) -> Result<ManifestFile, AcquireError> {
    let file = fs::File::open(from).map_err(|e| AcquireError::io("read", from, e))?;
    let mut input = Summed {
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

/// Sums up what is read through it.
struct Summed {
    inner: fs::File,
    hash: Sha256,
    size: u64,
}

impl io::Read for Summed {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buf)?;
        self.hash.update(&buf[..n]);
        self.size += n as u64;
        Ok(n)
    }
}

fn check_free(manifest: &Manifest, name: &str) -> Result<(), AcquireError> {
    check_name(name)?;
    let lower = name.to_lowercase();
    let pinned = manifest.models.iter().any(|model| model.name == lower);
    if pinned || TAKEN.contains(&&*lower) {
        return Err(AcquireError::Name(
            name.into(),
            "this build means something else by it",
        ));
    }
    Ok(())
}
