//! Requests of clients that the engine handles itself.

use std::path::Path;
use std::sync::Arc;

use hippo_proto::{RpcError, WorkspaceAddResponse, WorkspaceRemoveResponse, WorkspaceSyncResponse};
use hippo_store::StoreError;

use super::Engine;
use super::aside::spawn;
use super::embedding::model_state;
use super::event::EngineEvent;
use super::open::{self, OpenRequest};
use super::settings::withdraw_trust;
use super::turn::WorkspaceWorker;
use super::workspace::Workspace;
use crate::contexts;
use crate::embed_worker::ModelPhase;
use crate::errors::{root_missing, store_error};
use crate::files;
use crate::handles;
use crate::message::{AnswerSender, EngineMessage, EngineRequest};
use crate::registry;
use crate::tasks::Pulse;
use crate::views::no_workspace;

/// Number of files that the process must still be able to open before it opens another workspace: for databases,
/// watcher and readers, with a reserve for clients and for reading files.
const FILES_TO_OPEN: u64 = 36;

impl Engine {
    /// Handles a request of the engine itself. A client that has disconnected needs no answer.
    pub(super) fn serve(&mut self, request: EngineRequest) {
        match request {
            EngineRequest::Add { folder, reply } => match self.add(&folder) {
                Ok((key, answer)) => self.answer_when_open(key, reply, answer),
                Err(error) => drop(reply.send(Err(error))),
            },
            EngineRequest::Remove { folder, purge, reply } => self.remove(&folder, purge, reply),
            EngineRequest::TakeIn { staged, reply } => self.take_in(staged, reply),
            EngineRequest::Rebuild { root, reply } => self.rebuild(&root, reply),
            // The workspace handles these requests.
            EngineRequest::Sync { .. }
            | EngineRequest::Trust { .. }
            | EngineRequest::History { .. }
            | EngineRequest::Heartbeat { .. }
            | EngineRequest::Survey { .. } => {}
        }
    }

    /// Starts using a missing model once it has been installed manually.
    pub(super) fn look_for_model(&mut self) {
        let models = &self.resources.models;
        let differs =
            |before: ModelPhase, now: ModelPhase| matches!(before, ModelPhase::Absent(_)) && before != now;
        let found = differs(self.resources.embed.state().0, models.state())
            || self.idle_workspaces().any(|workspace| {
                // For a workspace with its own model, no other check looks at the model's files.
                matches!(model_state(&self.resources, workspace), ModelPhase::Absent(_))
                    && models.state_of(&workspace.view.config.embed.model).is_usable()
            });
        if found {
            self.take(EngineEvent::Sent(EngineMessage::ModelChanged));
        }
    }

    /// Opens the workspaces that were already registered when the daemon started.
    pub(super) fn open_registered(&mut self) {
        for root in self.registry.roots() {
            self.open(&root, Vec::new());
        }
    }

    #[expect(clippy::disallowed_methods, reason = "the user chose this path")]
    fn add(&mut self, folder: &Path) -> Result<(u64, WorkspaceAddResponse), RpcError> {
        let root = folder.canonicalize().map_err(|error| {
            RpcError::not_found(format!(
                "could not find the folder: {}: {error}",
                folder.display()
            ))
            .hint("give an existing folder")
        })?;
        if !hippo_fs::is_present(&root) {
            return Err(RpcError::bad_request(format!("not a folder: {}", root.display()))
                .hint("give the folder that contains the memory files"));
        }
        files::check_fit(&self.resources.paths, &root)?;
        let added = self.registry.add(&root).map_err(|error| registry_error(&error))?;
        let key = match self.key_of(&root) {
            Some(key) => {
                self.open_soon();
                key
            }
            None => self.open(&root, Vec::new()),
        };
        let answer = WorkspaceAddResponse {
            root: root.display().to_string(),
            added,
            notes: Vec::new(),
        };
        Ok((key, answer))
    }

