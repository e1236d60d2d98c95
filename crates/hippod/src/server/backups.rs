//! How are backups and restores served: in the background, with progress to the client, given up when it goes?

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use hippo_proto::{
    BackupRequest, BackupResponse, BackupVerifyRequest, Id, RestoreRequest, RestoreResponse, RpcError,
};

use super::connection::Outbox;
use super::dispatch::ask;
use super::long::{self, Tell};
use crate::backup::{self, Job};
use crate::event;
use crate::shared::{Shared, Turn};

/// Serves `backup`.
pub async fn backup(
    shared: &Arc<Shared>,
    request: BackupRequest,
    id: &Id,
    outbox: &Outbox,
) -> Result<BackupResponse, RpcError> {
    shared.views.opened().await;
    let turn = turn(shared, outbox).await?;
    let work = move |shared: &Shared, job: &mut Job<'_>| backup::backup(shared, &request, job);
    at_length(shared, "backup", turn, id, outbox, work).await
}

/// Serves `backup.verify`.
pub async fn verify(
    shared: &Arc<Shared>,
    request: BackupVerifyRequest,
    id: &Id,
    outbox: &Outbox,
) -> Result<BackupResponse, RpcError> {
    let work = move |_: &Shared, job: &mut Job<'_>| backup::verify(&request, job);
    at_length(shared, "verify", (), id, outbox, work).await
}

/// Serves `restore`: makes ready beside, then has the engine put each workspace into its place.
pub async fn restore(
    shared: &Arc<Shared>,
    request: RestoreRequest,
    id: &Id,
    outbox: &Outbox,
) -> Result<RestoreResponse, RpcError> {
    let start = std::time::Instant::now();
    let turn = turn(shared, outbox).await?;
    let prepare = move |shared: &Shared, job: &mut Job<'_>| {
        let ready = backup::prepare(shared, &request, job)?;
        // Where nobody takes it any more it is thrown away first, then it is the next one's turn.
        Ok((ready, turn))
    };
    let (ready, turn) = at_length(shared, "restore", (), id, outbox, prepare).await?;
    // From here on nobody gives up: what is ready goes into its place, whoever waits.
    let shared = Arc::clone(shared);
    let placed = tokio::spawn(async move {
        let _turn: Turn = turn;
        let ready = ready;
        let mut workspaces = Vec::with_capacity(ready.staged.len());
        for staged in ready.staged.clone() {
            let _alone = shared.trees.alone(&shared, &staged.root).await;
            workspaces.push(ask(&shared, |reply| event::Request::TakeIn { staged, reply }).await?);
        }
        Ok(workspaces)
    });
    Ok(RestoreResponse {
        workspaces: placed.await.map_err(crate::recall::gone)??,
        took_ms: start.elapsed().as_secs_f64() * 1e3,
    })
}

/// Waits for the backups and restores before this one, as long as somebody waits for the answer.
async fn turn(shared: &Shared, outbox: &Outbox) -> Result<Turn, RpcError> {
    tokio::select! {
        turn = shared.backups.take() => Ok(turn),
        () = outbox.gone() => Err(long::nobody_waits()),
    }
}

/// Does something that takes long, with progress to the client; given up when the client goes. `held` is let go of at the
/// end of the work itself.
async fn at_length<T: Send + 'static>(
    shared: &Arc<Shared>,
    stage: &'static str,
    held: impl Send + 'static,
    id: &Id,
    outbox: &Outbox,
    work: impl FnOnce(&Shared, &mut Job<'_>) -> Result<T, RpcError> + Send + 'static,
) -> Result<T, RpcError> {
    let work = move |shared: &Shared, tell: Tell<'_>, given_up: &AtomicBool| {
        let _held = held;
        let mut tell = |stage: &'static str, item: &str, done: u64| tell(stage, item, done, None);
        work(shared, &mut Job::new(stage, &mut tell, given_up))
    };
    long::at_length(shared, id, outbox, work).await
}
