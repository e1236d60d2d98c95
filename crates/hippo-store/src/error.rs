//! What can go wrong on disk, told apart by what to do about it.

use std::path::{Path, PathBuf};

use crate::system;

/// A failure of the store. Each kind has one remedy.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The database file is damaged or is no database: rebuild it from the watched files.
    #[error("could not read the database: {path} is damaged ({reason})")]
    Corrupt {
        /// The database file.
        path: PathBuf,
        /// SQLite's own words.
        reason: String,
    },
    /// A newer hippod wrote this database: run that version, or rebuild.
    #[error("could not open the database: {path} has schema {found}, this version knows up to {known}")]
    NewerSchema {
        /// The database file.
        path: PathBuf,
        /// Schema version in the file.
        found: i64,
        /// Newest schema version that this build understands.
        known: i64,
    },
    /// The disk is full: free space; the change is tried again later.
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
    /// The process, or the machine, may open no more files: it is tried again when some are closed.
    #[error("could not open {path}: too many files are open")]
    TooManyOpenFiles {
        /// The file.
        path: PathBuf,
    },
    /// One thing that is kept cannot be read, or is not as the request needs it. Everything else is sound.
    #[error("could not use {row}: {path}: {reason}")]
    Row {
        /// The database file.
        path: PathBuf,
        /// Which, as in "could not use …".
        row: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The operating system refused a file operation.
    #[error("could not {what}: {path}: {source}")]
    Io {
        /// What was tried, as in "could not …".
        what: &'static str,
        /// On which path.
        path: PathBuf,
        /// The operating system's answer.
        source: std::io::Error,
    },
    /// Any other refusal of SQLite.
    #[error("could not use the database: {path}: {source}")]
    Sql {
        /// The database file.
        path: PathBuf,
        /// SQLite's answer.
        source: rusqlite::Error,
    },
}

impl StoreError {
    /// Sorts SQLite's answer into the kinds above.
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
            // SQLite does not say why; the next file says it.
            Some(Code::CannotOpen | Code::SystemIoFailure) if system::is_out_of_handles() => {
                Self::TooManyOpenFiles { path }
            }
            _ => Self::Sql { path, source },
        }
    }

    /// Whether it is done when other files are closed.
    pub fn is_shortage(&self) -> bool {
        match self {
            Self::TooManyOpenFiles { .. } => true,
            Self::Io { source, .. } => system::is_shortage(source),
            _ => false,
        }
    }

    /// Whether only a rebuild from the watched files helps.
    pub fn needs_rebuild(&self) -> bool {
        matches!(self, Self::Corrupt { .. } | Self::NewerSchema { .. })
    }

    /// Whether the database is damaged, so that nothing is lost when it is made again.
    pub fn is_damage(&self) -> bool {
        matches!(self, Self::Corrupt { .. })
    }
}
