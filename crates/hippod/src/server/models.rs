//! Handlers that list, verify, install and remove embedding models.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use hippo_proto::{
    Id, ModelImportRequest, ModelListResponse, ModelPullRequest, ModelPullResponse, ModelRemoveRequest,
    ModelRemoveResponse, ModelVerifyRequest, ModelVerifyResponse, RpcError,
};

use super::connection::Outbox;
use super::dispatch::blocking;
use super::long::{Tell, at_length};
use crate::event::Event;
use crate::shared::Shared;

/// Handles `model.list`.
///
/// # Errors
/// See [`crate::models::Models::list`].
pub async fn list(shared: &Arc<Shared>) -> Result<ModelListResponse, RpcError> {
    let listed = blocking(shared, |shared| shared.models.list()).await;
    look_for_model(shared);
    listed
}

/// Handles `model.verify`.
///
/// # Errors
/// See [`crate::models::Models::verify`].
pub async fn verify(
    shared: &Arc<Shared>,
    request: ModelVerifyRequest,
) -> Result<ModelVerifyResponse, RpcError> {
    let verify = move |shared: &Shared| shared.models.verify(request.model.as_deref());
    let verified = blocking(shared, verify).await;
    look_for_model(shared);
    verified
}

/// Handles `model.import`.
///
/// # Errors
/// See [`crate::models::Models::import`].
pub async fn import(
    shared: &Arc<Shared>,
    request: ModelImportRequest,
) -> Result<ModelPullResponse, RpcError> {
    let import = move |shared: &Shared| {
        let imported = shared.models.import(&request);
        model_changed(shared);
        imported
    };
    blocking(shared, import).await
}

/// Handles `model.remove`.
///
/// # Errors
/// See [`crate::models::Models::remove`].
pub async fn remove(
    shared: &Arc<Shared>,
    request: ModelRemoveRequest,
) -> Result<ModelRemoveResponse, RpcError> {
    let remove = move |shared: &Shared| shared.models.remove(&request.model, &models_in_use(shared));
    blocking(shared, remove).await
}

/// Returns the ids of the models in use, and the names in the workspaces' configurations.
fn models_in_use(shared: &Shared) -> Vec<String> {
    let views = shared.views.open();
    let used = views.iter().flat_map(|view| {
        let answers = view.picture().model.as_ref().map(ToString::to_string);
        answers.into_iter().chain([view.config.model.clone()])
    });
    used.collect()
}

/// Asks the engine to check whether a missing model is now available.
fn look_for_model(shared: &Shared) {
    // The send fails only at shutdown.
    let _ = shared.events.send(Event::LookForModel);
}

/// Checks model files that were copied after they were found missing, so that the engine does not have to read them.
///
/// # Errors
/// `internal` if the task panicked.
pub async fn check_copied(shared: &Arc<Shared>) -> Result<(), RpcError> {
    let check = |shared: &Shared| {
        shared.models.check_copied();
        Ok(())
    };
    blocking(shared, check).await
}

/// Notifies the engine of changed model files. The worker calls it, because the client may already be disconnected.
fn model_changed(shared: &Shared) {
    // The send fails only at shutdown.
    let _ = shared.events.send(Event::ModelChanged);
}

/// Installs a model with progress reports, and stops if the client disconnects.
///
/// # Errors
/// See [`crate::models::Models::pull`].
pub async fn pull(
    shared: &Arc<Shared>,
    request: ModelPullRequest,
    id: &Id,
    outbox: &Outbox,
) -> Result<ModelPullResponse, RpcError> {
    let work = move |shared: &Shared, tell: Tell<'_>, given_up: &AtomicBool| {
        let mut progress = |progress: hippo_embed::acquire::Progress<'_>| {
            tell(
                progress.step.name(),
                progress.artifact,
                progress.done,
                Some(progress.total),
            );
        };
        let pulled = shared
            .models
            .pull(request.model.as_deref(), &mut progress, given_up);
        model_changed(shared);
        pulled
    };
    at_length(shared, id, outbox, work).await
}
