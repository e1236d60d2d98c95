//! Rendering of `service` results and status.

use std::ffi::OsString;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use hippo_proto::Problem;
use serde::Serialize;

use super::doctor;
use crate::output::Style;
use crate::service::{Manager, ManagerCommand, ManagerState, Package, UnitFileState};

/// Environment variables for paths. `service install` passes them on to the service.
const PLACES: [&str; 3] = ["HIPPOD_HOME", "HIPPOD_SOCKET", "HIPPOD_CACHE"];

/// The result of `service install` or `service uninstall`; with `--dry-run`, the plan.
#[derive(Debug, Serialize)]
pub struct ServiceResult {
    /// The service manager.
    pub manager: Manager,
    /// True if nothing was changed.
    pub dry_run: bool,
    /// The files with their changes.
    pub files: Vec<ServiceFileChange>,
    /// The unit of a package, if the service uses that unit instead of files of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub package: Option<PathBuf>,
    /// The process id of the daemon that was stopped so that the service could replace it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped: Option<u32>,
    /// The commands that were run on the manager.
    pub commands: Vec<String>,
    /// The commands to run once the manager answers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub later: Vec<String>,
    /// The reason why the manager does not answer now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_manager: Option<String>,
    /// Further notes for the user.
    pub notes: Vec<String>,
}

/// A file and its change.
#[derive(Debug, Serialize)]
pub struct ServiceFileChange {
    path: PathBuf,
    #[serde(flatten)]
    what: ServiceFileAction,
}

/// The change of a file.
#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case", tag = "what", content = "aside")]
pub enum ServiceFileAction {
    /// Created, or written with new content.
    Written,
    /// Unchanged, because it was current.
    Unchanged,
    /// Written; the user's previous file was moved to this path.
    WrittenAndKeptAside(PathBuf),
    /// Removed.
    Removed,
    /// Moved to this path.
    KeptAside(PathBuf),
}

impl ServiceFileChange {
    /// Creates the entry of a file.
    pub fn new(path: &Path, what: ServiceFileAction) -> Self {
        Self {
            path: path.to_path_buf(),
            what,
        }
    }
}

impl ServiceResult {
    /// Creates an empty result.
    pub fn new(manager: Manager, dry_run: bool) -> Self {
        Self {
            manager,
            dry_run,
            files: Vec::new(),
            package: None,
            stopped: None,
            commands: Vec::new(),
            later: Vec::new(),
            no_manager: None,
            notes: Vec::new(),
        }
    }

    /// Records which units the service uses, if a package provides units.
    pub fn tell_of_package(&mut self, package: Option<&Package>, used: bool) {
        let Some(unit) = package.map(|package| package.unit.clone()) else {
            return;
        };
        if used {
            self.package = Some(unit);
        } else {
            self.notes.push(format!(
                "these files replace the files of a package ({}); to remove these files: hippoctl service \
                 uninstall",
                unit.display()
            ));
        }
    }

    /// Records the commands to run once the manager answers.
    pub fn later(&mut self, why: &str, calls: &[ManagerCommand]) {
        self.no_manager = Some(why.to_owned());
        self.later = calls.iter().map(ManagerCommand::line).collect();
    }

    /// Adds a note about variables of this shell that the service does not receive. It does receive the variables for
    /// paths.
    pub fn note_settings(&mut self, names: impl Iterator<Item = OsString>) {
        let names = names.filter_map(|name| name.into_string().ok());
        let mut own: Vec<String> = names
            .filter(|name| name.starts_with("HIPPOD_") && !PLACES.contains(&name.as_str()))
            .collect();
        own.sort();
        if !own.is_empty() {
            self.notes.push(format!(
                "these variables are set in this shell, but not for the service: {}; to set them for the \
                 service, write the settings into config.toml",
                own.join(", ")
            ));
        }
    }
}

