//! `init`: setup of memory in the folder of an agent.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hippo_fs::WorkspaceDir;
use hippo_proto::folder::{Trust, hash as folder_hash};
use hippo_proto::{
    ClientError, Cycle, CycleRunRequest, ModelLoad, StatusRequest, TreeCompactRequest, WorkspaceAddRequest,
    WorkspaceSyncRequest, WorkspaceTrustRequest,
};

use super::{place, watched};
use crate::connect::{DaemonSession, text};
use crate::failure::{Exit, Failure};
use crate::harness::layout::{INDEX, LayoutPart, bare, layout, paths};
use crate::harness::nodes::find_foreign_nodes;
use crate::harness::{
    CONFIG, ChangePlan, Harness, InitRecord, LayoutConfig, NO_AGENT, PathReason, PathSnapshot, PathState,
    apply, detect, plan, record, repository,
};
use crate::output::Output;
use crate::render;
use crate::render::init::{InitAction, InitResult, render_init};
use hippoctl::args::InitArgs;

/// The marker at the beginning of the instructions that the program hipocampus writes.
const OTHER_PROTOCOL: &str = "<!-- hipocampus:protocol:start -->";
/// Maximum time that `init` waits for the first files to be read, and again for the index file.
const INDEX_WAIT: Duration = Duration::from_millis(400);

/// Writes the files of the harness, and registers the folder.
///
/// # Errors
/// Fails without changes if a path is blocked, if a file is unreadable or contains invalid values, or if the folder is
/// the home folder or the root of the file system and the user did not name it. Fails after the changes if the daemon
/// refuses the folder.
pub fn init(session: &mut DaemonSession, args: InitArgs, out: &mut Output) -> Result<(), Failure> {
    if args.undo {
        return super::deinit::deinit(session, args, out);
    }
    let dir = folder(session, args.dir.clone(), Some("init"))?;
    let root = dir.root().to_path_buf();
    let paths = paths();
    let there = PathSnapshot::read(&dir, paths.iter().map(String::as_str));
    let state = session.paths.state.clone();
    let record = InitRecord::read(&state, &root).map_err(|problem| unusable_failure(&[problem]))?;
    let mut result = InitResult::new(&root, args.dry_run);
    let trust = Trust::of(&state, &root);
    let mut plan = planned(&root, &there, &args, &record, &trust, &mut result)?;
    for folder in &plan.folders {
        result.add(InitAction::Create, format!("{folder}/"), "");
    }
    result.add_changes(&plan.changes);
    result.add_kept(&plan.kept);
    let foreign = find_foreign_nodes(&dir);
    for path in &foreign {
        let (action, what) = match args.take_over {
            true => (InitAction::Replace, "to restore it: hippoctl init --undo"),
            false => (
                InitAction::Keep,
                "another program wrote this file; to take over the tree: hippoctl init --take-over",
            ),
        };
        result.add(action, path, what);
    }
    if args.dry_run {
        if !record.registered {
            add_registration(&there, &mut result);
        }
        return out.answer(&result, render_init);
    }
    // The record is written first, so that the changes of an interrupted run are recorded.
    write_record(&plan.record, &state, &root)?;
    apply::apply(&dir, &plan)?;
    let take_over = args.take_over && !foreign.is_empty();
    let done = register(session, &dir, &mut plan.record, take_over, &mut result);
    out.answer(&result, render_init)?;
    done?;
    match result.registered {
        true => watched::searchable(session, &text(&root)?, out),
        false => Ok(()),
    }
}

/// Adds the changes that the daemon would make after the registration of the folder.
fn add_registration(there: &PathSnapshot, result: &mut InitResult) {
    let (action, what) = match there.state(INDEX[0]) {
        PathState::Missing => (InitAction::Create, "the daemon writes it"),
        PathState::File(_) => (
            InitAction::Change,
            "the daemon adds its entries, and keeps the text that is there",
        ),
        PathState::Folder => (InitAction::Keep, "a folder exists at the path of this file"),
        PathState::Odd(why) => (InitAction::Keep, why.as_str()),
    };
    result.add(action, INDEX[0], what);
    let note = "init would register the folder; later, the daemon would write summaries of the daily logs below \
                memory/daily, memory/weekly and memory/monthly";
    result.notes.push(note.to_owned());
}

