//! Why a text could not be embedded.

use std::io;
use std::path::PathBuf;

/// Why a model could not be loaded or used.
#[derive(Debug, thiserror::Error)]
pub enum EmbedError {
    /// The model or the runtime library is not installed; the text names what is missing.
    #[error("{0}")]
    NotInstalled(String),
    /// The prebuilt runtime would crash on this processor.
    #[error("could not use the model: the processor lacks {0}")]
    Processor(&'static str),
    /// The runtime library could not be loaded.
    #[error("could not load the runtime library: {}: {reason}", path.display())]
    Runtime {
        /// The library.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
    /// A file of the model could not be read.
    #[error("could not read the model: {}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The operating system's reason.
        source: io::Error,
    },
    /// A file of the model is not what this build understands.
    #[error("could not understand the model: {}: {reason}", path.display())]
    Model {
        /// The file.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
    /// The runtime refused the model.
    #[error("could not load the model: {0}")]
    Load(String),
    /// No model of this name is known.
    #[error("could not find a model named {0:?}")]
    UnknownModel(String),
    /// A text could not be split into word pieces.
    #[error("could not tokenize: {0}")]
    Tokenize(String),
    /// The model failed on a text.
    #[error("could not embed: {0}")]
    Run(String),
}

impl EmbedError {
    /// Whether installing the model is the remedy.
    pub fn is_not_installed(&self) -> bool {
        matches!(self, Self::NotInstalled(_))
    }
}
