//! Rendering of `service` results and status.

use std::fmt::Write;

use serde::Serialize;

use super::doctor;
use crate::failure::Failure;
use crate::output::Style;
use crate::service::{ManagerCommand, RunningDaemon, ServiceStatus, UnitFileState};

/// The steps of `service install` or `service uninstall`. With `--dry-run`, the steps are only planned.
#[derive(Debug, Default, Serialize)]
pub struct ServiceSteps {
    /// True if nothing was changed.
    pub dry_run: bool,
    /// The steps, each with its file or command.
    pub steps: Vec<String>,
    /// Notes for the user.
    pub notes: Vec<String>,
}

impl ServiceSteps {
    /// Runs a step and adds it to the list. In a dry run, only adds the step to the list.
    ///
    /// # Errors
    /// Returns the failure of the step.
    pub fn take(&mut self, what: String, step: impl FnOnce() -> Result<(), Failure>) -> Result<(), Failure> {
        if !self.dry_run {
            step()?;
        }
        self.steps.push(what);
        Ok(())
    }

    /// Adds a note with the commands that the user must run as soon as a service manager responds.
    pub fn note_later(&mut self, status: &ServiceStatus, calls: &[ManagerCommand]) {
        let why = status.no_manager.as_deref().unwrap_or_default();
        let lines: Vec<String> = calls.iter().map(ManagerCommand::line).collect();
        let lines = lines.join(" && ");
        let note = format!("no service manager responds: {why}; when one responds, run: {lines}");
        self.notes.push(note);
    }
}

/// Renders the steps, one per line.
pub fn render_steps(done: &ServiceSteps, _: Style) -> String {
    if done.steps.is_empty() {
        return "the service is not installed\n".to_owned();
    }
    let would = if done.dry_run { "would have " } else { "" };
    let steps = done.steps.iter().map(|step| format!("{would}{step}\n"));
    let notes = done.notes.iter().map(|note| format!("note: {note}\n"));
    steps.chain(notes).collect()
}

/// Renders the service files, the state of the service, the running daemon and the problems.
pub fn render_status(status: &ServiceStatus, style: Style) -> String {
    let mut text = String::new();
    if !status.is_installed() {
        text.push_str("the service is not installed; install it with: hippoctl service install\n");
    }
    for file in status.files.iter().filter(|_| status.is_installed()) {
        let word = match &file.state {
            UnitFileState::Absent => "missing".to_owned(),
            UnitFileState::Current => "as installed by this version".to_owned(),
            UnitFileState::Outdated { version } => format!("as installed by hippoctl {version}"),
            UnitFileState::Changed => "edited, or not written by hippoctl".to_owned(),
        };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}: {word}", style.path(file.path.display().to_string()));
    }
    if let Some(unit) = status.service.as_ref().and_then(|service| service.unit.as_ref()) {
        let _ = writeln!(text, "in use: {}", style.path(unit.display().to_string()));
    }
    if let Some(service) = status.service.as_ref().filter(|_| status.is_installed()) {
        let enabled = if service.enabled { "enabled" } else { "not enabled" };
        let _ = writeln!(text, "{enabled}, {}", service.state);
    }
    if let Some(why) = &status.no_manager {
        let _ = writeln!(text, "no service manager responds: {why}");
    }
    if let Some(daemon) = &status.daemon {
        let RunningDaemon { pid, version } = daemon;
        let _ = writeln!(text, "hippod {version} is running (process {pid})");
    }
    text + &doctor::problems(&status.problems, style)
}
