//! Parameters and answers of each method.

mod audit;
mod backup;
pub(crate) mod check;
mod compact;
mod context;
mod cycle;
mod doctor;
mod flush;
mod get;
mod heartbeat;
mod index;
pub(crate) mod log;
mod model;
mod recall;
mod remember;
mod search;
mod session;
mod share;
mod status;
mod tree;
mod workspace;

pub use audit::*;
pub use backup::*;
pub use compact::*;
pub use context::*;
pub use cycle::*;
pub use doctor::*;
pub use flush::*;
pub use get::*;
pub use heartbeat::*;
pub use index::*;
pub use log::*;
pub use model::*;
pub use recall::*;
pub use remember::*;
pub use search::*;
pub use session::*;
pub use share::*;
pub use status::*;
pub use tree::*;
pub use workspace::*;

pub use hippo_types::context::{
    ContextDecay, ContextEncoding, ContextEntry, ContextKind, ContextLifecycle, ContextModifiers,
    ContextPriority, ContextShown, ContextSource, ContextState, FetchOrigin, FetchOutcome,
};
pub use hippo_types::cycle::Cycle;
pub use hippo_types::entry::{EntryOrigin, EntryPlace, EntryPriority, Pointer, StrengthBand};
pub use hippo_types::memory::MemoryType;
pub use hippo_types::scope::{AgentId, Scope, Viewer};
pub use hippo_types::search::SearchMode;
pub use hippo_types::transcript::{CompactStats, MessageScore, TranscriptFormat, TranscriptProblem};
