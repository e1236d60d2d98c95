//! What clients ask the engine to change.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use hippo_proto::{
    ErrorKind, RpcError, WorkspaceAddResponse, WorkspaceRemoveResponse, WorkspaceSyncResponse,
};
use hippo_store::StoreError;

use super::Engine;
use super::entries::root_missing;
use super::open::{self, Opening};
use super::workspace::{Waiter, Workspace};
use crate::backup::{self, Staged};
use crate::contexts;
use crate::embed_worker::ModelState;
use crate::event::{Event, Request, Until};
use crate::files;
use crate::registry;
use crate::shared::{Slot, no_workspace};

impl Engine {
    /// Serves one request. A client that is gone needs no answer.
    pub(super) fn serve(&mut self, request: Request) {
        match request {
            Request::Add { folder, reply } => {
                let _ = reply.send(self.add(&folder));
            }
            Request::Remove { folder, purge, reply } => {
                let _ = reply.send(self.remove(&folder, purge));
            }
            Request::Sync {
                root,
                until,
                accept_deletions,
                reply,
            } => {
                let now = self.shared.clock.monotonic();
                self.look_for_model();
                let Some(workspace) = self.by_root(&root) else {
                    let _ = reply.send(Err(no_workspace(&root)));
                    return;
                };
                let removed = if accept_deletions {
                    workspace.entries.file.accept_removals = true;
                    workspace.accept_deletions()
                } else {
                    Ok(0)
                };
                match removed {
                    Ok(removed) => {
                        workspace.reconcile(now);
                        workspace.entries.file.look(now);
                        let waiter = Waiter {
                            reply,
                            since: now,
                            until,
                            changed: 0,
                            removed: removed as u64,
                        };
                        workspace.waiters.push(waiter);
                    }
                    Err(error) => {
                        let _ = reply.send(Err(store_error(&error)));
                    }
                }
            }
            Request::Trust { root, request, reply } => {
                let _ = reply.send(self.trust(&root, &request));
            }
            Request::TakeIn { staged, reply } => {
                let _ = reply.send(self.take_in(&staged));
            }
            Request::History { root, request, reply } => {
                let answer = match self.by_root(&root).map(|workspace| workspace.key) {
                    Some(key) => self.history(&self.workspaces[&key], &request),
                    None => Err(no_workspace(&root)),
                };
                let _ = reply.send(answer);
            }
            Request::Heartbeat { tells, root, reply } => {
                let key = self.by_root(&root).map(|workspace| workspace.key);
                let answer = match key {
                    Some(key) => Ok(self.beat(&self.workspaces[&key])),
                    None => Err(no_workspace(&root)),
                };
                // A client that is gone was told nothing.
                if reply.send(answer).is_ok()
                    && tells
                    && let Some(workspace) = key.and_then(|key| self.workspaces.get_mut(&key))
                {
                    workspace.entries.file.conflicts.are_told();
                }
            }
            Request::Doctor {
                request,
                scans,
                reply,
            } => {
                self.look_for_model();
                let _ = reply.send(self.survey(&request, scans));
            }
        }
    }

    /// Takes a model into use that was put into its place by hand since it was missed.
    pub(super) fn look_for_model(&mut self) {
        let models = &self.shared.models;
        let differs =
            |before: ModelState, now: ModelState| matches!(before, ModelState::Absent(_)) && before != now;
        let mut workspaces = self.workspaces.values();
        let found = differs(self.shared.embed.state().0, models.state())
            || workspaces.any(|workspace| {
                // Without a workspace's own model nothing else looks at its files.
                matches!(self.model_state(workspace), ModelState::Absent(_))
                    && models.state_of(&workspace.view.config.model).is_usable()
            });
        if found {
            self.take(Event::ModelChanged);
        }
    }

    /// Opens what was registered when the daemon last ran.
    pub(super) fn open_registered(&mut self) {
        let roots: Vec<PathBuf> = self.registry.roots().map(Path::to_path_buf).collect();
        for root in roots {
            self.open(&root);
        }
    }

