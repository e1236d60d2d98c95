//! `init`: setup of memory in the folder of an agent.

use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use hippo_fs::WorkspaceDir;
use hippo_proto::folder::{Trust, hash as folder_hash};
use hippo_proto::{
    Cycle, CycleReport, CycleRunRequest, StatusRequest, StatusResponse, WorkspaceAddRequest,
    WorkspaceAddResponse, WorkspaceTrustRequest, WorkspaceTrustResponse,
};

use super::{foreign, place};
use crate::connect::{DaemonSession, absolute, current_dir, text};
use crate::failure::{Exit, Failure};
use crate::harness::layout::{Choice, bare, layout, paths, there_before};
use crate::harness::{
    CONFIG, ChangePlan, DetectedPlatform, Harness, InitRecord, LayoutConfig, OLD_RECORD, PathSnapshot,
    UnusableFile, apply, detect, plan, record,
};
use crate::output::Output;
use crate::render;
use crate::render::init::{InitResult, Registration, file};
use hippoctl::args::InitArgs;

/// Time for the daemon to read the files before the index file is requested. The next cycle adds the files read later.
const READING: Duration = Duration::from_secs(5);
/// Interval between two status queries.
const AGAIN: Duration = Duration::from_millis(20);
/// The marker that begins the instructions of hipocampus.
const OTHER_PROTOCOL: &str = "<!-- hipocampus:protocol:start -->";

/// Installs the files of the harness, and registers the folder.
///
/// # Errors
/// Fails without changes if a path is blocked, if a file is unreadable or contains invalid values, or if the current
/// folder is the home folder or the root and was not named. Fails after the changes if the daemon refuses the folder.
pub fn init(session: &mut DaemonSession, args: InitArgs, out: &mut Output) -> Result<(), Failure> {
    if args.undo {
        return super::deinit::deinit(session, args, out);
    }
    let dir = folder(session, args.dir.clone())?;
    let root = dir.root().to_path_buf();
    if args.dir.is_none() && session.given_workspace()?.is_none() {
        place::check_intended(&root, "init")?;
    }
    let paths = paths();
    let there = PathSnapshot::read(&dir, paths.iter().map(String::as_str));
    let state = session.paths.state.clone();
    let (record, adopted) = recorded(&state, &root, &there, args.trust_record)?;
    let trust = Trust::of(&state, &root);
    let (mut plan, found, mut told) = planned(&there, &args, &record, &trust)?;
    plan.problems.extend(apply::forbidden(&dir, &plan));
    if !plan.problems.is_empty() {
        return Err(unusable_failure(&plan.problems));
    }
    let mut answer = InitResult {
        root: root.display().to_string(),
        platform: found.platform,
        told_by: found.by.clone(),
        dry_run: args.dry_run,
        folders: plan.folders.clone(),
        files: plan.changes.iter().map(file).collect(),
        kept: plan.kept.clone(),
        foreign: foreign::nodes(&dir),
        taken_over: args.take_over,
        registered: Registration::NotTried,
        notes: notes(&there, &args, &found, &record),
    };
    answer.notes.append(&mut told);
    if args.dry_run {
        return out.answer(&answer, render::init::initialised);
    }
    answer.taken_over |= foreign::is_confirmed(&answer.foreign, out);
    // The record is written first, so that the changes of an interrupted run are known.
    keep(&plan.record, &state, &root)?;
    if adopted {
        forget_old_record(&dir)?;
    }
    apply::apply(&dir, &plan)?;
    let refusal = register(session, &dir, &mut plan.record, &mut answer)?;
    out.answer(&answer, render::init::initialised)?;
    refusal.map_or(Ok(()), Err)
}

/// Returns the record of an earlier init, and whether it comes from the workspace, where an earlier build wrote it.
fn recorded(
    state: &Path,
    root: &Path,
    there: &PathSnapshot,
    trusted: bool,
) -> Result<(InitRecord, bool), Failure> {
    let record = InitRecord::read(state, root).map_err(|problem| unusable_failure(&[problem]))?;
    if !record.is_empty() || !trusted {
        return Ok((record, false));
    }
    match InitRecord::in_workspace(there) {
        Ok(Some(old)) => Ok((old, true)),
        Ok(None) => Ok((record, false)),
        Err(problems) => Err(unusable_failure(&problems)),
    }
}

/// Removes the record that an earlier build left in the workspace.
pub(super) fn forget_old_record(dir: &WorkspaceDir) -> Result<(), Failure> {
    let removed = dir.remove_file(OLD_RECORD);
    let failed = |error| Failure::file("remove", &dir.root().join(OLD_RECORD), error);
    removed.map(drop).map_err(failed)
}

fn keep(record: &InitRecord, state: &Path, root: &Path) -> Result<(), Failure> {
    let failed = |error| Failure::file("store the record of init in", state, error);
    record.write(state, root).map_err(failed)
}