/// Renders the changes, one per line.
pub fn done(done: &ServiceResult, style: Style) -> String {
    let mut text = String::new();
    let would = if done.dry_run { "would have " } else { "" };
    for file in &done.files {
        let path = style.path(file.path.display().to_string());
        // Writing to a string cannot fail.
        let _ = match &file.what {
            ServiceFileAction::Written => writeln!(text, "{would}written: {path}"),
            ServiceFileAction::Unchanged => writeln!(text, "unchanged: {path}"),
            ServiceFileAction::Removed => writeln!(text, "{would}removed: {path}"),
            ServiceFileAction::WrittenAndKeptAside(aside) => {
                writeln!(
                    text,
                    "{would}written: {path}\n{would}kept as: {}",
                    aside.display()
                )
            }
            ServiceFileAction::KeptAside(aside) => writeln!(text, "{would}kept as: {}", aside.display()),
        };
    }
    if let Some(unit) = &done.package {
        let _ = writeln!(
            text,
            "using the units of a package: {}",
            style.path(unit.display().to_string())
        );
    }
    if let Some(pid) = done.stopped {
        let _ = writeln!(text, "{would}stopped: the running daemon (process {pid})");
    }
    for command in &done.commands {
        let _ = writeln!(text, "{would}run: {command}");
    }
    if let Some(why) = &done.no_manager {
        let _ = writeln!(text, "no service manager responds: {why}");
        if !done.later.is_empty() {
            let _ = writeln!(text, "when one responds, run:");
            for command in &done.later {
                let _ = writeln!(text, "  {command}");
            }
        }
    }
    for note in &done.notes {
        let _ = writeln!(text, "note: {note}");
    }
    if done.files.is_empty() && done.package.is_none() {
        text.push_str("the service is not installed\n");
    }
    text
}

/// The status of the service.
#[derive(Debug, Serialize)]
pub struct ServiceStatus {
    /// The service manager.
    pub manager: Manager,
    /// True if any file of the service exists.
    pub installed: bool,
    /// The unit in use; if none is in use, the unit that would be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<PathBuf>,
    /// The unit that a package provides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub package: Option<PathBuf>,
    /// The files of the service.
    pub files: Vec<ServiceFile>,
    /// The answer of the manager.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service: Option<ManagerState>,
    /// The reason why the manager does not answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_manager: Option<String>,
    /// The daemon that answers at the socket, whether or not the service started it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub daemon: Option<Daemon>,
    /// The problems with their fixes.
    pub problems: Vec<Problem>,
}

/// A file of the service.
#[derive(Debug, Serialize)]
pub struct ServiceFile {
    /// The path.
    pub path: PathBuf,
    /// The state on disk.
    #[serde(flatten)]
    pub found: UnitFileState,
}

/// A daemon that answers.
#[derive(Debug, Serialize)]
pub struct Daemon {
    /// The process id.
    pub pid: u32,
    /// The version.
    pub version: String,
}

/// Renders files, manager, daemon and problems.
pub fn status(status: &ServiceStatus, style: Style) -> String {
    let mut text = String::new();
    let there = status.installed || status.package.is_some();
    if !there {
        text.push_str("the service is not installed; install it with: hippoctl service install\n");
    }
    for ServiceFile { path, found } in status.files.iter().filter(|_| status.installed) {
        let word = match found {
            UnitFileState::Absent => "missing".to_owned(),
            UnitFileState::Current => "as installed by this version".to_owned(),
            UnitFileState::Outdated { version } => format!("as installed by {version}"),
            UnitFileState::Changed => "changed since then".to_owned(),
        };
        let _ = writeln!(text, "{}: {word}", style.path(path.display().to_string()));
    }
    text += &in_force(status, style);
    if let Some(service) = status.service.as_ref().filter(|_| there) {
        let enabled = if service.enabled { "enabled" } else { "not enabled" };
        let _ = writeln!(text, "{enabled}, {}", service.state);
        if !service.text.is_empty() {
            let _ = writeln!(text, "status: {}", service.text);
        }
    }
    if let Some(why) = &status.no_manager {
        let _ = writeln!(text, "no service manager responds: {why}");
    }
    if let Some(Daemon { pid, version }) = &status.daemon {
        let _ = writeln!(text, "hippod {version} is running (process {pid})");
    }
    text + &doctor::problems(&status.problems, style)
}

/// Renders which unit is in use, if a package provides a unit.
fn in_force(status: &ServiceStatus, style: Style) -> String {
    let (Some(unit), Some(package)) = (&status.unit, &status.package) else {
        return String::new();
    };
    let (unit, path) = (style.path(unit.display().to_string()), package.display());
    if status.installed {
        return format!("in use: {unit}, instead of the unit of a package ({path})\n");
    }
    let used = status.service.as_ref().is_some_and(ManagerState::is_used);
    let how = if used {
        ""
    } else {
        "; enable it with: hippoctl service install"
    };
    format!("in use: {unit}, from a package{how}\n")
}
