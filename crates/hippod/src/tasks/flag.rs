//! Flags that tasks wait for.

use tokio::sync::watch;

/// Waits until a flag is true, such as the shutdown signal.
pub async fn wait_until_set(flag: &mut watch::Receiver<bool>) {
    // `wait_for` returns a guard, which must not live while the caller waits for something else, so it is dropped
    // here. A dropped sender counts as `true`.
    let _ = flag.wait_for(|flag| *flag).await.is_ok();
}
