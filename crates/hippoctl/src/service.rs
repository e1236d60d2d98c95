//! How is hippod given to the service manager of this user, and taken back?

mod findings;
mod manager;
mod unit;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use hippo_proto::Paths;

use crate::failure::{Exit, Failure};

pub use findings::{Look, findings, look};
pub use manager::{Answer, Call, Control};
pub use unit::{Found, UnitFile, named_program, read, units};

/// Who starts and watches daemons on this system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Manager {
    /// `systemd --user`.
    Systemd,
    /// The agents of a macOS session.
    Launchd,
}

impl Manager {
    /// The one of this system.
    ///
    /// # Errors
    /// None is known for it.
    pub fn here() -> Result<Self, Failure> {
        if cfg!(target_os = "linux") {
            Ok(Self::Systemd)
        } else if cfg!(target_os = "macos") {
            Ok(Self::Launchd)
        } else {
            Err(
                Failure::new(Exit::Refused, "no service manager is known for this system")
                    .hint("hippoctl starts the daemon when it is needed: hippoctl start"),
            )
        }
    }

    /// Where the files of its services lie.
    ///
    /// # Errors
    /// No home folder is known.
    pub fn folder(self, lookup: &impl Fn(&str) -> Option<OsString>) -> Result<PathBuf, Failure> {
        let absolute = |name: &str| lookup(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let home = || {
            absolute("HOME")
                .ok_or_else(|| Failure::new(Exit::Usage, "could not find the home folder").hint("set HOME"))
        };
        Ok(match self {
            Self::Systemd => match absolute("XDG_CONFIG_HOME") {
                Some(config) => config,
                None => home()?.join(".config"),
            }
            .join("systemd/user"),
            Self::Launchd => home()?.join("Library/LaunchAgents"),
        })
    }
}

/// Variables that say where hippod keeps things. The service manager does not know those of a shell.
const PLACES: [&str; 7] = [
    "HIPPOD_HOME",
    "HIPPOD_SOCKET",
    "HIPPOD_CACHE",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
    "XDG_CACHE_HOME",
];

/// What is written into the files of the service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// `hippod`.
    pub program: PathBuf,
    /// The socket, unless it is in its usual place below the manager's own folder for such things.
    pub socket: Option<PathBuf>,
    /// Where hippod is to keep things, by variable.
    pub environment: Vec<(&'static str, String)>,
    /// Where what it says goes, where the manager keeps no log.
    pub log: PathBuf,
    /// Whether the lines that need user namespaces are in.
    pub sandbox: bool,
}

impl Facts {
    /// By this environment, for the daemon that serves `paths`.
    ///
    /// # Errors
    /// A place that no unit file can name.
    pub fn new(
        program: PathBuf,
        paths: &Paths,
        lookup: &impl Fn(&str) -> Option<OsString>,
    ) -> Result<Self, Failure> {
        let set = |name: &str| lookup(name).filter(|value| !value.is_empty());
        let usual = match set("XDG_RUNTIME_DIR") {
            Some(folder) => paths.socket == Path::new(&folder).join("hippod/hippod.sock"),
            // This shell does not know the folder; the service manager does.
            None => set("HIPPOD_HOME").is_none() && set("HIPPOD_SOCKET").is_none(),
        };
        let socket = (!usual).then(|| paths.socket.clone());
        let mut environment = Vec::new();
        for name in PLACES {
            let value = match (name, &socket) {
                // `--socket` says it as well.
                ("HIPPOD_SOCKET", Some(socket)) => Some(socket.clone().into_os_string()),
                _ => set(name),
            };
            if let Some(value) = value {
                environment.push((name, writable(Path::new(&value))?.to_owned()));
            }
        }
        writable(&program)?;
        writable(&paths.log)?;
        Ok(Self {
            program,
            socket,
            environment,
            log: paths.log.clone(),
            sandbox: true,
        })
    }
}

/// A path that can be written into a unit file: quotes, `$` and backslashes mean something there, in each place another thing.
fn writable(path: &Path) -> Result<&str, Failure> {
    let odd = |c: char| c.is_control() || matches!(c, '"' | '\'' | '\\' | '$');
    path.to_str().filter(|text| !text.contains(odd)).ok_or_else(|| {
        let what = format!("could not write this path into a unit file: {}", path.display());
        Failure::new(Exit::Usage, what).hint("use a path without quotes, $ and backslashes")
    })
}

#[cfg(test)]
mod tests;
