//! Requests for cycles and for changes of entries.

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

/// A cycle or a change of entries that a client or the schedule requests.
#[derive(Debug)]
pub enum Order {
    /// A cycle.
    Cycle {
        /// Kind of cycle.
        cycle: Cycle,
        /// Start time that the client gave for the cycle; `None` means the current time.
        at: Option<Timestamp>,
        /// True if the cycle is only planned and its plan is not applied.
        dry_run: bool,
        /// True if the cycle is skipped when it is no longer due at its start. The schedule and a heartbeat may request
        /// the same cycle.
        when_due: bool,
        /// Channel for the answer; `None` if the schedule requested the cycle.
        reply: Option<AnswerSender<CycleReport>>,
    },
    /// A change of entries that a client requested.
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

/// A change of entries that a client requested, and the channel for the answer.
#[derive(Debug)]
pub enum EntryCommand {
    /// Edits the fields of an entry.
    Edit(IndexEditRequest, AnswerSender<IndexEditResponse>),
    /// Moves an entry to the archive, so that no cycle adds it to the index again.
    Forget(String, AnswerSender<IndexForgetResponse>),
    /// Moves an archived, fading or removed entry back to the index.
    Restore(String, AnswerSender<IndexRestoreResponse>),
    /// Undoes the run of a cycle with this number.
    Undo(i64, AnswerSender<CycleUndoResponse>),
    /// Adds or updates the entry for a text that `remember` appended to a daily log.
    Remembered(Box<AppendedText>),
}

/// A text that `remember` appended to a daily log.
#[derive(Debug)]
pub struct AppendedText {
    /// The request of the client.
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
    /// Entries that led to results of the query, best first.
    pub accessed: Vec<EntryId>,
    /// Data for a new entry, which answers the query when it is repeated; `None` if no entry is created.
    pub learned: Option<Lesson>,
}

/// Data for a new entry that remembers the answer to a query, because no existing entry could answer the query.
#[derive(Debug, Clone, PartialEq)]
pub struct Lesson {
    /// Topic of the new entry.
    pub topic: String,
    /// Summary of the new entry: the beginning of the best passage.
    pub summary: String,
    /// Tags of the new entry: the words of the query.
    pub tags: Vec<String>,
    /// Locations of the passages that answered the query, best first.
    pub pointers: Vec<Pointer>,
    /// The terms of the query and the passages that answered it.
    pub learned: LearnedAnswer,
}
