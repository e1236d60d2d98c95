//! Blocking work for requests.

use std::sync::Arc;

use hippo_proto::RpcError;
use tracing::Span;

use crate::errors::task_failed;

/// Runs work on a thread that may block, within the tracing span of the request.
///
/// # Errors
/// Returns the error of the work, or `internal` if it panicked.
pub async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, RpcError> + Send + 'static,
) -> Result<T, RpcError> {
    let span = Span::current();
    tokio::task::spawn_blocking(move || span.in_scope(work))
        .await
        .map_err(task_failed)?
}

/// Calls a function with a component as its argument, on a thread that may block.
///
/// # Errors
/// See [`run_blocking`].
pub async fn run_blocking_on<C: Send + Sync + 'static, T: Send + 'static>(
    component: &Arc<C>,
    work: impl FnOnce(&C) -> Result<T, RpcError> + Send + 'static,
) -> Result<T, RpcError> {
    let component = Arc::clone(component);
    run_blocking(move || work(&component)).await
}
