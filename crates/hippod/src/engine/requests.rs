//! Requests to add, remove, restore and synchronize workspaces.

use std::path::{Path, PathBuf};

use hippo_proto::{
    ErrorKind, Restored, RpcError, WorkspaceAddResponse, WorkspaceRemoveResponse, WorkspaceSyncResponse,
};
use hippo_text::text::plural;

use super::embedding::model_state;
use super::settings::withdraw_trust;
use super::status::left_out_note;
use super::worker::WorkspaceWorker;
use super::workspace::Workspace;
use super::{Engine, WorkspaceEvent};
use crate::contexts;
use crate::errors::{root_missing, store_error};
use crate::files;
use crate::message::AnswerSender;
use crate::registry;
use crate::staged::StagedWorkspace;
use crate::views::{Slot, no_workspace};

/// A workspace whose backup has been unpacked for a restore, and the channel for the answer to the client.
#[derive(Debug)]
pub(super) struct WorkspaceRestore {
    pub staged: StagedWorkspace,
    pub reply: AnswerSender<Restored>,
}

/// A request to remove a workspace.
#[derive(Debug)]
pub(super) struct Removal {
    /// State folder of the workspace.
    state: PathBuf,
    /// True if the client requested that session data is deleted as well. Session data exists only in the state folder.
    purge: bool,
    answer: WorkspaceRemoveResponse,
    reply: AnswerSender<WorkspaceRemoveResponse>,
}

impl Engine {
    /// Registers a folder as a workspace. The client receives the answer once the workspace is open.
    pub(super) fn add(&mut self, folder: &Path, reply: AnswerSender<WorkspaceAddResponse>) {
        // A client that has disconnected needs no answer.
        let (root, answer) = match self.register(folder) {
            Ok(registered) => registered,
            Err(error) => return drop(reply.send(Err(error))),
        };
        if !self.members.contains_key(&root) {
            self.start(&root, None);
        }
        match self.members.get(&root) {
            Some(member) => member.post(WorkspaceEvent::Added(reply, answer)),
            None => drop(reply.send(Err(
                RpcError::internal("could not start a thread for the workspace").hint(
                    "the machine has too little memory or too many processes: end some processes, then restart hippod",
                ),
            ))),
        }
    }

    #[expect(clippy::disallowed_methods, reason = "the user chose this path")]
    fn register(&self, folder: &Path) -> Result<(PathBuf, WorkspaceAddResponse), RpcError> {
        let root = folder.canonicalize().map_err(|error| {
            let what = format!("could not find the folder: {}: {error}", folder.display());
            RpcError::not_found(what).hint("give an existing folder")
        })?;
        if !hippo_fs::is_present(&root) {
            return Err(RpcError::bad_request(format!("not a folder: {}", root.display()))
                .hint("give the folder that contains the memory files"));
        }
        files::check_fit(&self.resources.paths, &root)?;
        let added = self
            .resources
            .registry
            .add(&root)
            .map_err(|error| registry_error(&error))?;
        let answer = WorkspaceAddResponse {
            root: root.display().to_string(),
            added,
        };
        Ok((root, answer))
    }

    /// Removes a workspace and deletes its state.
    #[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
    pub(super) fn remove(
        &mut self,
        root: PathBuf,
        purge: bool,
        reply: AnswerSender<WorkspaceRemoveResponse>,
    ) {
        let resources = &self.resources;
        let state = registry::state_folder(&resources.paths.state, &root);
        let known = match resources.registry.remove(&root) {
            Ok(known) => known,
            // A client that has disconnected needs no answer.
            Err(error) => return drop(reply.send(Err(registry_error(&error)))),
        };
        // With `purge`, session data that an earlier removal kept can be deleted.
        if !(known || purge && state.exists()) {
            return drop(reply.send(Err(no_workspace(&root))));
        }
        resources.views.remove(&root);
        let answer = WorkspaceRemoveResponse {
            root: root.display().to_string(),
            contexts_kept: !purge && contexts::stand_in(&state),
            restored: Vec::new(),
            notes: Vec::new(),
        };
        let removal = Removal {
            state,
            purge,
            answer,
            reply,
        };
        match self.members.get_mut(&root) {
            Some(member) => {
                member.waiting = Some(Vec::new());
                member.post(WorkspaceEvent::Removed(removal));
            }
            None => removal.finish(&resources.paths.state, &root),
        }
    }

    /// Restores a workspace from unpacked backup data, and opens it. The restore is refused if the workspace is already
    /// open.
    pub(super) fn take_in(&mut self, restore: WorkspaceRestore) {
        let root = restore.staged.root.clone();
        match self.members.get(&root) {
            None => self.start(&root, Some(restore)),
            Some(member) if matches!(self.resources.views.slot(&root), Some(Slot::Broken(_))) => {
                member.post(WorkspaceEvent::TakenIn(restore));
            }
            Some(_) => restore.refuse(),
        }
    }
}

