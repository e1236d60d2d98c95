//! Parameters and answers of each method.

mod audit;
mod backup;
mod compact;
mod context;
mod cycle;
mod doctor;
mod flush;
mod get;
mod heartbeat;
mod index;
mod model;
mod moment;
mod remember;
mod search;
mod session;
mod status;
mod tree;
mod workspace;

pub use audit::{AuditExample, AuditFinding, AuditKind, AuditRequest, AuditResponse, MAX_EXAMPLES};
pub use backup::{
    BackedUp, BackupRequest, BackupResponse, BackupVerifyRequest, LeftOut, RestoreRequest, RestoreResponse,
    Restored,
};
pub use compact::{MAX_SCORES, SessionCompactRequest, SessionCompactResponse};
pub use context::{
    ContextCloseRequest, ContextCloseResponse, ContextFetchRequest, ContextFetchResponse, ContextListRequest,
    ContextListResponse, ContextListed, ContextMove, ContextOpenRequest, ContextOpenResponse,
    ContextPersisted, ContextPutLifecycle, ContextPutModifiers, ContextPutOutcome, ContextPutRequest,
    ContextPutResponse, ContextPutSource, ContextRenderRequest, ContextRenderResponse, ContextSession,
    ContextTouchRequest, ContextTouchResponse, ContextTurnRequest, ContextTurnResponse, MAX_CONTENT_BYTES,
    MAX_SESSION_CHARS,
};
pub use cycle::{
    CycleFinding, CycleHistoryRequest, CycleHistoryResponse, CycleOutcome, CycleRefusal, CycleReport,
    CycleRun, CycleRunRequest, CycleStep, CycleUndoRequest, CycleUndoResponse, IndexHealth, MAX_RUNS,
    NextCycle,
};
pub use doctor::{Check, DoctorRequest, DoctorResponse, Fixed, Problem, Severity};
pub use flush::{FlushedLog, SessionFlushRequest, SessionFlushResponse};
pub use get::{GetRequest, GetResponse};
pub use heartbeat::{HeartbeatRequest, HeartbeatResponse, Pending};
pub use index::{
    IndexEditRequest, IndexEditResponse, IndexEntry, IndexForecast, IndexForgetRequest, IndexForgetResponse,
    IndexListRequest, IndexListResponse, IndexRestoreRequest, IndexRestoreResponse, IndexShowRequest,
    IndexShowResponse, MAX_ENTRIES,
};
pub use model::{
    ModelFile, ModelImportRequest, ModelInfo, ModelListRequest, ModelListResponse, ModelPullRequest,
    ModelPullResponse, ModelRemoveRequest, ModelRemoveResponse, ModelState, ModelVerifyRequest,
    ModelVerifyResponse, RuntimeInfo,
};
pub use remember::{MAX_TEXT_BYTES, RememberRequest, RememberResponse};
pub use search::{
    IndexState, MAX_LIMIT, Scores, SearchHit, SearchRequest, SearchResponse, SearchTrace, Strategy,
    TraceMatch,
};
pub use session::{
    HelloRequest, HelloResponse, ShutdownRequest, ShutdownResponse, SubscribeRequest, SubscribeResponse,
};
pub use status::{
    ContextsStatus, DiskStatus, IndexStatus, MetricsRequest, MetricsResponse, ModelLoad, ModelStatus,
    Skipped, StatusRequest, StatusResponse, TreeStatus, VectorBackend, VectorStatus, WatcherMode,
    WatcherStatus, WorkspaceStatus,
};
pub use tree::{
    MAX_BODY_BYTES, MAX_JOBS, TreeChange, TreeCompactRequest, TreeCompactResponse, TreeJob,
    TreePendingRequest, TreePendingResponse, TreeRefusal, TreeShowRequest, TreeShowResponse,
    TreeSubmitRequest, TreeSubmitResponse,
};
pub use workspace::{
    SettingChange, SettingsFile, WorkspaceAddRequest, WorkspaceAddResponse, WorkspaceInfo,
    WorkspaceListRequest, WorkspaceListResponse, WorkspaceRemoveRequest, WorkspaceRemoveResponse,
    WorkspaceSyncRequest, WorkspaceSyncResponse, WorkspaceTrustRequest, WorkspaceTrustResponse,
};

