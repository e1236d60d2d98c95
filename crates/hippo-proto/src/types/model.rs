//! How are embedding models listed, obtained and checked: `model.*`?

use serde::{Deserialize, Serialize};

use super::{Validate, no_empty};
use crate::error::RpcError;

/// Parameters of `model.list`: none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ModelListRequest {}

impl Validate for ModelListRequest {}

/// Answer to `model.list`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ModelListResponse {
    /// The default model first.
    pub models: Vec<ModelInfo>,
    /// The library that runs them.
    pub runtime: RuntimeInfo,
}

/// Whether something is installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ModelState {
    /// Complete.
    Installed,
    /// Not there.
    Absent,
    /// There, but not as it should be.
    Damaged,
    /// Known, but this build or this processor cannot use it.
    Unsupported,
}

/// One embedding model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ModelInfo {
    /// The name to pull it by.
    pub name: String,
    /// Name, dimension, revision, pooling and prefix in one string, as stored with each vector.
    pub id: String,
    /// SHA-256 of its weights, in hexadecimal; null where it has none.
    #[serde(default)]
    pub sha256: Option<String>,
    /// Numbers in a vector.
    pub dimension: u32,
    /// Whether it is installed.
    pub state: ModelState,
    /// Whether the configuration chooses it.
    pub selected: bool,
    /// Bytes on disk, or to download where it is absent; 0 where unknown.
    pub bytes: u64,
    /// SPDX expression of its licence, where known.
    pub licence: Option<String>,
    /// The package that it comes in, `built in`, or `imported`.
    pub source: String,
}

/// The library that runs the models.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RuntimeInfo {
    /// Name and version.
    pub name: String,
    /// Whether it is installed.
    pub state: ModelState,
    /// Its folder, where it is installed.
    pub path: Option<String>,
    /// Why it is damaged or unsupported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Parameters of `model.pull`. `progress` notifications come before the answer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ModelPullRequest {
    /// Name of the model; the configured one when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

impl Validate for ModelPullRequest {
    fn validate(&self) -> Result<(), RpcError> {
        no_empty("model", self.model.as_deref())
    }
}

/// Answer to `model.pull` and `model.import`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ModelPullResponse {
    /// Name of the model.
    pub model: String,
    /// What is installed now, runtime library included.
    pub files: Vec<ModelFile>,
    /// Milliseconds.
    pub took_ms: f64,
}

/// One file of a model or of the runtime.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ModelFile {
    /// Absolute path.
    pub path: String,
    /// Its size; 0 where it is missing.
    pub bytes: u64,
    /// The pinned SHA-256, in hexadecimal; empty where the file is missing.
    pub sha256: String,
    /// Whether the file has it.
    pub ok: bool,
    /// The package that it comes from.
    pub source: String,
}

/// Parameters of `model.verify`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ModelVerifyRequest {
    /// Name of the model; the configured one when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

impl Validate for ModelVerifyRequest {
    fn validate(&self) -> Result<(), RpcError> {
        no_empty("model", self.model.as_deref())
    }
}

/// Answer to `model.verify`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ModelVerifyResponse {
    /// Name of the model.
    pub model: String,
    /// Whether every file is there and as expected.
    pub ok: bool,
    /// Each file.
    pub files: Vec<ModelFile>,
}

/// Parameters of `model.import`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ModelImportRequest {
    /// Absolute path of a Python wheel, of a folder with wheels, or of a folder with the files themselves; with `name`, of the folder
    /// of a sentence-transformers model.
    pub from: String,
    /// Name of a model that this build knows; its default one when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Name to import another model under, for `embed.model`: up to 64 letters, digits, dots, dashes and underscores.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Text before each question; what the folder says when absent. Only with `name`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query_prefix: Option<String>,
    /// Text before each passage; what the folder says when absent. Only with `name`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passage_prefix: Option<String>,
}

/// Parameters of `model.remove`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ModelRemoveRequest {
    /// Name that the model was imported under.
    pub model: String,
}

impl Validate for ModelRemoveRequest {
    fn validate(&self) -> Result<(), RpcError> {
        no_empty("model", Some(&self.model))
    }
}

/// Answer to `model.remove`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ModelRemoveResponse {
    /// Name of the model that is gone.
    pub model: String,
    /// Bytes of its files.
    pub bytes: u64,
}

impl Validate for ModelImportRequest {
    fn validate(&self) -> Result<(), RpcError> {
        no_empty("from", Some(&self.from))?;
        no_empty("model", self.model.as_deref())?;
        no_empty("name", self.name.as_deref())?;
        let prefixes = self.query_prefix.is_some() || self.passage_prefix.is_some();
        match (&self.model, &self.name) {
            (Some(_), Some(_)) => Err(RpcError::bad_request("`model` and `name` exclude each other")
                .hint("`name` imports another model, `model` one that this build knows")),
            (_, None) if prefixes => Err(RpcError::bad_request(
                "a prefix is for a model that is imported under a `name`",
            )
            .hint("the models that this build knows have their own")),
            _ => Ok(()),
        }
    }
}
