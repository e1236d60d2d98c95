//! Shutdown signal.

use tokio::sync::watch;

/// Waits for the shutdown signal.
pub async fn wait_for_stop(stop: &mut watch::Receiver<bool>) {
    // The guard returned by `wait_for` is dropped here, because it must not live across other waits of the
    // caller. A dropped sender means the same as `true`.
    let _ = stop.wait_for(|stop| *stop).await.is_ok();
}
