//! `service`: installation, removal and status of the user service.

use std::fs;
use std::path::{Path, PathBuf};

use hippo_proto::{Check, DoctorResponse};

use super::daemon;
use crate::connect::DaemonSession;
use crate::failure::{Exit, Failure};
use crate::launch;
use crate::output::Output;
use crate::render::service::{
    Daemon, ServiceFile, ServiceFileAction, ServiceFileChange, ServiceResult, ServiceStatus,
};
use crate::service::{
    Manager, ManagerCommand, ManagerControl, Package, ServiceObservation, UnitFile, UnitFileState,
    UnitValues, findings, look, named_program, put, units,
};
use hippoctl::args::{ServiceArgs, ServiceVerb};

fn variable(name: &str) -> Option<std::ffi::OsString> {
    std::env::var_os(name)
}

/// The target of an installation: manager, folder, units of a package, and values for the files.
struct InstallTarget {
    manager: Manager,
    folder: PathBuf,
    package: Option<Package>,
    facts: UnitValues,
}

impl InstallTarget {
    fn new(session: &DaemonSession) -> Result<Self, Failure> {
        let manager = Manager::of_this_system()?;
        let folder = manager.folder(&variable)?;
        // Status and removal must work even if the program is not installed.
        let package = Package::find(manager, &variable);
        let named = || named_program(manager, &folder).or_else(|| Some(package.as_ref()?.program.clone()));
        let program = launch::daemon_program().or_else(named);
        let program = program.ok_or_else(|| {
            Failure::new(Exit::NotFound, "the program hippod was not found")
                .hint("install hippod in the folder of hippoctl, or in a folder of PATH")
        })?;
        Ok(Self {
            manager,
            folder,
            package,
            facts: UnitValues::new(manager, program, &session.paths, &variable)?,
        })
    }

    fn look(&self, session: &DaemonSession) -> Result<ServiceObservation, Failure> {
        let package = self.package.clone();
        look(session, self.manager, &self.folder, package, &self.facts)
    }
}

/// Runs a verb of `service`.
///
/// # Errors
/// Fails if an edited file blocks the operation, a file cannot be written or removed, or the manager refuses.
pub fn service(session: &mut DaemonSession, verb: &ServiceVerb, out: &mut Output) -> Result<(), Failure> {
    match verb {
        ServiceVerb::Start => return daemon::start(session, out),
        ServiceVerb::Stop => return daemon::stop(session, out),
        _ => {}
    }
    let place = InstallTarget::new(session)?;
    let look = place.look(session)?;
    match verb {
        ServiceVerb::Install(args) => {
            let done = install(session, place, &look, args)?;
            out.answer(&done, crate::render::service::done)
        }
        ServiceVerb::Uninstall(args) => {
            let done = uninstall(&look, args)?;
            out.answer(&done, crate::render::service::done)
        }
        _ => out.answer(&status(&look), crate::render::service::status),
    }
}

/// Adds the problems of the service to those of the daemon, if a service is installed for the daemon's socket.
pub fn examine(session: &DaemonSession, answer: &mut DoctorResponse) {
    // `service status` reports this error.
    let Ok(look) = InstallTarget::new(session).and_then(|place| place.look(session)) else {
        return;
    };
    let packaged = look.packaged().is_some();
    if !(look.is_installed() || packaged) || !look.is_for_us {
        return;
    }
    let problems = findings(&look);
    let detail = match &look.answer {
        Ok(_) if packaged && !look.is_used() => {
            "a package installed its units, but they are not enabled".to_owned()
        }
        Ok(service) if packaged => format!("units from a package, {}", service.state),
        Ok(service) => format!("installed, {}", service.state),
        Err(_) => "installed, but no service manager responds".to_owned(),
    };
    answer.checks.push(Check::new("service", detail, &problems));
    answer.problems.extend(problems);
    answer.problems.sort_by_key(|problem| problem.severity);
}

fn status(look: &ServiceObservation) -> ServiceStatus {
    let files = look.files.iter().map(|(file, found)| ServiceFile {
        path: file.path.clone(),
        found: found.clone(),
    });
    let daemon = look.daemon.as_ref().map(|(pid, version)| Daemon {
        pid: *pid,
        version: version.clone(),
    });
    ServiceStatus {
        manager: look.control.0,
        installed: look.is_installed(),
        unit: look.unit().map(Path::to_path_buf),
        package: look.package.as_ref().map(|package| package.unit.clone()),
        files: files.collect(),
        service: look.answer.as_ref().ok().cloned(),
        no_manager: look.answer.as_ref().err().cloned(),
        daemon,
        problems: findings(look),
    }
}

