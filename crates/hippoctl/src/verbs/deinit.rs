//! `init --undo`: removal of the files that `init` wrote.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use hippo_fs::WorkspaceDir;
use hippo_proto::{
    ClientError, ErrorKind, WorkspaceListRequest, WorkspaceListResponse, WorkspaceRemoveRequest,
    WorkspaceRemoveResponse,
};

use super::foreign;
use super::init::{folder, forget_old_record, unusable_failure};
use crate::connect::{DaemonSession, text};
use crate::failure::{Exit, Failure};
use crate::harness::aside::{self, Aside};
use crate::harness::layout::paths;
use crate::harness::{ChangePlan, InitRecord, OLD_RECORD, PathSnapshot, PathState, apply, rest, take_back};
use crate::output::Output;
use crate::render;
use crate::render::init::{InitUndoResult, file};
use hippoctl::args::InitArgs;

/// The file with the rules that keep memory files out of the repository.
const GITIGNORE: &str = ".gitignore";

/// Reverts the changes of `init`.
///
/// # Errors
/// Fails if init was not run in the folder, or if a file could not be written.
pub fn deinit(session: &mut DaemonSession, args: InitArgs, out: &mut Output) -> Result<(), Failure> {
    let dir = folder(session, args.dir)?;
    let root = dir.root().to_path_buf();
    let state = session.paths.state.clone();
    let (record, adopted) = recorded(&state, &dir, args.trust_record)?;
    let mut answer = InitUndoResult {
        root: root.display().to_string(),
        dry_run: args.dry_run,
        ..InitUndoResult::default()
    };
    // Unregister the folder first, so that the daemon stops writing to it.
    let gone = if args.dry_run && record.registered {
        put_back(session, &root, args.restore_carried, &mut answer)?;
        true
    } else {
        record.registered && {
            let carried = foreign::restores_carried(&root, args.restore_carried, out);
            unregister(session, &root, carried, &mut answer)?
        }
    };
    let waits = record.registered && !gone;
    answer.registered = if record.registered {
        Some(waits)
    } else {
        is_registered(session, &root)
    };
    let there = PathSnapshot::read(&dir, record.files.keys().map(String::as_str));
    let mut plan = take_back(&there, &record);
    if waits {
        plan.record = remaining_record(&plan, &record);
    }
    // If the folder were still registered, the daemon would treat the removal of the index file as a deletion by the
    // user.
    let mut aside = if gone {
        aside::find(&dir, &record)
    } else {
        Aside::default()
    };
    aside
        .moved
        .retain(|path| plan.changes.iter().all(|change| change.path != *path));
    plan.kept.retain(|kept| !aside.moved.contains(&kept.path));
    plan.kept.append(&mut aside.kept);
    answer.files = plan.changes.iter().map(file).collect();
    answer.kept = plan.kept.clone();
    answer.aside = aside.moved.clone();
    if args.dry_run {
        answer.folders = plan.removed_folders.clone();
        answer.left = rest::find_remaining(&dir, &gone_then(&plan, &aside, adopted));
        tell(&root, &there, &plan, &mut answer);
        return out.answer(&answer, render::init::render_undo);
    }
    apply::apply(&dir, &plan)?;
    // The record is removed last, so that an interrupted undo can be repeated.
    let place = aside::set_aside(&dir, &aside.moved, &session.paths.state)
        .map_err(|(path, error)| stays(&path, &error))?;
    answer.aside_in = place.map(|place| place.display().to_string());
    answer.folders = apply::remove_folders(&dir, &plan.removed_folders);
    let failed = |error| Failure::file("store the remaining record of init in", &state, error);
    plan.record.write(&state, &root).map_err(failed)?;
    if adopted {
        forget_old_record(&dir)?;
    }
    // The folder that contained the record of an earlier version.
    answer
        .folders
        .extend(apply::remove_folders(&dir, &plan.removed_folders));
    answer.left = rest::find_remaining(&dir, &BTreeSet::new());
    tell(&root, &there, &plan, &mut answer);
    let stuck = !plan.record.files.is_empty();
    out.answer(&answer, render::init::render_undo)?;
    if waits {
        return Err(Failure::new(
            Exit::Refused,
            "could not revert all changes: the folder is still registered",
        )
        .hint("start the daemon and run the command again: hippoctl service start"));
    }
    if stuck {
        return Err(Failure::new(Exit::Refused, "could not revert all changes")
            .hint("correct the files listed above, then run the command again"));
    }
    Ok(())
}

