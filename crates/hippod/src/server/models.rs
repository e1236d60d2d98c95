//! Handlers that list, verify, install and remove embedding models.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use hippo_proto::{
    Id, ModelImportRequest, ModelListResponse, ModelPullRequest, ModelPullResponse, ModelRemoveRequest,
    ModelRemoveResponse, ModelVerifyRequest, ModelVerifyResponse, RpcError,
};

use super::connection::Outbox;
use super::long::{ProgressCallback, at_length};
use crate::message::{EngineHandle, EngineMessage};
use crate::models::Models;
use crate::tasks::run_blocking_on;
use crate::views::Views;

/// Handles `model.list`.
///
/// # Errors
/// See [`crate::models::Models::list`].
pub async fn list(models: &Arc<Models>, engine: &EngineHandle) -> Result<ModelListResponse, RpcError> {
    let listed = run_blocking_on(models, Models::list).await;
    engine.send(EngineMessage::LookForModel);
    listed
}

/// Handles `model.verify`.
///
/// # Errors
/// See [`crate::models::Models::verify`].
pub async fn verify(
    models: &Arc<Models>,
    engine: &EngineHandle,
    request: ModelVerifyRequest,
) -> Result<ModelVerifyResponse, RpcError> {
    let verify = move |models: &Models| models.verify(request.model.as_deref());
    let verified = run_blocking_on(models, verify).await;
    engine.send(EngineMessage::LookForModel);
    verified
}

/// Handles `model.import`.
///
/// # Errors
/// See [`crate::models::Models::import`].
pub async fn import(
    models: &Arc<Models>,
    engine: &EngineHandle,
    request: ModelImportRequest,
) -> Result<ModelPullResponse, RpcError> {
    let engine = engine.clone();
    let import = move |models: &Models| {
        let imported = models.import(&request);
        // The client may already have disconnected.
        engine.send(EngineMessage::ModelChanged);
        imported
    };
    run_blocking_on(models, import).await
}

/// Handles `model.remove`.
///
/// # Errors
/// See [`crate::models::Models::remove`].
pub async fn remove(
    models: &Arc<Models>,
    views: &Arc<Views>,
    request: ModelRemoveRequest,
) -> Result<ModelRemoveResponse, RpcError> {
    let views = Arc::clone(views);
    let remove = move |models: &Models| models.remove(&request.model, &models_in_use(&views));
    run_blocking_on(models, remove).await
}

/// Returns the ids of the models in use, and the model names in the workspaces' configurations.
fn models_in_use(views: &Views) -> Vec<String> {
    let views = views.open();
    let used = views.iter().flat_map(|view| {
        let answers = view.snapshot().model.as_ref().map(ToString::to_string);
        answers.into_iter().chain([view.config.model.clone()])
    });
    used.collect()
}

/// Installs a model with progress reports, and stops if the client disconnects.
///
/// # Errors
/// See [`crate::models::Models::pull`].
pub async fn pull(
    models: &Arc<Models>,
    engine: &EngineHandle,
    request: ModelPullRequest,
    id: &Id,
    outbox: &Outbox,
) -> Result<ModelPullResponse, RpcError> {
    let (models, engine) = (Arc::clone(models), engine.clone());
    let work = move |tell: ProgressCallback<'_>, given_up: &AtomicBool| {
        let mut progress = |progress: hippo_embed::acquire::PullProgress<'_>| {
            tell(
                progress.step.name(),
                progress.artifact,
                progress.done,
                Some(progress.total),
            );
        };
        let pulled = models.pull(request.model.as_deref(), &mut progress, given_up);
        // The client may already have disconnected.
        engine.send(EngineMessage::ModelChanged);
        pulled
    };
    at_length(id, outbox, work).await
}
