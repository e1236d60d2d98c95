//! The engine's workspaces: their state, inboxes and turns.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use hippo_proto::WorkspaceAddResponse;

use super::aside::{ThreadWork, spawn};
use super::event::EngineEvent;
use super::opening::{BeforeOpening, OpenResult};
use super::turn::{TurnResult, WorkspaceWorker};
use super::workspace::{Waiter, Workspace};
use super::{Engine, SLICE};
use crate::message::{AnswerSender, EngineMessage};
use crate::tasks::Pulse;
use crate::views::Slot;

/// Maximum number of concurrent turns that have lasted less than a slice. A turn that lasts longer does not count, so
/// that another one can start.
const AT_ONCE: usize = 2;
/// Maximum number of concurrent turns.
const MOST: usize = 16;

/// A workspace of the engine.
pub(super) struct EngineMember {
    pub root: PathBuf,
    pub seat: Seat,
    /// Events that arrived while a turn of the workspace was running, in order.
    pub inbox: VecDeque<EngineEvent>,
    /// Clients that were waiting when the workspace was reopened.
    pub waiters: Vec<Waiter>,
    /// True while the workspace is being removed.
    pub leaving: bool,
    /// Clients that wait until the workspace is open.
    pub adding: Vec<(AnswerSender<WorkspaceAddResponse>, WorkspaceAddResponse)>,
    /// Work to do before the workspace is opened.
    pub before: BeforeOpening,
}

/// State of a workspace.
pub(super) enum Seat {
    /// Not open; to be opened at this time or later.
    Closed(Instant),
    /// Idle in the engine.
    Here(Box<Workspace>),
    /// In a turn, being opened, or being removed.
    Out(Out),
}

pub(super) struct Out {
    since: Instant,
    pulse: Pulse,
    /// Number of beats at the last check of the watchdog.
    seen: u64,
}

impl Engine {
    /// Returns the key of the root's workspace, open or not.
    pub(super) fn key_of(&self, root: &Path) -> Option<u64> {
        self.members
            .iter()
            .find(|(_, member)| member.root == root)
            .map(|(key, _)| *key)
    }

    /// Returns the workspaces without a running turn.
    pub(super) fn idle_workspaces(&self) -> impl Iterator<Item = &Workspace> {
        self.members.values().filter_map(|member| match &member.seat {
            Seat::Here(workspace) => Some(&**workspace),
            Seat::Closed(_) | Seat::Out(_) => None,
        })
    }

    pub(super) fn here_mut(&mut self) -> impl Iterator<Item = &mut Workspace> {
        self.members
            .values_mut()
            .filter_map(|member| match &mut member.seat {
                Seat::Here(workspace) => Some(&mut **workspace),
                Seat::Closed(_) | Seat::Out(_) => None,
            })
    }

    /// Returns whether any workspace is in a turn, being opened, or being removed.
    pub(super) fn are_some_out(&self) -> bool {
        let mut members = self.members.values();
        members.any(|member| matches!(member.seat, Seat::Out(_)))
    }

    /// Takes a workspace out of the engine for removal, which ends with [`EngineEvent::Closed`]. Events for its root wait
    /// until then. Returns `None` if a turn of the workspace is running.
    pub(super) fn take_leave(&mut self, root: &Path) -> Option<(u64, Option<Box<Workspace>>)> {
        let key = self.key_of(root)?;
        let member = self.members.get_mut(&key)?;
        let out = Seat::Out(Out {
            since: Instant::now(),
            pulse: Pulse::default(),
            seen: u64::MAX,
        });
        match std::mem::replace(&mut member.seat, out) {
            Seat::Here(workspace) => {
                member.leaving = true;
                Some((key, Some(workspace)))
            }
            Seat::Closed(_) => {
                member.leaving = true;
                Some((key, None))
            }
            Seat::Out(out) => {
                member.seat = Seat::Out(out);
                None
            }
        }
    }

    /// Drops a removed workspace and handles the events that waited for its removal.
    pub(super) fn closed(&mut self, key: u64) {
        self.open_soon();
        if let Some(member) = self.members.remove(&key) {
            member.inbox.into_iter().for_each(|event| self.take(event));
        }
    }

    /// Appends an event to the inbox of a workspace. Events for unknown workspaces are dropped.
    pub(super) fn post(&mut self, key: Option<u64>, event: EngineEvent) {
        if let Some(member) = key.and_then(|key| self.members.get_mut(&key)) {
            member.inbox.push_back(event);
        }
    }

    /// Starts turns of the workspaces that have work, up to the limits on concurrent turns.
    pub(super) fn dispatch(&mut self) {
        let now = self.resources.clock.monotonic();
        let keys: Vec<u64> = self.members.keys().copied().collect();
        for key in keys {
            self.serve_at_door(key);
            let Some(member) = self.members.get(&key) else {
                continue;
            };
            let due = match &member.seat {
                Seat::Closed(from) => *from <= now,
                Seat::Here(workspace) => {
                    !member.inbox.is_empty() || workspace.due.is_some_and(|due| due <= now)
                }
                Seat::Out(_) => false,
            };
            if due && self.may_go() {
                self.send_off(key);
            }
        }
    }

