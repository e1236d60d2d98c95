//! Errors of the store, one kind for each remedy.

use std::path::{Path, PathBuf};

use crate::system;

/// An error of the store. Each kind has one remedy.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The file is damaged or is not a database. Remedy: rebuild it from the watched files.
    #[error("could not read the database: {path} is damaged ({reason})")]
    Corrupt {
        /// The database file.
        path: PathBuf,
        /// The problem, usually SQLite's message.
        reason: String,
    },
    /// Another version of hippod wrote this database. Remedy: run that version, or rebuild the database.
    #[error("could not open the database: {path} has schema {found}; this version supports schema {known}")]
    OtherSchema {
        /// The database file.
        path: PathBuf,
        /// Schema version in the file.
        found: i64,
        /// Schema version that this build supports.
        known: i64,
    },
    /// The disk is full. Remedy: free some space. The daemon retries the change later.
    #[error("could not write the database: no space left for {path}")]
    DiskFull {
        /// The database file.
        path: PathBuf,
    },
    /// The database or its folder cannot be written.
    #[error("could not write the database: {path} is read-only")]
    ReadOnly {
        /// The database file.
        path: PathBuf,
    },
    /// Too many files are open in the process or on the machine. The daemon retries the operation later.
    #[error("could not open {path}: too many files are open")]
    TooManyOpenFiles {
        /// The file that could not be opened.
        path: PathBuf,
    },
    /// One stored item is unreadable, or is not in the state that the request requires. All other items are intact.
    #[error("could not use {row}: {path}: {reason}")]
    Row {
        /// The database file.
        path: PathBuf,
        /// Name of the item, for a message of the form "could not use …".
        row: String,
        /// The problem, as text.
        reason: String,
    },
    /// A file operation failed.
    #[error("could not {what}: {path}: {source}")]
    Io {
        /// Description of the operation, for a message of the form "could not …".
        what: &'static str,
        /// The path.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// Any other SQLite error.
    #[error("could not use the database: {path}: {source}")]
    Sql {
        /// The database file.
        path: PathBuf,
        /// SQLite's error.
        source: rusqlite::Error,
    },
}

impl StoreError {
    /// Returns a function that converts an error of the operating system to an error with the message "could not
    /// `what`: `path`".
    pub(crate) fn io(what: &'static str, path: &Path) -> impl Fn(std::io::Error) -> Self + use<> {
        let path = path.to_path_buf();
        move |source| Self::Io {
            what,
            path: path.clone(),
            source,
        }
    }

    /// Converts an SQLite error.
    pub(crate) fn from_sql(path: &Path, source: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode as Code;
        let path = path.to_path_buf();
        match source.sqlite_error_code() {
            Some(Code::DatabaseCorrupt | Code::NotADatabase) => Self::Corrupt {
                path,
                reason: source.to_string(),
            },
            Some(Code::DiskFull) => Self::DiskFull { path },
            Some(Code::ReadOnly) => Self::ReadOnly { path },
            // SQLite does not report the cause. Opening another file shows whether too many files are open.
            Some(Code::CannotOpen | Code::SystemIoFailure) if system::is_out_of_handles() => {
                Self::TooManyOpenFiles { path }
            }
            _ => Self::Sql { path, source },
        }
    }

    /// Returns true if closing other files would fix the error.
    pub fn is_shortage(&self) -> bool {
        match self {
            Self::TooManyOpenFiles { .. } => true,
            Self::Io { source, .. } => system::is_shortage(source),
            _ => false,
        }
    }

    /// Returns true if only a rebuild from the watched files can fix the error.
    pub fn needs_rebuild(&self) -> bool {
        matches!(self, Self::Corrupt { .. } | Self::OtherSchema { .. })
    }

    /// Returns true if the database is damaged, so that rebuilding it causes no further loss.
    pub fn is_damage(&self) -> bool {
        matches!(self, Self::Corrupt { .. })
    }
}