    /// Removes a workspace and its derived state. Session data has no other copy, so it is kept unless `purge` is set.
    #[expect(clippy::disallowed_methods, reason = "the user chose this path")]
    fn remove(&mut self, folder: &Path, purge: bool, reply: AnswerSender<WorkspaceRemoveResponse>) {
        let root = folder.canonicalize().unwrap_or_else(|_| folder.to_path_buf());
        let known = match self.registry.remove(&root) {
            Ok(known) => known,
            // A client that has disconnected needs no answer.
            Err(error) => return drop(reply.send(Err(registry_error(&error)))),
        };
        let paths = &self.resources.paths;
        let state = registry::state_folder(&paths.state, &root);
        let stored = contexts::stand_in(&state);
        // An earlier removal may have kept session data.
        if !(known || purge && state.exists()) {
            return drop(reply.send(Err(no_workspace(&root))));
        }
        self.views.remove(&root);
        let here = self.take_leave(&root);
        let resources = Arc::clone(&self.resources);
        let (key, workspace) = here.unzip();
        let mut workspace = workspace.flatten();
        let answer = WorkspaceRemoveResponse {
            root: root.display().to_string(),
            contexts_kept: !purge && stored,
            restored: Vec::new(),
            notes: Vec::new(),
        };
        let hand = WorkspaceWorker::new(&self.resources, &self.events);
        // Dropping a large snapshot and removing large files takes a while.
        let work = move || {
            if let Some(workspace) = &mut workspace {
                hand.close_index_file(workspace, resources.clock.monotonic());
            }
            for waiter in workspace.iter_mut().flat_map(|workspace| workspace.let_go()) {
                let _ = waiter.reply.send(Err(no_workspace(&root)));
            }
            drop(workspace);
            resources.contexts.let_go(&root);
            remove_state(&state, purge);
            withdraw_trust(&resources.paths.state, &root);
            let _ = reply.send(Ok(answer));
            EngineEvent::Closed {
                workspace: key.unwrap_or(0),
            }
        };
        spawn(&self.events, "remove", Box::new(work));
    }
}

impl WorkspaceWorker {
    /// Opens a workspace.
    ///
    /// # Errors
    /// See [`open::open`].
    pub(super) fn open(&self, key: u64, root: &Path, pulse: Pulse) -> anyhow::Result<Workspace> {
        if handles::left().is_some_and(|left| left < FILES_TO_OPEN) {
            let path = registry::database_file(&self.resources.paths.state, root);
            return Err(StoreError::TooManyOpenFiles { path }.into());
        }
        let (config, own) = self.settings_of(root);
        let model = self.resources.models.find_model(&config.embed.model);
        let mut workspace = open::open(OpenRequest {
            key,
            root,
            config,
            state: &self.resources.paths.state,
            model: model.as_ref().map(|model| (&*model.id, model.dimension)),
            pulse,
            now: self.resources.clock.monotonic(),
            wall: self.resources.clock.now(),
        })?;
        workspace.own = own;
        Ok(workspace)
    }

    /// Answers the waiting clients whose condition is met, or all clients if the store reported an error.
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
        if !embedding && workspace.pending.len() > 0 && self.resources.config.embed.enabled {
            let fix = self.resources.models.remedy(&workspace.view.config.embed.model);
            let waiting = workspace.pending.len();
            notes.push(format!(
                "all text is searchable by keyword; {waiting} passages are not searchable by meaning yet, \
                 because the embedding model cannot be used: {fix}"
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

/// Removes the state of a workspace, including its session data if `purge` is set.
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
            "{} files disappeared at once and therefore stay in the index; restore the files, or confirm the \
             deletion: hippoctl sync --accept-deletions",
            workspace.held.len()
        ));
    }
    notes.extend(workspace.entries.held_story());
    notes
}

fn registry_error(error: &anyhow::Error) -> RpcError {
    RpcError::internal(format!("{error:#}")).hint("check the permissions of the state folder and its disk")
}
