//! Why did the contexts of a workspace refuse something?

use crate::StoreError;

/// A request that was refused. Nothing of it happened.
#[derive(Debug, thiserror::Error)]
pub enum ContextError {
    /// The file or the disk failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// No session has this id.
    #[error("could not find the session {0}: it was never opened here")]
    UnknownSession(String),
    /// The session has ended: its entries are a record now.
    #[error("could not use the session {0}: it is closed; open another one")]
    ClosedSession(String),
    /// No entry has this id.
    #[error("could not find the entry {0}: no session has it")]
    UnknownEntry(String),
    /// Another entry has this id.
    #[error("could not keep the entry {0}: there is one with this id already")]
    EntryExists(String),
    /// What open sessions need leaves no room within the budget.
    #[error(
        "could not keep {needed} bytes: open sessions leave no room for them in the budget of {budget} bytes; close sessions or raise it"
    )]
    OverBudget {
        /// Bytes as they would be stored.
        needed: u64,
        /// The budget, bytes as they are stored.
        budget: u64,
    },
    /// One content is larger than the store takes.
    #[error("could not keep a content of {size} bytes: at most {most} are taken")]
    TooLarge {
        /// Its bytes.
        size: usize,
        /// The most that is taken.
        most: usize,
    },
    /// It is neither a content id nor the beginning of one.
    #[error(
        "could not read {0:?} as a content id: it is b3: and 64 hexadecimal digits, or at least the first 12 of them"
    )]
    NoContentId(String),
}
