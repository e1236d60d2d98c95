//! Handlers of backup and restore requests.
//!
//! The work runs in the background, and stops if the client disconnects.

use std::sync::Arc;

use hippo_proto::{
    BackupRequest, BackupResponse, BackupVerifyRequest, RestoreRequest, RestoreResponse, RpcError,
};

use super::connection::Outbox;
use super::long::cancellable;
use crate::backup::{self, Backups};
use crate::errors::{client_gone, task_failed};
use crate::message::{EngineHandle, EngineMessage};
use crate::tasks::{Cancellation, OneAtATimeGuard};
use crate::tree::Trees;

/// Handles `backup`.
pub async fn backup(
    backups: &Arc<Backups>,
    request: BackupRequest,
    outbox: &Outbox,
) -> Result<BackupResponse, RpcError> {
    let only = match &request.workspace {
        Some(folder) => Some(backups.views.get(folder).await?),
        None => None,
    };
    let turn = turn(backups, outbox).await?;
    let backups = Arc::clone(backups);
    let work = move |cancellation: Cancellation<'_>| {
        // This guard makes the next backup wait until this one has ended, even if the client disconnects.
        let _turn = turn;
        backup::backup(&backups, only, &request, cancellation)
    };
    cancellable(outbox, work).await
}

/// Handles `backup.verify`.
pub async fn verify(request: BackupVerifyRequest, outbox: &Outbox) -> Result<BackupResponse, RpcError> {
    cancellable(outbox, move |cancellation| backup::verify(&request, cancellation)).await
}

/// Handles `restore`: stages the workspaces, then lets the engine move each one into place.
pub async fn restore(
    backups: &Arc<Backups>,
    trees: &Arc<Trees>,
    engine: &EngineHandle,
    request: RestoreRequest,
    outbox: &Outbox,
) -> Result<RestoreResponse, RpcError> {
    let start = std::time::Instant::now();
    let turn = turn(backups, outbox).await?;
    let backups = Arc::clone(backups);
    let prepare = move |cancellation: Cancellation<'_>| {
        let ready = backup::prepare(&backups, &request, cancellation)?;
        // If the client has disconnected, this result is dropped: first the staged files are deleted, then the next
        // restore can begin.
        Ok((ready, turn))
    };
    let (ready, turn) = cancellable(outbox, prepare).await?;
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
        turn = backups.queue.enter() => Ok(turn),
        () = outbox.wait_until_gone() => Err(client_gone()),
    }
}
