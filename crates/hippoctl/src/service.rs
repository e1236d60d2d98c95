//! Installation of hippod as a user service.

mod manager;
mod status;
mod unit;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use hippo_proto::Paths;

use crate::failure::{Exit, Failure};

pub use manager::{ManagerCommand, ManagerState};
pub use status::{RunningDaemon, ServiceStatus};
pub use unit::{UnitFile, UnitFileState, units};

/// The name of the systemd unit that runs the daemon.
pub const SERVICE_UNIT: &str = "hippod.service";
/// The name of the systemd unit for the daemon's socket.
pub const SOCKET_UNIT: &str = "hippod.socket";
/// The label of the launchd agent.
pub const AGENT: &str = "io.github.hippod";

/// The service manager of the operating system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Manager {
    /// systemd, with the services of the user.
    Systemd,
    /// launchd, with the agents of the user's macOS session.
    Launchd,
}

impl Manager {
    /// Returns the service manager of this operating system.
    ///
    /// # Errors
    /// Fails on operating systems without a supported service manager.
    pub fn of_this_system() -> Result<Self, Failure> {
        if cfg!(target_os = "linux") {
            Ok(Self::Systemd)
        } else if cfg!(target_os = "macos") {
            Ok(Self::Launchd)
        } else {
            let what = "this operating system has no supported service manager";
            let hint = "hippoctl starts the daemon when necessary; to start it now: hippoctl service start";
            Err(Failure::new(Exit::Refused, what).hint(hint))
        }
    }

    /// Returns the folder in which the service manager looks for service files.
    ///
    /// # Errors
    /// Fails if the home folder is unknown.
    pub fn folder(self, lookup: &impl Fn(&str) -> Option<OsString>) -> Result<PathBuf, Failure> {
        let absolute = |name: &str| lookup(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let home = absolute("HOME");
        let folder = match self {
            Self::Systemd => absolute("XDG_CONFIG_HOME")
                .or(home.map(|home| home.join(".config")))
                .map(|config| config.join("systemd/user")),
            Self::Launchd => home.map(|home| home.join("Library/LaunchAgents")),
        };
        folder.ok_or_else(|| Failure::new(Exit::Usage, "could not find the home folder").hint("set HOME"))
    }
}

/// Environment variables that determine the paths of hippod. Their values are written into the service files, because
/// the service manager does not know the environment of a shell.
#[rustfmt::skip] // keep the list compact
const PLACES: [&str; 7] = [
    "HIPPOD_HOME", "HIPPOD_SOCKET", "HIPPOD_CACHE", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME",
    "XDG_CACHE_HOME",
];

/// The values written into the service files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnitValues {
    /// The path of `hippod`.
    pub program: PathBuf,
    /// The path of the socket, or `None` if it is the default path in the runtime folder of the service manager.
    pub socket: Option<PathBuf>,
    /// The environment variables that determine the paths of hippod.
    pub environment: Vec<(&'static str, String)>,
    /// The log file, for a service manager without a log of its own.
    pub log: PathBuf,
}

impl UnitValues {
    /// Collects the values for a daemon with these paths from the environment.
    ///
    /// # Errors
    /// Fails if a path cannot be written into a unit file.
    pub fn new(
        manager: Manager,
        program: PathBuf,
        paths: &Paths,
        lookup: &impl Fn(&str) -> Option<OsString>,
    ) -> Result<Self, Failure> {
        let set = |name: &str| lookup(name).filter(|value| !value.is_empty());
        let usual = match set("XDG_RUNTIME_DIR") {
            Some(folder) => paths.socket == Path::new(&folder).join("hippod/hippod.sock"),
            // The service manager knows the runtime folder, even if `XDG_RUNTIME_DIR` is not set here.
            None => set("HIPPOD_HOME").is_none() && set("HIPPOD_SOCKET").is_none(),
        };
        let socket = (!usual).then(|| paths.socket.clone());
        let mut environment = Vec::new();
        for name in PLACES {
            let value = match (name, &socket) {
                // The option `--socket` may have set the socket instead of the variable.
                ("HIPPOD_SOCKET", Some(socket)) => Some(socket.clone().into_os_string()),
                _ => set(name),
            };
            if let Some(value) = value {
                let value = written(Path::new(&value), |text| !text.is_empty())?;
                environment.push((name, value.to_owned()));
            }
        }
        // A launchd file is XML, which can contain any path. systemd rejects quotes and backslashes in the path of a
        // program. In a systemd unit, a backslash at the end of a line joins the line to the next one.
        let of_systemd = manager == Manager::Systemd;
        written(&program, |text| !(of_systemd && text.contains(['"', '\'', '\\'])))?;
        written(&paths.socket, |text| {
            !(of_systemd && text.ends_with(|end: char| end == '\\' || end.is_whitespace()))
        })?;
        written(&paths.log, |_| true)?;
        Ok(Self {
            program,
            socket,
            environment,
            log: paths.log.clone(),
        })
    }
}

/// Returns a path as text. Fails if the path is not valid Unicode, contains a control character, or is rejected by
/// `right`.
fn written(path: &Path, right: impl Fn(&str) -> bool) -> Result<&str, Failure> {
    let text = path.to_str().filter(|text| !text.contains(char::is_control));
    text.filter(|text| right(text)).ok_or_else(|| {
        let what = format!("could not write this path into a unit file: {}", path.display());
        Failure::new(Exit::Usage, what).hint(
            "use a path without control characters; the path of the program must not contain quotes or \
             backslashes either",
        )
    })
}

#[cfg(test)]
mod tests;
