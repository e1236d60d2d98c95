//! `service`: installation, removal and status of the user service.

use std::fs;
use std::path::PathBuf;

use hippo_proto::{Check, DoctorResponse, folder};

use super::daemon;
use crate::connect::DaemonSession;
use crate::failure::{Exit, Failure};
use crate::launch;
use crate::output::Output;
use crate::render::service::{ServiceSteps, render_status, render_steps};
use crate::service::{Manager, ManagerCommand, ServiceStatus, UnitFile, UnitFileState, UnitValues, units};
use hippoctl::args::ServiceVerb;

/// Runs a verb of `service`.
///
/// # Errors
/// Fails if the user has edited a service file, if a file cannot be written or removed, or if a command of the service
/// manager fails.
pub fn service(session: &mut DaemonSession, verb: &ServiceVerb, out: &mut Output) -> Result<(), Failure> {
    match verb {
        ServiceVerb::Start => daemon::start(session, out),
        ServiceVerb::Stop => daemon::stop(session, out),
        ServiceVerb::Install { dry_run } => out.answer(&install(session, *dry_run)?, render_steps),
        ServiceVerb::Uninstall { dry_run } => out.answer(&uninstall(session, *dry_run)?, render_steps),
        ServiceVerb::Logs(args) => super::logs::logs(session, args, out),
        ServiceVerb::Status => out.answer(&status(session)?, render_status),
    }
}

/// Adds the problems of the service to the problems of the daemon, if a service for the daemon's socket is installed.
pub fn examine(session: &DaemonSession, answer: &mut DoctorResponse) {
    // An error is ignored here, because `service status` reports the error.
    let Ok(status) = status(session) else { return };
    if !status.is_installed() || status.files.iter().any(|file| file.has_other_socket) {
        return;
    }
    let detail = match &status.service {
        Some(service) => format!("installed, {}", service.state),
        None => "installed, but no service manager responds".to_owned(),
    };
    let check = Check::new("service", detail, &status.problems);
    answer.checks.push(check);
    answer.problems.extend(status.problems);
    answer.problems.sort_by_key(|problem| problem.severity);
}

fn status(session: &DaemonSession) -> Result<ServiceStatus, Failure> {
    let manager = Manager::of_this_system()?;
    let variable = |name: &str| std::env::var_os(name);
    // `service status` and `service uninstall` work even if the program `hippod` is not installed.
    let program = launch::daemon_program().unwrap_or_else(|| PathBuf::from("hippod"));
    let facts = UnitValues::new(manager, program, &session.paths, &variable)?;
    let files = units(manager, &manager.folder(&variable)?, &facts)?;
    Ok(ServiceStatus::new(session, manager, files))
}

fn install(session: &DaemonSession, dry_run: bool) -> Result<ServiceSteps, Failure> {
    if launch::daemon_program().is_none() {
        return Err(Failure::new(Exit::NotFound, "the program hippod was not found").hint(launch::INSTALL));
    }
    let status = status(session)?;
    refuse_changed(&status)?;
    let manager = status.manager;
    let mut done = ServiceSteps {
        dry_run,
        ..ServiceSteps::default()
    };
    if manager == Manager::Launchd && !dry_run {
        // launchd opens the log in the state folder, but does not create the folder.
        launch::create_private_folder(&session.paths.state)?;
    }
    let mut has_written = false;
    for file in &status.files {
        if file.state == UnitFileState::Current {
            done.steps
                .push(format!("left unchanged: {}", file.path.display()));
        } else {
            let step = format!("written: {}", file.path.display());
            done.take(step, || write(file, &file.text))?;
            has_written = true;
        }
    }
    let is_repeated = status.is_installed() || status.is_used();
    let folder = manager.folder(&|name| std::env::var_os(name))?;
    let Some(service) = &status.service else {
        done.note_later(&status, &manager.starting(&folder, has_written && is_repeated));
        return Ok(done);
    };
    let bypassing = status.bypassing_daemon();
    if let Some(pid) = bypassing {
        let step = format!("stopped: the running daemon (process {pid})");
        done.take(step, || daemon::end(session).map(drop))?;
    }
    let is_stale = has_written || status.is_outdated() || bypassing.is_some() || service.state == "failed";
    let failed = |why: String| {
        let what = format!("the service is installed, but could not be started: {why}");
        let list = "to list the problems: hippoctl service status";
        Failure::new(Exit::Failed, what).hint(format!("to see the reason: {}; {list}", manager.log()))
    };
    let Err(why) = run(&manager.starting(&folder, is_repeated && is_stale), &mut done) else {
        return Ok(done);
    };
    if !manager.ask().is_ok_and(|service| service.no_sandbox) {
        return Err(failed(why));
    }
    for file in &status.files {
        write(file, &file.unconfined)?;
    }
    let note = "this system forbids user namespaces, so the protections that need them are omitted";
    done.notes.push(note.to_owned());
    run(&manager.starting(&folder, true), &mut done).map_err(failed)?;
    Ok(done)
}

fn uninstall(session: &DaemonSession, dry_run: bool) -> Result<ServiceSteps, Failure> {
    let status = status(session)?;
    refuse_changed(&status)?;
    let mut done = ServiceSteps {
        dry_run,
        ..ServiceSteps::default()
    };
    if !status.is_installed() {
        return Ok(done);
    }
    if status.service.is_some() {
        run(&status.manager.stopping(), &mut done).map_err(|why| {
            let what = format!("could not stop the service: {why}");
            Failure::new(Exit::Failed, what).hint("nothing was removed")
        })?;
    }
    for file in &status.files {
        if file.state != UnitFileState::Absent {
            done.take(format!("removed: {}", file.path.display()), || remove(file))?;
        }
    }
    let calls = status.manager.forgetting();
    if status.service.is_none() {
        done.note_later(&status, &calls);
        return Ok(done);
    }
    run(&calls, &mut done).map_err(|why| {
        let what = format!("the files were removed, but the service manager could not be notified: {why}");
        Failure::new(Exit::Failed, what)
    })?;
    Ok(done)
}

/// Fails if the user has edited a file of the service.
fn refuse_changed(status: &ServiceStatus) -> Result<(), Failure> {
    let mut files = status.files.iter();
    let Some(file) = files.find(|file| file.state == UnitFileState::Changed) else {
        return Ok(());
    };
    let path = file.path.display();
    let what = format!(
        "nothing was done, because hippoctl did not write this file, or the file was edited afterwards: {path}"
    );
    Err(Failure::new(Exit::Refused, what).hint(
        "to keep your own changes in effect, move them to a drop-in (systemctl --user edit hippod); then delete \
         the file",
    ))
}

/// Writes a service file atomically.
fn write(file: &UnitFile, text: &str) -> Result<(), Failure> {
    let written = folder::write(&file.path, text.as_bytes());
    written.map_err(|error| Failure::file("write the unit file", &file.path, error))
}

#[expect(clippy::disallowed_methods, reason = "the user's own folder")]
fn remove(file: &UnitFile) -> Result<(), Failure> {
    fs::remove_file(&file.path).map_err(|error| Failure::file("remove the file", &file.path, error))
}

/// Runs the commands, and adds each command to the steps of `done`. In a dry run, only adds the commands.
fn run(calls: &[ManagerCommand], done: &mut ServiceSteps) -> Result<(), String> {
    for call in calls {
        let line = call.line();
        if !done.dry_run
            && let Err(why) = call.run()
            && !call.may_fail
        {
            return Err(format!("{line}: {why}"));
        }
        done.steps.push(format!("run: {line}"));
    }
    Ok(())
}
