//! Commands for the service manager, and parsing of its output.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Serialize;

use super::unit::AGENT_FILE;
use super::{AGENT, Manager, SERVICE_UNIT, SOCKET_UNIT};

/// Exit codes that systemd reports if it could not set up the sandbox of a process: 217 for the user, 218 for the
/// capabilities, and 226 for the namespaces.
const NO_SANDBOX: [&str; 3] = ["217", "218", "226"];

/// One command for the service manager.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManagerCommand {
    words: Vec<String>,
    /// True if a failure of the command is harmless, for example because there was nothing to stop.
    pub may_fail: bool,
}

impl ManagerCommand {
    fn new(words: &[&str]) -> Self {
        Self {
            words: words.iter().map(|word| (*word).to_owned()).collect(),
            may_fail: false,
        }
    }

    fn on_units(verb: &[&str]) -> Self {
        Self::new(&[&["systemctl", "--user"], verb, &[SOCKET_UNIT, SERVICE_UNIT]].concat())
    }

    fn may_fail(mut self) -> Self {
        self.may_fail = true;
        self
    }

    /// Returns the command line.
    pub fn line(&self) -> String {
        self.words.join(" ")
    }

    /// Runs the command. Returns its output, or the reason for its failure.
    pub fn run(&self) -> Result<String, String> {
        let program = &self.words[0];
        let output = Command::new(program)
            .args(&self.words[1..])
            .stdin(Stdio::null())
            .output()
            .map_err(|error| format!("{program}: {error}"))?;
        let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
        if output.status.success() {
            return Ok(said(&output.stdout));
        }
        Err(match said(&output.stderr) {
            words if words.is_empty() => format!("{program} failed: {}", output.status),
            words => words,
        })
    }
}

/// The state of the service as the service manager reports it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ManagerState {
    /// True if the service starts at login.
    pub enabled: bool,
    /// True if the service manager listens on the socket. A connection to the socket then starts the service.
    pub listening: bool,
    /// The state in the words of the service manager, such as `active`, `inactive` or `failed`.
    pub state: String,
    /// The process id, if the service is running.
    pub pid: Option<u32>,
    /// The unit file that the service manager uses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<PathBuf>,
    /// True if the service ended because its sandbox could not be set up.
    #[serde(skip)]
    pub no_sandbox: bool,
}

impl ManagerState {
    /// Returns whether the service is enabled, listening or running. Existing unit files alone do not count as use.
    pub fn is_used(&self) -> bool {
        self.enabled || self.listening || self.pid.is_some()
    }
}

impl Manager {
    /// Asks the service manager for the state of the service.
    ///
    /// # Errors
    /// Returns the reason why the service manager does not answer.
    pub fn ask(self) -> Result<ManagerState, String> {
        match self {
            Self::Systemd => {
                let show = |unit| {
                    let properties = "ActiveState,MainPID,UnitFileState,ExecMainStatus,FragmentPath";
                    let words = ["systemctl", "--user", "show", unit, "--property", properties];
                    ManagerCommand::new(&words).run()
                };
                Ok(of_systemd(&show(SERVICE_UNIT)?, &show(SOCKET_UNIT)?))
            }
            Self::Launchd => {
                let domain = domain();
                // The first command fails if the user has no launchd session.
                ManagerCommand::new(&["launchctl", "print", &domain]).run()?;
                let agent = format!("{domain}/{AGENT}");
                let service = ManagerCommand::new(&["launchctl", "print", &agent]).run();
                Ok(service.map(|text| of_launchd(&text)).unwrap_or_default())
            }
        }
    }

    /// Returns the commands that start the service after its files are written. If `again` is true, the commands stop
    /// the running service first.
    pub fn starting(self, folder: &Path, again: bool) -> Vec<ManagerCommand> {
        match self {
            Self::Systemd => {
                let mut calls = vec![ManagerCommand::new(&["systemctl", "--user", "daemon-reload"])];
                if again {
                    calls.push(ManagerCommand::on_units(&["stop"]).may_fail());
                    // If a service has failed too often, systemd does not start it before its state is reset.
                    calls.push(ManagerCommand::on_units(&["reset-failed"]).may_fail());
                }
                calls.push(ManagerCommand::on_units(&["enable", "--now"]));
                calls
            }
            Self::Launchd => {
                let mut calls = if again { self.stopping() } else { Vec::new() };
                let file = folder.join(AGENT_FILE);
                let words = ["launchctl", "bootstrap", &domain(), &file.to_string_lossy()];
                calls.push(ManagerCommand::new(&words));
                calls
            }
        }
    }

