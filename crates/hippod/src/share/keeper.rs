//! Automatic publication of the workspaces that share.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::watch;

use super::TeamShare;
use super::publish::IndexMark;
use crate::tasks::wait_until_set;

/// Interval between two looks at the workspaces.
const TICK: Duration = Duration::from_millis(500);
/// Pause after a failed publication. Each further failure doubles it.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// Maximum pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// Publishes changes of the workspaces that share, until the daemon stops.
pub async fn keep(share: Arc<TeamShare>, mut stop: watch::Receiver<bool>) {
    if share.server.is_none() || !share.settings.publish {
        return;
    }
    let mut pauses: HashMap<PathBuf, (Duration, Instant)> = HashMap::new();
    loop {
        tokio::select! {
            () = wait_until_set(&mut stop) => return,
            () = tokio::time::sleep(TICK) => {}
        }
        for view in share.views() {
            let Some(mark) = IndexMark::of(&view) else {
                continue;
            };
            let is_published = |state: &super::publish::PublishState| state.published.as_ref() == Some(&mark);
            if share.states.lock().get(&view.root).is_some_and(is_published) {
                continue;
            }
            if pauses
                .get(&view.root)
                .is_some_and(|(_, until)| Instant::now() < *until)
            {
                continue;
            }
            let published = tokio::select! {
                () = wait_until_set(&mut stop) => return,
                published = share.publish_workspace(&view, false) => published,
            };
            match published {
                Ok(done) => {
                    pauses.remove(&view.root);
                    if done.documents + done.removed > 0 {
                        tracing::info!(root = %view.root.display(), documents = done.documents, removed = done.removed, "published to the team");
                    }
                }
                Err(error) => {
                    let pause = pauses
                        .get(&view.root)
                        .map_or(FIRST_PAUSE, |(pause, _)| *pause * 2);
                    let pause = pause.min(LONGEST_PAUSE);
                    tracing::warn!(root = %view.root.display(), %error, retry_secs = pause.as_secs(), "could not publish to the team");
                    pauses.insert(view.root.clone(), (pause, Instant::now() + pause));
                }
            }
        }
    }
}
