//! Flags that tasks wait for.

use tokio::sync::watch;

/// Waits until a flag is true, for example the shutdown signal.
pub async fn wait_until_set(flag: &mut watch::Receiver<bool>) {
    // The guard returned by `wait_for` is dropped here, because it must not live across other waits of the
    // caller. A dropped sender means the same as `true`.
    let _ = flag.wait_for(|flag| *flag).await.is_ok();
}