/// Creates the failure for a file of the daemon that could not be moved out of the workspace.
fn stays(path: &Path, error: &io::Error) -> Failure {
    let folder = path.parent().unwrap_or(path);
    Failure::file("move out of the workspace", path, error).hint(format!(
        "make this folder writable for your user: {}; then finish with: hippoctl init --undo",
        folder.display()
    ))
}

/// Returns the paths that will no longer exist after a plan is applied.
fn gone_then<'p>(plan: &'p ChangePlan, aside: &'p Aside, adopted: bool) -> BTreeSet<&'p str> {
    let removed = plan.changes.iter().filter(|change| change.after.is_none());
    let removed = removed.map(|change| change.path.as_str());
    let moved = aside.moved.iter().map(String::as_str);
    let record = adopted.then_some(OLD_RECORD);
    removed.chain(moved).chain(record).collect()
}

/// Returns whether a running daemon has registered the folder, or `None` if no daemon answers. Does not start a daemon.
fn is_registered(session: &DaemonSession, root: &Path) -> Option<bool> {
    let mut client = session.connect_only().ok()?;
    let list: WorkspaceListResponse = client.call(&WorkspaceListRequest {}.into()).ok()?;
    Some(list.workspaces.iter().any(|known| Path::new(&known.root) == root))
}

/// Adds notes about the files that remain, and about how to remove them.
fn tell(root: &Path, there: &PathSnapshot, plan: &ChangePlan, answer: &mut InitUndoResult) {
    let named = root.display();
    let ignores = there.real(GITIGNORE);
    let ignored = plan.changes.iter().any(|change| change.path == ignores);
    let repository = root.ancestors().any(|above| hippo_fs::exists(above, ".git"));
    if ignored && repository && !answer.left.is_empty() {
        answer.notes.push(format!(
            "{GITIGNORE} no longer contains the lines of init, so git sees the remaining memory; to ignore \
             the memory, add your own lines"
        ));
    }
    if answer.contexts_kept {
        answer.notes.push(format!(
            "the daemon keeps the stored contents of sessions; to delete them: hippoctl workspace remove {named} \
             --purge"
        ));
    }
    match answer.registered {
        // An earlier note already says this.
        Some(true) if answer.notes.iter().any(|note| note.contains("still registered")) => {}
        Some(true) => answer.notes.push(format!(
            "the folder is still registered, as before init; to unregister it: hippoctl workspace remove {named}"
        )),
        None => answer.notes.push(format!(
            "no daemon is running, so the folder may still be registered; if `hippoctl workspace list` shows \
             the folder, unregister it: hippoctl workspace remove {named}"
        )),
        Some(false) => {}
    }
}

/// Returns the record for a folder that is still registered: everything except the reverted files.
fn remaining_record(plan: &ChangePlan, record: &InitRecord) -> InitRecord {
    let mut left = record.clone();
    left.files
        .retain(|path, _| plan.kept.iter().any(|kept| kept.path == *path));
    left
}