impl WorkspaceRestore {
    /// Refuses the restore, because another client has registered the folder as a workspace in the meantime.
    pub(super) fn refuse(self) {
        let root = self.staged.root.display();
        let what = format!("the folder was registered as a workspace in the meantime: {root}");
        let refusal = RpcError::new(ErrorKind::Conflict, what);
        // A client that has disconnected needs no answer.
        let _ = self
            .reply
            .send(Err(refusal.hint("restore into another folder: --into DIR")));
    }
}

impl Removal {
    /// Removes the state of a closed workspace, and answers the client.
    pub fn finish(self, state: &Path, root: &Path) {
        remove_state(&self.state, self.purge);
        withdraw_trust(state, root);
        // A client that has disconnected needs no answer.
        let _ = self.reply.send(Ok(self.answer));
    }
}

impl WorkspaceWorker {
    /// Answers the clients of `workspace.sync`. Clients that asked to wait are answered once the index is up to date,
    /// or at once if the store has returned an error.
    pub(super) fn answer_waiters(&self, workspace: &mut Workspace) {
        let now = self.resources.clock.monotonic();
        let embedding = model_state(&self.resources, workspace).is_usable() && !workspace.pending.blocked;
        let unread = !workspace.dirty.is_empty() || !workspace.missing.is_empty();
        let entries = &workspace.entries;
        let unwritten = entries.enabled && (!entries.is_begun() || entries.file.is_behind(now));
        let beginning = workspace.root_present && unwritten;
        let unembedded = embedding && workspace.pending.len() > 0;
        let is_behind = unread || beginning || unembedded;
        if workspace.waiters.is_empty() {
            return;
        }
        let mut notes = not_as_the_disk(workspace);
        notes.extend(left_out_note(workspace));
        if !embedding && workspace.pending.len() > 0 && self.resources.config.embed.enabled {
            let fix = self.resources.models.remedy(&workspace.view.config.embed.model);
            let waiting = plural(workspace.pending.len() as u64, "passage");
            notes.push(format!(
                "all text is searchable by keyword; not searchable by meaning yet: {waiting}, because the embedding \
                 model cannot be used: {fix}"
            ));
        }
        let (documents, generation) = (workspace.known.len() as u64, workspace.view.snapshot().generation);
        let pending = workspace.pending.len() as u64;
        for waiter in std::mem::take(&mut workspace.waiters) {
            if waiter.wait && is_behind && workspace.trouble.is_none() {
                workspace.waiters.push(waiter);
                continue;
            }
            let answer = match &workspace.trouble {
                Some(error) if waiter.wait => Err(store_error(error)),
                _ => Ok(WorkspaceSyncResponse {
                    files: workspace.files_on_disk as u64,
                    documents,
                    changed: waiter.changed,
                    removed: waiter.removed,
                    pending,
                    generation,
                    took_ms: now.duration_since(waiter.since).as_secs_f64() * 1e3,
                    notes: notes.clone(),
                }),
            };
            // A client that has disconnected needs no answer.
            let _ = waiter.reply.send(answer);
        }
    }
}

/// Deletes the state of a workspace. Session data is deleted only if `purge` is true.
#[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
fn remove_state(state: &Path, purge: bool) {
    let removed = if !purge && contexts::stand_in(state) {
        contexts::remove_all_else(state)
    } else {
        std::fs::remove_dir_all(state)
    };
    if let Err(error) = removed
        && error.kind() != std::io::ErrorKind::NotFound
    {
        tracing::warn!(%error, folder = %state.display(), "could not remove the state of a workspace");
    }
}

/// Returns the reasons why the index may differ from the files on disk.
fn not_as_the_disk(workspace: &Workspace) -> Vec<String> {
    let mut notes = Vec::new();
    if !workspace.root_present {
        let away = root_missing(&workspace.root);
        notes.push(format!("{}; {}", away.message, away.data.hint));
    }
    if !workspace.held.is_empty() {
        notes.push(format!(
            "{} disappeared at once; hippod keeps them in the index until you decide; restore the files, or confirm the deletion: \
             hippoctl sync --accept-deletions",
            plural(workspace.held.len() as u64, "file")
        ));
    }
    notes.extend(workspace.entries.held_story());
    notes
}

fn registry_error(error: &anyhow::Error) -> RpcError {
    RpcError::internal(format!("{error:#}"))
        .hint("check whether the state folder is writable and its disk has room")
}
