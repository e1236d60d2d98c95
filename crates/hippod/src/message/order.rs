//! Operations on the index entries of a workspace.

use hippo_map::consolidation::LearnedAnswer;
use hippo_proto::{
    CycleReport, CycleUndoResponse, IndexEditRequest, IndexEditResponse, IndexEntry, IndexForgetResponse,
    IndexRestoreResponse, RememberRequest, RpcError,
};
use hippo_types::cycle::Cycle;
use hippo_types::entry::{EntryId, Pointer};
use hippo_types::time::Timestamp;

use super::AnswerSender;
use crate::remember::AppendResult;

/// An operation that a client or the schedule requests.
#[derive(Debug)]
pub enum Order {
    /// A cycle.
    Cycle {
        /// Kind of cycle.
        cycle: Cycle,
        /// Time for which the cycle runs; `None` means now.
        at: Option<Timestamp>,
        /// True if the cycle is only planned and not applied.
        dry_run: bool,
        /// True if the cycle runs only if it is still due when its turn comes, because the schedule and a heartbeat may
        /// request the same cycle.
        when_due: bool,
        /// Channel for the answer; `None` for the schedule.
        reply: Option<AnswerSender<CycleReport>>,
    },
    /// A change requested by a client.
    Change(EntryCommand),
}

impl Order {
    /// Rejects the order, because its workspace is not registered or could not be opened.
    pub fn refuse(self, error: &RpcError) {
        let error = error.clone();
        // A client that disconnected needs no answer.
        match self {
            Self::Cycle { reply, .. } => reply.map_or((), |reply| drop(reply.send(Err(error)))),
            Self::Change(EntryCommand::Edit(_, reply)) => drop(reply.send(Err(error))),
            Self::Change(EntryCommand::Forget(_, reply)) => drop(reply.send(Err(error))),
            Self::Change(EntryCommand::Restore(_, reply)) => drop(reply.send(Err(error))),
            Self::Change(EntryCommand::Undo(_, reply)) => drop(reply.send(Err(error))),
            Self::Change(EntryCommand::Remembered(appended)) => drop(appended.reply.send(Err(error))),
        }
    }
}

/// A change of the entries requested by a client, with the channel for the answer.
#[derive(Debug)]
pub enum EntryCommand {
    /// Edits the fields of an entry.
    Edit(IndexEditRequest, AnswerSender<IndexEditResponse>),
    /// Removes an entry from the index permanently.
    Forget(String, AnswerSender<IndexForgetResponse>),
    /// Restores an entry.
    Restore(String, AnswerSender<IndexRestoreResponse>),
    /// Undoes a run.
    Undo(i64, AnswerSender<CycleUndoResponse>),
    /// Adds the entry for a text that was appended to a log.
    Remembered(Box<AppendedText>),
}

/// A text that was appended to a log.
#[derive(Debug)]
pub struct AppendedText {
    /// The request.
    pub request: RememberRequest,
    /// Location of the text.
    pub appended: AppendResult,
    /// Channel for the entry of the text; `None` if the index file is disabled.
    pub reply: AnswerSender<Option<IndexEntry>>,
}

/// Effects of an answered query.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct QueryEffects {
    /// Time of the query.
    pub at: Timestamp,
    /// Entries that answered the query, best first.
    pub accessed: Vec<EntryId>,
    /// Result to remember for a repetition of the query.
    pub learned: Option<Lesson>,
}

/// Result of a query that no entry could answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Lesson {
    /// Topic of the new entry.
    pub topic: String,
    /// Beginning of the best passage.
    pub summary: String,
    /// Words of the query.
    pub tags: Vec<String>,
    /// Locations of the passages, best first.
    pub pointers: Vec<Pointer>,
    /// The passages.
    pub learned: LearnedAnswer,
}
