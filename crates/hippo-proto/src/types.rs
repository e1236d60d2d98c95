//! What are the parameters and answers of each method?

mod doctor;
mod get;
mod index;
mod model;
mod moment;
mod search;
mod session;
mod status;
mod workspace;

pub use doctor::{Check, DoctorRequest, DoctorResponse, Problem, Severity};
pub use get::{GetRequest, GetResponse};
pub use index::{
    IndexBand, IndexEditRequest, IndexEditResponse, IndexEntry, IndexForecast, IndexForgetRequest,
    IndexForgetResponse, IndexListRequest, IndexListResponse, IndexOrigin, IndexPlace, IndexPointer,
    IndexPriority, IndexRestoreRequest, IndexRestoreResponse, IndexShowRequest, IndexShowResponse,
    MAX_ENTRIES,
};
pub use model::{
    ModelFile, ModelImportRequest, ModelInfo, ModelListRequest, ModelListResponse, ModelPullRequest,
    ModelPullResponse, ModelState, ModelVerifyRequest, ModelVerifyResponse, RuntimeInfo,
};
pub use search::{IndexState, MAX_LIMIT, Mode, Scores, SearchHit, SearchRequest, SearchResponse, Strategy};
pub use session::{
    HelloRequest, HelloResponse, ShutdownRequest, ShutdownResponse, SubscribeRequest, SubscribeResponse,
};
pub use status::{
    DiskStatus, ModelLoad, ModelStatus, Skipped, StatusRequest, StatusResponse, VectorBackend, VectorStatus,
    WatcherMode, WatcherStatus, WorkspaceStatus,
};
pub use workspace::{
    WorkspaceAddRequest, WorkspaceAddResponse, WorkspaceInfo, WorkspaceListRequest, WorkspaceListResponse,
    WorkspaceRemoveRequest, WorkspaceRemoveResponse, WorkspaceSyncRequest, WorkspaceSyncResponse,
};

use serde_json::{Map, Value};

use crate::error::RpcError;

/// Checks of parameters that their types alone do not make.
pub(crate) trait Validate {
    /// Before the types: values that deserve a better refusal than "wrong type".
    fn check_raw(_params: &Map<String, Value>) -> Result<(), RpcError> {
        Ok(())
    }

    /// After the types: ranges and combinations.
    fn validate(&self) -> Result<(), RpcError> {
        Ok(())
    }
}

fn no_empty(field: &str, value: Option<&str>) -> Result<(), RpcError> {
    match value {
        Some(value) if value.trim().is_empty() => {
            Err(RpcError::bad_request(format!("the field \"{field}\" is empty")))
        }
        _ => Ok(()),
    }
}
