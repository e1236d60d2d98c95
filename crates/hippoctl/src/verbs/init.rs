//! `init` and `deinit`: how does an agent's folder get a memory, and how is that taken back?

use std::path::{Path, PathBuf};

use hippo_proto::{
    WorkspaceAddRequest, WorkspaceAddResponse, WorkspaceRemoveRequest, WorkspaceRemoveResponse,
};

use crate::args::{DeinitArgs, InitArgs};
use crate::connect::{Session, absolute, current_dir, text};
use crate::failure::{Exit, Failure};
use crate::harness::aside::{self, Aside};
use crate::harness::layout::{Choice, bare, layout, paths, there_before};
use crate::harness::plan::Change;
use crate::harness::{
    CONFIG, Config, Found, Plan, Platform, RECORD, Record, Snapshot, State, apply, detect, plan, take_back,
};
use crate::output::Output;
use crate::render;
use crate::render::init::{Initialised, Registered, Taken, file};

/// What marks that hipocampus told an agent what to do as well.
const OTHER_PROTOCOL: &str = "<!-- hipocampus:protocol:start -->";

/// Lays out what the harness needs, and registers the folder.
///
/// # Errors
/// A file stands in the way or cannot be read (nothing is written then), or the daemon refuses the folder.
pub fn init(session: &mut Session, args: InitArgs, out: &mut Output) -> Result<(), Failure> {
    let root = folder(session, args.dir.clone())?;
    let paths = paths();
    let there = Snapshot::read(&root, paths.iter().map(String::as_str));
    let (mut plan, found) = planned(&there, &args)?;
    plan.problems.extend(apply::forbidden(&root, &plan));
    if !plan.problems.is_empty() {
        return Err(refused(&plan));
    }
    let recorded = Plan::record_change(&plan.record, &there);
    let mut answer = Initialised {
        root: root.display().to_string(),
        platform: found.platform,
        told_by: found.by.clone(),
        dry_run: args.dry_run,
        folders: plan.folders.clone(),
        files: recorded.iter().chain(&plan.changes).map(file).collect(),
        kept: plan.kept.clone(),
        registered: Registered::NotTried,
        notes: notes(&there, &args, &found),
    };
    if args.dry_run {
        return out.answer(&answer, render::init::initialised);
    }
    // The record first, so that what a stopped process made is known.
    apply::apply(&root, &plan, recorded.as_ref())?;
    let refusal = register(session, &root, &mut plan.record, &mut answer)?;
    out.answer(&answer, render::init::initialised)?;
    refusal.map_or(Ok(()), Err)
}

/// The plan, without the change of the record.
fn planned(there: &Snapshot, args: &InitArgs) -> Result<(Plan, Found), Failure> {
    let one = |problem| {
        let plan = Plan {
            problems: vec![problem],
            ..Plan::default()
        };
        refused(&plan)
    };
    let record = Record::read(there).map_err(one)?;
    if args.bare {
        let found = Found {
            platform: Platform::None,
            by: "--bare".to_owned(),
            others: Vec::new(),
        };
        return Ok((plan(Platform::None, &bare(), there, &record), found));
    }
    let config = there.file(CONFIG).map(Config::read).transpose().map_err(one)?;
    let config = config.unwrap_or_default();
    let found = match args.platform {
        Some(platform) => Found {
            platform,
            by: "--platform".to_owned(),
            others: Vec::new(),
        },
        None => detect(there, &config),
    };
    let choice = Choice {
        vector: !args.no_vector,
        search: !args.no_search,
    };
    let parts = layout(found.platform, choice, &config, there);
    Ok((plan(found.platform, &parts, there, &record), found))
}

