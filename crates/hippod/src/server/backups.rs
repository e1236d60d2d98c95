//! Handlers of backup and restore requests.
//!
//! The work runs in the background, reports progress, and stops if the client disconnects.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use hippo_proto::{
    BackupRequest, BackupResponse, BackupVerifyRequest, Id, RestoreRequest, RestoreResponse, RpcError,
};

use super::connection::Outbox;
use super::long::{self, ProgressCallback};
use crate::backup::{self, BackupJob, Backups};
use crate::errors::{client_gone, task_failed};
use crate::message::{EngineHandle, EngineMessage};
use crate::tasks::OneAtATimeGuard;
use crate::tree::Trees;

/// Handles `backup`.
pub async fn backup(
    backups: &Arc<Backups>,
    request: BackupRequest,
    id: &Id,
    outbox: &Outbox,
) -> Result<BackupResponse, RpcError> {
    let turn = turn(backups, outbox).await?;
    let backups = Arc::clone(backups);
    let work = move |job: &mut BackupJob<'_>| backup::backup(&backups, &request, job);
    at_length("backup", turn, id, outbox, work).await
}

/// Handles `backup.verify`.
pub async fn verify(
    request: BackupVerifyRequest,
    id: &Id,
    outbox: &Outbox,
) -> Result<BackupResponse, RpcError> {
    let work = move |job: &mut BackupJob<'_>| backup::verify(&request, job);
    at_length("verify", (), id, outbox, work).await
}

/// Handles `restore`: stages the workspaces, then lets the engine move each one into place.
pub async fn restore(
    backups: &Arc<Backups>,
    trees: &Arc<Trees>,
    engine: &EngineHandle,
    request: RestoreRequest,
    id: &Id,
    outbox: &Outbox,
) -> Result<RestoreResponse, RpcError> {
    let start = std::time::Instant::now();
    let turn = turn(backups, outbox).await?;
    let backups = Arc::clone(backups);
    let prepare = move |job: &mut BackupJob<'_>| {
        let ready = backup::prepare(&backups, &request, job)?;
        // If the client has disconnected, the staged files are deleted before the next restore begins.
        Ok((ready, turn))
    };
    let (ready, turn) = at_length("restore", (), id, outbox, prepare).await?;
    // From here on, the restore finishes even if the client disconnects.
    let (trees, engine) = (Arc::clone(trees), engine.clone());
    let placed = tokio::spawn(async move {
        let _turn: OneAtATimeGuard = turn;
        let ready = ready;
        let mut workspaces = Vec::with_capacity(ready.staged.len());
        for staged in ready.staged.clone() {
            let _alone = trees.lock_tree(&staged.root).await;
            workspaces.push(
                engine
                    .ask_engine(|reply| EngineMessage::TakeIn { staged, reply })
                    .await?,
            );
        }
        Ok(workspaces)
    });
    Ok(RestoreResponse {
        workspaces: placed.await.map_err(task_failed)??,
        took_ms: start.elapsed().as_secs_f64() * 1e3,
    })
}

/// Waits for earlier backups and restores. Fails if the client disconnects.
async fn turn(backups: &Backups, outbox: &Outbox) -> Result<OneAtATimeGuard, RpcError> {
    tokio::select! {
        turn = backups.enter_queue() => Ok(turn),
        () = outbox.wait_until_gone() => Err(client_gone()),
    }
}

/// Runs long work with progress reports, and cancels it if the client disconnects. `held` is dropped when the work
/// itself ends.
async fn at_length<T: Send + 'static>(
    stage: &'static str,
    held: impl Send + 'static,
    id: &Id,
    outbox: &Outbox,
    work: impl FnOnce(&mut BackupJob<'_>) -> Result<T, RpcError> + Send + 'static,
) -> Result<T, RpcError> {
    let work = move |tell: ProgressCallback<'_>, given_up: &AtomicBool| {
        let _held = held;
        let mut tell = |stage: &'static str, item: &str, done: u64| tell(stage, item, done, None);
        work(&mut BackupJob::new(stage, &mut tell, given_up))
    };
    long::at_length(id, outbox, work).await
}