/// Returns the record of init, and whether it comes from the workspace, where an earlier build wrote it.
fn recorded(state: &Path, dir: &WorkspaceDir, trusted: bool) -> Result<(InitRecord, bool), Failure> {
    let root = dir.root();
    let record = InitRecord::read(state, root).map_err(|problem| unusable_failure(&[problem]))?;
    if !record.is_empty() {
        return Ok((record, false));
    }
    let paths = paths();
    let there = PathSnapshot::read(dir, paths.iter().map(String::as_str));
    let shown = root.display();
    match (there.state(OLD_RECORD), trusted) {
        (PathState::Missing, _) => {
            let what = format!("init did not create files in {shown}");
            Err(Failure::new(Exit::NotFound, what).hint(format!(
                "to unregister the folder: hippoctl workspace remove {shown}"
            )))
        }
        (PathState::File(_), false) => {
            let what = format!("could not trust the record in the folder: {shown}/{OLD_RECORD}");
            Err(Failure::new(Exit::Refused, what).hint(format!(
                "the record may come from an earlier version or from another person; read the record, then \
                 run: hippoctl init --undo --trust-record {shown}"
            )))
        }
        _ => {
            let old = InitRecord::in_workspace(&there).map_err(|problems| unusable_failure(&problems))?;
            Ok((old.unwrap_or_default(), true))
        }
    }
}

/// Asks a running daemon which files of another program it would restore. Does not start a daemon.
fn put_back(
    session: &DaemonSession,
    root: &Path,
    restore_carried: bool,
    answer: &mut InitUndoResult,
) -> Result<(), Failure> {
    let request = WorkspaceRemoveRequest {
        workspace: text(root)?,
        restore_carried,
        dry_run: true,
        ..WorkspaceRemoveRequest::default()
    };
    let asked = session
        .connect_only()
        .and_then(|mut client| client.call::<WorkspaceRemoveResponse>(&request.into()));
    match asked {
        Ok(would) => {
            answer.restored = would.restored;
            answer.notes.extend(would.notes);
        }
        Err(ClientError::Refused(error)) if error.data.kind == ErrorKind::NoWorkspace => {}
        Err(error) => answer.notes.push(format!(
            "the files of another program will be restored as well, but only the daemon can list these \
             files: {error}; start the daemon and run the command again: hippoctl service start"
        )),
    }
    Ok(())
}

/// Unregisters the folder. Returns whether it is no longer registered.
fn unregister(
    session: &mut DaemonSession,
    root: &Path,
    restore_carried: bool,
    answer: &mut InitUndoResult,
) -> Result<bool, Failure> {
    let request = WorkspaceRemoveRequest {
        workspace: text(root)?,
        restore_carried,
        ..WorkspaceRemoveRequest::default()
    };
    match session.call::<WorkspaceRemoveResponse>(request) {
        Ok(removed) => {
            answer.unregistered = true;
            answer.contexts_kept = removed.contexts_kept;
            answer.restored = removed.restored;
            answer.notes.extend(removed.notes);
        }
        // Another process has already removed it.
        Err(failure) if failure.exit == Exit::NotFound => {}
        Err(failure) => {
            answer.notes.push(format!(
                "the folder is still registered, and the files of the daemon stay: {}; once a daemon is running, \
                 repeat: hippoctl init --undo {}",
                failure.message,
                root.display()
            ));
            return Ok(false);
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_move_names_the_folder() {
        let error = io::Error::from(io::ErrorKind::PermissionDenied);
        let failure = stays(Path::new("/w/memory/ROOT.md"), &error);
        assert!(
            failure.message.contains("/w/memory/ROOT.md"),
            "{}",
            failure.message
        );
        assert!(
            failure.hint.contains("writable for your user: /w/memory;"),
            "{}",
            failure.hint
        );
        let root = tempfile::tempdir().unwrap();
        let dir = WorkspaceDir::open(root.path()).unwrap();
        let state = root.path().join("state");
        std::fs::write(&state, "a file").unwrap();
        let (path, _) = aside::set_aside(&dir, &["memory/ROOT.md".to_owned()], &state).unwrap_err();
        assert_eq!(path, state.join("set-aside"));
    }
}
