//! How are backups and restores served: in the background, with progress to the client, given up when it goes?

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use hippo_proto::{
    BackupRequest, BackupResponse, BackupVerifyRequest, ExportRequest, Id, Progress, RestoreRequest,
    RestoreResponse, RpcError,
};

use super::connection::Outbox;
use super::dispatch::{SetOnDrop, ask, blocking};
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
    let turn = shared.backups.take()?;
    let work = move |shared: &Shared, job: &mut Job<'_>| backup::backup(shared, &request, job);
    at_length(shared, "backup", turn, id, outbox, work).await
}

/// Serves `export`.
pub async fn export(
    shared: &Arc<Shared>,
    request: ExportRequest,
    id: &Id,
    outbox: &Outbox,
) -> Result<BackupResponse, RpcError> {
    shared.views.opened().await;
    let turn = shared.backups.take()?;
    let work = move |shared: &Shared, job: &mut Job<'_>| backup::export(shared, &request, job);
    at_length(shared, "export", turn, id, outbox, work).await
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
    let turn = shared.backups.take()?;
    let prepare = move |shared: &Shared, job: &mut Job<'_>| {
        let ready = backup::prepare(shared, &request, job)?;
        Ok((ready, turn))
    };
    let (ready, turn) = at_length(shared, "restore", (), id, outbox, prepare).await?;
    // From here on nobody gives up: what is ready goes into its place, whoever waits.
    let shared = Arc::clone(shared);
    let placed = tokio::spawn(async move {
        let _turn: Turn = turn;
        let mut workspaces = Vec::with_capacity(ready.len());
        for staged in ready {
            let _alone = shared.trees.alone(&shared, &staged.root).await;
            let again = staged.clone();
            let aside = ask(&shared, |reply| event::Request::TakeIn { staged, reply }).await?;
            workspaces.push(backup::restored(&again, aside));
        }
        Ok(workspaces)
    });
    Ok(RestoreResponse {
        workspaces: placed.await.map_err(crate::recall::gone)??,
        took_ms: start.elapsed().as_secs_f64() * 1e3,
    })
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
    let given_up = Arc::new(AtomicBool::new(false));
    let _dropped = SetOnDrop(Arc::clone(&given_up));
    let (id, lines, flag) = (id.clone(), outbox.clone(), Arc::clone(&given_up));
    let work = blocking(shared, move |shared| {
        let _held = held;
        let mut tell = |stage: &'static str, item: &str, done: u64| {
            let news = Progress {
                id: id.clone(),
                stage: stage.to_owned(),
                item: item.to_owned(),
                done,
                total: None,
            };
            // A client that reads slowly sees fewer steps.
            let _ = lines.try_send(news.to_line());
        };
        work(shared, &mut Job::new(stage, &mut tell, &flag))
    });
    tokio::select! {
        done = work => done,
        () = outbox.closed() => Err(RpcError::internal("the client is gone").hint("ask again")),
    }
}