#[expect(clippy::disallowed_methods, reason = "the user's own folder")]
fn install(
    session: &DaemonSession,
    place: InstallTarget,
    look: &ServiceObservation,
    args: &ServiceArgs,
) -> Result<ServiceResult, Failure> {
    refuse_changed(look, args)?;
    let control = look.control;
    if !place.facts.program.is_file() {
        let what = format!(
            "the program hippod was not found: {}",
            place.facts.program.display()
        );
        return Err(Failure::new(Exit::NotFound, what)
            .hint("install hippod in the folder of hippoctl, or in a folder of PATH"));
    }
    if control.0 == Manager::Launchd && !args.dry_run {
        // launchd opens the log in this folder, but does not create the folder.
        launch::create_private_folder(&session.paths.state)?;
    }
    let mut done = ServiceResult::new(control.0, args.dry_run);
    done.note_settings(std::env::vars_os().filter_map(|(name, value)| (!value.is_empty()).then_some(name)));
    let packaged = look.packaged().filter(|package| package.suits(&place.facts));
    let files = if packaged.is_some() { &[] } else { &look.files[..] };
    done.tell_of_package(look.package.as_ref(), packaged.is_some());
    let wrote = write(files, args.dry_run, &mut done)?;
    let was_there = look.is_installed() || look.is_used();
    let answer = match &look.answer {
        Ok(answer) => answer,
        Err(why) => {
            done.later(why, &control.starting(&place.folder, wrote && was_there));
            return Ok(done);
        }
    };
    let foreign = look.daemon.as_ref().filter(|(pid, _)| answer.pid != Some(*pid));
    if let Some((pid, _)) = foreign {
        done.stopped = Some(*pid);
        if !args.dry_run {
            daemon::end(session)?;
        }
    }
    let old = look
        .daemon
        .as_ref()
        .is_some_and(|(_, version)| version != env!("CARGO_PKG_VERSION"));
    let again = was_there && (wrote || old || foreign.is_some() || answer.state == "failed");
    let started = run(&control.starting(&place.folder, again), &mut done);
    match started {
        Ok(()) => Ok(done),
        Err(_) if place.facts.sandbox && control.ask().is_ok_and(|answer| answer.no_sandbox) => {
            let facts = UnitValues {
                sandbox: false,
                ..place.facts
            };
            let plain = units(place.manager, &place.folder, &facts);
            let plain: Vec<_> = plain
                .into_iter()
                .map(|file| (file, UnitFileState::Absent))
                .collect();
            write(&plain, false, &mut ServiceResult::new(control.0, false))?;
            done.notes.push(
                "this system forbids user namespaces, so the protections that need them are omitted"
                    .to_owned(),
            );
            run(&control.starting(&place.folder, true), &mut done)
                .map_err(|why| not_started(control, &why))?;
            Ok(done)
        }
        Err(why) => Err(not_started(control, &why)),
    }
}

fn not_started(control: ManagerControl, why: &str) -> Failure {
    let what = format!("the service is installed, but could not be started: {why}");
    Failure::new(Exit::Failed, what).hint(format!(
        "to see the reason: {}; to list the problems: hippoctl service status",
        control.log()
    ))
}

fn uninstall(look: &ServiceObservation, args: &ServiceArgs) -> Result<ServiceResult, Failure> {
    refuse_changed(look, args)?;
    let control = look.control;
    let mut done = ServiceResult::new(control.0, args.dry_run);
    let packaged = look.packaged().filter(|_| look.is_used());
    done.package = packaged.map(|package| package.unit.clone());
    if !look.is_installed() && packaged.is_none() {
        return Ok(done);
    }
    if packaged.is_some() {
        done.notes
            .push("the units of the package stay installed, but are no longer started".to_owned());
    }
    let answers = look.answer.is_ok();
    if answers {
        run(&control.stopping(), &mut done).map_err(|why| {
            Failure::new(Exit::Failed, format!("could not stop the service: {why}"))
                .hint("nothing was removed")
        })?;
    }
    for (file, found) in &look.files {
        let what = match found {
            UnitFileState::Absent => continue,
            UnitFileState::Changed => ServiceFileAction::KeptAside(set_aside(&file.path, args.dry_run)?),
            UnitFileState::Current | UnitFileState::Outdated { .. } => {
                remove(&file.path, args.dry_run)?;
                ServiceFileAction::Removed
            }
        };
        done.files.push(ServiceFileChange::new(&file.path, what));
    }
    match &look.answer {
        Ok(_) => run(&control.forgetting(), &mut done).map_err(|why| {
            Failure::new(
                Exit::Failed,
                format!("the files were removed, but the service manager could not be notified: {why}"),
            )
        })?,
        Err(why) => {
            for (file, _) in &look.files {
                remove_wants(&file.path, args.dry_run, &mut done)?;
            }
            done.later(why, &control.forgetting());
        }
    }
    Ok(done)
}

