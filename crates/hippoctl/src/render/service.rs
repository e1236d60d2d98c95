//! How is it told what became of the service, and how it is?

use std::ffi::OsString;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use hippo_proto::Problem;
use serde::Serialize;

use super::doctor;
use crate::output::Style;
use crate::service::{Answer, Call, Found, Manager, Package};

/// Settings by environment variable that say where things are; a service is given those.
const PLACES: [&str; 3] = ["HIPPOD_HOME", "HIPPOD_SOCKET", "HIPPOD_CACHE"];

/// What `service install` or `service uninstall` did, or would do.
#[derive(Debug, Serialize)]
pub struct Done {
    /// The service manager.
    pub manager: Manager,
    /// Whether nothing was done.
    pub dry_run: bool,
    /// What became of each file.
    pub files: Vec<FileDone>,
    /// The unit of a package, by which the service goes in the place of files of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub package: Option<PathBuf>,
    /// The daemon that was stopped because the service takes over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped: Option<u32>,
    /// Commands that were given to the manager.
    pub commands: Vec<String>,
    /// Commands that are to be given when a manager answers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub later: Vec<String>,
    /// Why none answers now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_manager: Option<String>,
    /// What else is to be known.
    pub notes: Vec<String>,
}

/// What became of a file.
#[derive(Debug, Serialize)]
pub struct FileDone {
    path: PathBuf,
    #[serde(flatten)]
    what: What,
}

/// What became of it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case", tag = "what", content = "aside")]
pub enum What {
    /// It is new, or says something else now.
    Written,
    /// It was as it should be.
    Unchanged,
    /// What somebody had written there has this name now.
    WrittenAndKeptAside(PathBuf),
    /// It is gone.
    Removed,
    /// It has this name now.
    KeptAside(PathBuf),
}

impl FileDone {
    /// A file and what became of it.
    pub fn new(path: &Path, what: What) -> Self {
        Self {
            path: path.to_path_buf(),
            what,
        }
    }
}

impl Done {
    /// Nothing yet.
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

    /// Which units the service goes by, where a package brought some.
    pub fn tell_of_package(&mut self, package: Option<&Package>, used: bool) {
        let Some(unit) = package.map(|package| package.unit.clone()) else {
            return;
        };
        if used {
            self.package = Some(unit);
        } else {
            self.notes.push(format!(
                "these files take the place of those that a package brought ({}); hippoctl service uninstall removes them again",
                unit.display()
            ));
        }
    }

    /// What is to be done when a manager answers.
    pub fn later(&mut self, why: &str, calls: &[Call]) {
        self.no_manager = Some(why.to_owned());
        self.later = calls.iter().map(Call::line).collect();
    }

    /// Settings of this shell do not reach a service, unless they name places.
    pub fn note_settings(&mut self, names: impl Iterator<Item = OsString>) {
        let names = names.filter_map(|name| name.into_string().ok());
        let mut own: Vec<String> = names
            .filter(|name| name.starts_with("HIPPOD_") && !PLACES.contains(&name.as_str()))
            .collect();
        own.sort();
        if !own.is_empty() {
            self.notes.push(format!(
                "set in this shell, and not for the service: {}; what it is to heed belongs into config.toml",
                own.join(", ")
            ));
        }
    }
}

/// What was done, one thing a line.
pub fn done(done: &Done, style: Style) -> String {
    let mut text = String::new();
    let would = if done.dry_run { "would have " } else { "" };
    for file in &done.files {
        let path = style.path(file.path.display().to_string());
        // Writing to a string cannot fail.
        let _ = match &file.what {
            What::Written => writeln!(text, "{would}written: {path}"),
            What::Unchanged => writeln!(text, "unchanged: {path}"),
            What::Removed => writeln!(text, "{would}removed: {path}"),
            What::WrittenAndKeptAside(aside) => {
                writeln!(
                    text,
                    "{would}written: {path}\n{would}kept aside: {}",
                    aside.display()
                )
            }
            What::KeptAside(aside) => writeln!(text, "{would}kept aside: {}", aside.display()),
        };
    }
    if let Some(unit) = &done.package {
        let _ = writeln!(
            text,
            "by the units of a package: {}",
            style.path(unit.display().to_string())
        );
    }
    if let Some(pid) = done.stopped {
        let _ = writeln!(text, "{would}stopped: the daemon that ran before (process {pid})");
    }
    for command in &done.commands {
        let _ = writeln!(text, "{would}run: {command}");
    }
    if let Some(why) = &done.no_manager {
        let _ = writeln!(text, "no service manager answers here: {why}");
        if !done.later.is_empty() {
            let _ = writeln!(text, "when one does, run:");
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

/// How the service is.
#[derive(Debug, Serialize)]
pub struct Status {
    /// The service manager.
    pub manager: Manager,
    /// Whether any of its files is there.
    pub installed: bool,
    /// The unit by which it goes, or would go.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<PathBuf>,
    /// The unit that a package brought.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub package: Option<PathBuf>,
    /// Its files.
    pub files: Vec<FileState>,
    /// What the manager knows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service: Option<Answer>,
    /// Why none answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_manager: Option<String>,
    /// The daemon that answers at the socket, whoever started it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub daemon: Option<Daemon>,
    /// What is wrong, with what to do.
    pub problems: Vec<Problem>,
}

/// A file of the service.
#[derive(Debug, Serialize)]
pub struct FileState {
    /// Its place.
    pub path: PathBuf,
    /// What is there.
    #[serde(flatten)]
    pub found: Found,
}

/// A daemon that answers.
#[derive(Debug, Serialize)]
pub struct Daemon {
    /// Its process.
    pub pid: u32,
    /// Its version.
    pub version: String,
}

/// Files, manager, daemon, and what is wrong.
pub fn status(status: &Status, style: Style) -> String {
    let mut text = String::new();
    let there = status.installed || status.package.is_some();
    if !there {
        text.push_str("the service is not installed; hippoctl service install does it\n");
    }
    for FileState { path, found } in status.files.iter().filter(|_| status.installed) {
        let word = match found {
            Found::Absent => "missing".to_owned(),
            Found::Current => "as installed by this version".to_owned(),
            Found::Outdated { version } => format!("as installed by {version}"),
            Found::Changed => "changed by somebody".to_owned(),
        };
        let _ = writeln!(text, "{}: {word}", style.path(path.display().to_string()));
    }
    text += &in_force(status, style);
    if let Some(service) = status.service.as_ref().filter(|_| there) {
        let enabled = if service.enabled { "enabled" } else { "not enabled" };
        let _ = writeln!(text, "{enabled}, {}", service.state);
        if !service.text.is_empty() {
            let _ = writeln!(text, "it says: {}", service.text);
        }
    }
    if let Some(why) = &status.no_manager {
        let _ = writeln!(text, "no service manager answers here: {why}");
    }
    if let Some(Daemon { pid, version }) = &status.daemon {
        let _ = writeln!(text, "hippod {version} answers (process {pid})");
    }
    text + &doctor::problems(&status.problems, style)
}

/// Which unit is in force, where it might be another one.
fn in_force(status: &Status, style: Style) -> String {
    let (Some(unit), Some(package)) = (&status.unit, &status.package) else {
        return String::new();
    };
    let (unit, path) = (style.path(unit.display().to_string()), package.display());
    if status.installed {
        return format!("in force: {unit}, in the place of that of a package ({path})\n");
    }
    let used = status.service.as_ref().is_some_and(Answer::is_used);
    let how = if used {
        ""
    } else {
        "; hippoctl service install switches it on"
    };
    format!("in force: {unit}, of a package{how}\n")
}