    #[expect(clippy::disallowed_methods, reason = "a place that a person names")]
    fn add(&mut self, folder: &Path) -> Result<WorkspaceAddResponse, RpcError> {
        let root = folder.canonicalize().map_err(|error| {
            RpcError::not_found(format!(
                "could not find the folder: {}: {error}",
                folder.display()
            ))
            .hint("give a folder that exists")
        })?;
        if !hippo_fs::is_present(&root) {
            return Err(RpcError::bad_request(format!("not a folder: {}", root.display()))
                .hint("give the folder that holds the memory files"));
        }
        files::check_fit(&self.shared.paths, &root)?;
        let added = self.registry.add(&root).map_err(|error| registry_error(&error))?;
        if added {
            self.shared.views.set(&root, Slot::Opening);
        }
        if self.by_root(&root).is_none() {
            self.open(&root);
        }
        if let Some((_, Slot::Broken(error))) = self
            .shared
            .views
            .all()
            .into_iter()
            .find(|(known, _)| *known == root)
        {
            return Err(error);
        }
        let notes = if added { self.neighbours(&root) } else { Vec::new() };
        Ok(WorkspaceAddResponse {
            root: root.display().to_string(),
            added,
            notes,
        })
    }

    /// What was derived from the files goes; what sessions stored stands nowhere else, and stays unless `purge` is said.
    #[expect(clippy::disallowed_methods, reason = "a place that a person names")]
    fn remove(&mut self, folder: &Path, purge: bool) -> Result<WorkspaceRemoveResponse, RpcError> {
        let root = folder.canonicalize().unwrap_or_else(|_| folder.to_path_buf());
        let known = self
            .registry
            .remove(&root)
            .map_err(|error| registry_error(&error))?;
        let state = registry::state_folder(&self.shared.paths.state, &root);
        let before = backup::before_restores(&self.shared.paths.state, &root);
        let stored = || contexts::stand_in(&state) || before.iter().any(|before| contexts::stand_in(before));
        // What sessions stored may have been left when it was removed before.
        let left = purge && (stored() || !before.is_empty());
        if !known && !left {
            return Err(no_workspace(&root));
        }
        self.shared.views.remove(&root);
        let at = self.shared.clock.monotonic();
        self.with_root(&root, |engine, workspace| engine.close_index_file(workspace, at));
        for waiter in self.close(&root) {
            // A client that is gone needs no answer.
            let _ = waiter.reply.send(Err(no_workspace(&root)));
        }
        self.shared.contexts.let_go(&root);
        let contexts_kept = !purge && stored();
        let removed = if !purge && contexts::stand_in(&state) {
            contexts::remove_all_else(&state)
        } else {
            std::fs::remove_dir_all(&state)
        };
        let older = before.iter().filter(|_| purge).map(std::fs::remove_dir_all);
        for error in std::iter::once(removed).chain(older).filter_map(Result::err) {
            if error.kind() != std::io::ErrorKind::NotFound {
                tracing::warn!(%error, folder = %state.display(), "could not remove the state of a workspace");
            }
        }
        self.withdraw_trust(&root);
        Ok(WorkspaceRemoveResponse {
            root: root.display().to_string(),
            contexts_kept,
            restored: Vec::new(),
            notes: Vec::new(),
        })
    }

    /// Puts a restored workspace into its place. Where that fails, what was there before is opened again.
    fn take_in(&mut self, staged: &Staged) -> Result<Vec<String>, RpcError> {
        let root = &staged.root;
        let was_open = self.shared.views.root_of(root).as_ref() == Some(root);
        // What is moved aside has to be all of it.
        self.bring_back(root).map_err(|error| store_error(&error))?;
        self.shared.contexts.look();
        if was_open {
            self.shared.views.set(root, Slot::Opening);
        }
        for waiter in self.close(root) {
            // A client that is gone needs no answer.
            let _ = waiter.reply.send(Err(no_workspace(root)));
        }
        self.shared.contexts.let_go(root);
        let taken = backup::commit(&self.shared.paths.state, staged, &mut self.registry);
        if taken.is_ok() || was_open {
            self.open(root);
        }
        taken
    }

    /// Lets go of a workspace and its files. Answers the clients that still wait for it.
    pub(super) fn close(&mut self, root: &Path) -> Vec<Waiter> {
        let key = self
            .workspaces
            .values()
            .find(|workspace| workspace.root == root)
            .map(|found| found.key);
        let Some(workspace) = key.and_then(|key| self.workspaces.remove(&key)) else {
            return Vec::new();
        };
        if let Some(cancel) = &workspace.cancel_build {
            cancel.store(true, Ordering::Relaxed);
        }
        workspace.view.forget_readers();
        workspace.waiters
    }

    /// Opens a workspace, or notes why it cannot be.
    pub(super) fn open(&mut self, root: &Path) {
        self.shared.pulse.beat();
        match self.try_open(root) {
            Ok(workspace) => {
                tracing::info!(
                    workspace = registry::short_id(root),
                    root = %root.display(),
                    documents = workspace.known.len(),
                    "a workspace is open"
                );
                self.shared
                    .views
                    .set(root, Slot::Open(std::sync::Arc::clone(&workspace.view)));
                self.workspaces.insert(workspace.key, workspace);
            }
            Err(error) => {
                tracing::error!(root = %root.display(), error = format!("{error:#}"), "could not open a workspace");
                let refusal = match error.downcast_ref::<StoreError>() {
                    Some(error) => store_error(error),
                    None => RpcError::internal(format!("{error:#}"))
                        .hint("mend what it names, then restart hippod"),
                };
                self.shared.views.set(root, Slot::Broken(refusal));
            }
        }
    }

