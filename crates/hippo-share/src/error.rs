//! Errors of sharing.

use std::path::PathBuf;

use tokio_postgres::error::SqlState;

/// An error of sharing. No message contains a password.
#[derive(Debug, thiserror::Error)]
pub enum ShareError {
    /// A setting is missing or invalid.
    #[error("could not use the setting share.postgres.{key}: {why}")]
    Setting {
        /// Name of the key.
        key: &'static str,
        /// The problem.
        why: String,
    },
    /// A file cannot be read or written.
    #[error("could not {what}: {}: {source}", path.display())]
    File {
        /// The attempted operation.
        what: &'static str,
        /// Path of the file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// A file that contains a secret can be read by other users.
    #[error("could not use a file that other users can read: {}", .0.display())]
    Exposed(PathBuf),
    /// The password command failed.
    #[error("could not run the password command: {0}")]
    PasswordCommand(String),
    /// The server cannot be reached, or the connection broke.
    #[error("could not reach the server: {0}")]
    Unreachable(String),
    /// The server did not answer in time.
    #[error("the server did not answer within {0} ms")]
    Late(u128),
    /// The server refused the login.
    #[error("the server refused the login: {0}")]
    Login(String),
    /// The login has no rights for an operation.
    #[error("the login has no rights for this: {0}")]
    Rights(String),
    /// The database was not prepared, or by a later version.
    #[error("the database has version {found} of hippod's tables, and this version needs {wanted}")]
    Schema {
        /// Version of the tables; 0 without tables.
        found: i32,
        /// Version that this build needs.
        wanted: i32,
    },
    /// Another error of the server.
    #[error("the server reports: {0}")]
    Server(String),
}

impl ShareError {
    /// Returns advice for the user.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Setting { .. } => "correct the section [share.postgres] in config.toml, and restart hippod",
            Self::File { .. } => "check the path and the permissions",
            Self::Exposed(_) => "run `chmod 600` on the file",
            Self::PasswordCommand(_) => {
                "run the command in a terminal; it must print the password and exit with 0"
            }
            Self::Unreachable(_) | Self::Late(_) => {
                "searches use the local memory only, and changes are published when the server answers again"
            }
            Self::Login(_) => "check the user name in share.postgres.url, and the password",
            Self::Rights(_) => {
                "ask the administrator of the server for the role hippod_TEAM_reader or hippod_TEAM_writer"
            }
            Self::Schema { .. } => "the administrator prepares the database with `hippoctl share init-db`",
            Self::Server(_) => "the log of the server contains the details",
        }
    }

    /// Returns true if the same operation can succeed later without a change of the settings.
    pub fn is_temporary(&self) -> bool {
        matches!(self, Self::Unreachable(_) | Self::Late(_) | Self::Server(_))
    }
}

/// Maximum characters of a message of the server.
const MESSAGE: usize = 300;

impl From<tokio_postgres::Error> for ShareError {
    fn from(error: tokio_postgres::Error) -> Self {
        let Some(db) = error.as_db_error() else {
            // The error of the connection is more specific than its frame.
            let why =
                std::error::Error::source(&error).map_or_else(|| error.to_string(), ToString::to_string);
            return Self::Unreachable(why);
        };
        let is_shown = |mark: &char| !mark.is_control();
        let message: String = db.message().chars().filter(is_shown).take(MESSAGE).collect();
        match db.code() {
            &SqlState::INVALID_PASSWORD | &SqlState::INVALID_AUTHORIZATION_SPECIFICATION => {
                Self::Login(message)
            }
            &SqlState::INSUFFICIENT_PRIVILEGE => Self::Rights(message),
            &SqlState::ADMIN_SHUTDOWN | &SqlState::CRASH_SHUTDOWN | &SqlState::CANNOT_CONNECT_NOW => {
                Self::Unreachable(message)
            }
            _ => Self::Server(message),
        }
    }
}
