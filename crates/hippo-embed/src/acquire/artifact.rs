//! Installed files and their known checksums.

use std::path::PathBuf;

use super::extract::file_sha256;
use super::record::{ChecksumRecord, FileFault};
use super::{AcquireError, ManifestFile, Package};

/// A unit of installation: the folder with the files of a model or of the runtime library.
#[derive(Debug, Clone)]
pub struct Artifact {
    /// Display name: `all-minilm-l6-v2`, `onnxruntime-1.24.4`.
    pub name: String,
    /// Folder of the files.
    pub folder: PathBuf,
    /// The files.
    pub files: Vec<ManifestFile>,
    /// True for the copy in a package, which hippod never writes.
    pub shipped: bool,
    /// The package that contains the files; `None` for an imported model.
    pub package: Option<Package>,
}

/// Result of the check of one file.
#[derive(Debug, Clone)]
pub struct FileCheck {
    /// Name of the artifact that contains the file.
    pub artifact: String,
    /// Path of the file.
    pub path: PathBuf,
    /// Expected SHA-256.
    pub expected: String,
    /// True if the content has this checksum.
    pub ok: bool,
}

impl Artifact {
    /// Returns the size of all files in bytes.
    pub fn size(&self) -> u64 {
        self.files.iter().map(|file| file.size).sum()
    }

    /// Returns the copy below `shipped` if it is complete and this one is not; otherwise returns this one.
    pub(super) fn or_shipped(self, shipped: Option<PathBuf>) -> Self {
        let Some(shipped) = shipped.filter(|_| self.first_fault().is_some()) else {
            return self;
        };
        let other = Self {
            folder: shipped.join(&self.name),
            shipped: true,
            ..self.clone()
        };
        match other.first_fault() {
            None => other,
            Some(_) => self,
        }
    }

    pub(super) fn first_fault(&self) -> Option<(PathBuf, FileFault)> {
        let record = ChecksumRecord::load(&self.folder);
        self.files.iter().find_map(|file| {
            let path = self.folder.join(&file.name);
            let fault = match self.shipped {
                false => record.fault(&self.folder, file)?,
                true => {
                    let metadata = path.metadata();
                    let is_there = |found: std::fs::Metadata| found.is_file() && found.len() == file.size;
                    (!metadata.is_ok_and(is_there)).then_some(FileFault::Missing)?
                }
            };
            Some((path, fault))
        })
    }

    /// Returns the reason why the files cannot be used, or `None` if they can. Only their metadata is checked.
    pub fn fault(&self) -> Option<AcquireError> {
        let (path, fault) = self.first_fault()?;
        Some(match (fault, &self.package) {
            (FileFault::Unchecked, _) => AcquireError::Unchecked(path),
            (_, None) => AcquireError::Changed(path),
            (FileFault::Missing, _) => AcquireError::NotInstalled(path),
            (FileFault::Damaged, _) => AcquireError::Damaged(path),
        })
    }

    /// Reads all files, compares their checksums, and records the result.
    pub fn verify(&self) -> Vec<FileCheck> {
        let mut record = ChecksumRecord::load(&self.folder);
        let checks = self.files.iter().map(|file| {
            let path = self.folder.join(&file.name);
            let found = file_sha256(&path);
            record.note(&self.folder, file, found.as_deref().ok());
            FileCheck {
                artifact: self.name.clone(),
                path,
                expected: file.sha256.clone(),
                ok: found.is_ok_and(|found| found == file.sha256),
            }
        });
        let checks = checks.collect();
        self.save(&record);
        checks
    }

    /// Reads and verifies each file whose modification time differs from the recorded one. Copying a file changes this
    /// time.
    pub(super) fn check_copied(&self) {
        let mut record = ChecksumRecord::load(&self.folder);
        let mut noted = false;
        for file in &self.files {
            if record.fault(&self.folder, file) == Some(FileFault::Unchecked) {
                let found = file_sha256(&self.folder.join(&file.name));
                record.note(&self.folder, file, found.as_deref().ok());
                noted = true;
            }
        }
        if noted {
            self.save(&record);
        }
    }

    fn save(&self, record: &ChecksumRecord) {
        if self.shipped || !self.folder.is_dir() {
            return;
        }
        if let Err(error) = record.save(&self.folder) {
            tracing::warn!(%error, "could not save the checksum record; the files are checked again after the next start");
        }
    }

    /// Returns the files that must be installed. A file that has the right content but no valid record is recorded and
    /// not returned.
    pub(super) fn missing_files(&self) -> Result<Vec<&ManifestFile>, AcquireError> {
        if self.shipped {
            return Ok(Vec::new());
        }
        let record = ChecksumRecord::load(&self.folder);
        let mut missing = Vec::new();
        for file in &self.files {
            let path = self.folder.join(&file.name);
            match record.fault(&self.folder, file) {
                None => {}
                Some(FileFault::Unchecked) if file_sha256(&path)? == file.sha256 => {
                    self.record_file(file)?;
                }
                Some(_) => missing.push(file),
            }
        }
        Ok(missing)
    }

    pub(super) fn record_file(&self, file: &ManifestFile) -> Result<(), AcquireError> {
        let mut record = ChecksumRecord::load(&self.folder);
        record.note(&self.folder, file, Some(&file.sha256));
        record.save(&self.folder)
    }
}
