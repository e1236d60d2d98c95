//! `init --undo`: removal of the files that `init` wrote.

use std::io;
use std::path::Path;

use hippo_proto::WorkspaceRemoveRequest;

use super::init::{folder, unusable_failure};
use crate::connect::{DaemonSession, text};
use crate::failure::{Exit, Failure};
use crate::harness::aside::{self, Aside};
use crate::harness::repository::{self, GITIGNORE};
use crate::harness::{InitRecord, PathSnapshot, apply, take_back};
use crate::output::Output;
use crate::render::init::{InitAction, InitResult, render_init};
use hippoctl::args::InitArgs;

/// Reverts the changes of `init`.
///
/// # Errors
/// Fails without changes if init was not run in the folder, or if the daemon cannot unregister the folder. Fails
/// halfway if a file cannot be written.
pub fn deinit(session: &mut DaemonSession, args: InitArgs, out: &mut Output) -> Result<(), Failure> {
    let dir = folder(session, args.dir, None)?;
    let root = dir.root().to_path_buf();
    let state = session.paths.state.clone();
    let record = InitRecord::read(&state, &root).map_err(|problem| unusable_failure(&[problem]))?;
    let remove = format!("hippoctl workspace remove {}", root.display());
    if record.is_empty() {
        let what = format!("init did not create files in {}", root.display());
        let hint = format!("to unregister the folder: {remove}");
        return Err(Failure::new(Exit::NotFound, what).hint(hint));
    }
    let mut result = InitResult::new(&root, args.dry_run);
    if record.registered {
        // The folder is unregistered first, so that the daemon no longer writes to the folder.
        unregister(session, &root, &mut result)?;
    } else {
        result.notes.push(format!(
            "init did not register the folder; if it is registered, unregister it with: {remove}"
        ));
    }
    let there = PathSnapshot::read(&dir, record.files.keys().map(String::as_str));
    let mut plan = take_back(&there, &record);
    // If init did not register the folder, the folder may still be registered. The daemon would then treat the removal
    // of the index file as a deletion by the user. Therefore, the files of hippod stay.
    let Aside { mut moved, kept } = match record.registered {
        true => aside::find(&dir, &record),
        false => Aside::default(),
    };
    moved.retain(|path| plan.changes.iter().all(|change| change.path != *path));
    plan.kept.retain(|kept| !moved.contains(&kept.path));
    result.add_changes(&plan.changes);
    for path in &moved {
        result.add(InitAction::Move, path, "hippod created it");
    }
    result.add_kept(&plan.kept);
    result.add_kept(&kept);
    let had_rules = plan.changes.iter().any(|change| change.path == GITIGNORE);
    if had_rules && repository::contains(&root) {
        let no_longer = if args.dry_run {
            "would no longer contain"
        } else {
            "no longer contains"
        };
        result.notes.push(format!(
            "{GITIGNORE} {no_longer} the lines of init, so git sees the memory files that stay"
        ));
    }
    let mut folders = plan.removed_folders.clone();
    if !args.dry_run {
        apply::apply(&dir, &plan)?;
        // The record is removed last, so that the user can repeat an interrupted undo.
        let place = aside::set_aside(&dir, &moved, &state).map_err(|(path, error)| stays(&path, &error))?;
        let place = place.map(|place| format!("the files of hippod are in {}", place.display()));
        result.notes.extend(place);
        folders = apply::remove_folders(&dir, &plan.removed_folders);
        let failed = |error| Failure::file("store the remaining record of init", &state, error);
        plan.record.write(&state, &root).map_err(failed)?;
    }
    for folder in folders {
        result.add(InitAction::Remove, format!("{folder}/"), "");
    }
    out.answer(&result, render_init)?;
    match plan.record.files.is_empty() || args.dry_run {
        true => Ok(()),
        false => Err(Failure::new(Exit::Refused, "could not revert all changes")
            .hint("correct the files listed above, then run the command again")),
    }
}

/// Creates the failure for a file of hippod that could not be moved out of the workspace.
fn stays(path: &Path, error: &io::Error) -> Failure {
    let folder = path.parent().unwrap_or(path);
    Failure::file("move this path out of the workspace", path, error).hint(format!(
        "make this folder writable for your user: {}; then finish with: hippoctl init --undo",
        folder.display()
    ))
}

/// Unregisters the folder. In a dry run, asks the daemon which files it would restore.
fn unregister(session: &mut DaemonSession, root: &Path, result: &mut InitResult) -> Result<(), Failure> {
    let request = WorkspaceRemoveRequest {
        workspace: text(root)?,
        dry_run: result.dry_run,
        ..WorkspaceRemoveRequest::default()
    };
    let removed = match session.call(request) {
        // Another process has already unregistered the folder.
        Err(failure) if failure.exit == Exit::NotFound => return Ok(()),
        Err(failure) => {
            let why = "nothing was undone: the folder is still registered";
            let message = format!("{why}: {}", failure.message);
            return Err(Failure { message, ..failure });
        }
        Ok(removed) => removed,
    };
    for path in removed.restored {
        result.add(InitAction::Restore, path, "another program wrote it");
    }
    result.notes.extend(removed.notes);
    if removed.contexts_kept {
        result.notes.push(format!(
            "the daemon keeps the stored contents of sessions; to delete them: hippoctl workspace remove {} --purge",
            root.display()
        ));
    }
    Ok(())
}
