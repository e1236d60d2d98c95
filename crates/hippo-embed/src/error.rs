//! Errors of embedding.

use std::io;
use std::path::PathBuf;

/// An error while a model is loaded or used.
#[derive(Debug, thiserror::Error)]
pub enum EmbedError {
    /// The model or the runtime library is not installed. The string is the message, which names the missing file.
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
        /// The error message.
        reason: String,
    },
    /// A file of the model could not be read.
    #[error("could not read the model: {}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// This build cannot parse a file of the model.
    #[error("could not use the model: {}: {reason}", path.display())]
    Model {
        /// The file.
        path: PathBuf,
        /// The error message.
        reason: String,
    },
    /// The runtime rejected the model.
    #[error("could not load the model: {0}")]
    Load(String),
    /// No model has this name.
    #[error("no such model: {0:?}")]
    UnknownModel(String),
    /// A text could not be split into tokens.
    #[error("could not split the text into tokens: {0}")]
    Tokenize(String),
    /// The model failed on a text.
    #[error("could not compute the vector of a text: {0}")]
    Run(String),
}
