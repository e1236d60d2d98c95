//! `workspace add|list|remove` and `sync`: registered folders.

use std::path::{Path, PathBuf};

use hippo_proto::{
    StatusRequest, WorkspaceAddRequest, WorkspaceListRequest, WorkspaceRemoveRequest, WorkspaceSyncRequest,
};

use super::place;
use super::watched::{self, workspace_at};
use crate::connect::{DaemonSession, absolute, text};
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::render;
use hippoctl::args::SyncArgs;

/// Registers a folder: the argument if there is one, otherwise the folder of `--workspace`, otherwise the current
/// folder.
///
/// # Errors
/// Fails if the path is not a folder, if the folder is the root of the file system or the home folder and the user did
/// not name it, or if the daemon refuses the folder.
pub fn add(session: &mut DaemonSession, dir: Option<PathBuf>, out: &mut Output) -> Result<(), Failure> {
    let dir = place::choose(session, dir, Some("workspace add"))?;
    let answer = session.call(WorkspaceAddRequest {
        workspace: text(&dir)?,
    })?;
    let request = WorkspaceSyncRequest {
        workspace: answer.root.clone(),
        ..WorkspaceSyncRequest::default()
    };
    // The folder is registered, even if its files cannot be counted.
    let found = session.call(request).ok();
    out.answer(&answer, |answer, style| {
        let what = match answer.added {
            true => "registered",
            false => "is already registered:",
        };
        let files = found
            .as_ref()
            .map(|found| render::plural(found.files, "memory file"));
        let files = files.map_or(String::new(), |files| format!(" with {files}"));
        format!("{what} {}{files}\n", style.path(&answer.root))
    })?;
    let Some(found) = found else { return Ok(()) };
    out.notes(&found.notes);
    if found.files == 0 {
        out.remark("hint: hippod indexes the markdown files of a folder, and this folder has none yet");
        return Ok(());
    }
    watched::searchable(session, &answer.root, out)
}

/// Lists the registered folders.
///
/// # Errors
/// Fails if no daemon can be reached, or if no response arrives.
pub fn list(session: &mut DaemonSession, out: &mut Output) -> Result<(), Failure> {
    let answer = session.call(WorkspaceListRequest {})?;
    if answer.workspaces.is_empty() {
        out.note("no workspace is registered; to register one: hippoctl workspace add DIR");
    }
    out.answer(&answer, render::status::workspaces)
}

/// Unregisters a folder: the argument if there is one, otherwise the current workspace.
///
/// # Errors
/// Fails if the folder is not registered.
pub fn remove(
    session: &mut DaemonSession,
    dir: Option<PathBuf>,
    purge: bool,
    out: &mut Output,
) -> Result<(), Failure> {
    let workspace = match dir {
        Some(dir) => text(&absolute(&dir)?)?,
        None => session.workspace()?,
    };
    let answer = session.call(WorkspaceRemoveRequest {
        workspace,
        purge,
        ..WorkspaceRemoveRequest::default()
    })?;
    out.notes(&answer.notes);
    out.answer(&answer, |answer, style| {
        let kept = match answer.contexts_kept {
            true => ", and so do the stored contents of its sessions (to delete the contents, use --purge)",
            false => "",
        };
        let mut text = format!("removed {}; its files stay{kept}\n", style.path(&answer.root));
        for path in &answer.restored {
            let path = style.path(render::one_line(path));
            text += &format!("  restored   {path}, which another program wrote\n");
        }
        text
    })
}

/// Asks the daemon to compare the disk with the index, and to bring the index up to date.
///
/// # Errors
/// Fails if no workspace is found, or if the daemon reports a failure.
pub fn sync(session: &mut DaemonSession, args: &SyncArgs, out: &mut Output) -> Result<(), Failure> {
    let request = WorkspaceSyncRequest {
        workspace: session.workspace()?,
        wait: args.wait,
        accept_deletions: args.accept_deletions,
    };
    let answer = match args.wait {
        true => watched::indexed(session, request, out)?,
        false => session.call_patiently(request)?,
    };
    out.notes(&answer.notes);
    out.answer(&answer, render::status::sync)?;
    if !args.wait || answer.pending == 0 {
        return Ok(());
    }
    let status = session.call(StatusRequest {})?;
    let root = session.workspace()?;
    let found = workspace_at(&status, Path::new(&root));
    let Some(workspace) = found.filter(|found| found.degraded.as_deref() == Some("no-model")) else {
        return Ok(());
    };
    let what = format!(
        "{} not searchable by meaning, and waiting does not change this",
        render::plural(answer.pending, "passage")
    );
    let why = workspace.why.clone().unwrap_or_default();
    Err(Failure::new(Exit::Incomplete, what).hint(why))
}