pub use hippo_types::context::{
    ContextDecay, ContextEncoding, ContextEntry, ContextKind, ContextLifecycle, ContextModifiers,
    ContextPriority, ContextShown, ContextSource, ContextState, FetchOrigin, FetchOutcome, SectionFormat,
};
pub use hippo_types::cycle::Cycle;
pub use hippo_types::entry::{EntryOrigin, EntryPlace, EntryPriority, Pointer, StrengthBand};
pub use hippo_types::memory::MemoryType;
pub use hippo_types::search::SearchMode;
pub use hippo_types::transcript::{CompactStats, MessageScore, TranscriptFormat, TranscriptProblem};

use serde_json::{Map, Value};

use crate::error::RpcError;
use crate::methods::shorten;
use crate::suggest::nearest;

/// Validation of parameters beyond their types.
pub(crate) trait Validate {
    /// Checks raw values before deserialisation, for errors more specific than "wrong type".
    fn check_raw(_params: &Map<String, Value>) -> Result<(), RpcError> {
        Ok(())
    }

    /// Checks ranges and combinations after deserialisation.
    fn validate(&self) -> Result<(), RpcError> {
        Ok(())
    }
}

fn refuse_empty(field: &str, value: Option<&str>) -> Result<(), RpcError> {
    match value {
        Some(value) if value.trim().is_empty() => {
            Err(RpcError::bad_request(format!("the field \"{field}\" is empty"))
                .hint("give the field a value, or omit an optional field"))
        }
        _ => Ok(()),
    }
}

/// Refuses a zero in a field that starts at 1.
fn refuse_zero<T: Into<u64>>(field: &str, value: Option<T>) -> Result<(), RpcError> {
    match value.map(Into::into) {
        Some(0) => Err(RpcError::bad_request(format!("the field \"{field}\" is 0")).hint("give 1 or more")),
        _ => Ok(()),
    }
}

/// Refuses an unknown member of the object in a field. A value of another type is left to deserialisation.
fn refuse_unknown_members(params: &Map<String, Value>, field: &str, known: &[&str]) -> Result<(), RpcError> {
    let Some(Value::Object(object)) = params.get(field) else {
        return Ok(());
    };
    match object.keys().find(|key| !known.contains(&key.as_str())) {
        Some(unknown) => {
            let what = format!("unknown member \"{}\" of \"{field}\"", shorten(unknown));
            Err(
                RpcError::bad_request(what).hint(match nearest(unknown, known.iter().copied()) {
                    Some(near) => format!("did you mean \"{near}\"?"),
                    None => format!("\"{field}\" has {}", known.join(", ")),
                }),
            )
        }
        None => Ok(()),
    }
}

/// Refuses an unknown word in a field, with the most similar one as the hint. The array contains the name of the field,
/// the noun for its words, and the plural of that noun. A value of another type is left to deserialisation.
fn refuse_unknown_word(
    params: &Map<String, Value>,
    [field, noun, nouns]: [&str; 3],
    names: &[&str],
) -> Result<(), RpcError> {
    match params.get(field) {
        Some(Value::String(word)) if !names.contains(&word.as_str()) => {
            let word = shorten(word);
            let error = RpcError::bad_request(format!("unknown {noun} \"{word}\""));
            Err(
                error.hint(match nearest(&word.to_lowercase(), names.iter().copied()) {
                    Some(near) => format!("did you mean \"{near}\"?"),
                    None => format!("the {nouns} are {}", names.join(", ")),
                }),
            )
        }
        _ => Ok(()),
    }
}