/// Registers the folder and keeps in the record that it was done here. That no daemon can be had is no failure.
fn register(
    session: &mut Session,
    root: &Path,
    record: &mut Record,
    answer: &mut Initialised,
) -> Result<Option<Failure>, Failure> {
    let workspace = text(root)?;
    let before = record.registered;
    // Before it is done: who is stopped in between is to take it back.
    note_registered(root, record, true)?;
    let asked = session.call::<WorkspaceAddResponse>(WorkspaceAddRequest { workspace });
    let ours = before || asked.as_ref().is_ok_and(|added| added.added);
    note_registered(root, record, ours)?;
    match asked {
        Ok(added) => {
            answer.registered = if added.added {
                Registered::Now
            } else {
                Registered::Already
            };
            Ok(None)
        }
        Err(failure) if failure.exit == Exit::NoDaemon => {
            answer.registered = Registered::NoDaemon;
            answer.notes.push(format!(
                "the folder is not registered: {}; when a daemon runs: hippoctl init {} again",
                failure.message,
                root.display()
            ));
            Ok(None)
        }
        Err(failure) => {
            answer.registered = Registered::Refused;
            Ok(Some(failure))
        }
    }
}

/// Writes into the record whether the folder was registered by init.
fn note_registered(root: &Path, record: &mut Record, registered: bool) -> Result<(), Failure> {
    if record.registered == registered {
        return Ok(());
    }
    let before = record.to_bytes();
    record.registered = registered;
    let change = Change {
        path: RECORD.to_owned(),
        before: Some(before),
        after: Some(record.to_bytes()),
        what: String::new(),
    };
    apply::one(root, &change)
}