/// Returns the plan, the platform, and notes about the configuration in the folder.
fn planned(
    there: &PathSnapshot,
    args: &InitArgs,
    record: &InitRecord,
    trust: &Trust,
) -> Result<(ChangePlan, DetectedPlatform, Vec<String>), Failure> {
    if args.bare {
        let found = DetectedPlatform {
            platform: Harness::None,
            by: "--bare".to_owned(),
            others: Vec::new(),
        };
        return Ok((plan(Harness::None, &bare(), there, record), found, Vec::new()));
    }
    let (mut config, misfits) = there.file(CONFIG).map(LayoutConfig::read).unwrap_or_default();
    let mut notes = Vec::new();
    let trusted = there
        .file(CONFIG)
        .is_some_and(|bytes| trust.covers(CONFIG, bytes));
    if config.index_in_prompt == Some(true) && !trusted {
        config.index_in_prompt = None;
        notes.push(format!(
            "index.inPrompt of {CONFIG} has no effect without trust; once the folder is registered, run \
             `hippoctl workspace trust`, then `hippoctl init` again"
        ));
    }
    let found = match args.platform {
        Some(platform) => DetectedPlatform {
            platform,
            by: "--platform".to_owned(),
            others: Vec::new(),
        },
        None => detect(there, &config),
    };
    let choice = Choice {
        vector: !args.no_vector,
        search: !args.no_search,
        configured: args.no_vector || args.platform.is_some(),
    };
    let parts = layout(found.platform, choice, &config, there, &record.folders);
    let mut plan = plan(found.platform, &parts, there, record);
    plan.problems.splice(..0, misfits);
    Ok((plan, found, notes))
}

/// Trusts the configuration if init created it and it is unchanged. A configuration that existed before init is not
/// trusted.
fn trust_own(
    session: &mut DaemonSession,
    workspace: &str,
    dir: &WorkspaceDir,
    record: &InitRecord,
) -> Result<(), Failure> {
    let there = PathSnapshot::read(dir, [CONFIG]);
    let own = there.file(CONFIG).filter(|bytes| {
        let entry = record.files.get(there.real(CONFIG));
        entry.is_some_and(|entry| entry.made && entry.hash == record::hash(bytes))
    });
    let Some(bytes) = own else { return Ok(()) };
    let request = WorkspaceTrustRequest {
        workspace: workspace.to_owned(),
        files: Some([(CONFIG.to_owned(), folder_hash(bytes))].into()),
        ..WorkspaceTrustRequest::default()
    };
    session.call::<WorkspaceTrustResponse>(request).map(drop)
}

/// Registers the folder and records this. If no daemon is available, this is not a failure.
fn register(
    session: &mut DaemonSession,
    dir: &WorkspaceDir,
    record: &mut InitRecord,
    answer: &mut InitResult,
) -> Result<Option<Failure>, Failure> {
    let root = dir.root();
    let workspace = text(root)?;
    let of = workspace.clone();
    let before = record.registered;
    // The registration is recorded in advance, so that undoing an interrupted run unregisters the folder.
    let state = session.paths.state.clone();
    note_registered(&state, root, record, true)?;
    let asked = session.call::<WorkspaceAddResponse>(WorkspaceAddRequest { workspace });
    let ours = before || asked.as_ref().is_ok_and(|added| added.added);
    note_registered(&state, root, record, ours)?;
    match asked {
        Ok(added) => {
            answer.registered = if added.added {
                Registration::Now
            } else {
                Registration::Already
            };
            answer.notes.extend(added.notes);
            if let Err(failure) = trust_own(session, &of, dir, record) {
                answer.notes.push(format!(
                    "{CONFIG} is not trusted: {}; to accept the file: hippoctl workspace trust",
                    failure.message
                ));
            }
            take_over(session, &of, answer);
            if let Err(failure) = write_index(session, of) {
                answer.notes.push(format!(
                    "HIPPOCAMPUS.md was not created, but the next light cycle will create it: {}",
                    failure.message
                ));
            }
            Ok(None)
        }
        Err(failure) if failure.exit == Exit::NoDaemon => {
            answer.registered = Registration::NoDaemon;
            answer.notes.push(format!(
                "the folder is not registered: {}; once a daemon is running, repeat: hippoctl init {}",
                failure.message,
                root.display()
            ));
            Ok(None)
        }
        Err(failure) => {
            answer.registered = Registration::Refused;
            Ok(Some(failure))
        }
    }
}

