//! Flags that tasks wait for.

use tokio::sync::watch;

/// Waits until a flag is true; the shutdown signal is one example.
pub async fn wait_until_set(flag: &mut watch::Receiver<bool>) {
    // Drop the guard returned by `wait_for` here, because it must not live across other waits of the caller. A dropped
    // sender has the same meaning as `true`.
    let _ = flag.wait_for(|flag| *flag).await.is_ok();
}