/// Returns the plan of the file changes. Adds the platform and notes about the folder to `result`.
fn planned(
    root: &Path,
    there: &PathSnapshot,
    args: &InitArgs,
    record: &InitRecord,
    trust: &Trust,
    result: &mut InitResult,
) -> Result<ChangePlan, Failure> {
    // With `--bare`, the file `hipocampus.config.json` is ignored.
    let file = there.file(CONFIG).filter(|_| !args.bare);
    let (mut config, invalid) = file.map(LayoutConfig::read).unwrap_or_default();
    config.full = args.full || record.full;
    let (platform, told_by) = match args.platform {
        _ if args.bare => (Harness::None, "--bare"),
        Some(platform) => (platform, "--platform"),
        None => detect(there, &config, is_harness_installed()),
    };
    result.platform = Some(platform);
    result.told_by = told_by.to_owned();
    let is_trusted = file.is_some_and(|bytes| trust.covers(CONFIG, bytes));
    if config.index_in_prompt == Some(true) && !is_trusted {
        config.index_in_prompt = None;
        result.notes.push(format!(
            "index.inPrompt of {CONFIG} has no effect without trust; once the folder is registered, run \
             `hippoctl workspace trust`, then `hippoctl init` again"
        ));
    }
    let is_other = |path: &&str| {
        let text = there.file(path).unwrap_or_default();
        String::from_utf8_lossy(text).contains(OTHER_PROTOCOL)
    };
    if let Some(path) = ["CLAUDE.md", "AGENTS.md"].into_iter().find(is_other) {
        result.notes.push(format!(
            "{path} also contains the protocol of hipocampus: remove that block, or the agent will write to two \
             memories"
        ));
    }
    if platform == Harness::OpenClaw {
        let note =
            "OpenClaw loads hippod's plugin only if openclaw.json enables the plugin: see docs/init.md";
        result.notes.push(note.to_owned());
    }
    if told_by == NO_AGENT {
        let note = "search works without an agent; to connect an agent later: hippoctl init --platform \
                    claude-code (or codex, opencode, openclaw, pi)";
        result.notes.push(note.to_owned());
    }
    if !is_in_path("hippoctl") && platform != Harness::None {
        let note = "hippoctl is not in PATH, so the hooks and the agent cannot run hippoctl";
        result.notes.push(note.to_owned());
    }
    let mut parts = match args.bare {
        true => bare(),
        false => layout(platform, &config, there, &record.folders),
    };
    if args.platform.is_some() && !args.bare {
        parts.push(LayoutPart::Template(CONFIG, LayoutConfig::text(platform)));
    }
    result.notes.extend(repository::keep_tracked(root, &mut parts));
    let mut plan = plan(platform, &parts, there, record);
    plan.record.full = config.full;
    plan.problems.splice(..0, invalid);
    match plan.problems.is_empty() {
        true => Ok(plan),
        false => Err(unusable_failure(&plan.problems)),
    }
}