/// Asks the daemon to take over the tree of another program, if the user confirmed it.
fn take_over(session: &mut DaemonSession, workspace: &str, answer: &mut InitResult) {
    if answer.foreign.is_empty() {
        return;
    }
    match foreign::compact(session, workspace, answer.taken_over) {
        // The daemon knows which nodes were already taken over.
        Ok(left) if !answer.taken_over => answer.foreign = left,
        Ok(_) => {}
        Err(failure) => {
            answer.taken_over = false;
            answer.notes.push(format!(
                "the tree was not changed: {}",
                render::one_line(&failure.message)
            ));
        }
    }
}

/// Runs a light cycle to write the index file, because the first scheduled cycle may be an hour away.
fn write_index(session: &mut DaemonSession, workspace: String) -> Result<(), Failure> {
    let begun = Instant::now();
    while begun.elapsed() < READING && !is_read(session, &workspace)? {
        thread::sleep(AGAIN);
    }
    let request = CycleRunRequest {
        workspace,
        cycle: Cycle::Light,
        dry_run: false,
        at: None,
    };
    session.call_patiently::<CycleReport>(request, |_| {}).map(|_| ())
}

/// Returns whether the daemon has read all files of a workspace. Their vectors may still be missing.
fn is_read(session: &mut DaemonSession, workspace: &str) -> Result<bool, Failure> {
    let status: StatusResponse = session.call(StatusRequest {})?;
    let of = status.workspaces.iter().find(|of| of.root == workspace);
    Ok(of.is_none_or(|of| {
        of.watcher.last_reconcile_ms_ago.is_some() && of.documents + of.skipped_count >= of.disk.files
    }))
}

/// Records whether init registered the folder.
fn note_registered(
    state: &Path,
    root: &Path,
    record: &mut InitRecord,
    registered: bool,
) -> Result<(), Failure> {
    if record.registered == registered {
        return Ok(());
    }
    record.registered = registered;
    keep(record, state, root)
}

/// Returns notes for the user.
fn notes(
    there: &PathSnapshot,
    args: &InitArgs,
    found: &DetectedPlatform,
    record: &InitRecord,
) -> Vec<String> {
    let mut notes = Vec::new();
    for other in &found.others {
        let other = other.name();
        notes.push(format!(
            "this folder also contains files of {other}; to set up {other} too: hippoctl init --platform \
             {other}"
        ));
    }
    let says = |path: &&&str| {
        let text = there.file(path).unwrap_or_default();
        String::from_utf8_lossy(text).contains(OTHER_PROTOCOL)
    };
    if let Some(path) = ["CLAUDE.md", "AGENTS.md"].iter().find(says) {
        notes.push(format!(
            "{path} also contains the protocol of hipocampus: remove that block, or the agent will write to two \
             memories"
        ));
    }
    if (args.no_vector || args.platform.is_some()) && !args.bare && there.file(CONFIG).is_some() {
        notes.push(format!("{CONFIG} already exists and was not changed"));
    }
    if args.bare
        && let Some(bytes) = there.file(CONFIG)
    {
        let (_, misfits) = LayoutConfig::read(bytes);
        notes.extend(misfits.iter().map(|misfit| {
            let what = render::one_line(&misfit.what);
            format!("{CONFIG}: {what}; this setting is ignored")
        }));
    }
    if record.is_empty() && there.file(OLD_RECORD).is_some() {
        notes.push(format!(
            "{OLD_RECORD} is not used, because it may come from an earlier version or from another person; \
             if the file is yours: hippoctl init --trust-record"
        ));
    }
    let before = there_before(there, &record.folders);
    if !before.is_empty() && !args.bare && record.is_empty() {
        notes.push(format!(
            "these folders existed before init, so .gitignore lists only the files that agents and hippod \
             write to these folders: {}",
            before.join(", ")
        ));
    }
    if !is_in_path() && found.platform != Harness::None {
        notes.push("hippoctl is not in PATH, so the hooks and the agent cannot run hippoctl".to_owned());
    }
    notes
}

#[expect(clippy::disallowed_methods, reason = "folders of PATH")]
fn is_in_path() -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join("hippoctl").is_file())
}

/// Opens the requested folder.
pub(super) fn folder(session: &DaemonSession, dir: Option<PathBuf>) -> Result<WorkspaceDir, Failure> {
    let dir = match (dir, session.given_workspace()?) {
        (Some(dir), _) => absolute(&dir)?,
        (None, Some(given)) => given,
        (None, None) => current_dir()?,
    };
    place::there(&dir)?;
    WorkspaceDir::open(&dir).map_err(|error| Failure::file("open the folder", &dir, error))
}

pub(super) fn unusable_failure(problems: &[UnusableFile]) -> Failure {
    let lines = problems.iter().map(|problem| {
        let what = render::one_line(&problem.what);
        format!("\n  {}: {what}", problem.path)
    });
    let what = format!("nothing was written; problems:{}", lines.collect::<String>());
    Failure::new(Exit::Refused, what).hint("correct these problems, then run the command again")
}
