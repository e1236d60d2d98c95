//! Opening of workspaces on their own threads, with retries.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use hippo_proto::{ErrorKind, Restored, RpcError, WorkspaceAddResponse};
use hippo_store::StoreError;

use super::Engine;
use super::Resources;
use super::members::{EngineMember, Seat};
use super::rebuild;
use super::turn::WorkspaceWorker;
use super::workspace::{Waiter, Workspace};
use crate::backup;
use crate::errors::store_error;
use crate::message::{AnswerSender, LostData};
use crate::registry::{self, Registry};
use crate::staged::StagedWorkspace;
use crate::views::{Slot, Views, no_workspace};

/// Delay before another attempt to open a workspace after the process reached its limit on open files.
const OPEN_AGAIN: Duration = Duration::from_secs(5);

/// Result of opening a workspace.
pub struct OpenResult {
    pub(super) key: u64,
    pub(super) hand: WorkspaceWorker,
    pub(super) result: anyhow::Result<Box<Workspace>>,
}

/// Work to do before a workspace is opened, on the thread that opens the workspace.
#[derive(Default)]
pub(super) struct BeforeOpening {
    /// The workspace as it was open before. Its database must be closed, and dropping a large workspace takes a while.
    pub former: Option<Box<Workspace>>,
    /// A workspace staged by a restore, and the channel for the client's response.
    pub restore: Option<(StagedWorkspace, AnswerSender<Restored>)>,
    /// Clients that asked for a rebuild.
    pub rebuilds: Vec<AnswerSender<Option<LostData>>>,
}

impl BeforeOpening {
    /// Returns whether no client waits for this work.
    pub(super) fn is_idle(&self) -> bool {
        self.restore.is_none() && self.rebuilds.is_empty()
    }

    /// Does the work. Returns whether the workspace is registered and must be opened; this is not the case if a restore
    /// into a new folder failed.
    pub(super) fn run(self, resources: &Resources, views: &Views, registry: &Registry, root: &Path) -> bool {
        drop(self.former);
        let restored = self.restore.map(|(staged, reply)| {
            resources.contexts.look();
            resources.contexts.let_go(&staged.root);
            (backup::commit(&resources.paths.state, staged, registry), reply)
        });
        let is_registered = registry.contains(root);
        if !is_registered {
            views.remove(root);
        }
        // A client that has disconnected needs no answer.
        if let Some((taken, reply)) = restored {
            let _ = reply.send(taken);
        }
        for reply in self.rebuilds {
            let _ = reply.send(if is_registered {
                rebuild::rebuild(&resources.paths.state, root)
            } else {
                Err(no_workspace(root))
            });
        }
        is_registered
    }
}

impl std::fmt::Debug for OpenResult {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.debug_struct("Opened")
            .field("key", &self.key)
            .finish_non_exhaustive()
    }
}

impl Engine {
    /// Adds a workspace, which is opened at the next opportunity. Returns its key.
    pub(super) fn open(&mut self, root: &Path, waiters: Vec<Waiter>) -> u64 {
        self.views.set(root, Slot::Opening);
        let member = EngineMember {
            root: root.to_path_buf(),
            seat: Seat::Closed(self.resources.clock.monotonic()),
            inbox: VecDeque::new(),
            waiters,
            leaving: false,
            adding: Vec::new(),
            before: BeforeOpening::default(),
        };
        let key = self.next_key;
        self.next_key += 1;
        self.members.insert(key, member);
        key
    }

    /// Immediately retries all workspaces that could not be opened because of the limit on open files. Some files may
    /// have been closed since.
    pub(super) fn open_soon(&mut self) {
        let now = self.resources.clock.monotonic();
        for member in self.members.values_mut() {
            if let Seat::Closed(from) = &mut member.seat {
                *from = now;
            }
        }
    }

    /// Answers a client once the workspace is open.
    pub(super) fn answer_when_open(
        &mut self,
        key: u64,
        reply: AnswerSender<WorkspaceAddResponse>,
        answer: WorkspaceAddResponse,
    ) {
        let Some(member) = self.members.get_mut(&key) else {
            return;
        };
        if matches!(member.seat, Seat::Here(_)) {
            let root = member.root.clone();
            self.answer_added(&root, vec![(reply, answer)]);
        } else {
            member.adding.push((reply, answer));
        }
    }