/// Registers the folder, and records the registration. Succeeds even if no daemon is available.
fn register(
    session: &mut DaemonSession,
    dir: &WorkspaceDir,
    record: &mut InitRecord,
    take_over: bool,
    result: &mut InitResult,
) -> Result<(), Failure> {
    let root = dir.root();
    let workspace = text(root)?;
    let state = session.paths.state.clone();
    // The registration is recorded before the request, so that the undo of an interrupted run unregisters the folder.
    let before = std::mem::replace(&mut record.registered, true);
    write_record(record, &state, root)?;
    let asked = session.call(WorkspaceAddRequest {
        workspace: workspace.clone(),
    });
    record.registered = before || asked.as_ref().is_ok_and(|added| added.added);
    write_record(record, &state, root)?;
    let added = match asked {
        Err(failure) if failure.exit == Exit::NoDaemon => {
            result.notes.push(format!(
                "the folder is not registered: {}; once a daemon is running, repeat: hippoctl init {}",
                failure.message,
                root.display()
            ));
            return Ok(());
        }
        added => added?,
    };
    result.registered = true;
    if !added.added {
        result.notes.push("the folder was already registered".to_owned());
    }
    let failed = |what: &str, failure: Failure| format!("{what}: {}", render::one_line(&failure.message));
    if let Err(failure) = trust_own(session, &workspace, dir, record) {
        let what = "hipocampus.config.json was not accepted (to accept the file: hippoctl workspace trust)";
        result.notes.push(failed(what, failure));
    }
    if take_over {
        let request = TreeCompactRequest {
            workspace: workspace.clone(),
            take_over,
            ..TreeCompactRequest::default()
        };
        if let Err(failure) = session.call_patiently(request) {
            result
                .notes
                .push(failed("the compaction tree was not taken over", failure));
        }
    }
    let model = session.call(StatusRequest {}).map(|status| status.model.state);
    if model.is_ok_and(|state| state == ModelLoad::Absent) {
        let what = "no embedding model is installed, so search is by keyword only; to install it: hippoctl model pull";
        result.notes.push(what.to_owned());
    }
    if let Err(failure) = write_index(session, workspace) {
        let what = "HIPPOCAMPUS.md was not created, but the next light cycle will create it";
        result.notes.push(failed(what, failure));
    }
    Ok(())
}

/// Trusts the configuration file if init created the file and the file is still unchanged. A configuration file that
/// existed before init is not trusted.
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
    session.call(request).map(drop)
}

/// Runs a light cycle, which writes the index file. Without this run, the index file might be missing for an hour,
/// until the first scheduled cycle. In a large folder, the cycle takes longer than [`INDEX_WAIT`] and ends later.
fn write_index(session: &mut DaemonSession, workspace: String) -> Result<(), Failure> {
    // The daemon reads the first files before it answers. As soon as all files have been read, it runs another cycle.
    let sync = WorkspaceSyncRequest {
        workspace: workspace.clone(),
        ..WorkspaceSyncRequest::default()
    };
    let cycle = CycleRunRequest {
        workspace,
        cycle: Cycle::Light,
        dry_run: false,
        at: None,
    };
    let asked = session.ask(Some(INDEX_WAIT), sync, |_| {})?.map(drop);
    let asked = asked.and(session.ask(Some(INDEX_WAIT), cycle, |_| {})?.map(drop));
    match asked {
        Ok(()) | Err(ClientError::Timeout(_)) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

fn write_record(record: &InitRecord, state: &Path, root: &Path) -> Result<(), Failure> {
    let failed = |error: io::Error| Failure::file("store the record of init", state, error);
    record.write(state, root).map_err(failed)
}

#[expect(clippy::disallowed_methods, reason = "folders of PATH")]
fn is_in_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// Returns whether a harness has left its folder in the user's home, or is in PATH. Returns true if the environment
/// does not contain PATH and HOME.
#[expect(clippy::disallowed_methods, reason = "folders of the home")]
fn is_harness_installed() -> bool {
    let Some(home) = std::env::var_os("HOME").filter(|_| std::env::var_os("PATH").is_some()) else {
        return true;
    };
    let mut folders = [".claude", ".codex", ".openclaw", ".pi", ".config/opencode"].into_iter();
    let mut programs = ["claude", "codex", "opencode", "openclaw", "pi"].into_iter();
    folders.any(|folder| Path::new(&home).join(folder).is_dir()) || programs.any(is_in_path)
}

/// Opens the folder that [`place::choose`] returns.
pub(super) fn folder(
    session: &DaemonSession,
    dir: Option<PathBuf>,
    verb: Option<&str>,
) -> Result<WorkspaceDir, Failure> {
    let dir = place::choose(session, dir, verb)?;
    WorkspaceDir::open(&dir).map_err(|error| Failure::file("open the folder", &dir, error))
}

pub(super) fn unusable_failure(problems: &[PathReason]) -> Failure {
    let lines = problems.iter().map(|problem| {
        let why = render::one_line(&problem.why);
        format!("\n  {}: {why}", problem.path)
    });
    let what = format!("nothing was written; problems:{}", lines.collect::<String>());
    Failure::new(Exit::Refused, what).hint("correct these problems, then run the command again")
}
