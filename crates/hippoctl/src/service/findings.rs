//! Diagnosis of the installed service.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use hippo_proto::{Problem, Severity, StatusRequest, StatusResponse};

use super::unit::program_in;
use super::{
    Manager, ManagerControl, ManagerState, Package, UnitFile, UnitFileState, UnitValues, read, units,
};
use crate::connect::DaemonSession;
use crate::failure::Failure;

const INSTALL: &str = "hippoctl service install";
const OURS: &str = env!("CARGO_PKG_VERSION");

/// The observed state of the service.
#[derive(Debug)]
pub struct ServiceObservation {
    /// The service manager.
    pub control: ManagerControl,
    /// The files as this version would write them, with their state on disk.
    pub files: Vec<(UnitFile, UnitFileState)>,
    /// The units of a package, which are used if none of those files exists.
    pub package: Option<Package>,
    /// True if the installed files omit the lines that need user namespaces.
    pub unsandboxed: bool,
    /// The program that the service starts, with the version that it reports.
    pub program: Option<(PathBuf, Result<String, String>)>,
    /// The answer of the manager, or the reason why it does not answer.
    pub answer: Result<ManagerState, String>,
    /// The daemon that answers at the socket. It is not queried if the query would start it.
    pub daemon: Option<(u32, String)>,
    /// True if the service uses the socket to which this client connects.
    pub is_for_us: bool,
}

impl ServiceObservation {
    /// Returns whether any file of the service exists.
    pub fn is_installed(&self) -> bool {
        self.files
            .iter()
            .any(|(_, found)| *found != UnitFileState::Absent)
    }

    /// Returns the units of a package, if the service uses them.
    pub fn packaged(&self) -> Option<&Package> {
        self.package.as_ref().filter(|_| !self.is_installed())
    }

    /// Returns whether the service is in use.
    pub fn is_used(&self) -> bool {
        self.answer.as_ref().is_ok_and(ManagerState::is_used)
    }

    /// Returns the unit in use; if none is in use, the unit that would be used.
    pub fn unit(&self) -> Option<&Path> {
        let known = self
            .answer
            .as_ref()
            .ok()
            .and_then(|answer| answer.unit.as_deref());
        let own = self
            .files
            .last()
            .filter(|(_, found)| *found != UnitFileState::Absent);
        let own = own.map(|(file, _)| file.path.as_path());
        known
            .or(own)
            .or(self.packaged().map(|package| package.unit.as_path()))
    }
}

/// Inspects the files and queries the manager. Also queries the daemon, unless that would start it.
///
/// # Errors
/// Fails if a file of the service cannot be read.
#[expect(clippy::disallowed_methods, reason = "the user's own folder")]
pub fn look(
    session: &DaemonSession,
    manager: Manager,
    folder: &Path,
    package: Option<Package>,
    facts: &UnitValues,
) -> Result<ServiceObservation, Failure> {
    let control = ManagerControl(manager);
    let (mut files, mut unsandboxed) = (read_states(units(manager, folder, facts))?, !facts.sandbox);
    if !unsandboxed {
        let plain = UnitValues {
            sandbox: false,
            ..facts.clone()
        };
        let others = read_states(units(manager, folder, &plain))?;
        let current = |files: &[(UnitFile, UnitFileState)]| {
            files.iter().all(|(_, found)| *found == UnitFileState::Current)
        };
        if !current(&files) && current(&others) {
            (files, unsandboxed) = (others, true);
        }
    }
    let texts: Vec<Option<String>> = files
        .iter()
        .map(|(file, _)| fs::read_to_string(&file.path).ok())
        .collect();
    let packaged = package
        .as_ref()
        .filter(|_| files.iter().all(|(_, found)| *found == UnitFileState::Absent));
    let program = match packaged {
        Some(package) => Some(package.program.clone()),
        None => texts.iter().flatten().find_map(|text| program_in(text)),
    };
    let listens = |text: &str| {
        text.lines()
            .find(|line| line.starts_with("ListenStream="))
            .map(str::to_owned)
    };
    let is_for_us = files.iter().zip(&texts).all(|((file, _), there)| {
        let of_package = packaged.map(|package| package.socket.as_str());
        let there = there.as_deref().or(of_package).and_then(listens);
        let wanted = listens(&file.text);
        there.is_none() || wanted.is_none() || there == wanted
    });
    let answer = control.ask();
    // If the manager owns the socket, a connection would start the daemon.
    let starts = answer
        .as_ref()
        .is_ok_and(|answer| answer.listening && answer.pid.is_none());
    let daemon = if starts { None } else { daemon(session) };
    Ok(ServiceObservation {
        control,
        files,
        package,
        unsandboxed,
        program: program.map(|program| {
            let version = version(&program);
            (program, version)
        }),
        answer,
        daemon,
        is_for_us,
    })
}