    /// Handles those events of a workspace that concern the engine itself. They wait until no turn of the workspace is
    /// running and all earlier events are processed.
    fn serve_at_door(&mut self, key: u64) {
        while let Some(member) = self.members.get_mut(&key) {
            let is_here = !matches!(member.seat, Seat::Out(_)) && member.before.is_idle();
            if !is_here || !member.inbox.front().is_some_and(EngineEvent::is_for_engine) {
                return;
            }
            let Some(event) = member.inbox.pop_front() else {
                return;
            };
            if let EngineEvent::Sent(EngineMessage::Request(request, span)) = event {
                span.in_scope(|| self.serve(request));
            }
            if let Some(EngineMember {
                seat: Seat::Here(workspace),
                ..
            }) = self.members.get_mut(&key)
            {
                workspace.due = Some(self.resources.clock.monotonic());
            }
        }
    }

    fn may_go(&self) -> bool {
        let (mut young, mut all) = (0, 0);
        for member in self.members.values() {
            if let Seat::Out(out) = &member.seat {
                all += 1;
                young += usize::from(out.since.elapsed() < SLICE);
            }
        }
        young < AT_ONCE && all < MOST
    }

    fn send_off(&mut self, key: u64) {
        let Some(member) = self.members.get_mut(&key) else {
            return;
        };
        let hand = self
            .hands
            .pop()
            .unwrap_or_else(|| WorkspaceWorker::new(&self.resources, &self.events));
        let mut out = Out {
            since: Instant::now(),
            pulse: Pulse::default(),
            seen: 0,
        };
        let seat = std::mem::replace(&mut member.seat, Seat::Closed(self.resources.clock.monotonic()));
        let work: ThreadWork = match seat {
            Seat::Here(mut workspace) => {
                out.pulse = workspace.pulse.clone();
                out.seen = out.pulse.beats().wrapping_sub(1);
                let after = member.inbox.iter().position(EngineEvent::is_for_engine);
                let rest = member.inbox.split_off(after.unwrap_or(member.inbox.len()));
                let events = std::mem::replace(&mut member.inbox, rest);
                Box::new(move || {
                    let mut hand = hand;
                    let reopen = hand.turn(&mut workspace, events);
                    EngineEvent::Turned(Box::new(TurnResult {
                        hand,
                        workspace,
                        reopen,
                    }))
                })
            }
            Seat::Closed(_) => {
                let (root, pulse) = (member.root.clone(), out.pulse.clone());
                let before = std::mem::take(&mut member.before);
                let (registry, views) = (Arc::clone(&self.registry), Arc::clone(&self.views));
                Box::new(move || {
                    if !before.run(&hand.resources, &views, &registry, &root) {
                        return EngineEvent::Closed { workspace: key };
                    }
                    let result = hand.open(key, &root, pulse).map(Box::new);
                    EngineEvent::Opened(Box::new(OpenResult { key, hand, result }))
                })
            }
            Seat::Out(out) => {
                member.seat = Seat::Out(out);
                return;
            }
        };
        member.seat = Seat::Out(out);
        spawn(&self.events, "turn", work);
    }

    /// Handles the end of a turn.
    pub(super) fn turned(&mut self, turned: TurnResult) {
        let TurnResult {
            hand,
            workspace,
            reopen,
        } = turned;
        self.hands.push(hand);
        let Some(mut member) = self.members.remove(&workspace.key) else {
            return;
        };
        let mut key = workspace.key;
        if reopen {
            // Later events for the former key are dropped.
            key = self.next_key;
            self.next_key += 1;
            let mut former = workspace;
            let root = former.root.display();
            if former.rebuilds.is_empty() {
                // Meanwhile, queries still use the previous view.
                tracing::info!(root = %root, "the settings of a workspace have changed; reopening it");
            } else {
                tracing::info!(root = %root, "rebuilding a workspace");
                self.views.set(&former.root, Slot::Opening);
            }
            member.inbox.retain(|event| !event.is_for_one_opening());
            member.waiters.extend(former.let_go());
            member.before.rebuilds.append(&mut former.rebuilds);
            member.before.former = Some(former);
            member.seat = Seat::Closed(self.resources.clock.monotonic());
        } else {
            let adding = std::mem::take(&mut member.adding);
            self.answer_added(&member.root, adding);
            member.seat = Seat::Here(workspace);
        }
        self.members.insert(key, member);
    }

    /// Returns whether every running turn makes progress. While a turn hangs, the watchdog receives no heartbeat.
    pub(super) fn all_get_on(&mut self) -> bool {
        let mut well = true;
        for member in self.members.values_mut() {
            if let Seat::Out(out) = &mut member.seat {
                let beats = out.pulse.beats();
                well &= beats != out.seen;
                out.seen = beats;
            }
        }
        well
    }

    /// Returns the time until work is due next.
    pub(super) fn sleep(&self) -> Duration {
        let now = self.resources.clock.monotonic();
        let free = self.may_go();
        let wait = |member: &EngineMember| match &member.seat {
            Seat::Here(workspace) if member.inbox.is_empty() => {
                let due = workspace.due?.saturating_duration_since(now);
                Some(if free { due } else { due.max(SLICE) })
            }
            Seat::Closed(from) if *from > now => Some(*from - now),
            Seat::Here(_) | Seat::Closed(_) => Some(if free { Duration::ZERO } else { SLICE }),
            Seat::Out(_) => None,
        };
        let least = self.members.values().filter_map(wait).min();
        least.map_or(super::LONGEST_SLEEP, |wait| wait.min(super::LONGEST_SLEEP))
    }
}
