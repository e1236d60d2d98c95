//! `model.*`: list, download, import and verification of embedding models.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::RpcError;

/// Parameters of `model.list`: none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ModelListRequest {}

/// Answer to `model.list`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ModelListResponse {
    /// Models, the default one first.
    pub models: Vec<ModelInfo>,
    /// The runtime library of the models.
    pub runtime: RuntimeInfo,
}

/// The installation state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ModelState {
    /// All files are installed.
    Installed,
    /// Not installed.
    Absent,
    /// Installed but damaged.
    Damaged,
    /// Not usable with this build or on this CPU.
    Unsupported,
}

/// One embedding model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ModelInfo {
    /// Name for `model.pull`.
    pub name: String,
    /// Name, dimension and revision of the model in one string, which is stored with each vector.
    pub id: String,
    /// SHA-256 of the weights, in hexadecimal; null without weights.
    #[serde(default)]
    pub sha256: Option<String>,
    /// Number of components of a vector.
    pub dimension: u32,
    /// The installation state.
    pub state: ModelState,
    /// True if the configuration selects this model.
    pub selected: bool,
    /// Size in bytes on disk, or of the download if the model is absent; 0 if unknown.
    pub bytes: u64,
    /// SPDX expression of the licence, if known.
    pub licence: Option<String>,
    /// Package that contains the model; `built in` or `imported` if there is none.
    pub source: String,
}

/// The runtime library of the models.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RuntimeInfo {
    /// Name and version.
    pub name: String,
    /// The installation state.
    pub state: ModelState,
    /// Folder of the library, if installed.
    pub path: Option<String>,
    /// The reason why the library is damaged or unsupported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Parameters of `model.pull`. `progress` notifications precede the answer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ModelPullRequest {
    /// Name of the model; default: the configured one.
    pub model: Option<String>,
    /// Address of a mirror, or absolute path of a folder, that contains the files or wheels under the names in
    /// `models/manifest.toml`; default: the addresses in the manifest, and then pip.
    pub from: Option<String>,
}

/// Answer to `model.pull` and `model.import`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModelPullResponse {
    /// Name of the model.
    pub model: String,
    /// The files that are installed now, including the runtime library.
    pub files: Vec<ModelFile>,
    /// Duration in milliseconds.
    pub took_ms: f64,
}

/// One file of a model or of the runtime.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ModelFile {
    /// Absolute path.
    pub path: String,
    /// Size in bytes; 0 if missing.
    pub bytes: u64,
    /// The pinned SHA-256, in hexadecimal; empty if the file is missing.
    pub sha256: String,
    /// True if the checksum matches.
    pub ok: bool,
    /// Package that contains the file.
    pub source: String,
}

/// Parameters of `model.verify`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ModelVerifyRequest {
    /// Name of the model; default: the configured one.
    pub model: Option<String>,
}

/// Answer to `model.verify`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ModelVerifyResponse {
    /// Name of the model.
    pub model: String,
    /// True if every file exists with the expected checksum.
    pub ok: bool,
    /// All files of the model and of the runtime library.
    pub files: Vec<ModelFile>,
}

/// Parameters of `model.import`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ModelImportRequest {
    /// Absolute path of a Python wheel or of a folder with wheels. With `name`, absolute path of the folder of a
    /// sentence-transformers model.
    pub from: String,
    /// Name of a built-in model; default: the default model of this build.
    pub model: Option<String>,
    /// Name for a model that is not built in, for use in `embed.model`: up to 64 letters, digits, dots, dashes and
    /// underscores.
    pub name: Option<String>,
    /// Text that is put before each query; default: the prefix in the folder. Requires `name`.
    pub query_prefix: Option<String>,
    /// Text that is put before each passage; default: the prefix in the folder. Requires `name`.
    pub passage_prefix: Option<String>,
}

/// Parameters of `model.remove`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ModelRemoveRequest {
    /// Name of the imported model.
    pub model: String,
}

/// Answer to `model.remove`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ModelRemoveResponse {
    /// Name of the removed model.
    pub model: String,
    /// Size of the removed files in bytes.
    pub bytes: u64,
}

impl ModelImportRequest {
    pub(crate) fn validate(&self) -> Result<(), RpcError> {
        let prefixes = self.query_prefix.is_some() || self.passage_prefix.is_some();
        match (&self.model, &self.name) {
            (Some(_), Some(_)) => Err(RpcError::bad_request("`model` and `name` cannot be combined")
                .hint("`model` selects a built-in model, and `name` is the name of a new model")),
            (_, None) if prefixes => Err(RpcError::bad_request("a prefix is only allowed with `name`")
                .hint("built-in models have their own prefixes")),
            _ => Ok(()),
        }
    }
}
