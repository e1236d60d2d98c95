//! State of the installed service, and its problems.

use std::path::Path;

use hippo_proto::{Problem, Severity, StatusRequest, StatusResponse};
use serde::Serialize;

use super::{Manager, ManagerState, UnitFile, UnitFileState};
use crate::connect::DaemonSession;

const INSTALL: &str = "hippoctl service install";
const OURS: &str = env!("CARGO_PKG_VERSION");

/// The state of the service.
#[derive(Debug, Serialize)]
pub struct ServiceStatus {
    /// The service manager.
    pub manager: Manager,
    /// The service files as this version of hippoctl would write them, with their states on disk.
    pub files: Vec<UnitFile>,
    /// The answer of the service manager, or `None` if it does not answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service: Option<ManagerState>,
    /// The reason why the service manager does not answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_manager: Option<String>,
    /// The daemon that answers at the socket. `None` if there is no answer, or if a connection would start a daemon.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub daemon: Option<RunningDaemon>,
    /// The problems with their fixes.
    pub problems: Vec<Problem>,
}

/// A daemon that answers at the socket.
#[derive(Debug, Serialize)]
pub struct RunningDaemon {
    /// The process id.
    pub pid: u32,
    /// The version.
    pub version: String,
}

impl ServiceStatus {
    /// Asks the service manager for the state of the service. Asks the daemon as well, unless a connection would start
    /// the daemon.
    pub fn new(session: &DaemonSession, manager: Manager, files: Vec<UnitFile>) -> Self {
        let (service, no_manager) = match manager.ask() {
            Ok(service) => (Some(service), None),
            Err(why) => (None, Some(why)),
        };
        // If the service manager owns the socket, a connection would start the daemon.
        let starts = service
            .as_ref()
            .is_some_and(|service| service.listening && service.pid.is_none());
        let mut status = Self {
            manager,
            files,
            service,
            no_manager,
            daemon: if starts { None } else { find_daemon(session) },
            problems: Vec::new(),
        };
        status.problems = status.find_problems();
        status
    }

    /// Returns whether any file of the service exists.
    pub fn is_installed(&self) -> bool {
        self.files.iter().any(|file| file.state != UnitFileState::Absent)
    }

    /// Returns whether the service is in use.
    pub fn is_used(&self) -> bool {
        self.service.as_ref().is_some_and(ManagerState::is_used)
    }

    /// Returns the process id of a daemon that uses the socket, but was not started by the service.
    pub fn bypassing_daemon(&self) -> Option<u32> {
        let service = self.service.as_ref()?;
        let pid = self.daemon.as_ref()?.pid;
        (service.pid != Some(pid)).then_some(pid)
    }

    /// Returns whether the daemon that answers and this hippoctl have different versions.
    pub fn is_outdated(&self) -> bool {
        self.daemon.as_ref().is_some_and(|daemon| daemon.version != OURS)
    }

    fn find_problems(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        if !self.is_installed() {
            return problems;
        }
        let mut add = |id: &str, severity, what: String, place: &Path, fix: &str| {
            problems.push(Problem {
                id: id.to_owned(),
                severity,
                what,
                where_: place.display().to_string(),
                fix: fix.to_owned(),
                fixable: false,
            });
        };
        for file in &self.files {
            let what = match &file.state {
                UnitFileState::Current => continue,
                UnitFileState::Absent => "a file of the service is missing".to_owned(),
                UnitFileState::Changed => {
                    let what = "this file of the service was edited, so updates do not replace it".to_owned();
                    let fix =
                        "move the edits to a drop-in (systemctl --user edit hippod), and delete the file";
                    add("service-unit", Severity::Info, what, &file.path, fix);
                    continue;
                }
                UnitFileState::Outdated { version } if version != OURS => {
                    format!("the service was installed by hippoctl {version}; this is hippoctl {OURS}")
                }
                UnitFileState::Outdated { .. } => {
                    "the service was installed for a different program or for different folders".to_owned()
                }
            };
            add("service-unit", Severity::Warning, what, &file.path, INSTALL);
        }
        let (Some(service), Some(file)) = (&self.service, self.files.last()) else {
            return problems;
        };
        if service.state == "failed" {
            let what = "the service failed and will not be restarted".to_owned();
            let fix = format!(
                "to see the reason: {}; to start the service again: {INSTALL}",
                self.manager.log()
            );
            add("service-failed", Severity::Error, what, &file.path, &fix);
        } else if !service.enabled {
            let what = "the service is installed, but it does not start at login".to_owned();
            add("service-off", Severity::Warning, what, &file.path, INSTALL);
        }
        if let Some(pid) = self.bypassing_daemon() {
            let what = format!("a daemon that the service did not start uses the socket (process {pid})");
            add("service-bypassed", Severity::Warning, what, &file.path, INSTALL);
        } else if let Some(daemon) = self.daemon.as_ref().filter(|_| self.is_outdated()) {
            let theirs = &daemon.version;
            let what = format!("the service runs hippod {theirs}; this is hippoctl {OURS}");
            add("service-version", Severity::Warning, what, &file.path, INSTALL);
        }
        problems
    }
}

fn find_daemon(session: &DaemonSession) -> Option<RunningDaemon> {
    let mut client = session.connect_only().ok()?;
    let status: StatusResponse = client.call(&StatusRequest {}.into()).ok()?;
    Some(RunningDaemon {
        pid: status.pid,
        version: status.version,
    })
}