    /// Answers the clients that added a workspace, now that it is open: the nested workspaces that the response
    /// mentions are only known now.
    pub(super) fn answer_added(
        &self,
        root: &Path,
        adding: Vec<(AnswerSender<WorkspaceAddResponse>, WorkspaceAddResponse)>,
    ) {
        for (reply, mut answer) in adding {
            if answer.added {
                answer.notes = self.neighbours(root);
            }
            // A client that has disconnected needs no answer.
            let _ = reply.send(Ok(answer));
        }
    }

    /// Rebuilds a workspace that is not open, and opens it.
    pub(super) fn rebuild(&mut self, root: &Path, reply: AnswerSender<Option<LostData>>) {
        let key = match self.key_of(root) {
            Some(key) => {
                self.open_soon();
                key
            }
            None if self.views.slot(root).is_some() => self.open(root, Vec::new()),
            None => return drop(reply.send(Err(no_workspace(root)))),
        };
        self.views.set(root, Slot::Opening);
        if let Some(member) = self.members.get_mut(&key) {
            member.before.rebuilds.push(reply);
        }
    }

    /// Moves a workspace staged by a restore into place, and opens it.
    pub(super) fn take_in(&mut self, staged: StagedWorkspace, reply: AnswerSender<Restored>) {
        let root = staged.root.clone();
        if self.key_of(&root).is_some() {
            let what = format!(
                "the folder was registered as a workspace in the meantime: {}",
                root.display()
            );
            let refusal = RpcError::new(ErrorKind::Conflict, what);
            return drop(reply.send(Err(refusal.hint("restore into another folder: --into DIR"))));
        }
        let key = self.open(&root, Vec::new());
        let Some(member) = self.members.get_mut(&key) else {
            return;
        };
        // If the restore fails, the workspace is removed again. A client that added it meanwhile is answered after
        // that.
        member.leaving = !self.registry.contains(&root);
        member.before.restore = Some((staged, reply));
    }

    /// Handles the result of opening a workspace.
    pub(super) fn opened(&mut self, opened: OpenResult) {
        let OpenResult { key, hand, result } = opened;
        self.hands.push(hand);
        let Some(mut member) = self.members.remove(&key) else {
            return;
        };
        let root = member.root.clone();
        match result {
            Ok(mut workspace) => {
                tracing::info!(
                    workspace = registry::short_id(&root),
                    root = %root.display(),
                    documents = workspace.known.len(),
                    "opened a workspace"
                );
                workspace.waiters = std::mem::take(&mut member.waiters);
                let slot = Slot::Open(Arc::clone(&workspace.view));
                let adding = std::mem::take(&mut member.adding);
                member.seat = Seat::Here(workspace);
                member.leaving = false;
                self.members.insert(key, member);
                self.views.set(&root, slot);
                self.answer_added(&root, adding);
            }
            Err(error) => {
                tracing::error!(root = %root.display(), error = format!("{error:#}"), "could not open a workspace");
                let refusal = match error.downcast_ref::<StoreError>() {
                    Some(error) => store_error(error),
                    None => RpcError::internal(format!("{error:#}"))
                        .hint("correct the file that the message names, then restart hippod"),
                };
                self.views.set(&root, Slot::Broken(refusal.clone()));
                // A client that has disconnected needs no answer.
                for (reply, _) in member.adding.drain(..) {
                    let _ = reply.send(Err(refusal.clone()));
                }
                for waiter in member.waiters.drain(..) {
                    let _ = waiter.reply.send(Err(refusal.clone()));
                }
                let inbox = std::mem::take(&mut member.inbox).into_iter();
                member.inbox = inbox
                    .filter_map(|event| event.refuse_unopened(&refusal))
                    .collect();
                if refusal.data.kind == ErrorKind::TooManyOpenFiles {
                    member.seat = Seat::Closed(self.resources.clock.monotonic() + OPEN_AGAIN);
                    self.members.insert(key, member);
                    return;
                }
                for event in member.inbox {
                    self.take(event);
                }
            }
        }
    }
}