    fn try_open(&mut self, root: &Path) -> anyhow::Result<Workspace> {
        let (config, own) = self.settings_of(root);
        let key = self.next_key;
        self.next_key += 1;
        let model = self.shared.models.named(&config.model);
        let mut workspace = open::open(Opening {
            key,
            root,
            config,
            state: &self.shared.paths.state,
            model: model.as_ref().map(|model| (&*model.id, model.dimension)),
            pulse: self.shared.pulse.clone(),
            now: self.shared.clock.monotonic(),
            wall: self.shared.clock.now(),
        })?;
        workspace.own = own;
        Ok(workspace)
    }

    /// Answers the clients for whom everything is searchable now.
    pub(super) fn answer_waiters(&self, workspace: &mut Workspace) {
        let now = self.shared.clock.monotonic();
        let embedding = self.model_state(workspace).is_usable() && !workspace.pending.blocked;
        let unread = !workspace.dirty.is_empty() || !workspace.missing.is_empty();
        let entries = &workspace.entries;
        let unwritten = entries.enabled && (!entries.is_begun() || entries.file.is_behind(now));
        let beginning = workspace.root_present && unwritten;
        let unembedded = embedding && workspace.pending.len() > 0;
        let waits_on = |until| match until {
            Until::Step => false,
            Until::Read => unread || beginning,
            Until::Searchable => unread || beginning || unembedded,
        };
        if workspace.waiters.is_empty() {
            return;
        }
        let mut notes = not_as_the_disk(workspace);
        if !embedding && workspace.pending.len() > 0 && self.shared.config.embed.enabled {
            let fix = self.shared.models.remedy(&workspace.view.config.model);
            let waiting = workspace.pending.len();
            notes.push(format!(
                "everything is searchable by words; {waiting} passages wait for the embedding model, which cannot be used: {fix}"
            ));
        }
        let (documents, generation) = (workspace.known.len() as u64, workspace.view.picture().generation);
        let pending = workspace.pending.len() as u64;
        for waiter in std::mem::take(&mut workspace.waiters) {
            if waits_on(waiter.until) && workspace.trouble.is_none() {
                workspace.waiters.push(waiter);
                continue;
            }
            let answer = match &workspace.trouble {
                Some(error) if waiter.until != Until::Step => Err(store_error(error)),
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
            // A client that is gone needs no answer.
            let _ = waiter.reply.send(answer);
        }
    }
}

/// What keeps the index from being as the disk is.
fn not_as_the_disk(workspace: &Workspace) -> Vec<String> {
    let mut notes = Vec::new();
    if !workspace.root_present {
        let away = root_missing(&workspace.root);
        notes.push(format!("{}; {}", away.message, away.data.hint));
    }
    if !workspace.held.is_empty() {
        notes.push(format!(
            "files that went at once and stay in the index: {}; bring them back, or accept it: hippoctl sync --accept-deletions",
            workspace.held.len()
        ));
    }
    notes.extend(workspace.entries.held_story());
    notes
}

/// A refusal of the store as clients see it.
pub fn store_error(error: &StoreError) -> RpcError {
    let refusal = RpcError::new(
        match error {
            StoreError::ReadOnly { .. } => ErrorKind::ReadOnly,
            _ => ErrorKind::Internal,
        },
        error.to_string(),
    );
    match error {
        StoreError::Corrupt { .. } | StoreError::NewerSchema { .. } => {
            refusal.hint(
            "hippoctl doctor --rebuild makes it again from the files; accesses and removals are taken over where they can be read",
        )
        }
        StoreError::DiskFull { .. } => refusal.hint("free some space; what waits is written then"),
        StoreError::ReadOnly { .. } => refusal.hint("make the state folder writable"),
        StoreError::Row { .. } => refusal.hint("everything else can be read; hippoctl doctor tells more"),
        StoreError::Io { .. } | StoreError::Sql { .. } => {
            refusal.hint("look after the disk of the state folder; what waits is written when it takes it")
        }
    }
}

fn registry_error(error: &anyhow::Error) -> RpcError {
    RpcError::internal(format!("{error:#}")).hint("look after the rights and the disk of the state folder")
}