/// What a person should know that no file says.
fn notes(there: &Snapshot, args: &InitArgs, found: &Found) -> Vec<String> {
    let mut notes = Vec::new();
    for other in &found.others {
        let other = other.name();
        notes.push(format!(
            "there are signs of {other}, too: hippoctl init --platform {other}"
        ));
    }
    let says = |path: &&&str| {
        let text = there.file(path).unwrap_or_default();
        String::from_utf8_lossy(text).contains(OTHER_PROTOCOL)
    };
    if let Some(path) = ["CLAUDE.md", "AGENTS.md"].iter().find(says) {
        notes.push(format!(
            "{path} tells the agent to follow hipocampus as well: take that block out, or it keeps memory twice"
        ));
    }
    if (args.no_vector || args.platform.is_some()) && !args.bare && there.file(CONFIG).is_some() {
        notes.push(format!("{CONFIG} was there already and stays as it is"));
    }
    let before = there_before(there);
    if !before.is_empty() && !args.bare && there.file(RECORD).is_none() {
        notes.push(format!(
            "of what stood here before init, .gitignore leaves out only what agents and hippod write: {}",
            before.join(", ")
        ));
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let known = std::env::split_paths(&path).any(|folder| folder.join("hippoctl").is_file());
    if !known && found.platform != Platform::None {
        notes.push("hippoctl is not in PATH: the hooks and the agent will not find it".to_owned());
    }
    notes
}

/// Takes back what `init` made.
///
/// # Errors
/// Nothing was made there, or a file could not be written.
pub fn deinit(session: &mut Session, args: DeinitArgs, out: &mut Output) -> Result<(), Failure> {
    let root = folder(session, args.dir)?;
    let (record, there) = recorded(&root)?;
    let mut answer = Taken {
        root: root.display().to_string(),
        dry_run: args.dry_run,
        ..Taken::default()
    };
    // First, so that the daemon writes nothing any more.
    let gone = record.registered && (args.dry_run || unregister(session, &root, &mut answer)?);
    let waits = record.registered && !gone;
    let there = if args.dry_run { there } else { recorded(&root)?.1 };
    let mut plan = take_back(&there, &record);
    if waits {
        plan.record = left(&plan, &record);
    }
    // A daemon that has the folder would take it for a person's wish that its index file is gone.
    let mut aside = if gone {
        aside::find(&root, &record)
    } else {
        Aside::default()
    };
    aside
        .moved
        .retain(|path| plan.changes.iter().all(|change| change.path != *path));
    plan.kept.retain(|kept| !aside.moved.contains(&kept.path));
    plan.kept.extend(aside.kept);
    answer.files = plan.changes.iter().map(file).collect();
    answer.kept = plan.kept.clone();
    answer.aside = aside.moved.clone();
    if args.dry_run {
        answer.folders = plan.removed_folders.clone();
        return out.answer(&answer, render::init::taken);
    }
    apply::apply(&root, &plan, None)?;
    // The record goes last: what is left when this stops halfway can still be taken back.
    let place = aside::set_aside(&root, &aside.moved, &session.paths.state)
        .map_err(|error| Failure::file("move out of the workspace", &root, error))?;
    answer.aside_in = place.map(|place| place.display().to_string());
    answer.folders = apply::remove_folders(&root, &plan.removed_folders);
    if let Some(change) = Plan::record_change(&plan.record, &there) {
        apply::one(&root, &change)?;
    }
    // The one that the record was in.
    answer
        .folders
        .extend(apply::remove_folders(&root, &plan.removed_folders));
    let stuck = !plan.record.files.is_empty();
    out.answer(&answer, render::init::taken)?;
    if waits {
        return Err(Failure::new(
            Exit::Refused,
            "not all of it could be taken back: the folder is still registered",
        )
        .hint("when the daemon runs, run it again"));
    }
    if stuck {
        return Err(Failure::new(Exit::Refused, "not all of it could be taken back")
            .hint("mend the files that are named above, then run it again"));
    }
    Ok(())
}

/// What has to be known of a folder that is still registered: all but the files that were taken back.
fn left(plan: &Plan, record: &Record) -> Record {
    let mut left = record.clone();
    left.files
        .retain(|path, _| plan.kept.iter().any(|kept| kept.path == *path));
    left
}

fn recorded(root: &Path) -> Result<(Record, Snapshot), Failure> {
    let there = Snapshot::read(root, [RECORD]);
    let record = Record::read(&there).map_err(|problem| {
        let plan = Plan {
            problems: vec![problem],
            ..Plan::default()
        };
        refused(&plan)
    })?;
    if record.is_empty() {
        let what = format!("init made nothing in {}", root.display());
        return Err(Failure::new(Exit::NotFound, what)
            .hint("to forget a folder that was only registered: hippoctl workspace remove DIR"));
    }
    let paths = record.files.keys().map(String::as_str);
    let there = Snapshot::read(root, paths.chain([RECORD]));
    Ok((record, there))
}

/// Answers whether the daemon has the folder no more.
fn unregister(session: &mut Session, root: &Path, answer: &mut Taken) -> Result<bool, Failure> {
    let request = WorkspaceRemoveRequest {
        workspace: text(root)?,
        purge: false,
    };
    match session.call::<WorkspaceRemoveResponse>(request) {
        Ok(_) => answer.unregistered = true,
        // Somebody removed it already.
        Err(failure) if failure.exit == Exit::NotFound => {}
        Err(failure) => {
            answer.notes.push(format!(
                "the folder is still registered, and what the daemon wrote there stays: {}; when a daemon runs: hippoctl deinit {} again",
                failure.message,
                root.display()
            ));
            return Ok(false);
        }
    }
    Ok(true)
}

/// The folder that is meant; it is there.
fn folder(session: &Session, dir: Option<PathBuf>) -> Result<PathBuf, Failure> {
    let dir = match (dir, session.given_workspace()?) {
        (Some(dir), _) => absolute(&dir)?,
        (None, Some(given)) => given,
        (None, None) => current_dir()?,
    };
    match Snapshot::read(&dir, ["."]).state(".") {
        State::Folder => Ok(dir),
        _ => Err(Failure::new(
            Exit::NotFound,
            format!("there is no such folder: {}", dir.display()),
        )),
    }
}

fn refused(plan: &Plan) -> Failure {
    let lines = plan.problems.iter().map(|problem| {
        let what = render::one_line(&problem.what);
        format!("\n  {}: {what}", problem.path)
    });
    let what = format!("nothing was written, because of{}", lines.collect::<String>());
    Failure::new(Exit::Refused, what).hint("mend these, then run it again")
}
