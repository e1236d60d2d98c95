//! Events that the engine processes.

use hippo_proto::RpcError;
use hippo_store::vector::BuiltGraph;

use super::entries::FinishedPlan;
use super::opening::OpenResult;
use super::turn::TurnResult;
use crate::embed_worker::EmbedEvent;
use crate::message::EngineMessage;

/// An event for the engine.
#[derive(Debug)]
pub(super) enum EngineEvent {
    /// A message from another component.
    Sent(EngineMessage),
    /// Completion of the vector graph of a workspace.
    GraphBuilt {
        /// Id of the workspace.
        workspace: u64,
        /// The graph, or `None` if the build was cancelled.
        built: Option<BuiltGraph>,
    },
    /// A finished plan of a cycle.
    Planned(FinishedPlan),
    /// The end of a workspace's turn.
    Turned(Box<TurnResult>),
    /// The result of opening a workspace.
    Opened(Box<OpenResult>),
    /// A closed workspace whose state was dropped.
    Closed {
        /// Id of the workspace.
        workspace: u64,
    },
    /// A thread that ended in the middle of its work.
    Lost,
}

impl EngineEvent {
    /// Returns whether the event belongs to one opening of a workspace; such an event is dropped if the workspace was
    /// reopened.
    pub fn is_for_one_opening(&self) -> bool {
        matches!(
            self,
            Self::Sent(EngineMessage::Embed(
                EmbedEvent::Done { .. } | EmbedEvent::Refused { .. }
            )) | Self::GraphBuilt { .. }
                | Self::Planned(_)
        )
    }

    /// Returns whether the engine itself handles the event, which it does when no turn of the workspace is running.
    pub fn is_for_engine(&self) -> bool {
        matches!(self, Self::Sent(EngineMessage::Request(request, _)) if request.is_for_engine())
    }

    /// Rejects a request that needs an open workspace. Returns every other event.
    pub fn refuse_unopened(self, error: &RpcError) -> Option<Self> {
        match self {
            Self::Sent(EngineMessage::Request(request, _)) if request.needs_open_workspace() => {
                request.refuse(error);
                None
            }
            other => Some(other),
        }
    }
}