    /// Returns the commands that stop the service before its files are removed.
    pub fn stopping(self) -> Vec<ManagerCommand> {
        match self {
            Self::Systemd => vec![ManagerCommand::on_units(&["disable", "--now"])],
            // The command fails if the agent is not loaded. This is harmless, because an agent that is not loaded does
            // not run.
            Self::Launchd => {
                let service = format!("{}/{AGENT}", domain());
                vec![ManagerCommand::new(&["launchctl", "bootout", &service]).may_fail()]
            }
        }
    }

    /// Returns the commands that notify the service manager after the service files are removed.
    pub fn forgetting(self) -> Vec<ManagerCommand> {
        match self {
            Self::Systemd => vec![ManagerCommand::new(&["systemctl", "--user", "daemon-reload"])],
            Self::Launchd => Vec::new(),
        }
    }

    /// Returns the command that shows the log of the service.
    pub fn log(self) -> &'static str {
        match self {
            Self::Systemd => "journalctl --user -u hippod",
            Self::Launchd => "hippoctl service logs",
        }
    }
}

/// Returns the launchd domain of this user's session.
fn domain() -> String {
    let user = ManagerCommand::new(&["id", "-u"]).run();
    format!("gui/{}", user.unwrap_or_else(|_| "$(id -u)".to_owned()))
}

fn of_systemd(service: &str, socket: &str) -> ManagerState {
    let value = |text: &str, name: &str| {
        let mut lines = text.lines();
        let value = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
        value.unwrap_or_default().to_owned()
    };
    let (state, path) = (value(service, "ActiveState"), value(service, "FragmentPath"));
    ManagerState {
        enabled: value(service, "UnitFileState") == "enabled",
        listening: value(socket, "ActiveState") == "active",
        pid: value(service, "MainPID").parse().ok().filter(|pid| *pid != 0),
        unit: (!path.is_empty()).then(|| path.into()),
        no_sandbox: state != "active" && NO_SANDBOX.contains(&value(service, "ExecMainStatus").as_str()),
        state,
    }
}

fn of_launchd(text: &str) -> ManagerState {
    let value = |name: &str| {
        text.lines()
            .find_map(|line| line.trim().strip_prefix(name)?.strip_prefix(" = "))
    };
    let state = match value("state") {
        Some("running") => "active",
        Some(other) => other,
        None => "inactive",
    };
    ManagerState {
        enabled: true,
        state: state.to_owned(),
        pid: value("pid").and_then(|pid| pid.parse().ok()),
        ..ManagerState::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_output_of_systemctl_is_parsed() {
        let service = "MainPID=412\nFragmentPath=/u/hippod.service\nActiveState=active\nUnitFileState=enabled\nExecMainStatus=0\n";
        let answer = of_systemd(service, "ActiveState=active\n");
        assert!(answer.enabled && answer.listening && !answer.no_sandbox);
        assert_eq!(answer.unit, Some("/u/hippod.service".into()));
        assert_eq!(answer.pid, Some(412));
        let failed = "MainPID=0\nActiveState=failed\nUnitFileState=\nExecMainStatus=217\n";
        let answer = of_systemd(failed, "");
        assert!(!answer.enabled && !answer.listening && answer.no_sandbox);
        assert_eq!(answer.pid, None);
    }

    #[test]
    fn the_output_of_launchctl_is_parsed() {
        let text = "gui/501/io.github.hippod = {\n\tactive count = 1\n\tstate = running\n\n\tpid = 412\n}\n";
        let answer = of_launchd(text);
        assert_eq!((answer.state.as_str(), answer.pid), ("active", Some(412)));
        assert_eq!(of_launchd("\tstate = not running\n").state, "not running");
    }
}