/// Refuses the operation if the user edited a file, unless `--force` is given.
fn refuse_changed(look: &ServiceObservation, args: &ServiceArgs) -> Result<(), Failure> {
    let changed = look
        .files
        .iter()
        .find(|(_, found)| *found == UnitFileState::Changed);
    match changed {
        Some((file, _)) if !args.force => {
            let what = format!(
                "nothing was done, because hippoctl did not write this file, or the file was edited \
                 afterwards: {}",
                file.path.display()
            );
            Err(Failure::new(Exit::Refused, what).hint(
                "--force keeps the edited file under another name; to keep your own changes in effect, move \
                 them to a drop-in: systemctl --user edit hippod",
            ))
        }
        _ => Ok(()),
    }
}

/// Writes the files that are missing or outdated. Returns whether there were any.
fn write(
    files: &[(UnitFile, UnitFileState)],
    dry_run: bool,
    done: &mut ServiceResult,
) -> Result<bool, Failure> {
    let mut wrote = false;
    for (file, found) in files {
        let what = match found {
            UnitFileState::Current => ServiceFileAction::Unchanged,
            UnitFileState::Changed => ServiceFileAction::WrittenAndKeptAside(set_aside(&file.path, dry_run)?),
            UnitFileState::Absent | UnitFileState::Outdated { .. } => ServiceFileAction::Written,
        };
        if *found != UnitFileState::Current {
            wrote = true;
            if !dry_run {
                put(file)?;
            }
        }
        done.files.push(ServiceFileChange::new(&file.path, what));
    }
    Ok(wrote)
}

/// Renames a file to a name that no service manager reads. Returns the new path.
#[expect(clippy::disallowed_methods, reason = "the user's own folder")]
fn set_aside(path: &Path, dry_run: bool) -> Result<PathBuf, Failure> {
    let named = |number: u32| {
        let mut name = path.as_os_str().to_owned();
        name.push(if number == 1 {
            ".kept".to_owned()
        } else {
            format!(".kept-{number}")
        });
        PathBuf::from(name)
    };
    let free = (1..).map(named).find(|path| fs::symlink_metadata(path).is_err());
    let aside = free.unwrap_or_else(|| named(1));
    if !dry_run {
        fs::rename(path, &aside).map_err(|error| Failure::file("rename the file", path, error))?;
    }
    Ok(aside)
}

#[expect(clippy::disallowed_methods, reason = "the user's own folder")]
fn remove(path: &Path, dry_run: bool) -> Result<(), Failure> {
    if dry_run {
        return Ok(());
    }
    fs::remove_file(path).map_err(|error| Failure::file("remove the file", path, error))
}

/// Removes the links of an enabled unit, because systemd is not available to remove them.
#[expect(clippy::disallowed_methods, reason = "the user's own folder")]
fn remove_wants(unit: &Path, dry_run: bool, done: &mut ServiceResult) -> Result<(), Failure> {
    let (Some(folder), Some(name)) = (unit.parent(), unit.file_name()) else {
        return Ok(());
    };
    for target in ["default.target.wants", "sockets.target.wants"] {
        let link = folder.join(target).join(name);
        if fs::read_link(&link).is_ok_and(|to| to == unit) {
            remove(&link, dry_run)?;
            done.files
                .push(ServiceFileChange::new(&link, ServiceFileAction::Removed));
        }
    }
    Ok(())
}

/// Runs the commands; in a dry run, only lists them.
fn run(calls: &[ManagerCommand], done: &mut ServiceResult) -> Result<(), String> {
    for call in calls {
        if !done.dry_run {
            match call.run() {
                Err(why) if !call.may_fail => return Err(format!("{}: {why}", call.line())),
                _ => {}
            }
        }
        done.commands.push(call.line());
    }
    Ok(())
}
