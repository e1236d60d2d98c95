//! Settings of the connection to the server.

use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use tokio::process::Command;

use crate::ShareError;

/// Refusal of a URL with a password.
const PASSWORD_IN_URL: &str =
    "the URL contains a password; write the password to share.postgres.password_file";
/// Maximum size of a password in bytes.
const PASSWORD: u64 = 4096;

/// Settings of the connection to the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerSettings {
    /// URL of the database, without a password.
    pub url: String,
    /// Source of the password.
    pub password: PasswordSource,
    /// Certificates of the authorities that may sign the server's certificate; `None` for the public ones.
    pub ca_file: Option<PathBuf>,
}

/// Source of the password.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum PasswordSource {
    /// No password: the server identifies the user in another way.
    #[default]
    Absent,
    /// The first line of a file that only its owner can read.
    File(PathBuf),
    /// The first line of the output of a command, for example of a keyring.
    Command(Vec<String>),
}

impl PasswordSource {
    /// Reads the password. If the caller stops waiting, the command is killed.
    ///
    /// # Errors
    /// Fails if the file cannot be read or is readable for other users, or if the command fails.
    pub async fn read(&self) -> Result<Option<String>, ShareError> {
        let text = match self {
            Self::Absent => return Ok(None),
            Self::File(path) => read_secret(path)?,
            Self::Command(words) => run(words).await?,
        };
        Ok(Some(text.lines().next().unwrap_or_default().to_owned()))
    }
}

/// Reads a file that contains a secret.
///
/// # Errors
/// Fails if the file cannot be read, or if other users than its owner can read it.
fn read_secret(path: &Path) -> Result<String, ShareError> {
    let failed = |source| ShareError::File {
        what: "read",
        path: path.to_path_buf(),
        source,
    };
    let file = std::fs::File::open(path).map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    if !metadata.is_file() {
        return Err(failed(std::io::ErrorKind::InvalidInput.into()));
    }
    if metadata.mode() & 0o077 != 0 {
        return Err(ShareError::Exposed(path.to_path_buf()));
    }
    let mut text = String::new();
    file.take(PASSWORD).read_to_string(&mut text).map_err(failed)?;
    Ok(text)
}

async fn run(words: &[String]) -> Result<String, ShareError> {
    let Some((program, arguments)) = words.split_first() else {
        return Err(ShareError::PasswordCommand("the command is empty".to_owned()));
    };
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stderr(Stdio::null());
    let output = command.kill_on_drop(true).output().await;
    let output = output.map_err(|error| ShareError::PasswordCommand(error.to_string()))?;
    if !output.status.success() {
        return Err(ShareError::PasswordCommand(output.status.to_string()));
    }
    String::from_utf8(output.stdout)
        .map_err(|_| ShareError::PasswordCommand("the output is not UTF-8".to_owned()))
}

/// Checks a URL of a PostgreSQL database. The message never contains the URL, because the URL may contain a password.
///
/// # Errors
/// Returns a description of the problem.
pub fn check_url(url: &str) -> Result<(), String> {
    let rest = url
        .strip_prefix("postgres://")
        .or_else(|| url.strip_prefix("postgresql://"));
    let Some(rest) = rest else {
        return Err("expected a URL such as postgres://ada@db.example/hippod".to_owned());
    };
    let (authority, tail) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    let has_password = authority
        .rsplit_once('@')
        .is_some_and(|(user, _)| user.contains(':'))
        || tail.to_ascii_lowercase().contains("password=");
    if has_password {
        return Err(PASSWORD_IN_URL.to_owned());
    }
    match url.parse::<tokio_postgres::Config>() {
        Ok(config) if config.get_password().is_some() => Err(PASSWORD_IN_URL.to_owned()),
        Ok(_) => Ok(()),
        Err(_) => Err("could not parse the URL".to_owned()),
    }
}

/// Checks the name of a team, which is part of the names of roles and tables.
///
/// # Errors
/// Returns a description of the problem.
pub fn check_team(name: &str) -> Result<(), String> {
    let is_valid = (1..=32).contains(&name.len())
        && name.starts_with(|first: char| first.is_ascii_lowercase())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
    if is_valid {
        return Ok(());
    }
    Err(
        "expected a name of a team: at most 32 lower-case letters, digits and _, starting with a letter"
            .to_owned(),
    )
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_url_with_a_password_is_rejected_without_repeating_it() {
        for url in [
            "postgres://ada:s3cret@db/hippod",
            "postgres://ada:s3/cret@db/hippod",
            "postgres://ada@db/hippod?p%61ssword=s3cret",
            "postgres://ada:s3cret@:x@db/hippod",
            "postgres://db/hippod?password=s3cret",
            "postgres://db/hippod?user=ada&PASSWORD=s3cret",
            "s3cret",
            "mysql://s3cret@db",
        ] {
            let why = check_url(url).unwrap_err();
            assert!(!why.contains("s3cret"), "{why}");
        }
        for url in [
            "postgres://ada@db.example:5433/hippod",
            "postgresql:///hippod?host=/run/postgresql",
        ] {
            assert_eq!(check_url(url), Ok(()), "{url}");
        }
    }

    #[tokio::test]
    async fn a_password_is_the_first_line_of_a_private_file_or_of_the_output_of_a_command() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("password");
        std::fs::write(&path, "correct horse\nsecond line\n").unwrap();
        let source = PasswordSource::File(path.clone());
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o644)).unwrap();
        assert!(matches!(source.read().await, Err(ShareError::Exposed(_))));
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).unwrap();
        assert_eq!(source.read().await.unwrap().as_deref(), Some("correct horse"));
        let command =
            |words: &[&str]| PasswordSource::Command(words.iter().map(ToString::to_string).collect());
        assert_eq!(
            command(&["echo", "battery"]).read().await.unwrap().as_deref(),
            Some("battery")
        );
        assert!(command(&["false"]).read().await.is_err());
        assert!(command(&[]).read().await.is_err());
    }

    #[test]
    fn a_team_name_can_be_part_of_a_role_name() {
        assert_eq!(check_team("core_2"), Ok(()));
        for name in ["", "Core", "2core", "a-b", "a\"b", &"a".repeat(33)] {
            assert!(check_team(name).is_err(), "{name}");
        }
    }
}
