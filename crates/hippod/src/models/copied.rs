//! Verification of copied model files in the background.

use std::sync::Arc;

use hippo_proto::RpcError;

use super::Models;
use crate::tasks::run_blocking;

/// Verifies the model files that were copied into place. The work runs on a thread that may block, so that the engine
/// does not have to read the files.
///
/// # Errors
/// Returns `internal` if the task panicked.
pub async fn check_copied(models: &Arc<Models>) -> Result<(), RpcError> {
    let models = Arc::clone(models);
    run_blocking(move || {
        models.check_copied();
        Ok(())
    })
    .await
}