fn read_states(files: Vec<UnitFile>) -> Result<Vec<(UnitFile, UnitFileState)>, Failure> {
    let each = files.into_iter().map(|file| {
        let found = read(&file)?;
        Ok((file, found))
    });
    each.collect()
}

/// Returns the process id and version of the daemon that answers.
fn daemon(session: &DaemonSession) -> Option<(u32, String)> {
    let mut client = session.connect_only().ok()?;
    let status: StatusResponse = client.call(&StatusRequest {}.into()).ok()?;
    Some((status.pid, status.version))
}

/// Returns the version that a program reports.
fn version(program: &Path) -> Result<String, String> {
    let output = Command::new(program)
        .arg("--version")
        .stdin(Stdio::null())
        .output()
        .map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout);
    let version = text
        .trim()
        .strip_prefix("hippod ")
        .filter(|_| output.status.success());
    version
        .map(str::to_owned)
        .ok_or_else(|| "it is not hippod".to_owned())
}

/// Returns the problems of the service, or none if it is not installed. Unused units of a package do not count as
/// installed.
pub fn findings(look: &ServiceObservation) -> Vec<Problem> {
    let mut problems = Vec::new();
    let packaged = look.packaged().filter(|_| look.is_used());
    if !look.is_installed() && packaged.is_none() {
        return problems;
    }
    let folder = match packaged {
        Some(package) => package.unit.parent(),
        None => look.files.first().and_then(|(file, _)| file.path.parent()),
    };
    let place = folder.map_or(String::new(), |folder| folder.display().to_string());
    let mut add = |id: &str, severity, what: String, place: String, fix: &str| {
        problems.push(Problem {
            id: id.to_owned(),
            severity,
            what,
            where_: place,
            fix: fix.to_owned(),
            fixable: false,
        });
    };
    for (file, found) in look.files.iter().filter(|_| packaged.is_none()) {
        let place = file.path.display().to_string();
        let (severity, what, fix) = match found {
            UnitFileState::Current => continue,
            UnitFileState::Absent => (
                Severity::Warning,
                "a file of the service is missing".to_owned(),
                INSTALL,
            ),
            UnitFileState::Outdated { version } if version != OURS => (
                Severity::Warning,
                format!("the service was installed by hippoctl {version}; this is {OURS}"),
                INSTALL,
            ),
            UnitFileState::Outdated { .. } => (
                Severity::Warning,
                "the service was installed for a different program or for different folders".to_owned(),
                INSTALL,
            ),
            UnitFileState::Changed => (
                Severity::Info,
                "this file of the service was edited, so updates do not replace it".to_owned(),
                "move the edits to a drop-in (systemctl --user edit hippod), then: hippoctl service install --force",
            ),
        };
        add("service-unit", severity, what, place, fix);
    }
    match &look.program {
        Some((program, Err(error))) => add(
            "service-program",
            Severity::Error,
            format!("the service cannot start: its program cannot be run: {error}"),
            program.display().to_string(),
            "install hippod in the folder of hippoctl or in a folder of PATH, then: hippoctl service install",
        ),
        Some((program, Ok(version))) if version != OURS => add(
            "service-program",
            Severity::Warning,
            format!("the service starts hippod {version}; this is hippoctl {OURS}"),
            program.display().to_string(),
            "install the same version of hippoctl and hippod, then: hippoctl service install",
        ),
        _ => {}
    }
    if look.unsandboxed {
        add(
            "service-sandbox",
            Severity::Info,
            "this system forbids user namespaces, so the service runs without the protections that need them"
                .to_owned(),
            place.clone(),
            "allow unprivileged user namespaces, then install the service again: hippoctl service uninstall \
             && hippoctl service install",
        );
    }
    match &look.answer {
        Err(error) => add(
            "service-manager",
            Severity::Info,
            format!("the service is installed, but no service manager responds: {error}"),
            place,
            "log in to a session that has a service manager; until then, hippoctl starts the daemon itself",
        ),
        Ok(answer) => {
            let log = look.control.log();
            if answer.state == "failed" {
                let fix = format!("to see the reason: {log}; then: {INSTALL}");
                let what = "the service failed and will not be restarted".to_owned();
                add("service-failed", Severity::Error, what, place.clone(), &fix);
            } else if !answer.enabled {
                let what = "the service is installed, but it does not start with the session".to_owned();
                add("service-off", Severity::Warning, what, place.clone(), INSTALL);
            }
            match &look.daemon {
                Some((pid, _)) if answer.pid != Some(*pid) => add(
                    "service-bypassed",
                    Severity::Warning,
                    format!("a daemon that the service did not start uses the socket (process {pid})"),
                    place,
                    INSTALL,
                ),
                Some((pid, version)) if version != OURS => add(
                    "service-version",
                    Severity::Warning,
                    format!("the service runs hippod {version} (process {pid}); this is hippoctl {OURS}"),
                    place,
                    INSTALL,
                ),
                _ => {}
            }
        }
    }
    problems.sort_by_key(|problem| problem.severity);
    problems
}
