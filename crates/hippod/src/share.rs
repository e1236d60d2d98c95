//! Sharing with a team through a PostgreSQL server.
//!
//! The daemon publishes the workspaces that the user chose, and searches the passages of the team together with those of
//! the workspace. Without the server, everything else works as before.

mod foreign;
mod keeper;
mod link;
mod outgoing;
mod publish;
mod serve;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use hippo_proto::Paths;
use hippo_redact::redact;
use hippo_share::ServerSettings;
use hippo_share::device::DeviceKey;
use hippo_share::record::WorkspaceIdentity;
use parking_lot::Mutex;
use tokio::sync::OnceCell;

use crate::config::PostgresConfig;
use crate::registry::short_id;
use crate::tasks::{OneAtATime, run_blocking};
use crate::view::WorkspaceView;
use crate::views::Views;
use link::ServerLink;
use publish::PublishStates;

pub use foreign::{ForeignHit, PendingSearch, TeamQuestion};
pub use keeper::keep;
pub use serve::{init, publish, status};

/// File of the device key in the state folder.
const KEY_FILE: &str = "device.key";

/// Sharing with a team.
pub struct TeamShare {
    views: Arc<Views>,
    settings: PostgresConfig,
    /// Settings of the connection; `None` without a team.
    server: Option<ServerSettings>,
    link: ServerLink,
    key_file: PathBuf,
    key: OnceCell<Arc<DeviceKey>>,
    /// Only one publication runs at a time.
    queue: OneAtATime,
    states: Mutex<PublishStates>,
}

impl TeamShare {
    /// Creates the component. It connects when it needs the server.
    pub fn new(settings: &PostgresConfig, paths: &Paths, views: Arc<Views>) -> Self {
        Self {
            views,
            server: settings.server(),
            settings: settings.clone(),
            link: ServerLink::default(),
            key_file: paths.state.join(KEY_FILE),
            key: OnceCell::new(),
            queue: OneAtATime::default(),
            states: Mutex::default(),
        }
    }

    /// Returns whether a workspace shares with the team.
    pub fn includes(&self, root: &Path) -> bool {
        self.server.is_some()
            && self
                .settings
                .workspaces
                .iter()
                .any(|shared| is_same(shared, root))
    }

    /// Returns the name of the team; empty without a team.
    pub fn team(&self) -> &str {
        &self.settings.team
    }

    /// Returns the open workspaces that share with the team.
    fn views(&self) -> Vec<Arc<WorkspaceView>> {
        let mut views = self.views.open();
        views.retain(|view| self.includes(&view.root));
        views
    }

    /// Returns the key of this device. Creates it at the first call.
    async fn key(&self) -> Result<Arc<DeviceKey>, hippo_share::ShareError> {
        let load = || async {
            let path = self.key_file.clone();
            let loaded = run_blocking(move || Ok(DeviceKey::load(&path))).await;
            loaded
                .map_err(|error| hippo_share::ShareError::Unreachable(error.message))?
                .map(Arc::new)
        };
        self.key.get_or_try_init(load).await.cloned()
    }

    fn budget(&self) -> Duration {
        Duration::from_millis(self.settings.budget_ms)
    }
}

/// Returns the identity of a workspace for the team. It does not contain the path of the workspace.
fn identity(root: &Path) -> WorkspaceIdentity {
    let name = root.file_name().map(|name| name.to_string_lossy().into_owned());
    WorkspaceIdentity {
        id: short_id(root),
        name: redact(&name.unwrap_or_default()).into_owned(),
    }
}

/// Returns whether two paths lead to the same folder. `root` is canonical.
#[expect(clippy::disallowed_methods, reason = "the user chose this path")]
fn is_same(shared: &Path, root: &Path) -> bool {
    shared == root || shared.canonicalize().is_ok_and(|shared| shared == root)
}

/// Returns the name of this device for the team: its host name.
fn device_name() -> String {
    redact(&rustix::system::uname().nodename().to_string_lossy()).into_owned()
}
