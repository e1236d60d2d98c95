//! Errors of context operations.

use crate::StoreError;

/// An error of a context operation. After an error, nothing is changed.
#[derive(Debug, thiserror::Error)]
pub enum ContextError {
    /// An error of the database or the disk.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// No session has this id.
    #[error("no such session: {0}")]
    UnknownSession(String),
    /// The session is closed, so its entries are read-only.
    #[error("could not use the session {0}: it is closed; open another session")]
    ClosedSession(String),
    /// No entry has this id.
    #[error("no such entry: {0}")]
    UnknownEntry(String),
    /// Another entry has this id.
    #[error("could not store the entry {0}: an entry with this id already exists")]
    EntryExists(String),
    /// The contents of open sessions use so much of the budget that the new content does not fit.
    #[error(
        "could not store {needed} bytes: together with the contents of open sessions, they exceed the budget of \
         {budget} bytes"
    )]
    OverBudget {
        /// Number of bytes that the new content needs.
        needed: u64,
        /// The budget for stored bytes.
        budget: u64,
    },
    /// The content exceeds the maximum size.
    #[error("could not store {size} bytes of content: the maximum is {most} bytes")]
    TooLarge {
        /// Size of the content in bytes.
        size: usize,
        /// Maximum size in bytes.
        most: usize,
    },
    /// The text is neither a content id nor a prefix of one.
    #[error("invalid content id {0:?}: expected b3: and 12 to 64 hexadecimal digits")]
    NoContentId(String),
}
