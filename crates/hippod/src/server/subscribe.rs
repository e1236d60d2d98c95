//! Subscriptions to events.

use hippo_proto::{Event, EventName, RpcError, SubscribeRequest, SubscribeResponse};
use tokio::sync::broadcast::{self, error::RecvError};

use super::connection::Outbox;
use crate::views::Views;

/// Sends events to the client until it closes the connection.
pub(super) fn subscribe(
    views: &Views,
    news: &broadcast::Sender<Event>,
    request: SubscribeRequest,
    outbox: &Outbox,
) -> Result<SubscribeResponse, RpcError> {
    let root = request.workspace.as_deref().map(|folder| {
        let folder = std::path::Path::new(folder);
        views
            .root_of(folder)
            .unwrap_or_else(|| folder.to_path_buf())
            .display()
            .to_string()
    });
    let wanted = request.events.unwrap_or_else(|| {
        vec![
            EventName::Indexed,
            EventName::Cycle,
            EventName::Degraded,
            EventName::Job,
        ]
    });
    let mut news = news.subscribe();
    // If this task kept a strong sender, the connection would never close.
    let outbox = outbox.lines.downgrade();
    let events = wanted.clone();
    tokio::spawn(async move {
        loop {
            match news.recv().await {
                Ok(event) => {
                    let Some(outbox) = outbox.upgrade() else { return };
                    let concerns =
                        event.workspace().is_none() || root.is_none() || event.workspace() == root.as_deref();
                    let wanted = concerns && events.contains(&event.name());
                    if wanted && outbox.send(event.to_line()).await.is_err() {
                        return;
                    }
                }
                // A slow reader misses events. Later events are complete in themselves, so the missed ones are not
                // needed.
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return,
            }
        }
    });
    Ok(SubscribeResponse { events: wanted })
}
