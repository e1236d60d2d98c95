//! How is the service, and what is wrong with it?

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use hippo_proto::{Problem, Severity, StatusRequest, StatusResponse};

use super::unit::program_in;
use super::{Answer, Control, Facts, Found, Manager, Package, UnitFile, read, units};
use crate::connect::Session;
use crate::failure::Failure;

const INSTALL: &str = "hippoctl service install";
const OURS: &str = env!("CARGO_PKG_VERSION");

/// What is there of the service.
#[derive(Debug)]
pub struct Look {
    /// Who runs it.
    pub control: Control,
    /// Its files as they would be written now, and what is in their places.
    pub files: Vec<(UnitFile, Found)>,
    /// The units of a package, in force where none of those files is there.
    pub package: Option<Package>,
    /// Whether the part of it that needs user namespaces is left out.
    pub unsandboxed: bool,
    /// The program that it starts, and what that says of its version.
    pub program: Option<(PathBuf, Result<String, String>)>,
    /// What the manager knows of it, or why it does not answer.
    pub answer: Result<Answer, String>,
    /// The daemon that answers at the socket, unless asking would start it.
    pub daemon: Option<(u32, String)>,
    /// Whether it is for the socket that this client uses.
    pub is_for_us: bool,
}

impl Look {
    /// Whether any of its files is there.
    pub fn is_installed(&self) -> bool {
        self.files.iter().any(|(_, found)| *found != Found::Absent)
    }

    /// The units of a package, where the service goes by these.
    pub fn packaged(&self) -> Option<&Package> {
        self.package.as_ref().filter(|_| !self.is_installed())
    }

    /// Whether the service was switched on.
    pub fn is_used(&self) -> bool {
        self.answer.as_ref().is_ok_and(Answer::is_used)
    }

    /// The unit by which the service goes, or would go.
    pub fn unit(&self) -> Option<&Path> {
        let known = self
            .answer
            .as_ref()
            .ok()
            .and_then(|answer| answer.unit.as_deref());
        let own = self.files.last().filter(|(_, found)| *found != Found::Absent);
        let own = own.map(|(file, _)| file.path.as_path());
        known
            .or(own)
            .or(self.packaged().map(|package| package.unit.as_path()))
    }
}

/// Looks at the files, asks the manager, and the daemon where that starts none.
///
/// # Errors
/// A file of the service cannot be read.
#[expect(clippy::disallowed_methods, reason = "the user's own folder")]
pub fn look(
    session: &Session,
    manager: Manager,
    folder: &Path,
    package: Option<Package>,
    facts: &Facts,
) -> Result<Look, Failure> {
    let control = Control(manager);
    let (mut files, mut unsandboxed) = (found(units(manager, folder, facts))?, !facts.sandbox);
    if !unsandboxed {
        let plain = Facts {
            sandbox: false,
            ..facts.clone()
        };
        let others = found(units(manager, folder, &plain))?;
        let current = |files: &[(UnitFile, Found)]| files.iter().all(|(_, found)| *found == Found::Current);
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
        .filter(|_| files.iter().all(|(_, found)| *found == Found::Absent));
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
    // Behind a socket of the manager a connection starts what is not there.
    let starts = answer
        .as_ref()
        .is_ok_and(|answer| answer.listening && answer.pid.is_none());
    let daemon = if starts { None } else { daemon(session) };
    Ok(Look {
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

fn found(files: Vec<UnitFile>) -> Result<Vec<(UnitFile, Found)>, Failure> {
    let each = files.into_iter().map(|file| {
        let found = read(&file)?;
        Ok((file, found))
    });
    each.collect()
}

/// The daemon that answers: its process and its version.
fn daemon(session: &Session) -> Option<(u32, String)> {
    let mut client = session.connect_only().ok()?;
    let status: StatusResponse = client.call(&StatusRequest {}.into()).ok()?;
    Some((status.pid, status.version))
}

/// What a program says of its version.
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
        .ok_or_else(|| "it is no hippod".to_owned())
}

/// What is wrong with the service; nothing where there is none. Units of a package that nobody switched on are none.
pub fn findings(look: &Look) -> Vec<Problem> {
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
            Found::Current => continue,
            Found::Absent => (
                Severity::Warning,
                "a file of the service is missing".to_owned(),
                INSTALL,
            ),
            Found::Outdated { version } if version != OURS => (
                Severity::Warning,
                format!("the service was installed by hippoctl {version}; this is {OURS}"),
                INSTALL,
            ),
            Found::Outdated { .. } => (
                Severity::Warning,
                "the service was installed for another program or other places than those of now".to_owned(),
                INSTALL,
            ),
            Found::Changed => (
                Severity::Info,
                "somebody changed this file of the service; updates leave it as it is".to_owned(),
                "keep changes in a drop-in (systemctl --user edit hippod), then: hippoctl service install --force",
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
            "install hippod beside hippoctl or into PATH, then: hippoctl service install",
        ),
        Some((program, Ok(version))) if version != OURS => add(
            "service-program",
            Severity::Warning,
            format!("the service starts hippod {version}; this is hippoctl {OURS}"),
            program.display().to_string(),
            "install both of one version, then: hippoctl service install",
        ),
        _ => {}
    }
    if look.unsandboxed {
        add(
            "service-sandbox",
            Severity::Info,
            "the service runs without the protections that need user namespaces, which this system forbade"
                .to_owned(),
            place.clone(),
            "allow unprivileged user namespaces, then: hippoctl service uninstall, and hippoctl service install",
        );
    }
    match &look.answer {
        Err(error) => add(
            "service-manager",
            Severity::Info,
            format!("the service is installed, and no service manager answers: {error}"),
            place,
            "log in to a session that has one; until then hippoctl starts the daemon itself",
        ),
        Ok(answer) => {
            let log = look.control.log();
            if answer.state == "failed" {
                let fix = format!("{log} tells why; then: {INSTALL}");
                let what = "the service failed, and is not started again by itself".to_owned();
                add("service-failed", Severity::Error, what, place.clone(), &fix);
            } else if !answer.enabled {
                let what = "the service is installed, but not started with the session".to_owned();
                add("service-off", Severity::Warning, what, place.clone(), INSTALL);
            }
            match &look.daemon {
                Some((pid, _)) if answer.pid != Some(*pid) => add(
                    "service-bypassed",
                    Severity::Warning,
                    format!("a daemon that the service did not start holds the socket (process {pid})"),
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
