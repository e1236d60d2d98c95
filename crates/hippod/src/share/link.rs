//! Connections to the server, and pauses after failures.

use std::time::{Duration, Instant};

use hippo_share::{ServerConnection, ServerSettings, ShareError, connect};
use parking_lot::Mutex;

/// Maximum number of idle connections.
const IDLE: usize = 4;
/// Pause after the first failure. Each further failure doubles it.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// Maximum pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// Connections to the server.
#[derive(Default)]
pub struct ServerLink {
    idle: Mutex<Vec<ServerConnection>>,
    /// Held while a search connects.
    connecting: tokio::sync::Mutex<()>,
    failure: Mutex<Option<ServerFailure>>,
}

/// The last failure of the server.
#[derive(Debug, Clone)]
struct ServerFailure {
    why: String,
    pause: Duration,
    until: Instant,
}

impl ServerLink {
    /// Returns the reason why the server is not asked at the moment, because it has just failed.
    pub fn pause(&self) -> Option<String> {
        let failure = self.failure.lock();
        let failure = failure.as_ref().filter(|failure| Instant::now() < failure.until);
        failure.map(|failure| failure.why.clone())
    }

    /// Returns an idle connection, or connects.
    ///
    /// # Errors
    /// See [`connect`].
    pub async fn take(&self, settings: &ServerSettings) -> Result<ServerConnection, ShareError> {
        match self.take_idle() {
            Some(connection) => Ok(connection),
            None => connect(settings).await,
        }
    }

    /// Returns an idle connection, or connects for a search. Returns `None` if another search connects already.
    ///
    /// # Errors
    /// See [`connect`].
    pub async fn take_for_search(
        &self,
        settings: &ServerSettings,
    ) -> Result<Option<ServerConnection>, ShareError> {
        if let Some(connection) = self.take_idle() {
            return Ok(Some(connection));
        }
        let Ok(_turn) = self.connecting.try_lock() else {
            return Ok(None);
        };
        connect(settings).await.map(Some)
    }

    fn take_idle(&self) -> Option<ServerConnection> {
        let mut idle = self.idle.lock();
        idle.retain(|connection| !connection.is_closed());
        idle.pop()
    }

    /// Keeps a connection that works for the next request.
    pub fn keep(&self, connection: ServerConnection) {
        *self.failure.lock() = None;
        let mut idle = self.idle.lock();
        if idle.len() < IDLE {
            idle.push(connection);
        }
    }

    /// Records a failure. Until the end of the pause, searches do not ask the server.
    pub fn fail(&self, error: &ShareError) {
        // The other connections lead to the same server.
        self.idle.lock().clear();
        let mut failure = self.failure.lock();
        let pause = match &*failure {
            Some(before) if Instant::now() < before.until => before.pause,
            Some(before) => (before.pause * 2).min(LONGEST_PAUSE),
            None => FIRST_PAUSE,
        };
        *failure = Some(ServerFailure {
            why: error.to_string(),
            pause,
            until: Instant::now() + pause,
        });
    }
}
